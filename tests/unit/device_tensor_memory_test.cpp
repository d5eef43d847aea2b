// Tensor memory: shapes of tcgen05.ld and st, copies from shared memory, and what is reported of a program that does
// not wait or does not free. Not held against hardware: the layouts are those of CUTLASS's copy traits.
#include <cmath>
#include <limits>
#include <numeric>

#include "device_tensor_fixture.h"

namespace warpgrind::device {
namespace {

// A layout as CuTe writes it: bits of the registers of a lane, in the order of lanes and of values.
struct LayoutMode {
  unsigned size, stride;
};
struct BitLayout {
  const char* shape;
  unsigned registers, row_bits;
  std::vector<LayoutMode> lanes, values;  // fastest first

  static unsigned offset(unsigned index, const std::vector<LayoutMode>& modes) {
    unsigned sum = 0;
    for (const LayoutMode& m : modes) sum += index % m.size * m.stride, index /= m.size;
    return sum;
  }
  // Lane of tensor memory and column of register `r` of lane `t`.
  std::pair<unsigned, unsigned> place(unsigned r, unsigned t) const {
    const unsigned bit = offset(t, lanes) + offset(r * 32, values);
    return {bit / row_bits, bit % row_bits / 32};
  }
};

const std::vector<BitLayout>& bit_layouts() {
  static const std::vector<BitLayout> all = {
      {"32x32b.x1", 1, 32, {{32, 32}}, {{32, 1}}},
      {"32x32b.x2", 2, 64, {{32, 64}}, {{64, 1}}},
      {"16x64b.x1", 1, 64, {{2, 512}, {2, 32}, {8, 64}}, {{32, 1}}},
      {"16x64b.x2", 2, 128, {{2, 1024}, {2, 32}, {8, 128}}, {{32, 1}, {2, 64}}},
      {"16x128b.x1", 2, 128, {{4, 32}, {8, 128}}, {{32, 1}, {2, 1024}}},
      {"16x128b.x2", 4, 256, {{4, 32}, {8, 256}}, {{32, 1}, {2, 2048}, {2, 128}}},
      {"16x256b.x1", 4, 256, {{4, 64}, {8, 256}}, {{64, 1}, {2, 2048}}},
      {"16x256b.x2", 8, 512, {{4, 64}, {8, 512}}, {{64, 1}, {2, 4096}, {2, 256}}},
  };
  return all;
}

std::string register_list(unsigned count, unsigned first = 0) {
  std::string s = "{";
  for (unsigned k = 0; k < count; ++k) s += (k ? ", %r" : "%r") + std::to_string(first + k);
  return s + "}";
}

constexpr unsigned kResultColumn = 256;  // first column of the results

TEST(TensorMemory, LoadsOfEachShape) {
  for (const BitLayout& layout : bit_layouts()) {
    SCOPED_TRACE(layout.shape);
    TensorRun run = numbered_run();
    const std::string all = register_list(layout.registers), count = std::to_string(layout.registers);
    run.whole = "add.u32 %x, %e, 16; tcgen05.ld.sync.aligned." + std::string(layout.shape) + ".b32 " + all +
                ", [%x]; tcgen05.wait::ld.sync.aligned; tcgen05.st.sync.aligned.32x32b.x" + count + ".b32 [%e+256], " +
                all + "; tcgen05.wait::st.sync.aligned;";
    expect_no_warnings(run.run());
    for (unsigned w = 0; w < 4; ++w)
      for (unsigned t = 0; t < 32; ++t)
        for (unsigned r = 0; r < layout.registers; ++r) {
          const auto [lane, column] = layout.place(r, t);
          ASSERT_EQ(run.after[0].at(w * 32 + t, kResultColumn + r), run.before[0].at(w * 32 + lane, 16 + column))
              << "register " << r << " of lane " << t;
        }
  }
}

TEST(TensorMemory, StoresOfEachShape) {
  for (const BitLayout& layout : bit_layouts()) {
    SCOPED_TRACE(layout.shape);
    TensorRun run = numbered_run();
    const std::string all = register_list(layout.registers), count = std::to_string(layout.registers);
    run.whole = "tcgen05.ld.sync.aligned.32x32b.x" + count + ".b32 " + all +
                ", [%e]; tcgen05.wait::ld.sync.aligned; tcgen05.st.sync.aligned." + std::string(layout.shape) +
                ".b32 [%e+256], " + all + "; tcgen05.wait::st.sync.aligned;";
    expect_no_warnings(run.run());
    for (unsigned w = 0; w < 4; ++w)
      for (unsigned t = 0; t < 32; ++t)
        for (unsigned r = 0; r < layout.registers; ++r) {
          const auto [lane, column] = layout.place(r, t);
          ASSERT_EQ(run.after[0].at(w * 32 + lane, kResultColumn + column), run.before[0].at(w * 32 + t, r))
              << "register " << r << " of lane " << t;
        }
  }
}

// The second half of the warp gets the columns behind the offset, of the same lanes.
TEST(TensorMemory, LoadsTwoHalvesOfColumns) {
  TensorRun run = numbered_run();
  run.whole =
      "add.u32 %x, %e, 1048576; tcgen05.ld.sync.aligned.16x32bx2.x2.b32 {%r0, %r1}, [%x], 40;"
      "tcgen05.wait::ld.sync.aligned; tcgen05.st.sync.aligned.32x32b.x2.b32 [%e+256], {%r0, %r1};"
      "tcgen05.wait::st.sync.aligned;";
  expect_no_warnings(run.run());
  for (unsigned t = 0; t < 32; ++t)
    for (unsigned r = 0; r < 2; ++r)
      EXPECT_EQ(run.after[0].at(32 + t, kResultColumn + r), run.before[0].at(32 + 16 + t % 16, t / 16 * 40 + r));
}

TEST(TensorMemory, PacksTheLowerHalvesOfTwoColumns) {
  TensorRun run = numbered_run();
  run.whole =
      "tcgen05.ld.sync.aligned.32x32b.x2.pack::16b.b32 {%r0, %r1}, [%e];"
      "tcgen05.wait::ld.sync.aligned; tcgen05.st.sync.aligned.32x32b.x2.b32 [%e+256], {%r0, %r1};"
      "tcgen05.st.sync.aligned.32x32b.x2.unpack::16b.b32 [%e+260], {%r0, %r1};"
      "tcgen05.wait::st.sync.aligned;";
  expect_no_warnings(run.run());
  for (unsigned lane = 0; lane < 128; ++lane)
    for (unsigned r = 0; r < 2; ++r) {
      const std::uint32_t low = run.before[0].at(lane, 2 * r) & 0xffff,
                          high = run.before[0].at(lane, 2 * r + 1) & 0xffff;
      EXPECT_EQ(run.after[0].at(lane, kResultColumn + r), low | high << 16);
      EXPECT_EQ(run.after[0].at(lane, kResultColumn + 4 + 2 * r), low);
      EXPECT_EQ(run.after[0].at(lane, kResultColumn + 5 + 2 * r), high);
    }
}

TEST(TensorMemory, ReducesOverTheColumnsOfALane) {
  TensorRun run = numbered_run();
  for (unsigned lane = 0; lane < 128; ++lane) {
    const float of[] = {1.5f, -8, static_cast<float>(lane), std::numeric_limits<float>::quiet_NaN()};
    std::memcpy(&run.before[0].at(lane, 0), of, sizeof of);
  }
  run.whole =
      "tcgen05.ld.red.sync.aligned.32x32b.x4.min.f32 {%r0, %r1, %r2, %r3}, %r4, [%e];"
      "tcgen05.ld.red.sync.aligned.32x32b.x4.max.abs.f32 {%r0, %r1, %r2, %r3}, %r5, [%e];"
      "tcgen05.ld.red.sync.aligned.32x32b.x4.max.NaN.f32 {%r0, %r1, %r2, %r3}, %r6, [%e];"
      "tcgen05.ld.red.sync.aligned.32x32b.x2.min.s32 {%r0, %r1}, %r7, [%e];"
      "tcgen05.wait::ld.sync.aligned;"
      "tcgen05.st.sync.aligned.32x32b.x4.b32 [%e+256], {%r4, %r5, %r6, %r7}; tcgen05.wait::st.sync.aligned;";
  expect_no_warnings(run.run());
  for (unsigned lane = 0; lane < 128; ++lane) {
    float f[4];
    std::memcpy(f, &run.after[0].at(lane, kResultColumn), sizeof f);
    EXPECT_EQ(f[0], -8);
    EXPECT_EQ(f[1], std::max(8.0f, static_cast<float>(lane)));
    EXPECT_TRUE(std::isnan(f[2]));
    EXPECT_EQ(f[3], -8);  // the sign bit makes it the least integer
  }
}

// ---- Copies from shared memory. Row r of the matrix has the words 1000 r, 1000 r + 1, ...

struct CopyCase {
  const char* shape;
  unsigned rows, words;
  unsigned (*row)(unsigned lane);  // that a lane gets; 999: none
};

TEST(TensorMemory, CopiesOfEachShape) {
  constexpr unsigned kNone = 999;
  const CopyCase cases[] = {
      {"128x256b", 128, 8, [](unsigned lane) { return lane; }},
      {"128x128b", 128, 4, [](unsigned lane) { return lane; }},
      {"64x128b.warpx2::02_13", 64, 4, [](unsigned lane) { return lane % 64; }},
      {"64x128b.warpx2::01_23", 64, 4, [](unsigned lane) { return lane % 32 + lane / 64 * 32; }},
      {"32x128b.warpx4", 32, 4, [](unsigned lane) { return lane % 32; }},
      {"4x256b", 4, 8, [](unsigned lane) { return lane % 32 == 0 ? lane / 32 : kNone; }},
  };
  for (const CopyCase& c : cases) {
    SCOPED_TRACE(c.shape);
    TensorRun run = numbered_run();
    run.commits = run.waits = true;
    SharedMatrix from;
    from.size = 4;
    from.stride = 128;
    from.leading = 4096;
    for (unsigned r = 0; r < c.rows; ++r)
      for (std::uint32_t w = 0; w < c.words; ++w) {
        const std::uint32_t word = r * 1000 + w;
        std::memcpy(run.shared[0].data() + from.address(r, w), &word, 4);
      }
    run.a = from.bits();
    run.y = kResultColumn;
    run.instructions = "tcgen05.cp.cta_group::1." + std::string(c.shape) + " [%y], %a;";
    expect_no_warnings(run.run());
    for (unsigned lane = 0; lane < 128; ++lane)
      for (unsigned w = 0; w < 8; ++w) {
        const bool copied = w < c.words && c.row(lane) != kNone;
        EXPECT_EQ(run.after[0].at(lane, kResultColumn + w),
                  copied ? c.row(lane) * 1000 + w : run.before[0].at(lane, kResultColumn + w))
            << "lane " << lane;
      }
  }
}

TEST(TensorMemory, CopiesSpreadSmallElements) {
  for (const unsigned bits : {4u, 6u}) {
    TensorRun run = numbered_run();
    run.commits = run.waits = true;
    SharedMatrix from;
    from.stride = 128;
    from.leading = 4096;
    for (unsigned r = 0; r < 128; ++r)
      for (unsigned i = 0; i < 16; ++i) {
        const unsigned value = (r + 5 * i) % (1u << bits);
        for (unsigned b = 0; b < bits; ++b) {
          const unsigned bit = i * bits + b;
          run.shared[0][from.address(r, 0) + bit / 8] |= static_cast<std::uint8_t>((value >> b & 1) << bit % 8);
        }
      }
    run.a = from.bits();
    run.instructions =
        std::string("tcgen05.cp.cta_group::1.128x128b.b8x16.") + (bits == 4 ? "b4x16_p64" : "b6x16_p32") + " [%y], %a;";
    expect_no_warnings(run.run());
    for (unsigned r = 0; r < 128; ++r)
      for (unsigned i = 0; i < 16; ++i) {
        const unsigned value = (r + 5 * i) % (1u << bits);
        EXPECT_EQ(run.after[0].at(r, i / 4) >> i % 4 * 8 & 255, value << (bits == 4 ? 2 : 1));
      }
  }
}

// Lane r gets the words of lane r + 1 of its quarter, the last one keeps its own.
TEST(TensorMemory, ShiftsTheLanesOfAQuarter) {
  TensorRun run = numbered_run();
  run.commits = run.waits = true;
  run.y = 64 << 16 | kResultColumn;
  run.instructions = "tcgen05.shift.cta_group::1.down [%y];";
  expect_no_warnings(run.run());
  for (unsigned lane = 0; lane < 128; ++lane)
    for (unsigned column = kResultColumn - 1; column < kResultColumn + 9; ++column) {
      const bool moved = lane / 32 == 2 && lane % 32 != 31 && column >= kResultColumn && column < kResultColumn + 8;
      EXPECT_EQ(run.after[0].at(lane, column), run.before[0].at(moved ? lane + 1 : lane, column));
    }
}

// As CUTLASS's test of .ashift on a B200 (1cta_mma_a_from_tmem.py): the product uses A as it was, and shifts it then.
TEST(TensorMemory, ShiftsTheRowsOfAAfterAProduct) {
  TensorRun run = numbered_run();
  run.commits = run.waits = true;
  SharedMatrix m;
  m.size = 4, m.stride = 128, m.leading = 64 * 16;
  run.b = m.bits();
  for (unsigned j = 0; j < 64; ++j) {
    const float one = 1;
    std::memcpy(run.shared[0].data() + m.address(j, 0), &one, 4);
  }
  for (unsigned lane = 0; lane < 128; ++lane)
    for (unsigned k = 0; k < 8; ++k) {
      const auto value = static_cast<float>(lane);
      std::memcpy(&run.before[0].at(lane, kResultColumn + k), &value, 4);
    }
  run.i = InstructionBits{.a = 2, .b = 2}.bits();
  run.p = false;
  run.instructions =
      "tcgen05.mma.cta_group::1.kind::tf32.ashift [0], [256], %b, %i, %p;"
      "tcgen05.mma.cta_group::1.kind::tf32 [64], [256], %b, %i, %p;";
  expect_no_warnings(run.run());
  for (unsigned lane = 0; lane < 128; ++lane) {
    float first, second;
    std::memcpy(&first, &run.after[0].at(lane, 0), 4);
    std::memcpy(&second, &run.after[0].at(lane, 64), 4);
    EXPECT_EQ(first, static_cast<float>(lane));
    EXPECT_EQ(second, static_cast<float>(lane % 32 == 31 ? lane : lane + 1));
  }
}

}  // namespace
}  // namespace warpgrind::device
