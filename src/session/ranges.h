// The named ranges that the program has open (NVTX): a launch belongs to those open when it is issued.
#pragma once

#include <cstdint>
#include <string>

namespace warpgrind::session {

// Ranges of one host thread. Those of each domain (nullptr: none) nest by themselves: what is popped is the last of its
// domain. The depth after the call, outermost 0; -1 when there was nothing to pop (as nvtxRangePushA and nvtxRangePop
// return).
int push_range(std::string name, const void* domain = nullptr);
int pop_range(const void* domain = nullptr);
// Ranges of the process, which any thread may end, in any order. Never 0.
std::uint64_t start_range(std::string name);
void end_range(std::uint64_t id);

std::string open_ranges();  // of the process first, then outermost first; joined by "/"

}  // namespace warpgrind::session
