// What is wrong with an access, for those who say so: check.cpp ends the launch, invalid.cpp tells observers.
#pragma once

#include "device/access/access.h"
#include "device/fault.h"

namespace warpgrind::device {

// In the order that messages name them: the first that holds. neighbour: in memory, but not in what the address was
// made from (Launch::bounds); only where somebody observes invalid accesses.
enum class Problem : std::uint8_t { none, wrong_space, misaligned, outside, neighbour, constant };
inline constexpr unsigned kProblems = 6;

// Of one lane; but for wrong_space, which all have. The range is that of the lane before, and is looked up anew where
// it does not hold the address.
Problem problem_of(const Access& a, unsigned lane, Range& range);
// Atomics work on global and shared memory only.
bool wrong_space(const Access& a);
bool within_bound(const Access& a, std::uint64_t address, std::uint64_t bytes);
FaultText text_of(const Access& a, unsigned lane, Problem problem);

// Somebody observes: the lanes that are not good are published and leave the mask. The launch keeps the fault that it
// would have ended with, and ends only after very many of them.
void suppress(Access& a);
// Published only.
LaneMask report_invalid(const Access& a);

}  // namespace warpgrind::device
