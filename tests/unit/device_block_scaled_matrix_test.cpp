// mma and mma.sp of compute capability 12: block scaling and numbers of 4 and 6 bits. There is no such GPU here:
// expected values come from plain loops over dense matrices, packed as the PTX manual's "Matrix Fragments" and "Block
// scaling" say. All numbers are small enough for every sum to be exact.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "ptx_kernel.h"

namespace warpgrind::device {
namespace {

struct Coded {
  unsigned code;
  float value;
};
struct NumberType {
  const char* name;
  std::vector<Coded> numbers;
};

const NumberType kE4m3{"e4m3", {{0x00, 0}, {0x30, 0.5f}, {0x38, 1}, {0x3c, 1.5f}, {0x40, 2}, {0xb8, -1}}};
const NumberType kE5m2{"e5m2", {{0x00, 0}, {0x38, 0.5f}, {0x3c, 1}, {0x3e, 1.5f}, {0x40, 2}, {0xbc, -1}}};
const NumberType kE3m2{"e3m2", {{0x00, 0}, {0x08, 0.5f}, {0x0c, 1}, {0x0e, 1.5f}, {0x1f, 28}, {0x2c, -1}}};
const NumberType kE2m3{"e2m3", {{0x00, 0}, {0x04, 0.5f}, {0x08, 1}, {0x0c, 1.5f}, {0x1f, 7.5f}, {0x28, -1}}};
// In the middle of a byte.
const NumberType kE2m1{"e2m1",
                       {{0x00, 0}, {1u << 2, 0.5f}, {2u << 2, 1}, {3u << 2, 1.5f}, {7u << 2, 6}, {10u << 2, -1}}};
const NumberType kPackedE2m1{"e2m1", {{0, 0}, {1, 0.5f}, {2, 1}, {3, 1.5f}, {5, 3}, {7, 6}, {10, -1}, {15, -6}}};

struct Form {
  const char* kind;
  std::string scaling;  // ".block_scale.scale_vec::2X", or empty
  const char* scale_type;
  unsigned scales;  // of a row
  bool fours, sparse;
  const NumberType *a, *b;
  unsigned byte_a = 0, thread_a = 0, byte_b = 0, thread_b = 0;
  bool as_cutlass = false;  // other spellings that ptxas takes: .sp behind .kind, braces around one register
};

constexpr unsigned kRows = 16, kColumns = 8, kLanes = 32, kPlane = kLanes;  // words

class BlockScaled {
 public:
  explicit BlockScaled(const Form& f)
      : f_(f),
        depth_((f.fours ? 64u : 32u) * (f.sparse ? 2 : 1)),
        stored_(f.sparse ? depth_ / 2 : depth_),
        a_(kRows, std::vector<float>(depth_)),
        b_(depth_, std::vector<float>(kColumns)) {}

  // Fills the kernel's words, runs it, and compares D. `nan_scale`: the scale of row 3 of A.
  void run(bool nan_scale = false) {
    Kernel kernel(body());
    std::memset(kernel.data, 0, Kernel::kBytes);
    fill(kernel.data, nan_scale);
    kernel.run(kLanes);
    for (unsigned i = 0; i < kRows; ++i)
      for (unsigned j = 0; j < kColumns; ++j) {
        const std::uint32_t got = kernel.data[kOut + (i / 8 * 2 + j % 2) * kPlane + i % 8 * 4 + j / 2];
        if (nan_scale && i == 3) {
          EXPECT_EQ(got, 0x7fffffffu);
          continue;
        }
        float value;
        std::memcpy(&value, &got, sizeof value);
        ASSERT_EQ(value, expected(i, j)) << f_.kind << f_.scaling << " " << f_.a->name << " " << f_.b->name << " row "
                                         << i << " column " << j << (f_.sparse ? " sparse" : "");
      }
  }

 private:
  static constexpr unsigned kA = 0, kB = 4 * kPlane, kC = 8 * kPlane, kScaleA = 12 * kPlane, kScaleB = 13 * kPlane,
                            kMetadata = 14 * kPlane, kOut = 15 * kPlane;

  std::string body() const {
    std::string text = "mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2;\n";
    const auto load = [&](const char* type, unsigned first, unsigned count, unsigned at) {
      for (unsigned r = 0; r < count; ++r)
        text += fmt::format("ld.global.{} %{}{}, [%rd3+{}];\n", type, type[0] == 'f' ? "f" : "r", first + r,
                            (at + r * kPlane) * 4);
    };
    load("b32", 10, 4, kA), load("b32", 20, f_.sparse ? 4 : 2, kB), load("f32", 0, 4, kC);
    load("b32", 30, 1, kScaleA), load("b32", 31, 1, kScaleB), load("b32", 32, 1, kMetadata);
    const std::string sparse = f_.sparse ? ".sp::ordered_metadata" : "", kind = fmt::format(".kind::{}", f_.kind),
                      shape = fmt::format(".m16n8k{}.row.col", depth_);
    const auto one = [&](const char* r) { return f_.as_cutlass ? fmt::format("{{{}}}", r) : std::string(r); };
    text += f_.as_cutlass ? fmt::format("mma.sync.aligned{}{}{}{}", kind, sparse, f_.scaling, shape)
                          : fmt::format("mma{}.sync.aligned{}{}{}", sparse, shape, kind, f_.scaling);
    text += fmt::format(
        ".f32.{}.{}.f32{} {{%f0, %f1, %f2, %f3}}, {{%r10, %r11, %r12, %r13}}, {{%r20, %r21{}}}, "
        "{{%f0, %f1, %f2, %f3}}{}",
        f_.a->name, f_.b->name, f_.scale_type, f_.sparse ? ", %r22, %r23" : "",
        f_.sparse ? fmt::format(", {}, 0", one("%r32")) : "");
    if (f_.scales)
      text += fmt::format(", {}, {{{}, {}}}, {}, {{{}, {}}}", one("%r30"), f_.byte_a, f_.thread_a, one("%r31"),
                          f_.byte_b, f_.thread_b);
    text += ";\n";
    for (unsigned r = 0; r < 4; ++r)
      text += fmt::format("st.global.f32 [%rd3+{}], %f{};\n", (kOut + r * kPlane) * 4, r);
    return text;
  }

  // Element `i` of the registers of lane `lane`, in registers from `at` on.
  void put(std::uint32_t* data, unsigned at, unsigned lane, unsigned i, unsigned code) const {
    const unsigned bits = f_.fours ? 4 : 8, per_word = 32 / bits;
    data[at + i / per_word * kPlane + lane] |= code << (i % per_word * bits);
  }

  void fill(std::uint32_t* data, bool nan_scale) {
    std::mt19937 random(7);
    const auto number = [&](const NumberType& t) { return t.numbers[random() % t.numbers.size()]; };
    const unsigned beside = f_.fours ? 8 : 4, group = 4 * beside;  // elements of a word, of the words of four lanes
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const unsigned row = lane / 4, first = lane % 4 * beside;
      for (unsigned i = 0; i < stored_ / 2; ++i) {  // A: words of row, row + 8, then the same of the next depths
        const Coded x = number(*f_.a);
        const unsigned upper = i / beside % 2, place = i / (2 * beside) * group + first + i % beside;
        put(data, kA, lane, i, x.code);
        left_[{row + 8 * upper, place}] = x.value;
      }
      for (unsigned i = 0; i < depth_ / 4; ++i) {
        const Coded x = number(*f_.b);
        put(data, kB, lane, i, x.code);
        b_[i / beside * group + first + i % beside][row] = x.value;
      }
      for (unsigned r = 0; r < 4; ++r) {
        const auto c = static_cast<float>(static_cast<int>(random() % 9) - 4);
        std::memcpy(&data[kC + r * kPlane + lane], &c, sizeof c);
        c_[row + r / 2 * 8][lane % 4 * 2 + r % 2] = c;
      }
    }
    spread(data, random);
    // Bytes that no instruction should look at are NaNs.
    for (unsigned lane = 0; lane < kLanes; ++lane)
      data[kScaleA + lane] = data[kScaleB + lane] = 0x7f7f7f7f + 0x80808080u;
    for (unsigned block = 0; block < f_.scales; ++block) {
      for (unsigned i = 0; i < kRows; ++i)
        scale_a_[i][block] = put_scale(data[kScaleA + i % 8 * 4 + f_.thread_a * 2 + i / 8], f_.byte_a + block,
                                       static_cast<unsigned>(random()), nan_scale && i == 3);
      for (unsigned j = 0; j < kColumns; ++j)
        scale_b_[j][block] =
            put_scale(data[kScaleB + j * 4 + f_.thread_b], f_.byte_b + block, static_cast<unsigned>(random()), false);
    }
  }

  // Gives each stored element its depth, and writes metadata: two bits for an element (a pair of 4-bit elements), 64
  // bits a row, in the two lanes 4 g + u and 4 g + u + 2 of row g + 8 u.
  void spread(std::uint32_t* data, std::mt19937& random) {
    static constexpr unsigned kPairs[][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
    const unsigned unit = f_.fours ? 2 : 1;
    for (unsigned i = 0; i < kRows; ++i) {
      if (!f_.sparse) {
        for (unsigned k = 0; k < depth_; ++k) a_[i][k] = left_[{i, k}];
        continue;
      }
      for (unsigned s = 0; s < stored_ / unit; s += 2) {
        const auto& pair = kPairs[random() % 6];
        for (unsigned e = 0; e < 2; ++e) {
          for (unsigned u = 0; u < unit; ++u) a_[i][(s / 2 * 4 + pair[e]) * unit + u] = left_[{i, (s + e) * unit + u}];
          const unsigned bit = (s + e) * 2;
          data[kMetadata + i % 8 * 4 + i / 8 + bit / 32 * 2] |= pair[e] << (bit % 32);
        }
      }
    }
  }

  float put_scale(std::uint32_t& word, unsigned byte, unsigned random, bool nan) const {
    // ue8m0: 2^(code - 127). ue4m3: as e4m3 without a sign.
    static constexpr Coded kPowers[] = {{127, 1}, {128, 2}, {126, 0.5f}},
                           kNumbers[] = {{0x38, 1}, {0x3c, 1.5f}, {0x30, 0.5f}};
    const bool powers = std::string(f_.scale_type) == ".ue8m0";
    const Coded scale = (powers ? kPowers : kNumbers)[random % 3];
    const unsigned code = nan ? (powers ? 0xff : 0x7f) : scale.code;
    word = (word & ~(255u << (byte * 8))) | code << (byte * 8);
    return scale.value;
  }

  float expected(unsigned i, unsigned j) const {
    double sum = c_[i][j];
    for (unsigned k = 0; k < depth_; ++k) {
      const unsigned block = f_.scales ? k * f_.scales / depth_ : 0;
      const double scale = f_.scales ? double{scale_a_[i][block]} * double{scale_b_[j][block]} : 1;
      sum += double{a_[i][k]} * double{b_[k][j]} * scale;
    }
    return static_cast<float>(sum);
  }

  Form f_;
  unsigned depth_, stored_;
  std::vector<std::vector<float>> a_, b_;
  std::map<std::pair<unsigned, unsigned>, float> left_;  // stored elements of A
  float c_[kRows][kColumns] = {}, scale_a_[kRows][4] = {}, scale_b_[kColumns][4] = {};
};

TEST(BlockScaled, BytesWithOneScale) {
  for (const bool sparse : {false, true})
    for (const NumberType* a : {&kE4m3, &kE5m2, &kE3m2, &kE2m3, &kE2m1})
      for (const NumberType* b : {&kE4m3, &kE2m1})
        for (unsigned id = 0; id < 4; ++id)
          BlockScaled(
              {"mxf8f6f4", ".block_scale.scale_vec::1X", ".ue8m0", 1, false, sparse, a, b, id, id % 2, 3 - id, id})
              .run();
}

TEST(BlockScaled, FoursWithTwoOrFourScales) {
  for (const bool sparse : {false, true}) {
    for (unsigned id = 0; id < 4; ++id) {
      const unsigned byte = id % 2 * 2;
      BlockScaled(
          {"mxf4", ".block_scale", ".ue8m0", 2, true, sparse, &kPackedE2m1, &kPackedE2m1, byte, id % 2, 2 - byte, id})
          .run();
      BlockScaled({"mxf4nvf4", ".block_scale.scale_vec::2X", ".ue8m0", 2, true, sparse, &kPackedE2m1, &kPackedE2m1,
                   byte, id / 2, byte, 3 - id})
          .run();
      BlockScaled({"mxf4nvf4", ".block_scale.scale_vec::4X", ".ue4m3", 4, true, sparse, &kPackedE2m1, &kPackedE2m1, 0,
                   id % 2, 0, id})
          .run();
    }
  }
}

TEST(BlockScaled, AsCutlassSpellsThem) {
  for (const bool sparse : {false, true}) {
    BlockScaled(
        {"mxf8f6f4", ".block_scale.scale_vec::1X", ".ue8m0", 1, false, sparse, &kE4m3, &kE2m1, 1, 0, 2, 3, true})
        .run();
    BlockScaled({"mxf4nvf4", ".block_scale.scale_vec::4X", ".ue4m3", 4, true, sparse, &kPackedE2m1, &kPackedE2m1, 0, 1,
                 0, 2, true})
        .run();
  }
}

TEST(BlockScaled, ScaleThatIsNoNumber) {
  BlockScaled({"mxf8f6f4", ".block_scale", ".ue8m0", 1, false, false, &kE4m3, &kE4m3}).run(true);
  BlockScaled({"mxf4nvf4", ".block_scale.scale_vec::4X", ".ue4m3", 4, true, false, &kPackedE2m1, &kPackedE2m1})
      .run(true);
}

TEST(BlockScaled, SmallNumbersWithoutScales) {
  for (const bool sparse : {false, true})
    for (const NumberType* a : {&kE4m3, &kE5m2, &kE3m2, &kE2m3, &kE2m1})
      for (const NumberType* b : {&kE4m3, &kE3m2, &kE2m3, &kE2m1})
        BlockScaled({"f8f6f4", "", "", 0, false, sparse, a, b}).run();
}

}  // namespace
}  // namespace warpgrind::device
