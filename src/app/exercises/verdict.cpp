// Verdicts as text, JSON and JUnit.
#include "exercises/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/words.h"
#include "report/advice_text.h"
#include "report/format.h"
#include "report/xml.h"

namespace warpgrind::exercises {

namespace {

using OrderedJson = nlohmann::ordered_json;
using Outcome = Judged::Outcome;

constexpr std::size_t kWidth = 80;

const char* word(Outcome outcome) {
  switch (outcome) {
    case Outcome::passed:
      return "passed";
    case Outcome::failed:
      return "failed";
    case Outcome::not_judged:
      return "not judged";
  }
  return "?";
}

std::string indented(const std::string& text, const std::string& by) {
  std::stringstream in(text);
  std::string out;
  for (std::string line; std::getline(in, line);) out += line.empty() ? "\n" : by + line + "\n";
  return out;
}

std::string mark(Outcome outcome, bool colour) {
  const char* text = outcome == Outcome::passed ? "pass" : outcome == Outcome::failed ? "FAIL" : " -- ";
  if (!colour || outcome == Outcome::not_judged) return text;
  return fmt::format("{}{}\033[0m", outcome == Outcome::passed ? "\033[32m" : "\033[1;31m", text);
}

// A student's output may not be UTF-8, which must not end the report.
std::string dumped(const OrderedJson& j) {
  return j.dump(1, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

// A hand-in's text, made safe to print: no terminal codes, and valid UTF-8.
std::string printable(const std::string& text) {
  std::string out = OrderedJson::parse(dumped(OrderedJson(text)), nullptr, false).get<std::string>();
  for (char& c : out)
    if ((static_cast<unsigned char>(c) < ' ' && c != '\n') || c == '\x7f') c = ' ';
  return out;
}

std::string xml(const std::string& text) {
  return report::escaped(printable(text));
}

std::string place(const Judged& j) {
  if (j.file.empty()) return "";
  return j.line != 0 ? fmt::format("{}:{}", base_name(j.file), j.line) : base_name(j.file);
}

std::string first_problem(const Graded& g) {
  if (!g.problem.empty()) return g.problem;
  for (const Judged& j : g.verdict.lines)
    if (j.outcome == Outcome::failed) return j.seen.empty() ? j.asked : j.seen;
  return "";
}

}  // namespace

std::string verdict_text(const Verdict& verdict, bool colour) {
  const std::string blank = "      ";
  std::string out = fmt::format("{}: {}\n", verdict.exercise, verdict.title);
  for (const Judged& j : verdict.lines) {
    out += fmt::format("{}  {}\n", mark(j.outcome, colour), j.asked);
    if (!j.seen.empty()) out += report::wrapped(blank + j.seen, kWidth, blank);
    if (j.outcome != Outcome::failed) continue;
    if (const std::string at = place(j); !at.empty()) out += fmt::format("{}at {}\n", blank, at);
    if (!j.message.empty()) out += report::wrapped(blank + j.message, kWidth, blank);
    if (!j.details.empty()) out += "\n" + indented(j.details, "  ") + "\n";
  }
  const auto good = std::count_if(verdict.lines.begin(), verdict.lines.end(),
                                  [](const Judged& j) { return j.outcome == Outcome::passed; });
  out += verdict.passed() ? fmt::format("solved: all {} points\n", verdict.lines.size())
                          : fmt::format("not yet: {} of {} points\n", good, verdict.lines.size());
  return out;
}

std::string verdict_json(const std::vector<Graded>& graded) {
  OrderedJson all = OrderedJson::array();
  for (const Graded& g : graded) {
    OrderedJson lines = OrderedJson::array();
    for (const Judged& j : g.verdict.lines) {
      OrderedJson line = {{"rule", j.rule}, {"asked", j.asked}, {"outcome", word(j.outcome)}, {"seen", j.seen}};
      if (!j.message.empty()) line["message"] = j.message;
      if (!j.file.empty()) line["file"] = base_name(j.file), line["line"] = j.line;
      if (!j.details.empty()) line["details"] = j.details;
      lines.push_back(std::move(line));
    }
    OrderedJson one = {{"student", g.student}, {"exercise", g.exercise}, {"file", g.file}, {"passed", g.passed()}};
    if (!g.problem.empty()) one["problem"] = g.problem;
    one["seconds"] = g.seconds;
    one["rubric"] = std::move(lines);
    all.push_back(std::move(one));
  }
  const OrderedJson out = {{"format", "warpgrind-verdicts 1"}, {"hand_ins", std::move(all)}};
  return dumped(out);
}

std::string verdict_junit(const std::vector<Graded>& graded) {
  std::map<std::string, std::vector<const Graded*>> students;
  for (const Graded& g : graded) students[g.student].push_back(&g);
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n";
  for (const auto& [student, all] : students) {
    std::size_t tests = 0, failures = 0, errors = 0;
    double seconds = 0;
    std::string cases;
    const auto add = [&](const Graded& g, const std::string& name, const std::string& inside, double took) {
      ++tests;
      cases += fmt::format("    <testcase name=\"{}\" classname=\"{}\" time=\"{:.3f}\"", xml(name),
                           xml(student + "." + g.exercise), took);
      cases += inside.empty() ? "/>\n" : ">\n" + inside + "    </testcase>\n";
    };
    for (const Graded* g : all) {
      seconds += g->seconds;
      if (!g->problem.empty()) {
        ++errors;
        add(*g, "judged", fmt::format("      <error message=\"{}\" type=\"hand-in\"/>\n", xml(g->problem)), g->seconds);
      }
      for (const Judged& j : g->verdict.lines) {
        std::string inside;
        if (j.outcome == Outcome::failed) {
          ++failures;
          const std::string at = place(j).empty() ? "" : "\nat " + place(j);
          inside = fmt::format("      <failure message=\"{}\" type=\"{}\">{}</failure>\n", xml(j.seen), xml(j.rule),
                               xml(j.message + at + "\n" + j.details));
        } else if (j.outcome == Outcome::not_judged) {
          inside = fmt::format("      <skipped message=\"{}\"/>\n", xml(j.seen));
        }
        add(*g, j.asked, inside, &j == &g->verdict.lines[0] ? g->seconds : 0);
      }
    }
    out += fmt::format(
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" time=\"{:.3f}\">\n{}  </testsuite>\n",
        xml(student), tests, failures, errors, seconds, cases);
  }
  return out + "</testsuites>\n";
}

std::string class_text(const std::vector<Graded>& graded, bool colour) {
  std::size_t student = 7, exercise = 8, passed = 0;
  for (const Graded& g : graded) {
    student = std::max(student, g.student.size());
    exercise = std::max(exercise, g.exercise.size());
    passed += g.passed();
  }
  std::string out;
  for (const Graded& g : graded) {
    const Outcome outcome = g.passed() ? Outcome::passed : Outcome::failed;
    std::string line = fmt::format("{}  {}  {}  {}", mark(outcome, colour),
                                   report::left(printable(g.student), static_cast<int>(student)),
                                   report::left(g.exercise, static_cast<int>(exercise)), printable(first_problem(g)));
    while (line.ends_with(' ')) line.pop_back();
    out += line + "\n";
  }
  return out + fmt::format("{} of {} hand-ins solved\n", passed, graded.size());
}

}  // namespace warpgrind::exercises
