// Cost of the slow paths of exact divisions, reciprocals and roots: the machine instructions that a warp executes
// because of the operands of its lanes. Source: machine code of ptxas 13.0 for sm_90.
#pragma once

#include <cstdint>
#include <optional>

#include "events/scoreboard.h"
#include "events/site.h"
#include "gpu/types.h"
#include "ptx/ast.h"

namespace warpgrind::jit {

inline constexpr const char* kSlowPath = "wg_slow_path";
inline constexpr const char* kDoubleSlowPath = "wg_double_slow_path";

// Empty: the instruction has no slow path, or not one that is known.
std::optional<events::SlowPath> slow_path_of(const ptx::Instruction& instruction);

// The usual path computes with the operands as they are. It is right for exponents in the middle of their range. These
// conditions are what machine code tests (FCHK, ISETP, FSETP), as: word - first > span (unsigned) sends a lane to the
// slow path. `word`: the number's bits, of a double the upper half. Divisions: see DivisionRange.
struct OperandRange {
  unsigned shift = 0;  // of the word to the left before the test; 1: the sign does not matter
  std::uint32_t first = 0, span = 0;
};
constexpr OperandRange operand_range(events::SlowPath kind) {
  switch (kind) {
    case events::SlowPath::reciprocal:
      return {1, 0x01000000u, 0xfbffffffu};  // exponents 1 to 252
    case events::SlowPath::double_reciprocal:
      return {1, 0x001ff7fcu, 0xff7fffffu};  // 0x000ffbfe to 0x7fcffbfd without the sign
    case events::SlowPath::root:
      return {0, 0x0d000000u, 0x727fffffu};  // 2^-101 to the largest number
    case events::SlowPath::double_root:
      return {0, 0x03500000u, 0x7c9fffffu};
    default:
      return {0, 0x00100000u, 0x7fdfffffu};  // double_inverse_root: normal positive numbers
  }
}

// Of the biased exponents: those of dividend and divisor, and their difference. FCHK looks at nothing else; the double
// routine tests its quotient instead of the difference, which differs at the edges only.
struct DivisionRange {
  struct Of {
    std::int32_t first, last;
  } dividend, divisor, difference;
};
constexpr DivisionRange division_range(bool doubles) {
  if (doubles) return {{56, 2046}, {1, 2039}, {-1021, 1016}};
  return {{25, 254}, {2, 251}, {-124, 126}};
}

// What ptxas knows of a call of a routine for doubles. A routine with one call in the kernel takes its operands where
// they are, and is compiled for a divisor that is a constant.
struct SlowPathCall {
  bool alone = false, constant_divisor = false;
};
// Parameter `kind` of the functions below: events::SlowPath and these.
inline constexpr std::uint32_t kAloneBit = 0x100, kConstantDivisorBit = 0x200;

// Instructions of the warp beyond those of the usual path, for the active lanes' operands (b: only of divisions).
events::SlowPathCounts slow_path_cost(events::SlowPath kind, LaneMask active, const std::uint32_t* a,
                                      const std::uint32_t* b);
events::SlowPathCounts slow_path_cost(events::SlowPath kind, LaneMask active, const std::uint64_t* a,
                                      const std::uint64_t* b, SlowPathCall call = {});

}  // namespace warpgrind::jit

extern "C" {
// Adds the cost to the counters of a site (events::SlowPathCounts, as an array).
void wg_slow_path(std::uint64_t* counters, const std::uint32_t* a, const std::uint32_t* b, std::uint32_t active,
                  std::uint32_t kind);
void wg_double_slow_path(std::uint64_t* counters, const std::uint64_t* a, const std::uint64_t* b, std::uint32_t active,
                         std::uint32_t kind);
}
