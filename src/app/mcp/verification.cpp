// Whether the results of a run were verified.
#include "mcp/verification.h"

#include <fmt/format.h>

#include "base/words.h"
#include "results/finding.h"

namespace warpgrind::mcp {

bool no_kernel_ran(const ProgramRun& run) {
  return run.profile ? run.profile->kernels.empty() : run.ended_well;
}

std::vector<std::string> faults_of(const ProgramRun& run) {
  constexpr std::size_t kMost = 4;
  std::vector<std::string> out;
  if (!run.profile) return out;
  for (const results::Finding& f : run.profile->findings)
    if (f.severity == results::Severity::error && out.size() < kMost)
      out.push_back(fmt::format("{}: {}{}", f.kind, f.message,
                                f.line != 0 ? fmt::format(" ({}:{})", base_name(f.file), f.line) : ""));
  return out;
}

Verification verify(const Program& program, const ProgramRun& run, const std::string& wanted) {
  if (program.blocks != 0)
    return {false, fmt::format(
                       "NOT VERIFIED: only about {} blocks of each launch ran, so the program's results are not valid; "
                       "its counts and times are scaled to all blocks.",
                       program.blocks)};
  if (!run.ended_well) return {false, fmt::format("The program FAILED: {}.", run.end)};
  if (wanted.empty())
    return {false,
            "Results are NOT VERIFIED: warpgrind does not know what the program should compute, and exit code 0 proves "
            "nothing. Let the program compare with a reference and print the outcome, and give it as `expect_output`."};
  if (run.output.find(wanted) == std::string::npos)
    return {false, "NOT VERIFIED: the output does not contain `expect_output`."};
  if (no_kernel_ran(run)) return {false, "NOT VERIFIED: the output contains `expect_output`, but no kernel ran."};
  if (!faults_of(run).empty())
    return {
        false,
        "NOT VERIFIED: the output contains `expect_output`, but a kernel or a call failed, or `check` found errors."};
  return {
      true,
      "VERIFIED as far as the program's own test goes: the output contains `expect_output`, and the exit code is 0."};
}

}  // namespace warpgrind::mcp
