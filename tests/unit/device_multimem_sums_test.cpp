// Sums of multimem.ld_reduce in small formats: rounding after each GPU's value, or once at the end. The expected bits
// are worked out by hand from the formats.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

#include "device/calls/sum_of_parts.h"

namespace warpgrind::device {
namespace {

using jit::Accumulation;
using jit::AtomicOperation;
using ptx::ScalarType;

// Reduces the values of several GPUs, given as the bits of one element.
std::uint32_t reduce(ScalarType type, AtomicOperation operation, Accumulation accumulation,
                     const std::vector<std::uint32_t>& values) {
  jit::MultimemCall call;
  call.kind = jit::MultimemKind::load_reduce;
  call.type = type;
  call.operation = operation;
  call.accumulation = accumulation;
  SumOfParts sum(call);
  std::array<std::uint8_t, 4> into{}, from{};
  std::memcpy(into.data(), &values[0], 4);
  sum.begin(0, into.data());
  for (std::size_t k = 1; k < values.size(); ++k) {
    std::memcpy(from.data(), &values[k], 4);
    sum.add(0, into.data(), from.data());
  }
  std::uint32_t out = 0;
  std::memcpy(&out, into.data(), 4);
  return out;
}

constexpr AtomicOperation kAdd = AtomicOperation::add, kMin = AtomicOperation::min, kMax = AtomicOperation::max;
constexpr Accumulation kSame = Accumulation::same, kHalf = Accumulation::f16, kSingle = Accumulation::f32;

// 2048 + 1 + 1 + 1: an f16 has 11 bits, so that each 1 is lost (a tie goes to the even 2048); f32 keeps them: 2051
// rounds to 2052.
TEST(MultimemSums, OfHalvesRoundInTheirPrecision) {
  EXPECT_EQ(reduce(ScalarType::f16x2, kAdd, kSame, {0x68006800, 0x3c003c00, 0x3c003c00, 0x3c003c00}), 0x68006800u);
  EXPECT_EQ(reduce(ScalarType::f16x2, kAdd, kSingle, {0x68006800, 0x3c003c00, 0x3c003c00, 0x3c003c00}), 0x68026802u);
  // bf16 has 8 bits: 256 + 1 + 1 + 1 is 256, or 259, which rounds to 260.
  EXPECT_EQ(reduce(ScalarType::bf16x2, kAdd, kSame, {0x43804380, 0x3f803f80, 0x3f803f80, 0x3f803f80}), 0x43804380u);
  EXPECT_EQ(reduce(ScalarType::bf16x2, kAdd, kSingle, {0x43804380, 0x3f803f80, 0x3f803f80, 0x3f803f80}), 0x43824382u);
}

// e4m3: 0x38 is 1, 0x58 is 16 (4 bits: the next number is 18); e5m2: 0x3c is 1, 0x48 is 8 (3 bits: the next is 10).
TEST(MultimemSums, OfEightBitsRoundInTheirPrecision) {
  EXPECT_EQ(reduce(ScalarType::e4m3x4, kAdd, kSame, {0x58583838, 0x38383838, 0x38383838, 0x38383838}), 0x58584848u);
  EXPECT_EQ(reduce(ScalarType::e4m3x4, kAdd, kHalf, {0x58583838, 0x38383838, 0x38383838, 0x38383838}), 0x5a5a4848u);
  EXPECT_EQ(reduce(ScalarType::e5m2x4, kAdd, kSame, {0x48483c3c, 0x3c3c3c3c, 0x3c3c3c3c, 0x3c3c3c3c}), 0x48484444u);
  EXPECT_EQ(reduce(ScalarType::e5m2x4, kAdd, kHalf, {0x48483c3c, 0x3c3c3c3c, 0x3c3c3c3c, 0x3c3c3c3c}), 0x4a4a4444u);
}

TEST(MultimemSums, ExtremesTakeNumbersBeforeNaN) {
  EXPECT_EQ(reduce(ScalarType::f16x2, kMin, kSame, {0x7e003c00, 0xbc004000}), 0xbc003c00u);
  EXPECT_EQ(reduce(ScalarType::f16x2, kMax, kSame, {0x3c008000, 0x7e000000}), 0x3c000000u);
  EXPECT_EQ(reduce(ScalarType::e4m3x4, kMin, kSame, {0x38b87f40, 0x40384038}), 0x38b84038u);
  EXPECT_EQ(reduce(ScalarType::e4m3x4, kMax, kSame, {0x38b87f40, 0x40384038}), 0x40384040u);
}

}  // namespace
}  // namespace warpgrind::device
