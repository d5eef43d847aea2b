// compute-sanitizer's command line and reports, for existing scripts: `warpgrind check --tool memcheck`, or warpgrind
// called by the name compute-sanitizer.
#pragma once

#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "base/result.h"
#include "checkers/selection.h"
#include "cli/run_reports.h"
#include "report/sanitizer_text.h"
#include "results/finding.h"

namespace warpgrind::cli {

// The values of --print-level, of rising severity. No finding is fatal: that level prints none.
inline constexpr std::array kPrintLevels = {"info", "warn", "error", "fatal"};
// level: one of kPrintLevels.
bool is_printed(results::Severity severity, const std::string& level);

struct SanitizerOptions {
  std::vector<std::string> tools;  // names of groups; if set, the report has compute-sanitizer's form
  std::string leak_check;          // "full", "no"; empty: as the groups decide
  std::string report_api_errors, stream_ordered_races;  // "no", "all", or a kind
  std::string save;                                     // file for a copy of the report
  bool xml = false;
  std::string prefix = "=========", backtrace = "yes", race_report = "analysis";
  bool strip_paths = true, require_cuda = true;
  // The two `other_` lists name kernels to leave out.
  std::vector<std::string> kernels, kernel_expressions, other_kernels, other_kernel_expressions;
  std::vector<std::string> given;  // options from sanitizer_options.inc, by their first names
};

struct SanitizerOption {
  const char* names;
  bool takes_value;
  bool refused;
  const char* why;
};
const std::vector<SanitizerOption>& options_without_meaning();
std::string first_name(const SanitizerOption& option);

// Warns once about options that have no meaning here. An error for options that are refused or have a wrong value.
Status check_options(const SanitizerOptions& options);
// Turns on the groups of the given tools.
void select_groups(const SanitizerOptions& options, checkers::Selection& selection);
// False: the finding's kernel is excluded, or no given tool reports its kind.
bool wants(const SanitizerOptions& options, const results::Finding& finding);
// Replaces "%p" by the process number and "%q{NAME}" by the environment variable.
std::string expanded_path(const std::string& path);

// Prints the report to `out`, and writes it to the file of --save. `limit`: findings printed; 0: all.
Status print_as_sanitizer(const FinishedRun& run, const SanitizerOptions& options, const std::string& print_level,
                          std::size_t limit, std::FILE* out);

}  // namespace warpgrind::cli
