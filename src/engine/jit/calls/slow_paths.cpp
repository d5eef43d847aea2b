#include "jit/calls/slow_paths.h"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <span>

#include "base/assert.h"
#include "base/vectors.h"
#include "jit/calls/symbols.h"

namespace warpgrind::jit {
namespace {

using events::SlowPath;
using events::SlowPathCounts;

// A part of a routine: straight code that a warp executes if one of its lanes does. Branches, BSSY, BSYNC, CALL and RET
// are on no counted pipe.
struct RoutinePart {
  std::uint8_t instructions = 0, alu = 0, fma = 0, fp64 = 0, special = 0;
};
// RoutinePart 0 of each routine is the end of the usual path, which stands behind the test of roots and reciprocals and
// is skipped if all lanes go the other way. RoutinePart 1 is the call with the moves of operands and result, and what
// all lanes of the routine execute.
using Parts = std::uint32_t;  // a bit for each part
constexpr Parts kUsual = 1, kCall = 2;

struct Fields {
  bool zero, infinite, nan;
  std::int32_t exponent;  // biased; that of the normalised number for subnormals
  std::uint64_t mantissa;
};

Fields fields_of(std::uint32_t bits) {
  const std::uint32_t size = bits & 0x7fffffffu;
  Fields f{size == 0, size == 0x7f800000u, size > 0x7f800000u, static_cast<std::int32_t>(size >> 23), size & 0x7fffffu};
  if (f.exponent != 0 || f.zero) return f;
  const int up = std::countl_zero(size) - 8;
  f.exponent = 1 - up;
  f.mantissa = size << up & 0x7fffffu;
  return f;
}
Fields fields_of(std::uint64_t bits) {
  const std::uint64_t size = bits & ~(1ull << 63);
  constexpr std::uint64_t kInfinity = 0x7ffull << 52, kMantissa = (1ull << 52) - 1;
  Fields f{size == 0, size == kInfinity, size > kInfinity, static_cast<std::int32_t>(size >> 52), size & kMantissa};
  if (f.exponent != 0 || f.zero) return f;
  const int up = std::countl_zero(size) - 11;
  f.exponent = 1 - up;
  f.mantissa = size << up & kMantissa;
  return f;
}

bool within(std::int32_t value, const DivisionRange::Of& of) {
  return value >= of.first && value <= of.last;
}

template <class Word>
bool divides_usually(Word a, Word b) {
  constexpr bool kDoubles = sizeof(Word) == 8;
  constexpr DivisionRange kRange = division_range(kDoubles);
  constexpr unsigned kMantissa = kDoubles ? 52 : 23, kExponents = kDoubles ? 0x7ff : 0xff;
  const auto first = static_cast<std::int32_t>(a >> kMantissa & kExponents);
  const auto second = static_cast<std::int32_t>(b >> kMantissa & kExponents);
  return within(first, kRange.dividend) && within(second, kRange.divisor) && within(first - second, kRange.difference);
}

bool is_usual(SlowPath kind, std::uint32_t word) {
  const OperandRange range = operand_range(kind);
  return (word << range.shift) - range.first <= range.span;
}

// __cuda_sm3x_div_rn_noftz_f32_slowpath
constexpr RoutinePart kDivisionRoutine[] = {
    {},
    {19, 11, 3},        // 1: exponents, and whether both are of normal numbers
    {4, 3},             // 2: is an operand a NaN?
    {1, 0, 1},          // 3: yes
    {2, 1},             // 4: are both zero?
    {2, 0, 0, 0, 1},    // 5: no number results
    {4, 3},             // 6: are both infinite?
    {3, 2},             // 7: is the dividend zero or the divisor infinite?
    {2, 1},             // 8: yes
    {3, 2},             // 9: is the divisor zero or the dividend infinite?
    {3, 2},             // 10: yes
    {7, 4, 3},          // 11: scales subnormals
    {25, 11, 9, 0, 1},  // 12: divides numbers of 1 to 2
    {1, 1},             // 13: adds the exponent
    {2, 1},             // 14: no normal result
    {3, 2},             // 15: infinity
    {5, 3},             // 16: zero
    {22, 18, 3},        // 17: shifts and rounds a subnormal result
};
// Division of numbers by what the quotient's biased exponent would be.
Parts quotient_parts(std::int32_t exponent) {
  constexpr std::int32_t kLargest = 254, kSmallestShift = -24;
  const Parts parts = 1u << 12;
  if (exponent >= 1 && exponent <= kLargest) return parts | 1u << 13;
  if (exponent > kLargest) return parts | 1u << 14 | 1u << 15;
  return parts | 1u << 14 | 1u << 16 | (exponent >= kSmallestShift ? 1u << 17 : 0);
}
constexpr Parts kZeroDividend = kCall | 1u << 2 | 1u << 4 | 1u << 6 | 1u << 7 | 1u << 8;  // by a normal number
Parts division_parts(std::uint32_t a, std::uint32_t b) {
  if (divides_usually(a, b)) return kUsual;
  const bool normal_divisor = ((b >> 23) - 1 & 0xffu) <= 0xfdu;
  if (a << 1 == 0 && normal_divisor) return kZeroDividend;
  constexpr std::int32_t kBias = 127;
  const bool normal_dividend = ((a >> 23) - 1 & 0xffu) <= 0xfdu;
  if (normal_dividend && normal_divisor) {
    const auto exponent = [](std::uint32_t bits) { return static_cast<std::int32_t>(bits >> 23 & 0xffu); };
    const std::int32_t borrow = (a & 0x7fffffu) < (b & 0x7fffffu) ? 1 : 0;
    return kCall | quotient_parts(exponent(a) - exponent(b) + kBias - borrow);
  }
  const Fields x = fields_of(a), y = fields_of(b);
  Parts parts = kCall | 1u << 2;
  if (x.nan || y.nan) return parts | 1u << 3;
  parts |= 1u << 4;
  if (x.zero && y.zero) return parts | 1u << 5;
  parts |= 1u << 6;
  if (x.infinite && y.infinite) return parts | 1u << 5;
  parts |= 1u << 7;
  if (x.zero || y.infinite) return parts | 1u << 8;
  parts |= 1u << 9;
  if (y.zero || x.infinite) return parts | 1u << 10;
  parts |= 1u << 11;
  return parts | quotient_parts(x.exponent - y.exponent + kBias - (x.mantissa < y.mantissa ? 1 : 0));
}

// __cuda_sm20_div_rn_f64_full
constexpr RoutinePart kDoubleDivisionRoutine[] = {
    {},
    {53, 22, 15, 10, 1},  // 1: scales, and divides
    {11, 7, 2, 1},        // 2: of numbers: scales the result
    {6, 3, 1, 1},         // 3: which is not normal
    {10, 5, 2, 2},        // 4: rounds it
    {2, 0, 0, 1},         // 5: is the dividend a NaN?
    {2, 1, 1},            // 6: yes
    {2, 0, 0, 1},         // 7: is the divisor?
    {3, 1, 1},            // 8: yes
    {4, 1, 2},            // 9: are both zero, or both infinite?
    {8, 4, 3},            // 10: zero or infinity
};
Parts double_division_parts(std::uint64_t a, std::uint64_t b) {
  if (divides_usually(a, b)) return kUsual;
  const bool normal_divisor = ((b >> 52) - 1 & 0x7ffu) <= 0x7fdu;
  if (a << 1 == 0 && normal_divisor) return kCall | 1u << 5 | 1u << 7 | 1u << 9 | 1u << 10;  // the usual case
  const Fields x = fields_of(a), y = fields_of(b);
  const auto special = [](const Fields& f) { return f.zero || f.infinite || f.nan; };
  if (special(x) || special(y)) {
    if (x.nan) return kCall | 1u << 5 | 1u << 6;
    if (y.nan) return kCall | 1u << 5 | 1u << 7 | 1u << 8;
    const bool no_number = (x.zero && y.zero) || (x.infinite && y.infinite);
    return kCall | 1u << 5 | 1u << 7 | 1u << 9 | (no_number ? 0 : 1u << 10);
  }
  constexpr std::int32_t kBias = 1023;
  const std::int32_t exponent = x.exponent - y.exponent + kBias - (x.mantissa < y.mantissa ? 1 : 0);
  return kCall | 1u << 2 | (exponent < 1 ? 1u << 3 | 1u << 4 : 0);
}

// __cuda_sm20_rcp_rn_f32_slowpath
constexpr RoutinePart kReciprocalRoutine[] = {
    {4, 0, 3, 0, 1},
    {14, 5, 3},         // 1: is the exponent zero?
    {10, 1, 6, 0, 2},   // 2: yes: scales
    {3, 2},             // 3: no: is it a number?
    {30, 21, 7, 0, 1},  // 4: yes: shifts and rounds the subnormal result
    {1, 0, 0, 0, 1},    // 5: no
};
Parts reciprocal_parts(std::uint32_t bits) {
  if (is_usual(SlowPath::reciprocal, bits)) return kUsual;
  const std::uint32_t exponent = bits >> 23 & 0xff;
  if (exponent == 0) return kCall | 1u << 2;
  return kCall | 1u << 3 | (exponent < 0xff ? 1u << 4 : 1u << 5);
}

// __cuda_sm20_dblrcp_rn_slowpath_v3
constexpr RoutinePart kDoubleReciprocalRoutine[] = {
    {},
    {16, 5, 5, 1},     // 1: is it a NaN?
    {2, 1, 1},         // 2: yes
    {6, 4, 1},         // 3: no: zero or infinite?
    {2, 1},            // 4: no: is it small?
    {13, 2, 0, 9, 1},  // 5: no
    {10, 0, 1, 7, 1},  // 6: yes
};
Parts double_reciprocal_parts(std::uint64_t bits) {
  if (is_usual(SlowPath::double_reciprocal, static_cast<std::uint32_t>(bits >> 32))) return kUsual;
  const Fields x = fields_of(bits);
  if (x.nan) return kCall | 1u << 2;
  const bool number = !x.zero && !x.infinite;
  return kCall | 1u << 3 | (number ? 1u << 4 | (x.exponent > 1 ? 1u << 5 : 1u << 6) : 0);
}

// __cuda_sm20_sqrt_rn_f32_slowpath
constexpr RoutinePart kRootRoutine[] = {
    {4, 0, 4},        {12, 7, 1},  // 1: is it zero?
    {3, 2},                        // 2: no: is it negative?
    {3, 1, 1},                     // 3: no: is it a NaN?
    {10, 2, 7, 0, 1},              // 4: no: scales, unless it is infinite
};
Parts root_parts(std::uint32_t bits) {
  if (is_usual(SlowPath::root, bits)) return kUsual;
  const Fields x = fields_of(bits);
  if (x.zero) return kCall;
  if (bits >> 31 != 0 && !x.nan) return kCall | 1u << 2;
  return kCall | 1u << 2 | 1u << 3 | (x.nan ? 0 : 1u << 4);
}

// __cuda_sm20_dsqrt_rn_f64_mediumpath_v1
constexpr RoutinePart kDoubleRootRoutine[] = {
    {},
    {17, 7, 5},        // 1: is it a small normal number?
    {8, 4, 0, 3},      // 2: yes
    {2, 0, 0, 1},      // 3: no: is it zero or a NaN?
    {1, 0, 0, 1},      // 4: zero, NaN, infinity
    {4, 2, 1},         // 5: is it negative?
    {2, 1},            // 6: no: is it infinite?
    {16, 3, 2, 9, 1},  // 7: no: scales a subnormal number
};
Parts double_root_parts(std::uint64_t bits) {
  const auto upper = static_cast<std::uint32_t>(bits >> 32);
  if (is_usual(SlowPath::double_root, upper)) return kUsual;
  if (upper - 0x00100000u < 0x03400000u) return kCall | 1u << 2;
  const Fields x = fields_of(bits);
  if (x.zero || x.nan) return kCall | 1u << 3 | 1u << 4;
  if (upper >> 31 != 0) return kCall | 1u << 3 | 1u << 5;
  return kCall | 1u << 3 | 1u << 5 | 1u << 6 | (x.infinite ? 1u << 4 : 1u << 7);
}

// __cuda_sm20_drsqrt_f64_slowpath_v2
constexpr RoutinePart kDoubleInverseRootRoutine[] = {
    {},
    {12, 4, 2, 1},     // 1: is it zero?
    {2, 2},            // 2: yes
    {2, 0, 0, 1},      // 3: no: is it a NaN?
    {2, 0, 0, 1},      // 4: yes
    {4, 2, 1},         // 5: no: is it negative?
    {3, 1, 0, 1},      // 6: no: is it infinite?
    {12, 1, 2, 7, 1},  // 7: no: scales a subnormal number
};
Parts double_inverse_root_parts(std::uint64_t bits) {
  const auto upper = static_cast<std::uint32_t>(bits >> 32);
  if (is_usual(SlowPath::double_inverse_root, upper)) return kUsual;
  const Fields x = fields_of(bits);
  if (x.zero) return kCall | 1u << 2;
  if (x.nan) return kCall | 1u << 3 | 1u << 4;
  if (upper >> 31 != 0) return kCall | 1u << 3 | 1u << 5;
  return kCall | 1u << 3 | 1u << 5 | 1u << 6 | (x.infinite ? 0 : 1u << 7);
}

// Instructions of the parts together.
constexpr unsigned instructions_of(std::span<const RoutinePart> routine, Parts parts) {
  unsigned sum = 0;
  for (Parts p = parts & ~kUsual; p != 0; p &= p - 1)
    sum += routine[static_cast<unsigned>(std::countr_zero(p))].instructions;
  return sum;
}

// Ways of the lanes through a routine.
class Ways {
 public:
  explicit Ways(std::span<const RoutinePart> routine) : routine_(routine) {}
  void add(Parts parts, unsigned lanes) {
    if (lanes == 0) return;
    all_ |= parts;
    if (parts == kUsual) return;
    lanes_ += lanes;
    thread_instructions_ += std::uint64_t{lanes} * instructions_of(routine_, parts);
  }
  // Neighbours mostly go the same way.
  template <class Word, class PartsOf>
  void add_lanes(LaneMask active, const Word* a, const Word* b, PartsOf parts_of) {
    Parts last = kUsual;
    unsigned run = 0;
    for (LaneMask left = active; left != 0; left &= left - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(left));
      const Parts parts = parts_of(a[lane], b[lane]);
      if (parts != last) add(last, run), last = parts, run = 0;
      ++run;
    }
    add(last, run);
  }
  SlowPathCounts cost(const RoutinePart& spared) const;

 private:
  std::span<const RoutinePart> routine_;
  Parts all_ = 0;
  std::uint64_t lanes_ = 0, thread_instructions_ = 0;  // lanes that call the routine
};

SlowPathCounts Ways::cost(const RoutinePart& spared) const {
  SlowPathCounts sum;
  if ((all_ & ~kUsual) == 0) return sum;
  sum.warps = 1;
  sum.thread_instructions = thread_instructions_;
  for (Parts p = all_ & ~kUsual; p != 0; p &= p - 1) {
    const auto at = static_cast<unsigned>(std::countr_zero(p));
    WG_DEBUG_ASSERT(at < routine_.size());
    const RoutinePart& part = routine_[at];
    sum.instructions += part.instructions;
    sum.alu += part.alu;
    sum.fma += part.fma;
    sum.fp64 += part.fp64;
    sum.special += part.special;
  }
  // The end of the usual path: fewer instructions than the call, though not on each pipe.
  const RoutinePart& end = routine_[0];
  const auto less = [](std::uint64_t& from, std::uint64_t by) { from -= std::min(from, by); };
  const auto spare = [&](const RoutinePart& part) {
    less(sum.instructions, part.instructions);
    less(sum.alu, part.alu);
    less(sum.fma, part.fma);
    less(sum.fp64, part.fp64);
    less(sum.special, part.special);
  };
  less(sum.thread_instructions, lanes_ * (end.instructions + spared.instructions));
  spare(spared);
  if ((all_ & kUsual) == 0) spare(end);
  return sum;
}

template <class Word, class PartsOf>
SlowPathCounts cost(std::span<const RoutinePart> routine, LaneMask active, const Word* a, const Word* b,
                    PartsOf parts_of, const RoutinePart& spared = {}) {
  Ways ways(routine);
  ways.add_lanes(active, a, b, parts_of);
  return ways.cost(spared);
}

// Sorts eight lanes at once: usual ones, and zeros by a normal number, for which most calls are made (a velocity of
// zero in Rodinia's cfd: a seventh of its time).
SlowPathCounts division_cost(LaneMask active, const std::uint32_t* a, const std::uint32_t* b) {
  constexpr DivisionRange kRange = division_range(false);
  LaneMask usual = 0, zero = 0;
  for (unsigned first = 0; first < kWarpSize; first += avx2::kWidth) {
    const auto x = avx2::loaded<avx2::Ints>(a + first), y = avx2::loaded<avx2::Ints>(b + first);
    const avx2::Ints dividend = x >> 23 & 255, divisor = y >> 23 & 255, difference = dividend - divisor;
    const auto in = [](avx2::Ints v, const DivisionRange::Of& of) { return (v >= of.first) & (v <= of.last); };
    const avx2::Ints is_usual =
        in(dividend, kRange.dividend) & in(divisor, kRange.divisor) & in(difference, kRange.difference);
    const avx2::Ints is_zero = ((x & INT32_MAX) == 0) & (divisor > 0) & (divisor < 255);
    usual |= avx2::signs(is_usual) << first;
    zero |= avx2::signs(is_zero) << first;
  }
  Ways ways(kDivisionRoutine);
  ways.add(kUsual, static_cast<unsigned>(std::popcount(active & usual)));
  ways.add(kZeroDividend, static_cast<unsigned>(std::popcount(active & zero)));
  ways.add_lanes(active & ~(usual | zero), a, b, division_parts);
  return ways.cost({});
}

template <class Word>
auto of_one(Parts (*parts_of)(Word)) {
  return [=](Word a, Word) { return parts_of(a); };
}

void add_to(std::uint64_t* counters, const SlowPathCounts& more) {
  const std::uint64_t list[] = {more.warps, more.instructions, more.thread_instructions, more.alu, more.fma,
                                more.fp64,  more.special};
  static_assert(std::size(list) == events::SlowPathFacts::kCounters);
  for (std::size_t n = 0; n < std::size(list); ++n) counters[n] += list[n];
}

}  // namespace

std::optional<SlowPath> slow_path_of(const ptx::Instruction& i) {
  const bool twice = i.type() == ptx::ScalarType::f64;
  if (!twice && i.type() != ptx::ScalarType::f32) return std::nullopt;
  const auto kind = [&](SlowPath single, SlowPath doubles) {
    return i.has(ptx::Modifier::rn) ? std::optional(twice ? doubles : single) : std::nullopt;
  };
  switch (i.opcode) {
    case ptx::Opcode::div:
      return kind(SlowPath::division, SlowPath::double_division);
    case ptx::Opcode::rcp:
      return kind(SlowPath::reciprocal, SlowPath::double_reciprocal);
    case ptx::Opcode::sqrt:
      return kind(SlowPath::root, SlowPath::double_root);
    case ptx::Opcode::rsqrt:
      return twice && !i.has(ptx::Modifier::ftz) ? std::optional(SlowPath::double_inverse_root) : std::nullopt;
    default:
      return std::nullopt;
  }
}

SlowPathCounts slow_path_cost(SlowPath kind, LaneMask active, const std::uint32_t* a, const std::uint32_t* b) {
  switch (kind) {
    case SlowPath::division:
      return division_cost(active, a, b);
    case SlowPath::reciprocal:
      return cost(std::span(kReciprocalRoutine), active, a, a, of_one(reciprocal_parts));
    case SlowPath::root:
      return cost(std::span(kRootRoutine), active, a, a, of_one(root_parts));
    default:
      WG_ASSERT(false);
      return {};
  }
}

SlowPathCounts slow_path_cost(SlowPath kind, LaneMask active, const std::uint64_t* a, const std::uint64_t* b,
                              SlowPathCall call) {
  // Moves of operands and result, and what is done to the divisor.
  constexpr RoutinePart kNone = {}, kSixMoves = {6, 1, 5}, kFourMoves = {4, 1, 3}, kDivisor = {16, 9, 5, 2};
  const auto if_alone = [&](const RoutinePart& moves) { return call.alone ? moves : kNone; };
  switch (kind) {
    case SlowPath::double_division:
      return cost(std::span(kDoubleDivisionRoutine), active, a, b, double_division_parts,
                  call.constant_divisor ? if_alone(kDivisor) : if_alone(kSixMoves));
    case SlowPath::double_reciprocal:
      return cost(std::span(kDoubleReciprocalRoutine), active, a, a, of_one(double_reciprocal_parts),
                  if_alone(kFourMoves));
    case SlowPath::double_root:
      return cost(std::span(kDoubleRootRoutine), active, a, a, of_one(double_root_parts), if_alone(kSixMoves));
    case SlowPath::double_inverse_root:
      return cost(std::span(kDoubleInverseRootRoutine), active, a, a, of_one(double_inverse_root_parts));
    default:
      WG_ASSERT(false);
      return {};
  }
}

void register_slow_path_symbols() {
  static const CallSymbol symbols[] = {
      {kSlowPath, reinterpret_cast<void*>(&wg_slow_path)},
      {kDoubleSlowPath, reinterpret_cast<void*>(&wg_double_slow_path)},
  };
  register_call_symbols(symbols);
}

}  // namespace warpgrind::jit

extern "C" void wg_slow_path(std::uint64_t* counters, const std::uint32_t* a, const std::uint32_t* b,
                             std::uint32_t active, std::uint32_t kind) {
  using namespace warpgrind;
  jit::add_to(counters, jit::slow_path_cost(static_cast<events::SlowPath>(kind & 0xff), active, a, b));
}
extern "C" void wg_double_slow_path(std::uint64_t* counters, const std::uint64_t* a, const std::uint64_t* b,
                                    std::uint32_t active, std::uint32_t kind) {
  using namespace warpgrind;
  const jit::SlowPathCall call{(kind & jit::kAloneBit) != 0, (kind & jit::kConstantDivisorBit) != 0};
  jit::add_to(counters, jit::slow_path_cost(static_cast<events::SlowPath>(kind & 0xff), active, a, b, call));
}
