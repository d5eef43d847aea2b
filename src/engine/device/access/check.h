// Detection of invalid accesses. check.cpp ends the launch for them, invalid.cpp publishes them.
#pragma once

#include <string>

#include "device/access/access.h"
#include "device/fault.h"

namespace warpgrind::device {

// In order of precedence in messages. neighbour: in valid memory, but outside the object that the address derives from
// (Launch::bounds); only if an observer wants invalid accesses.
// multimem_address: of a multicast object, in an instruction that is not multimem; no_multimem: the reverse, or memory
// of a GPU is missing there. ended: an mbarrier of a block of the cluster that has ended.
enum class Problem : std::uint8_t {
  none,
  wrong_space,
  misaligned,
  outside,
  neighbour,
  constant,
  multimem_address,
  no_multimem,
  ended
};
inline constexpr unsigned kProblems = 9;

// Problem of one lane, except wrong_space, which all lanes share. `range` caches the range of the previous lane, and is
// looked up again if it does not hold the address.
Problem problem_of(const Access& a, unsigned lane, Range& range);
// Asynchronous copies and mbarriers work only on global and shared memory, st.bulk only on shared memory.
bool wrong_space(const Access& a);
bool within_bound(const Access& a, std::uint64_t address, std::uint64_t bytes);
// Why multimem.* cannot use a lane's address; empty: it can.
std::string multimem_reason(const Access& a, unsigned lane);
FaultText text_of(const Access& a, unsigned lane, Problem problem);

// Publishes the invalid lanes and removes them from the mask, if an observer wants them. The launch keeps the fault
// that it would have ended with, and ends only after very many.
void suppress(Access& a);
// Only publishes; returns the invalid lanes.
LaneMask report_invalid(const Access& a);

}  // namespace warpgrind::device
