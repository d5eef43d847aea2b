// Reports of `warpgrind run` from the program's profile, after the program has ended: --source, --expect, --junit,
// --sarif, --report.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "base/result.h"
#include "report/expectations.h"
#include "results/profile.h"

namespace warpgrind::cli {

struct ReportOptions {
  std::vector<std::string> expectations;
  std::vector<std::string> required_kernels;  // patterns of kernels that must run
  std::string junit_path, sarif_path, html_path;
  std::string baseline_path;  // an earlier profile, for the page to compare with
  bool source = false;
  bool needs_profile() const { return needs_counters() || !required_kernels.empty(); }
  bool needs_counters() const {
    return !expectations.empty() || !junit_path.empty() || !sarif_path.empty() || !html_path.empty() || source ||
           !baseline_path.empty();
  }
  bool needs_detail() const { return source || !html_path.empty(); }
};

// Parses the expectations and checks that the files can be written, before the program runs.
Result<std::vector<report::Expectation>> prepare(const ReportOptions& options);

struct FinishedRun {
  bool started = false;
  int exit_code = 0;
  bool no_cuda = false;            // exit_code says only that the program used no CUDA
  std::size_t lost_processes = 0;  // they used CUDA and left no profile
  double seconds = 0;
  std::string program, command;
  std::vector<results::Profile> profiles;  // one per process that used CUDA
  std::vector<std::string> texts;          // the same as JSON, if they were read from files
};

// Prints the reports to `out` and writes their files. Returns the program's exit code if it is not 0, otherwise 1 if an
// expectation does not hold or a required kernel did not run, 2 if a file could not be written.
int write_reports(const ReportOptions& options, const std::vector<report::Expectation>& expectations,
                  const FinishedRun& run, std::FILE* out);

}  // namespace warpgrind::cli
