// Reports on a finished run: expectations, JUnit, SARIF and the HTML page.
#include "cli/run_reports.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>

#include "base/file.h"
#include "base/printable.h"
#include "cli/commands.h"
#include "report/diff_json.h"
#include "report/html.h"
#include "report/junit.h"
#include "report/required_kernels.h"
#include "report/sarif.h"
#include "report/source_view.h"
#include "report/terminal.h"
#include "results/json.h"

namespace warpgrind::cli {
namespace {

constexpr int kExpectationFailed = 1;

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  return text;
}

std::string host() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "localhost";
}

report::RunFacts facts(const FinishedRun& run) {
  std::error_code ignored;
  return {WARPGRIND_VERSION, run.program,  run.command,
          utc_now(),         host(),       std::filesystem::current_path(ignored).string(),
          run.seconds,       run.exit_code};
}

// Changes since the baseline. If there are several processes, the first one is compared.
Result<std::string> changes_since(const std::string& path, const FinishedRun& run) {
  if (path.empty() || run.profiles.empty()) return std::string();
  auto before = results::read_profile(path);
  if (!before) return before.error();
  const auto diff = report::compare(*before, run.profiles[0], {});
  if (!diff) return diff.error();
  return report::diff_json(*diff, *before, path);
}

Status write_html(const std::string& path, const FinishedRun& run, const std::string& baseline) {
  report::HtmlInput input{std::filesystem::path(run.program).filename().string(), WARPGRIND_VERSION, run.texts, {}, {}};
  if (input.profiles.empty())
    for (const results::Profile& p : run.profiles) input.profiles.push_back(results::to_json(p));
  auto changes = changes_since(baseline, run);
  if (!changes) return changes.error();
  input.baseline = changes.take();
  auto html = report::html_report(input);
  if (!html) return html.error();
  return write_whole(path, *html);
}

}  // namespace

Result<std::vector<report::Expectation>> prepare(const ReportOptions& options) {
  std::vector<report::Expectation> out;
  for (const std::string& text : options.expectations) {
    auto expectation = report::parse_expectation(text);
    if (!expectation) return expectation.error();
    out.push_back(expectation.take());
  }
  if (!options.html_path.empty())
    if (Status page = report::html_available(); !page) return page.error();
  if (!options.baseline_path.empty()) {
    if (options.html_path.empty())
      return Error{ErrorKind::bad_input, "--baseline needs --report",
                   "`warpgrind diff BEFORE AFTER` compares two profiles in the terminal"};
    if (auto before = results::read_profile(options.baseline_path); !before) return before.error();
  }
  for (const std::string* path : {&options.junit_path, &options.sarif_path, &options.html_path})
    if (Status writable = check_writable(*path); !writable) return writable.error();
  return out;
}

int write_reports(const ReportOptions& options, const std::vector<report::Expectation>& expectations,
                  const FinishedRun& run, std::FILE* out) {
  int code = 0;
  if (options.source)
    for (const results::Profile& p : run.profiles)
      print_text(out, report::source_text_view(p, {.colour = report::wants_colour(out)}, report::terminal_width(out)));
  std::vector<report::ExpectationResult> checked = report::check(expectations, run.profiles);
  for (report::ExpectationResult& r :
       report::check_required_kernels(options.required_kernels, run.profiles, run.lost_processes, expectations.size()))
    checked.push_back(std::move(r));
  if (!checked.empty()) {
    const report::TextOptions text{.colour = report::wants_colour(out)};
    print_text(out, report::expectations_text(checked, text));
    for (const report::ExpectationResult& r : checked)
      if (r.bad()) code = kExpectationFailed;
  }
  const report::RunFacts about = facts(run);
  if (!options.junit_path.empty())
    if (Status s = write_whole(options.junit_path, report::junit_xml(checked, run.profiles, about)); !s) {
      complain(s.error());
      code = kUsageError;
    }
  if (!options.sarif_path.empty())
    if (Status s = write_whole(options.sarif_path, report::sarif_json(checked, run.profiles, about)); !s) {
      complain(s.error());
      code = kUsageError;
    }
  if (!options.html_path.empty())
    if (Status s = write_html(options.html_path, run, options.baseline_path); !s) {
      complain(s.error());
      code = kUsageError;
    }
  const bool says_more = run.no_cuda && code == kExpectationFailed;  // the same, with the kernels that are missing
  return run.exit_code != 0 && !says_more ? run.exit_code : code;
}

}  // namespace warpgrind::cli
