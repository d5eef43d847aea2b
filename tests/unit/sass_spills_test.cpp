// Spilled registers: what the limit of a kernel makes of its modelled code, and how often it runs.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "ptx/parser.h"
#include "sass/registers.h"
#include "sass/spills.h"

namespace warpgrind::sass {
namespace {

std::shared_ptr<const ptx::Module> kernel(const std::string& body, const std::string& bounds = "") {
  const auto module = ptx::parse(
      ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 data) " + bounds +
          "\n{\n.reg .b32 %r<8>; .reg .f32 %f<32>; .reg .b64 %rd<32>; .reg .pred %p<4>;\nld.param.u64 %rd1, [data];\n" +
          body + "ret;\n}\n",
      "test.ptx");
  EXPECT_TRUE(module.ok());
  return module.ok() ? *module : nullptr;
}

// The kernel's code, and a launch of two warps that run each loop ten times.
struct Launch {
  explicit Launch(const std::string& body) : module(kernel(body)), code(code_of(*module, 0)) {
    for (std::size_t b = 0; b < code.blocks.size(); ++b) {
      std::vector<double> edges;
      bool loops = false;
      for (const Edge& e : code.blocks[b].successors) {
        edges.push_back(e.to == b ? 18 : 2);
        loops |= e.to == b;
      }
      if (loops) loop = b;
      flow.warps.push_back(loops ? 20 : 2);
      flow.edges.push_back(edges);
    }
    flow.loop_share.assign(code.blocks.size(), 1);
  }
  std::shared_ptr<const ptx::Module> module;
  Code code;
  Flow flow;
  std::size_t loop = 0;
};

// A loop of ten rounds over `values` values. Each is read three times and changed once, as in
// tests/run/programs/spills.cu.
std::string rotation(int values) {
  std::string text = ".reg .f32 %v<" + std::to_string(values) + ">; mov.u32 %r3, 0;\n";
  const auto a = [&](int j) { return "%v" + std::to_string(j % values); };
  for (int j = 0; j < values; ++j) text += "ld.global.f32 " + a(j) + ", [%rd1+" + std::to_string(4 * j) + "];\n";
  text += "loop:\n";
  for (int j = 0; j < values; ++j)
    text += "fma.rn.f32 " + a(j) + ", " + a(j) + ", " + a(j + 7) + ", " + a(j + 13) + ";\n";
  text += "bar.sync 0; add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 10; @%p1 bra loop;\n";
  for (int j = 0; j < values; ++j) text += "st.global.f32 [%rd1+" + std::to_string(4 * j) + "], " + a(j) + ";\n";
  return text;
}

TEST(Spills, ALoopPaysForEachValueBeyondTheLimit) {
  const Launch t(rotation(60));
  const std::size_t loop = t.loop;
  double before = 0;
  for (const std::uint32_t limit : {128u, 80u, 48u, 40u, 32u}) {
    const Spills spills = estimate_spills(t.code, *t.module, limit);
    if (limit >= 80) {
      EXPECT_FALSE(spills.any()) << limit;
      continue;
    }
    ASSERT_TRUE(spills.any()) << limit;
    const SpillCounts n = count_spills(spills, t.code, t.flow);
    // At least what does not fit goes out and comes back; at most each use of each value.
    const double each = t.flow.warps[loop], least = 60 - limit;
    EXPECT_GT(n.blocks[loop].loads, least * each) << limit;
    EXPECT_LT(n.blocks[loop].loads, 3 * 60 * each) << limit;
    EXPECT_GT(n.blocks[loop].stores, least * each) << limit;
    EXPECT_LE(n.blocks[loop].stores, n.blocks[loop].loads) << limit;
    EXPECT_GT(n.all.loads + n.all.stores, before) << limit;
    before = n.all.loads + n.all.stores;
    EXPECT_GE(spills.bytes, 4 * (60 - limit)) << limit;
    EXPECT_LE(spills.bytes, 8 * 62u) << limit;
  }
}

// Values of 64 bits take two words.
TEST(Spills, WideValuesAreTwoWords) {
  std::string make, use;
  for (int k = 2; k < 6; ++k) {
    make += "ld.global.u64 %rd" + std::to_string(k) + ", [%rd1+" + std::to_string(8 * k) + "];\n";
    use += "st.global.u64 [%rd1+" + std::to_string(8 * k) + "], %rd" + std::to_string(k) + ";\n";
  }
  std::string more, last;
  for (int k = 10; k < 30; ++k) {
    more += "ld.global.f32 %f" + std::to_string(k) + ", [%rd1+" + std::to_string(512 + 4 * k) + "];\n";
    last = "st.global.f32 [%rd1+" + std::to_string(512 + 4 * k) + "], %f" + std::to_string(k) + ";\n" + last;
  }
  const Launch t(make + more + "bar.sync 0;\n" + last + use);
  const Spills spills = estimate_spills(t.code, *t.module, 20);
  ASSERT_TRUE(spills.any());
  const SpillCounts n = count_spills(spills, t.code, t.flow);
  EXPECT_GT(n.all.store_words, 1.2 * n.all.stores);  // those with the latest use are the wide ones
}

// Of a binary: each spilling instruction runs as often as the block at its place.
TEST(Spills, OfABinaryAreCountedAtTheirPlaces) {
  const Launch t(rotation(60));
  const std::size_t loop = t.loop;
  std::vector<double> sums;
  double all = 0;
  for (const Block& b : t.code.blocks) {
    for (const Instruction& i : b.instructions) all += i.issue;
    sums.push_back(all);
  }
  const double inside = loop == 0 ? 0 : sums[loop - 1];
  constexpr std::uint32_t kInstructions = 1000;
  const auto at = [&](double place) { return static_cast<std::uint32_t>(kInstructions * place / all); };
  // Ten at the very beginning, thirty in the middle of the loop.
  std::vector<std::uint32_t> spills;
  for (std::uint32_t k = 0; k < 10; ++k) spills.push_back(k);
  for (std::uint32_t k = 0; k < 30; ++k) spills.push_back(10 + at((inside + sums[loop]) / 2) + k);
  const Spills s = spills_of_binary(t.code, *t.module, spills, kInstructions + 40, 160);
  EXPECT_EQ(s.bytes, 160u);
  const SpillCounts n = count_spills(s, t.code, t.flow);
  EXPECT_DOUBLE_EQ(n.blocks[loop].loads + n.blocks[loop].stores, 30 * t.flow.warps[loop]);
  EXPECT_DOUBLE_EQ(n.all.loads + n.all.stores, 30 * t.flow.warps[loop] + 10 * t.flow.warps[t.code.entry]);
  EXPECT_FALSE(spills_of_binary(t.code, *t.module, {}, kInstructions, 0).any());
}

TEST(Spills, OnlyALimitFarBelowTheNeedMakesThem) {
  const auto estimate = [](const std::string& bounds) {
    return estimate_registers(*kernel(rotation(60), bounds), 0, 90);
  };
  EXPECT_FALSE(estimate("").spills());
  EXPECT_FALSE(estimate(".maxnreg 76").spills());  // within the error of the estimate
  EXPECT_TRUE(estimate(".maxnreg 40").spills());
  EXPECT_TRUE(estimate(".maxntid 256 .minnctapersm 6").spills());
  EXPECT_EQ(estimate(".maxntid 256 .minnctapersm 6").limit, 40u);
}

}  // namespace
}  // namespace warpgrind::sass
