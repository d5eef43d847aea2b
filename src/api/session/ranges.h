// Named ranges (NVTX) that the program has open. A launch belongs to the ranges that are open when it is issued.
#pragma once

#include <cstdint>
#include <string>

namespace warpgrind::session {

// Ranges of one host thread. The ranges of each domain (nullptr: no domain) nest separately: pop_range() ends the last
// one of its domain. Both return the level of the range, outermost 0, or -1 if there was nothing to pop (as
// nvtxRangePushA and nvtxRangePop do).
int push_range(std::string name, const void* domain = nullptr);
int pop_range(const void* domain = nullptr);
// Ranges of the process. Any thread may end them, in any order. The id is never 0.
std::uint64_t start_range(std::string name);
void end_range(std::uint64_t id);

std::string open_ranges();  // those of the process first, then the thread's, outermost first; joined by "/"

}  // namespace warpgrind::session
