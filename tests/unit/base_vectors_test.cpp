// Operations of base/vectors.h against loops over lanes, with each kind of vectors of the machine.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <random>

#include "base/vectors.h"

namespace warpgrind {
namespace {

// One vector of AVX-512 or two of AVX2. Operations within quarters are the same for both.
constexpr unsigned kLanes = 16;
using Lanes = std::array<std::uint32_t, kLanes>;

struct Input {
  alignas(64) Lanes a, b;
  alignas(64) std::array<Lanes, 4> rows;
  std::array<std::uint8_t, 256> data;  // loaded at the offsets that the low bits of `a` give
};
struct Output {
  alignas(64) std::array<Lanes, 4> words;
};

using Run = void (*)(const Input& in, unsigned first, Output& out);
struct Operation {
  Run avx2, avx512;
};

// Defines an operation on the lanes from `f` on: statements that read `in` and write to `out`.
#define WG_OPERATION(name, ...)                                                            \
  namespace name##_operation {                                                             \
    void run_avx2([[maybe_unused]] const Input& in, unsigned f, Output& out) {             \
      using namespace avx2;                                                                \
      __VA_ARGS__                                                                          \
    }                                                                                      \
    WG_AVX512 void run_avx512([[maybe_unused]] const Input& in, unsigned f, Output& out) { \
      using namespace avx512;                                                              \
      __VA_ARGS__                                                                          \
    }                                                                                      \
  }                                                                                        \
  constexpr Operation name{name##_operation::run_avx2, name##_operation::run_avx512};
#define WG_A(V) loaded<V>(&in.a[f])
#define WG_B(V) loaded<V>(&in.b[f])
#define WG_OUT &out.words[0][f]

Input random_input(std::mt19937& random) {
  Input in;
  const auto fill = [&](Lanes& lanes) {
    for (std::uint32_t& x : lanes) {
      const std::uint32_t interesting[] = {0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0x80008000, 0xff80ff80};
      x = random() % 4 == 0 ? interesting[random() % std::size(interesting)] : static_cast<std::uint32_t>(random());
    }
  };
  fill(in.a);
  fill(in.b);
  for (Lanes& row : in.rows) fill(row);
  for (std::uint8_t& byte : in.data) byte = static_cast<std::uint8_t>(random());
  if (random() % 4 == 0) in.b[random() % kLanes] = in.a[random() % kLanes];
  return in;
}

// Runs the operation on random input, which `prepare` may change, and compares `count` results of each lane.
void check(
    const Operation& operation, const std::function<void(const Input&, Output&)>& expect, unsigned count = 1,
    const std::function<void(Input&)>& prepare = [](Input&) {}) {
  std::mt19937 random(11);
  for (unsigned turn = 0; turn < 500; ++turn) {
    Input in = random_input(random);
    prepare(in);
    Output expected{}, narrow{}, wide{};
    expect(in, expected);
    for (unsigned f = 0; f < kLanes; f += avx2::kWidth) operation.avx2(in, f, narrow);
    if (kHaveAvx512) operation.avx512(in, 0, wide);
    for (unsigned k = 0; k < count; ++k) {
      ASSERT_EQ(narrow.words[k], expected.words[k]) << "AVX2, turn " << turn << ", result " << k;
      if (kHaveAvx512) ASSERT_EQ(wide.words[k], expected.words[k]) << "AVX-512, turn " << turn << ", result " << k;
    }
  }
}

void check_lanes(
    const Operation& operation, const std::function<std::uint32_t(std::uint32_t, std::uint32_t)>& lane,
    const std::function<void(Input&)>& prepare = [](Input&) {}) {
  const auto expect = [&](const Input& in, Output& out) {
    for (unsigned l = 0; l < kLanes; ++l) out.words[0][l] = lane(in.a[l], in.b[l]);
  };
  check(operation, expect, 1, prepare);
}

std::int32_t number(std::uint32_t x) {
  return static_cast<std::int32_t>(x);
}
std::uint32_t bits_of(float x) {
  return std::bit_cast<std::uint32_t>(x);
}
float real(std::uint32_t x) {
  return std::bit_cast<float>(x);
}
std::uint32_t byte_of(std::uint32_t x, unsigned b) {
  return x >> 8 * b & 255;
}
// Floating-point numbers of moderate size, some of them whole.
void make_reals(Input& in) {
  for (Lanes* lanes : {&in.a, &in.b})
    for (std::uint32_t& x : *lanes) {
      const float f = static_cast<float>(number(x)) * 0x1p-12f;
      x = bits_of(x % 5 == 0 ? std::floor(f) : f);
    }
}

WG_OPERATION(least_number, store(least(WG_A(Ints), WG_B(Ints)), WG_OUT);)
WG_OPERATION(least_word, store(least(WG_A(Words), WG_B(Words)), WG_OUT);)
WG_OPERATION(greatest_number, store(greatest(WG_A(Ints), WG_B(Ints)), WG_OUT);)
WG_OPERATION(greatest_word, store(greatest(WG_A(Words), WG_B(Words)), WG_OUT);)

TEST(Vectors, LeastAndGreatest) {
  check_lanes(least_number, [](auto a, auto b) { return number(a) < number(b) ? a : b; });
  check_lanes(greatest_number, [](auto a, auto b) { return number(a) > number(b) ? a : b; });
  check_lanes(least_word, [](auto a, auto b) { return std::min(a, b); });
  check_lanes(greatest_word, [](auto a, auto b) { return std::max(a, b); });
}

WG_OPERATION(all_equal, store(all(in.a[0]), &out.words[0][f]); store(all(number(in.a[0])), &out.words[1][f]);
             store(repeated(1, -2, 3, number(in.a[1])), &out.words[2][f]);)
WG_OPERATION(zero_choice, store(where_zero(WG_A(Words), WG_B(Words)), &out.words[0][f]);
             store(where_not_zero(WG_A(Words), WG_B(Words)), &out.words[1][f]);)

TEST(Vectors, ConstantsAndChoices) {
  check(
      all_equal,
      [](const Input& in, Output& out) {
        out.words[0].fill(in.a[0]);
        out.words[1].fill(in.a[0]);
        for (unsigned l = 0; l < kLanes; ++l) out.words[2][l] = std::array<std::uint32_t, 4>{1, ~1u, 3, in.a[1]}[l % 4];
      },
      3);
  check(
      zero_choice,
      [](const Input& in, Output& out) {
        for (unsigned l = 0; l < kLanes; ++l) out.words[in.a[l] == 0 ? 0 : 1][l] = in.b[l];
      },
      2);
}

WG_OPERATION(shifted_word, store(shifted_up(WG_B(Words), WG_A(Words)), WG_OUT);)
WG_OPERATION(bit_at, store(bit(WG_A(Ints)), WG_OUT);)
WG_OPERATION(long_bit_at, store(bit(loaded<Longs>(&in.a[f])), WG_OUT);)
WG_OPERATION(bit_count, store(bits(WG_A(Ints)), WG_OUT);)
WG_OPERATION(byte_bit_counts, store(bits_of_bytes(WG_A(Words)), WG_OUT);)
WG_OPERATION(byte_sums, store(sums_of_bytes(WG_A(Words)), WG_OUT);)

TEST(Vectors, Bits) {
  const auto near_the_ends = [](Input& in) {
    for (unsigned l = 0; l < kLanes; ++l) in.a[l] = in.a[l] % 80 - 24;
  };
  check_lanes(
      shifted_word, [](auto a, auto b) { return a < 32 ? b << a : 0; }, near_the_ends);
  check_lanes(
      bit_at, [](auto a, auto) { return a < 32 ? 1u << a : 0; }, near_the_ends);
  const auto expect_long = [](const Input& in, Output& out) {
    for (unsigned l = 0; l < kLanes; l += 2)
      if (in.a[l + 1] == 0 && in.a[l] < 64) out.words[0][l + in.a[l] / 32] = 1u << in.a[l] % 32;
  };
  check(long_bit_at, expect_long, 1, [](Input& in) {
    for (unsigned l = 0; l < kLanes; ++l) in.a[l] = l % 2 == 0 ? in.a[l] % 80 : in.a[l] % 8 == 0;
  });
  check_lanes(bit_count, [](auto a, auto) { return static_cast<std::uint32_t>(std::popcount(a)); });
  check_lanes(byte_bit_counts, [](auto a, auto) {
    std::uint32_t counts = 0;
    for (unsigned b = 0; b < 4; ++b) counts |= static_cast<std::uint32_t>(std::popcount(byte_of(a, b))) << 8 * b;
    return counts;
  });
  const auto small_bytes = [](Input& in) {
    for (std::uint32_t& x : in.a) x &= 0x7f7f7f7f;
  };
  check_lanes(
      byte_sums, [](auto a, auto) { return byte_of(a, 0) + byte_of(a, 1) + byte_of(a, 2) + byte_of(a, 3); },
      small_bytes);
}

WG_OPERATION(sign_mask, out.words[0][f] = signs(WG_A(Ints));)
WG_OPERATION(lanes_of_mask, store(lanes_of(in.a[0] >> f), WG_OUT);)

TEST(Vectors, Masks) {
  check(lanes_of_mask, [](const Input& in, Output& out) {
    for (unsigned l = 0; l < kLanes; ++l) out.words[0][l] = (in.a[0] >> l & 1) != 0 ? ~0u : 0;
  });
  std::mt19937 random(3);
  for (unsigned turn = 0; turn < 100; ++turn) {
    const Input in = random_input(random);
    std::uint32_t expected = 0;
    for (unsigned l = 0; l < kLanes; ++l) expected |= in.a[l] >> 31 << l;
    Output out{};
    sign_mask.avx2(in, 0, out);
    sign_mask.avx2(in, avx2::kWidth, out);
    ASSERT_EQ(out.words[0][0] | out.words[0][avx2::kWidth] << avx2::kWidth, expected);
    if (!kHaveAvx512) continue;
    sign_mask.avx512(in, 0, out);
    ASSERT_EQ(out.words[0][0], expected);
  }
}

WG_OPERATION(swapped_lanes, store(swapped<1>(WG_A(Ints)), &out.words[0][f]);
             store(swapped<2>(WG_A(Ints)), &out.words[1][f]); store(swapped<4>(WG_A(Ints)), &out.words[2][f]);)
WG_OPERATION(shuffled, store(shuffled_bytes(WG_A(Ints), WG_B(Ints)), WG_OUT);)
WG_OPERATION(pairs_and_halves, store(low_pairs(WG_A(Ints), WG_B(Ints)), &out.words[0][f]);
             store(high_pairs(WG_A(Ints), WG_B(Ints)), &out.words[1][f]);
             store(low_halves(WG_A(Ints), WG_B(Ints)), &out.words[2][f]);
             store(high_halves(WG_A(Ints), WG_B(Ints)), &out.words[3][f]);)
WG_OPERATION(even_and_odd, store(even_words(WG_A(Ints), WG_B(Ints)), &out.words[0][f]);
             store(odd_words(WG_A(Ints), WG_B(Ints)), &out.words[1][f]);)
WG_OPERATION(transposed, Ints row[4], column[4]; for (unsigned k = 0; k < 4; ++k) row[k] = loaded<Ints>(&in.rows[k][f]);
             transpose(row, column); for (unsigned k = 0; k < 4; ++k) store(column[k], &out.words[k][f]);)
WG_OPERATION(joined_quarters, Quarter of[kQuarters];
             for (unsigned q = 0; q < kQuarters; ++q) of[q] = loaded<Quarter>(&in.a[f + 4 * q]);
             store(joined(of), WG_OUT);)

TEST(Vectors, OrderOfLanes) {
  check(
      swapped_lanes,
      [](const Input& in, Output& out) {
        for (unsigned k = 0; k < 3; ++k)
          for (unsigned l = 0; l < kLanes; ++l) out.words[k][l] = in.a[l ^ 1u << k];
      },
      3);
  const auto expect_shuffled = [](const Input& in, Output& out) {
    for (unsigned l = 0; l < kLanes; ++l)
      for (unsigned b = 0; b < 4; ++b) {
        const std::uint32_t from = byte_of(in.b[l], b);
        out.words[0][l] |= byte_of(in.a[l / 4 * 4 + from / 4], from % 4) << 8 * b;
      }
  };
  check(shuffled, expect_shuffled, 1, [](Input& in) {
    for (std::uint32_t& x : in.b) x &= 0x0f0f0f0f;
  });
  check(
      pairs_and_halves,
      [](const Input& in, Output& out) {
        for (unsigned q = 0; q < kLanes; q += 4) {
          const std::uint32_t *a = &in.a[q], *b = &in.b[q];
          const std::uint32_t expected[4][4] = {
              {a[0], b[0], a[1], b[1]}, {a[2], b[2], a[3], b[3]}, {a[0], a[1], b[0], b[1]}, {a[2], a[3], b[2], b[3]}};
          for (unsigned k = 0; k < 4; ++k) std::copy_n(expected[k], 4, &out.words[k][q]);
        }
      },
      4);
  check(
      even_and_odd,
      [](const Input& in, Output& out) {
        for (unsigned q = 0; q < kLanes; q += 4)
          for (unsigned k = 0; k < 2; ++k)
            for (unsigned w = 0; w < 4; ++w) out.words[k][q + w] = (w < 2 ? in.a : in.b)[q + w % 2 * 2 + k];
      },
      2);
  check(
      transposed,
      [](const Input& in, Output& out) {
        for (unsigned l = 0; l < kLanes; ++l)
          for (unsigned k = 0; k < 4; ++k) out.words[k][l] = in.rows[l % 4][l / 4 * 4 + k];
      },
      4);
  check_lanes(joined_quarters, [](auto a, auto) { return a; });
}

WG_OPERATION(products16, store(sum_of_products16(WG_A(Ints), WG_B(Ints)), WG_OUT);)
WG_OPERATION(products8, store(sums_of_products8(WG_A(Ints), WG_B(Ints)), WG_OUT);)
WG_OPERATION(products64, const std::int32_t n = number(in.b[0]);
             store(zipped(even_products(WG_A(Ints), n) >> 7, odd_products(WG_A(Ints), n) >> 7), WG_OUT);)

TEST(Vectors, Products) {
  check_lanes(products16, [](auto a, auto b) {
    std::int64_t sum = 0;
    for (unsigned h = 0; h < 32; h += 16)
      sum += std::int64_t{static_cast<std::int16_t>(a >> h)} * static_cast<std::int16_t>(b >> h);
    return static_cast<std::uint32_t>(sum);
  });
  check_lanes(products8, [](auto a, auto b) {
    std::uint32_t sums = 0;
    for (unsigned h = 0; h < 2; ++h) {
      std::int32_t sum = 0;
      for (unsigned k = 2 * h; k < 2 * h + 2; ++k)
        sum += static_cast<std::int32_t>(byte_of(a, k)) * static_cast<std::int8_t>(byte_of(b, k));
      sums |= (static_cast<std::uint32_t>(std::clamp(sum, -32768, 32767)) & 0xffff) << 16 * h;
    }
    return sums;
  });
  check(products64, [](const Input& in, Output& out) {
    for (unsigned l = 0; l < kLanes; ++l) {
      const std::int64_t product = std::int64_t{number(in.a[l])} * number(in.b[0]);
      out.words[0][l] = static_cast<std::uint32_t>(product >> 7);
    }
  });
}

WG_OPERATION(rounded, store(floor(WG_A(Floats)), &out.words[0][f]); store(to_ints(WG_A(Floats)), &out.words[1][f]);
             store(magnitude(WG_A(Floats)), &out.words[2][f]); store(to_floats(WG_B(Ints)), &out.words[3][f]);)
WG_OPERATION(doubled, const Floats a = WG_A(Floats), b = WG_B(Floats); const Ints i = ints(b);
             const Doubles low = sum_of_product(low_doubles(a), low_doubles(b), low_doubles(i)),
             high = sum_of_product(high_doubles(a), high_doubles(b), high_doubles(i));
             store(joined(low, high), &out.words[0][f]);
             store(joined(magnitude(low), magnitude(high)), &out.words[1][f]);)

TEST(Vectors, FloatingPoint) {
  check(
      rounded,
      [](const Input& in, Output& out) {
        for (unsigned l = 0; l < kLanes; ++l) {
          out.words[0][l] = bits_of(std::floor(real(in.a[l])));
          out.words[1][l] = static_cast<std::uint32_t>(static_cast<std::int32_t>(real(in.a[l])));
          out.words[2][l] = in.a[l] & 0x7fffffff;
          out.words[3][l] = bits_of(static_cast<float>(number(in.b[l])));
        }
      },
      4, make_reals);
  check(
      doubled,
      [](const Input& in, Output& out) {
        for (unsigned l = 0; l < kLanes; ++l) {
          const double sum = std::fma(double{real(in.a[l])}, double{real(in.b[l])}, double(number(in.b[l])));
          out.words[0][l] = bits_of(static_cast<float>(sum));
          out.words[1][l] = bits_of(static_cast<float>(std::abs(sum)));
        }
      },
      2, make_reals);
}

#define WG_LOAD(count)                                                         \
  std::int32_t offset[kWidth];                                                 \
  for (unsigned l = 0; l < kWidth; ++l) offset[l] = number(in.a[f + l] % 240); \
  keep_in_memory(offset);                                                      \
  Ints word[count];                                                            \
  load_words(in.data.data(), offset, word);                                    \
  for (unsigned k = 0; k < count; ++k) store(word[k], &out.words[k][f]);
WG_OPERATION(load_one, WG_LOAD(1))
WG_OPERATION(load_two, WG_LOAD(2))
WG_OPERATION(load_four, WG_LOAD(4))

TEST(Vectors, LoadsOfEachLane) {
  const auto expect = [](const Input& in, Output& out) {
    for (unsigned l = 0; l < kLanes; ++l)
      for (unsigned k = 0; k < 4; ++k) std::memcpy(&out.words[k][l], &in.data[in.a[l] % 240 + 4 * k], 4);
  };
  check(load_one, expect, 1);
  check(load_two, expect, 2);
  check(load_four, expect, 4);
}

// Packs 32 + 32 values, and looks whether they are still the same after one of them has changed.
struct PackedFacts {
  bool saturated, same, same_after_change;
};
#define WG_PACK(kind)                           \
  alignas(64) std::int8_t kept[64];             \
  const auto before = kind::packed(a, b, from); \
  kind::store(before, kept);                    \
  const bool same = kind::same(before, kept);   \
  a[changed] += 1;                              \
  const auto after = kind::packed(a, b, from);  \
  a[changed] -= 1;                              \
  return {kind::saturated(before), same, kind::same(after, kept)};
PackedFacts pack_avx2(std::int32_t* a, const std::int32_t* b, std::int32_t from,
                      unsigned changed){WG_PACK(avx2)} WG_AVX512 PackedFacts
    pack_avx512(std::int32_t* a, const std::int32_t* b, std::int32_t from, unsigned changed){WG_PACK(avx512)}

TEST(Vectors, PackedDifferences) {
  std::mt19937 random(5);
  alignas(64) std::int32_t a[32], b[32];
  for (unsigned turn = 0; turn < 500; ++turn) {
    const auto from = static_cast<std::int32_t>(random() % 100000),
               most = static_cast<std::int32_t>(120 + random() % 12);
    std::int32_t farthest = 0;
    for (std::int32_t* values : {a, b})
      for (unsigned l = 0; l < 32; ++l) {
        const std::int32_t apart = static_cast<std::int32_t>(random() % 252) % (most + 1);
        values[l] = from + apart;
        farthest = std::max(farthest, apart);
      }
    const auto changed = static_cast<unsigned>(random() % 32);
    const bool hidden = a[changed] - from >= 127;  // both values are the largest byte
    for (const bool wide : {false, true}) {
      if (wide && !kHaveAvx512) continue;
      const PackedFacts facts = (wide ? pack_avx512 : pack_avx2)(a, b, from, changed);
      ASSERT_EQ(facts.saturated, farthest >= 127) << wide;
      ASSERT_TRUE(facts.same) << wide;
      ASSERT_EQ(facts.same_after_change, hidden) << wide;
    }
  }
}

}  // namespace
}  // namespace warpgrind
