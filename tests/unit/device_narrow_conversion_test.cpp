// cvt from and to the formats below 8 bits, and ue8m0. Expected: each format as a list of its numbers, as its name
// says, and a search for the nearest.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "ptx_kernel.h"

namespace warpgrind::device {
namespace {

struct Narrow {
  const char* name;
  unsigned exponent_bits, mantissa_bits, stored_bits;
  unsigned sign() const { return 1u << (exponent_bits + mantissa_bits); }
  // The number of a code without its sign.
  double value(unsigned code) const {
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const auto exponent = static_cast<int>(code >> mantissa_bits);
    const double fraction = (code & ((1u << mantissa_bits) - 1)) / static_cast<double>(1u << mantissa_bits);
    return exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, exponent - bias);
  }
  // Nearest code, of two the even one; a NaN gives the largest number (PTX ISA, cvt, .satfinite).
  unsigned nearest(double v, bool relu) const {
    if (std::isnan(v)) return sign() - 1;
    if (relu && std::signbit(v)) return 0;
    unsigned best = 0;
    for (unsigned code = 1; code < sign(); ++code) {
      const double now = std::fabs(value(code) - std::fabs(v)), before = std::fabs(value(best) - std::fabs(v));
      if (now < before || (now == before && code % 2 == 0)) best = code;
    }
    if (std::isinf(v)) best = sign() - 1;
    return best | (std::signbit(v) ? sign() : 0);
  }
};
constexpr Narrow kNarrow[] = {{"e2m1", 2, 1, 4}, {"e2m3", 2, 3, 8}, {"e3m2", 3, 2, 8}};

// Runs `convert` on pairs of words. It reads %f1 and %f2, or %r2, and leaves a word in %r5.
std::vector<std::uint32_t> converted(const std::string& convert, const std::vector<std::uint32_t>& words) {
  Kernel kernel(
      ".reg .b8 %b<2>; mul.wide.u32 %rd2, %r1, 8; add.u64 %rd3, %rd1, %rd2;\n"
      "ld.global.f32 %f1, [%rd3]; ld.global.f32 %f2, [%rd3+4]; ld.global.u32 %r2, [%rd3];\n" +
      convert + "\nst.global.u32 [%rd3], %r5;");
  std::memcpy(kernel.data, words.data(), words.size() * 4);
  const auto threads = static_cast<unsigned>(words.size() / 2);
  kernel.run(threads);
  std::vector<std::uint32_t> out;
  for (unsigned t = 0; t < threads; ++t) out.push_back(kernel.data[2 * t]);
  return out;
}

std::uint32_t word_of(float v) {
  return std::bit_cast<std::uint32_t>(v);
}

// The formats' numbers, the points between them and their neighbours, and values out of range, each with both signs.
std::vector<float> samples(const Narrow& f) {
  std::vector<float> of = {0, 1e-30f, 1e3f, std::numeric_limits<float>::infinity()};
  for (unsigned code = 0; code + 1 < f.sign(); ++code) {
    const auto low = static_cast<float>(f.value(code)), high = static_cast<float>(f.value(code + 1));
    const float middle = (low + high) / 2;
    for (float v : {low, high, middle, std::nextafter(middle, 0.0f), std::nextafter(middle, 100.0f)}) of.push_back(v);
  }
  const std::size_t count = of.size();
  for (std::size_t i = 0; i < count; ++i) of.push_back(-of[i]);
  of.push_back(std::nanf(""));
  of.push_back(-std::nanf(""));
  return of;
}

TEST(NarrowConversion, FromFloatIsTheNearestNumber) {
  for (const Narrow& f : kNarrow)
    for (const bool relu : {false, true}) {
      const std::vector<float> of = samples(f);
      std::vector<std::uint32_t> words;
      for (std::size_t i = 0; i < of.size(); ++i) {
        words.push_back(word_of(of[i]));
        words.push_back(word_of(of[of.size() - 1 - i]));
      }
      const bool byte = f.stored_bits == 4;
      const auto got =
          converted(fmt::format("cvt.rn.satfinite{}.{}x2.f32 {}, %f1, %f2; cvt.u32.{} %r5, {};", relu ? ".relu" : "",
                                f.name, byte ? "%b0" : "%h1", byte ? "u8" : "u16", byte ? "%b0" : "%h1"),
                    words);
      for (std::size_t i = 0; i < of.size(); ++i)
        EXPECT_EQ(got[i], f.nearest(of[i], relu) << f.stored_bits | f.nearest(of[of.size() - 1 - i], relu))
            << f.name << " of " << of[i] << (relu ? ", relu" : "");
    }
}

TEST(NarrowConversion, ToHalfIsTheNumber) {
  for (const Narrow& f : kNarrow) {
    const unsigned codes = 2 * f.sign();
    std::vector<std::uint32_t> words;
    for (unsigned code = 0; code < codes; ++code) {
      words.push_back(code << f.stored_bits | (codes - 1 - code));
      words.push_back(0);
    }
    const bool byte = f.stored_bits == 4;
    const auto got = converted(fmt::format("cvt.{0}.u32 {1}, %r2; cvt.rn.f16x2.{2}x2 %r5, {1};", byte ? "u8" : "u16",
                                           byte ? "%b0" : "%h1", f.name),
                               words);
    const auto number = [&](unsigned code) {
      const auto v = static_cast<float>(f.value(code & (f.sign() - 1)));
      return code & f.sign() ? -v : v;
    };
    for (unsigned code = 0; code < codes; ++code)
      for (const unsigned k : {0u, 1u}) {
        const auto half = std::bit_cast<_Float16>(static_cast<std::uint16_t>(got[code] >> 16 * k));
        const float expected = number(k == 1 ? code : codes - 1 - code);
        EXPECT_EQ(word_of(static_cast<float>(half)), word_of(expected)) << f.name << " " << code;
      }
  }
}

// ue8m0: 2^(code - 127); 255 is a NaN.
TEST(NarrowConversion, ExponentsAreThoseOfTheMagnitude) {
  std::vector<float> of = {0, 0x1p-149f, 0x1p-127f, 0x1.1p-127f, 0x1.fp-127f, 1, 1.25f, 3, 0x1.fffffep127f, 0x1p127f};
  for (int e = -127; e < 128; e += 17) of.push_back(std::ldexp(1.5f, e));
  of.push_back(std::numeric_limits<float>::infinity());
  const std::size_t count = of.size();
  for (std::size_t i = 0; i < count; ++i) of.push_back(-of[i]);
  of.push_back(std::nanf(""));
  of.push_back(1);
  std::vector<std::uint32_t> words;
  for (float v : of) words.insert(words.end(), {word_of(v), word_of(v)});
  for (const bool up : {false, true})
    for (const bool satfinite : {false, true}) {
      const auto got = converted(fmt::format("cvt.{}{}.ue8m0x2.f32 %h1, %f1, %f2; cvt.u32.u16 %r5, %h1;",
                                             up ? "rp" : "rz", satfinite ? ".satfinite" : ""),
                                 words);
      for (std::size_t i = 0; i < of.size(); ++i) {
        const double size = std::fabs(of[i]);
        const auto power = [](unsigned code) { return std::ldexp(1.0, static_cast<int>(code) - 127); };
        unsigned code = 0;  // of the smallest power of two that is not below, or the largest that is not above
        while (code < 255 && (up ? power(code) < size : power(code + 1) <= size)) ++code;
        if (satfinite && code == 255) code = 254;
        if (std::isnan(size)) code = 255;
        EXPECT_EQ(got[i], code << 8 | code) << of[i] << (up ? " up" : " to zero") << (satfinite ? " satfinite" : "");
      }
    }
}

TEST(NarrowConversion, ExponentsToBfloat16) {
  std::vector<std::uint32_t> words;
  for (unsigned code = 0; code < 256; ++code) words.insert(words.end(), {code << 8 | (255 - code), 0});
  const auto got = converted("cvt.u16.u32 %h1, %r2; cvt.rn.bf16x2.ue8m0x2 %r5, %h1;", words);
  const auto number = [](std::uint32_t upper_half) { return std::bit_cast<float>(upper_half << 16); };
  for (unsigned code = 0; code < 256; ++code) {
    const float upper = number(got[code] >> 16), lower = number(got[code] & 0xffff);
    const unsigned below = 255 - code;
    if (code == 255)
      EXPECT_TRUE(std::isnan(upper));
    else
      EXPECT_EQ(upper, std::ldexp(1.0f, static_cast<int>(code) - 127)) << code;
    if (below == 255)
      EXPECT_TRUE(std::isnan(lower));
    else
      EXPECT_EQ(lower, std::ldexp(1.0f, static_cast<int>(below) - 127)) << below;
  }
}

}  // namespace
}  // namespace warpgrind::device
