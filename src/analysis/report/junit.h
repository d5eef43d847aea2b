// JUnit XML of expectations and findings, which CI systems show as tests. Valid against the schemas of Jenkins (xunit
// plugin) and of Ant's JUnit reports.
#pragma once

#include <string>
#include <vector>

#include "report/expectations.h"
#include "results/profile.h"

namespace warpgrind::report {

struct RunFacts {
  std::string version;    // of warpgrind
  std::string program;    // as given by the user
  std::string command;    // with its arguments
  std::string timestamp;  // UTC, "2026-01-31T12:00:00"
  std::string hostname;
  std::string directory;  // working directory of the run: paths below it are written relative to it
  double seconds = 0;     // wall clock of the run
  int exit_code = 0;      // of the program
};

// One suite for the expectations (a test for each kernel), and one for the findings (a failure for each; "no findings"
// passes).
std::string junit_xml(const std::vector<ExpectationResult>& expectations, const std::vector<results::Profile>& profiles,
                      const RunFacts& run);

}  // namespace warpgrind::report
