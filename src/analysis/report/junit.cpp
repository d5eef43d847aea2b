// JUnit XML of expectations and findings.
#include "report/junit.h"

#include <fmt/format.h>

#include "report/kernel_names.h"
#include "report/xml.h"

namespace warpgrind::report {
namespace {

using Outcome = ExpectationResult::Outcome;

struct Suite {
  std::string name, cases;
  std::size_t tests = 0, failures = 0;

  void add(const std::string& test, const std::string& class_name, const std::string& inside) {
    ++tests;
    cases += fmt::format("    <testcase name=\"{}\" classname=\"{}\" time=\"0\"", escaped(test), escaped(class_name));
    cases += inside.empty() ? "/>\n" : ">\n" + inside + "    </testcase>\n";
  }
  void fail(const std::string& test, const std::string& class_name, const std::string& type, const std::string& message,
            const std::string& text) {
    ++failures;
    add(test, class_name,
        fmt::format("      <failure message=\"{}\" type=\"{}\">{}</failure>\n", escaped(message), escaped(type),
                    escaped(text)));
  }
  std::string xml(std::size_t id, const RunFacts& run) const {
    // The run's time cannot be split, so the first suite has the whole time.
    return fmt::format(
               "  <testsuite name=\"{}\" package=\"warpgrind\" id=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"0\" "
               "time=\"{:.3f}\" timestamp=\"{}\" hostname=\"{}\">\n    <properties>\n"
               "      <property name=\"command\" value=\"{}\"/>\n    </properties>\n",
               escaped(name), id, tests, failures, id == 0 ? run.seconds : 0, escaped(run.timestamp),
               escaped(run.hostname), escaped(run.command)) +
           cases + "    <system-out/>\n    <system-err/>\n  </testsuite>\n";
  }
};

std::string place_lines(const std::vector<results::Advice::Place>& places) {
  std::string out;
  for (const results::Advice::Place& p : places)
    out += p.line != 0 ? fmt::format("\nat {}:{}", p.file, p.line) : fmt::format("\nat PTX line {}", p.ptx_line);
  return out;
}

Suite expectation_suite(const std::vector<ExpectationResult>& expectations) {
  Suite suite{"expectations", "", 0, 0};
  for (const ExpectationResult& r : expectations) {
    const std::string name = r.kernel.empty() ? r.text : fmt::format("{} [{}]", r.text, short_name(r.kernel));
    if (r.bad())
      suite.fail(name, "warpgrind.expectations", "expectation", r.figures, r.figures + place_lines(r.places));
    else
      suite.add(name, "warpgrind.expectations",
                r.outcome == Outcome::not_applicable
                    ? fmt::format("      <skipped message=\"{}\"/>\n", escaped(r.figures))
                    : "");
  }
  return suite;
}

Suite finding_suite(const std::vector<results::Profile>& profiles) {
  Suite suite{"findings", "", 0, 0};
  for (const results::Profile& p : profiles)
    for (const results::Finding& f : p.findings) {
      std::string text = f.message;
      if (!f.kernel.empty()) text += "\nkernel " + f.kernel;
      if (f.line != 0) text += fmt::format("\nat {}:{}", f.file, f.line);
      for (const std::string& note : f.notes) text += "\n" + note;
      if (!f.advice.empty()) text += "\n" + f.advice;
      suite.fail(fmt::format("{}: {}", f.kind, f.message), "warpgrind.findings", f.kind, f.message, text);
    }
  if (suite.tests == 0) suite.add("no findings", "warpgrind.findings", "");
  return suite;
}

}  // namespace

std::string junit_xml(const std::vector<ExpectationResult>& expectations, const std::vector<results::Profile>& profiles,
                      const RunFacts& run) {
  const Suite a = expectation_suite(expectations), b = finding_suite(profiles);
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n" + a.xml(0, run) + b.xml(1, run) +
         "</testsuites>\n";
}

}  // namespace warpgrind::report
