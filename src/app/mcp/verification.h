// Whether the results of a run were verified, and by what. warpgrind does not know what a program should compute.
#pragma once

#include <string>
#include <vector>

#include "mcp/program.h"

namespace warpgrind::mcp {

struct Verification {
  bool verified = false;
  std::string text;
};

// `wanted`: text that the output must contain; empty: none.
Verification verify(const Program& program, const ProgramRun& run, const std::string& wanted);

// No kernel was launched, or every launch failed; false if a killed program left no counts.
bool no_kernel_ran(const ProgramRun& run);
// Errors of kernels and calls that the run has noticed: with `check` all findings of this severity.
std::vector<std::string> faults_of(const ProgramRun& run);

}  // namespace warpgrind::mcp
