// Findings in the text format of compute-sanitizer 2025.3, for scripts that read it. Addresses are artificial, so that
// they are the same in each run: each object has its own 4 GiB, in the order of creation. The number after "+" in a
// place is 16 times the PTX line; compute-sanitizer has an offset in machine code there.
#pragma once

#include <cstdint>
#include <string>

#include "results/finding.h"

namespace warpgrind::report {

struct SanitizerForm {
  std::string prefix = "=========";
  bool hazards = false, analysis = true;  // for races: print the example hazard; print the pair of lines
  bool device_frames = true, host_frames = true;
  bool whole_paths = false;
};

// Parts of an access as compute-sanitizer prints them: "__global__", and the artificial address.
std::string sanitizer_space(const results::Finding& finding);
std::uint64_t sanitizer_address(const results::FindingAccess& access);
const char* sanitizer_level(const results::Finding& finding);           // "Error"
const char* sanitizer_direction(const results::FindingAccess& access);  // "Read"; an atomic is a "Write"
const char* sanitizer_hazard(const results::Finding& race);             // "WAR"
std::string sanitizer_call(const results::FindingAccess& access);       // "cudaLaunchKernel"
// "Invalid __global__ write of size 4 bytes"
std::string sanitizer_headline(const results::Finding& finding);
bool is_race(const results::Finding& finding);
bool is_leak(const results::Finding& finding);
bool is_leak_of_memory(const results::Finding& finding);  // of bytes: not a stream, an event or a graph
// The whole finding, with an empty line at the end.
std::string sanitizer_text(const results::Finding& finding, const SanitizerForm& form);

// Counts of all findings, including those that the print limit left out.
struct SanitizerCounts {
  std::size_t errors = 0;  // all findings except races
  std::size_t hazard_errors = 0, hazard_warnings = 0;
  std::size_t leaks = 0, leaked_bytes = 0;  // allocations
  std::size_t not_printed = 0;
  void add(const results::Finding& finding);
};
struct SanitizerSummaries {
  bool errors = true, races = false, leaks = false;  // final lines of the selected tools
};
std::string sanitizer_summary(const SanitizerCounts& counts, const SanitizerSummaries& which,
                              const SanitizerForm& form);

}  // namespace warpgrind::report
