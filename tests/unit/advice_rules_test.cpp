// Rules that give advice: conditions, gains and order.
#include <gtest/gtest.h>

#include <algorithm>

#include "advice/advise.h"
#include "advice/rules.h"
#include "read_file.h"
#include "timing/estimate.h"

namespace warpgrind::advice {
namespace {

struct KernelBuilder {
  results::Profile profile;

  explicit KernelBuilder(const char* gpu = "NVIDIA H200") {
    profile.gpu = gpu;
    profile.kernels.emplace_back();
    set(MetricId::grid_size, 1000).set(MetricId::block_size, 256).set(MetricId::launches, 1);
    set(MetricId::occupancy, 100).set(MetricId::warps_launched, 8000);
    results::WorkProfile launch;
    launch.launches = 1;
    launch.work.blocks = 1000;
    launch.work.threads_per_block = 256;
    launch.work.warps_per_block = 8;
    launch.work.resident_blocks = 8;
    launch.work.instructions = launch.work.static_instructions = 20;
    launch.work.path_0 = 40, launch.work.path_40 = 80, launch.work.path_290 = 330;
    launch.work.path_700 = 740, launch.work.path_1000 = 1040;
    kernel().work.push_back(launch);
  }
  results::KernelProfile& kernel() { return profile.kernels[0]; }
  results::WorkProfile& launch() { return kernel().work[0]; }
  timing::LaunchWork& work() { return launch().work; }
  const GpuModel& model() const { return **find_gpu_model(profile.gpu); }
  KernelBuilder& set(MetricId metric, double value) {
    kernel().metrics[metric].value = value;
    return *this;
  }
  KernelBuilder& text(MetricId metric, const char* value) {
    kernel().metrics[metric].text = value;
    return *this;
  }
  // Adds the hardware's counters to the kernel's sums.
  KernelBuilder& site(const char* kind, double sectors, double ideal, std::uint32_t line, const char* ptx = "") {
    results::SiteProfile& s = kernel().sites.emplace_back();
    s.kind = kind;
    s.space = "global";
    s.file = "a.cu";
    s.line = line;
    s.ptx = ptx;
    s.metrics[MetricId::theoretical_sectors].value = sectors;
    s.metrics[MetricId::ideal_sectors].value = ideal;
    s.metrics[MetricId::excessive_sectors].value = sectors - ideal;
    s.metrics[MetricId::site_inst].value = ideal / 4;
    for (const MetricId id : {MetricId::theoretical_sectors, MetricId::ideal_sectors, MetricId::excessive_sectors})
      kernel().metrics[id].value += s.metrics.value(id);
    return *this;
  }
  // A matrix is read row by row and written column by column, or the like: so many times the ideal sectors.
  KernelBuilder& traffic(double sectors, double load_times, double store_times) {
    timing::LaunchWork& w = work();
    w.l1_load_passes = sectors / 4 * load_times;
    w.l1_store_passes = sectors / 4 * store_times;
    w.l2_read_sectors = sectors * load_times;
    w.l2_write_sectors = sectors * store_times;
    w.l2_read_lines = load_times > 1 ? w.l2_read_sectors : sectors / 4;
    w.l2_write_lines = store_times > 1 ? w.l2_write_sectors : sectors / 4;
    w.partial_write_sectors = store_times > 1 ? w.l2_write_sectors : 0;
    w.read_sectors = w.write_sectors = sectors;
    w.read_pieces = w.write_pieces = sectors / 2;
    w.read_lines = w.write_lines = sectors / 4;
    w.read_pairs = w.write_pairs = sectors / 8;
    w.read_fours = w.write_fours = sectors / 16;
    launch().block_read_sectors = sectors;
    return *this;
  }
  const results::Advice* find(const std::string& rule) {
    advise(profile);
    for (const results::Advice& a : kernel().advice)
      if (a.rule == rule) return &a;
    return nullptr;
  }
  // The rule's condition holds, whatever it gains.
  std::vector<Candidate> candidates(std::string_view rule) {
    std::vector<Candidate> found;
    const KernelView view(kernel(), model());
    for (const RuleRow& row : rules())
      if (rule == row.id) row.apply(view, found);
    return found;
  }
  bool fires(std::string_view rule) { return !candidates(rule).empty(); }
};

TEST(Rules, NothingToSayAboutAPerfectKernel) {
  KernelBuilder k;
  k.site("load", 4000, 4000, 10).site("store", 4000, 4000, 11).traffic(4000, 1, 1);
  advise(k.profile);
  EXPECT_TRUE(k.kernel().advice.empty()) << k.kernel().advice[0].title;
}

TEST(Rules, UncoalescedLoadsAndStoresPointAtTheWorstLineFirst) {
  KernelBuilder k;
  k.site("load", 5e6, 4e6, 10).site("store", 8e6, 4e6, 11).traffic(4e6, 1.25, 2);
  const results::Advice* a = k.find("uncoalesced_global_access");
  ASSERT_NE(a, nullptr);
  ASSERT_EQ(a->places.size(), 2u);
  EXPECT_EQ(a->places[0].line, 11u);
  EXPECT_EQ(a->places[1].line, 10u);
  EXPECT_NE(a->title.find("38 %"), std::string::npos) << a->title;  // 5 of 13 million
  ASSERT_FALSE(a->evidence.empty());
  EXPECT_EQ(a->evidence[0].value, 5e6);
}

TEST(Rules, OneSidedStrideIsATransposeAndSaidOnce) {
  KernelBuilder k;
  k.site("load", 4e6, 4e6, 10).site("store", 32e6, 4e6, 11).traffic(4e6, 1, 8);
  const results::Advice* a = k.find("transpose_through_shared_memory");
  ASSERT_NE(a, nullptr);
  EXPECT_EQ(a->places.at(0).line, 11u);
  EXPECT_EQ(k.find("uncoalesced_global_access"), nullptr);
}

TEST(Rules, StridedOnBothSidesIsNoTranspose) {
  KernelBuilder k;
  k.site("load", 32e6, 4e6, 10).site("store", 32e6, 4e6, 11).traffic(4e6, 8, 8);
  EXPECT_EQ(k.find("transpose_through_shared_memory"), nullptr);
  EXPECT_NE(k.find("uncoalesced_global_access"), nullptr);
}

// uchar3: the second and third byte of an element are in the sectors that the first one brings.
TEST(Rules, MembersOfAStructShareTheirSectors) {
  KernelBuilder k;
  for (const char* ptx : {"ld.global.u8 %rs1, [%rd4];", "ld.global.u8 %rs2, [%rd4+1];", "ld.global.u8 %rs3, [%rd4+2];"})
    k.site("load", 3000, 1000, 10, ptx);
  k.traffic(3000, 1, 0);  // L1 finds two bytes of three, in as many passes as requests
  EXPECT_EQ(k.find("uncoalesced_global_access"), nullptr);
  EXPECT_EQ(k.candidates("uncoalesced_global_access").at(0).advice.title.find("not needed"), std::string::npos);
  KernelBuilder apart;
  for (const char* ptx : {"ld.global.u8 %rs1, [%rd4];", "ld.global.u8 %rs2, [%rd5];", "ld.global.u8 %rs3, [%rd6];"})
    apart.site("load", 3000, 1000, 10, ptx);
  EXPECT_NE(apart.candidates("uncoalesced_global_access").at(0).advice.title.find("67 % of the bytes"),
            std::string::npos);
}

// 64 warps read and write 1,000 rows of shared memory, each in eight wavefronts.
KernelBuilder conflicts_of(double wavefronts) {
  KernelBuilder k;
  k.set(MetricId::shared_ld_requests, wavefronts / 8).set(MetricId::machine_shared_ld_wavefronts, wavefronts);
  k.set(MetricId::machine_shared_ld_conflicts, wavefronts * 7 / 8);
  k.set(MetricId::shared_wavefronts, wavefronts).set(MetricId::shared_ideal, wavefronts / 8);
  k.work().shared_wavefronts = wavefronts;
  return k;
}

TEST(Rules, GainIsWhatTheTimeModelGivesWithoutTheCause) {
  KernelBuilder k = conflicts_of(8e6);
  const results::Advice* a = k.find("shared_memory_conflicts");
  ASSERT_NE(a, nullptr);
  timing::LaunchWork padded = k.work();
  padded.shared_wavefronts = 1e6;
  EXPECT_NEAR(a->time_ns, timing::estimate_kernel(k.model(), k.work()).ns, 1e-6);
  EXPECT_NEAR(a->without_cause_ns, timing::estimate_kernel(k.model(), padded).ns, 1e-6);
  EXPECT_NEAR(a->estimated_gain, 1 - a->without_cause_ns / a->time_ns, 1e-9);
  EXPECT_GT(a->estimated_gain, 0.5);
  EXPECT_EQ(a->origin, Origin::estimated);
}

TEST(Rules, WhatGainsNothingIsNotSaid) {
  KernelBuilder k = conflicts_of(8e4);  // in a kernel that copies 256 MB
  k.traffic(8e6, 1, 1);
  EXPECT_TRUE(k.fires("shared_memory_conflicts"));
  EXPECT_EQ(k.find("shared_memory_conflicts"), nullptr);
}

// The gain counts all launches: one with a cause among many without is nearly nothing.
TEST(Rules, GainIsOfAllLaunches) {
  KernelBuilder k = conflicts_of(8e6);
  const double alone = k.find("shared_memory_conflicts")->estimated_gain;
  results::WorkProfile other = k.launch();
  other.work.shared_wavefronts = 0;
  other.work.alu = other.work.instructions = 20000;
  k.kernel().work.push_back(other);
  const results::Advice* a = k.find("shared_memory_conflicts");
  ASSERT_NE(a, nullptr);
  EXPECT_LT(a->estimated_gain, 0.9 * alone);
}

TEST(Rules, SortedByGain) {
  KernelBuilder k = conflicts_of(8e6);
  k.site("load", 5e5, 4e5, 10).traffic(4e5, 1.25, 1);
  advise(k.profile);
  ASSERT_FALSE(k.kernel().advice.empty());
  EXPECT_EQ(k.kernel().advice[0].rule, "shared_memory_conflicts");
  EXPECT_TRUE(std::is_sorted(k.kernel().advice.begin(), k.kernel().advice.end(),
                             [](const auto& a, const auto& b) { return a.estimated_gain > b.estimated_gain; }));
}

// A repair removes work. No launch gets slower by it, whatever the counters say.
TEST(Rules, NoRepairTakesLongerThanTheTileItAdds) {
  for (const double strided : {1.0, 8.0}) {
    KernelBuilder k = conflicts_of(1e5);
    k.site("load", 4e6 * strided, 4e6, 10).site("store", 4e6, 4e6, 11).traffic(4e6, strided, 1);
    k.set(MetricId::lanes_per_inst, 16).set(MetricId::lanes_on_per_inst, 16).set(MetricId::machine_divergent, 10);
    k.set(MetricId::branches, 20).set(MetricId::occupancy, 50).set(MetricId::waves, 2.5);
    k.set(MetricId::const_requests, 1000).set(MetricId::const_wavefronts, 30000);
    k.set(MetricId::local_ld_sectors, 1e5).set(MetricId::local_st_sectors, 1e5);
    k.set(MetricId::machine_fadd, 50).set(MetricId::machine_fmul, 50);
    const double before = timing::estimate_kernel(k.model(), k.work()).ns;
    int applied = 0;
    for (const RuleRow& row : rules())
      for (const Candidate& c : k.candidates(row.id)) {
        results::WorkProfile launch = k.launch();
        c.repair.apply(launch);
        EXPECT_LE(timing::estimate_kernel(k.model(), launch.work).ns, 1.02 * before) << row.id;
        ++applied;
      }
    EXPECT_GE(applied, 7);
  }
}

TEST(Rules, FilesOfEarlierVersionsKeepTheirAdvice) {
  KernelBuilder k = conflicts_of(8e6);
  k.kernel().work.clear();
  k.kernel().advice.resize(1);
  k.kernel().advice[0].rule = "as it was";
  advise(k.profile);
  ASSERT_EQ(k.kernel().advice.size(), 1u);
  EXPECT_EQ(k.kernel().advice[0].rule, "as it was");
}

TEST(Rules, ThresholdsOfNsight) {
  EXPECT_FALSE(KernelBuilder()
                   .set(MetricId::lanes_per_inst, 24)
                   .set(MetricId::lanes_on_per_inst, 24)
                   .fires("thread_divergence"));
  EXPECT_TRUE(KernelBuilder()
                  .set(MetricId::lanes_per_inst, 32)
                  .set(MetricId::lanes_on_per_inst, 23.9)
                  .fires("thread_divergence"));
  EXPECT_FALSE(KernelBuilder().set(MetricId::occupancy, 80).fires("theoretical_occupancy"));
  EXPECT_TRUE(KernelBuilder().set(MetricId::occupancy, 79).fires("theoretical_occupancy"));
  EXPECT_FALSE(KernelBuilder().set(MetricId::block_size, 96).fires("block_size"));
  EXPECT_TRUE(KernelBuilder().set(MetricId::block_size, 100).fires("block_size"));
  // 132 SMs
  EXPECT_FALSE(KernelBuilder().set(MetricId::grid_size, 132).fires("small_grid"));
  EXPECT_TRUE(KernelBuilder().set(MetricId::grid_size, 131).fires("small_grid"));
  EXPECT_TRUE(KernelBuilder().set(MetricId::grid_size, 263).set(MetricId::inst_barrier, 1).fires("small_grid"));
  EXPECT_FALSE(KernelBuilder().set(MetricId::grid_size, 264).set(MetricId::inst_barrier, 1).fires("small_grid"));
  EXPECT_FALSE(KernelBuilder().set(MetricId::waves, 0.5).fires("tail_effect"));
  EXPECT_TRUE(KernelBuilder().set(MetricId::waves, 1.1).fires("tail_effect"));
  EXPECT_FALSE(KernelBuilder().set(MetricId::waves, 2).fires("tail_effect"));
  EXPECT_FALSE(KernelBuilder().set(MetricId::waves, 5.1).fires("tail_effect"));
}

// A wave that is nearly full is no problem.
TEST(Rules, AFullWaveHasNoTail) {
  KernelBuilder k;
  k.set(MetricId::waves, 3.94).set(MetricId::grid_size, 4161);
  k.work().blocks = 4161;
  EXPECT_EQ(k.find("tail_effect"), nullptr);
}

TEST(Rules, TheLaunchOfATestGetsOneLine) {
  KernelBuilder one;
  one.site("load", 32, 1, 10).site("store", 32, 1, 11);
  one.set(MetricId::launches, 2).set(MetricId::thread_count, 2).set(MetricId::block_size, 1);
  one.set(MetricId::grid_size, 1).set(MetricId::occupancy, 50);
  one.text(MetricId::occupancy_limiter, "blocks");
  advise(one.profile);
  ASSERT_EQ(one.kernel().advice.size(), 1u) << one.kernel().advice[0].title;
  EXPECT_EQ(one.kernel().advice[0].rule, kSmallLaunch);
  EXPECT_TRUE(one.kernel().advice[0].text.empty());
  // Advice on a warp's memory accesses is still given.
  KernelBuilder warp;
  warp.site("load", 32e6, 4e6, 10).site("store", 32e6, 4e6, 11).traffic(4e6, 8, 8);
  warp.set(MetricId::launches, 1).set(MetricId::thread_count, 32);
  EXPECT_NE(warp.find("uncoalesced_global_access"), nullptr);
  EXPECT_EQ(warp.kernel().advice[0].rule, kSmallLaunch);
  EXPECT_EQ(warp.find("small_grid"), nullptr);
  EXPECT_EQ(KernelBuilder().set(MetricId::launches, 1).set(MetricId::thread_count, 33).find(kSmallLaunch), nullptr);
}

// All blocks are resident at once, so a lower limit would hold them too.
TEST(Rules, OccupancyLimitsOnlyGridsOfAWave) {
  const auto kernel = [](double waves) {
    return KernelBuilder().set(MetricId::occupancy, 50).set(MetricId::waves, waves);
  };
  EXPECT_FALSE(kernel(0.5).fires("theoretical_occupancy"));
  EXPECT_TRUE(kernel(1.5).fires("theoretical_occupancy"));
}

TEST(Rules, SplitBranchesBeforeLanesGetFew) {
  const auto kernel = [](double lanes, double efficiency) {
    return KernelBuilder()
        .set(MetricId::lanes_per_inst, lanes)
        .set(MetricId::lanes_on_per_inst, lanes)
        .set(MetricId::divergent_branches, 100 - efficiency)
        .set(MetricId::branches, 100);
  };
  EXPECT_TRUE(kernel(25, 89).fires("divergent_branches"));
  EXPECT_FALSE(kernel(25, 90).fires("divergent_branches"));
  // Branches that ptxas turns into predicates do not diverge.
  EXPECT_FALSE(kernel(25, 50).set(MetricId::machine_divergent, 0).fires("divergent_branches"));
  EXPECT_TRUE(kernel(20, 50).fires("thread_divergence"));
  EXPECT_EQ(kernel(20, 50).find("divergent_branches"), nullptr);
}

TEST(Rules, BankConflictsFromATenthOfTheWavefronts) {
  const auto kernel = [](double wavefronts, double conflicts) {
    KernelBuilder k;
    k.set(MetricId::shared_ld_requests, 1000);
    k.set(MetricId::machine_shared_ld_wavefronts, wavefronts);
    k.set(MetricId::machine_shared_ld_conflicts, conflicts);
    k.set(MetricId::shared_wavefronts, wavefronts).set(MetricId::shared_ideal, wavefronts - conflicts);
    return k;
  };
  EXPECT_TRUE(kernel(32000, 31000).fires("shared_memory_conflicts"));
  EXPECT_TRUE(kernel(1000, 100).fires("shared_memory_conflicts"));
  EXPECT_FALSE(kernel(1000, 99).fires("shared_memory_conflicts"));
  EXPECT_TRUE(kernel(1000, 99).fires("uncoalesced_shared_access"));
  EXPECT_FALSE(kernel(1000, 0).fires("uncoalesced_shared_access"));
  EXPECT_FALSE(kernel(32000, 31000).fires("uncoalesced_shared_access"));
}

// The data decides which words they update: no row can be padded.
TEST(Rules, AtomicsOfAHistogramAreNotPadded) {
  KernelBuilder k;
  k.set(MetricId::shared_atom_requests, 1000).set(MetricId::shared_atom_wavefronts, 4000);
  k.set(MetricId::shared_atom_conflicts, 3000).set(MetricId::shared_wavefronts, 4000);
  const auto found = k.candidates("shared_memory_conflicts");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].advice.text.find("Pad each row"), std::string::npos) << found[0].advice.text;
  EXPECT_NE(found[0].advice.text.find("copy of the histogram"), std::string::npos) << found[0].advice.text;
}

TEST(Rules, RedundantLoadsOfANaiveProduct) {
  KernelBuilder k;
  k.site("load", 40000, 40000, 5);
  k.work().read_sectors = 1000;
  k.launch().block_read_sectors = 4000;
  const auto found = k.candidates("redundant_global_loads");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].advice.title.find("10 times"), std::string::npos) << found[0].advice.title;
}

// All blocks load the same data, but no two threads of a block do: a tile would gain nothing.
TEST(Rules, NoTileWithoutReuseInABlock) {
  KernelBuilder k;
  k.site("load", 40000, 40000, 5);
  k.work().read_sectors = 1000;
  k.launch().block_read_sectors = 40000;
  EXPECT_FALSE(k.fires("redundant_global_loads"));
  // With a tile in shared memory, a larger one would help.
  EXPECT_TRUE(k.set(MetricId::shared_ld_requests, 1000).fires("redundant_global_loads"));
}

TEST(Rules, AtomicsOfAWarpOnOneAddress) {
  KernelBuilder k;
  k.site("atomic", 1e5, 1e5, 7);
  k.kernel().sites[0].metrics[MetricId::site_sectors].value = 32e5;
  k.kernel().sites[0].metrics[MetricId::site_inst].value = 1e5;
  k.work().atomic_requests = 1e5, k.work().atomic_sectors = 32e5, k.work().atomic_lanes = 32e5;
  k.work().atomic_distinct_sectors = 1;
  const results::Advice* a = k.find("atomic_collisions");
  ASSERT_NE(a, nullptr);
  EXPECT_NE(a->title.find("32.0 rounds"), std::string::npos) << a->title;
  EXPECT_EQ(a->places.at(0).line, 7u);
  // One atomic a block is good.
  k.kernel().sites[0].metrics[MetricId::site_sectors].value = 1e5;
  k.work().atomic_requests = k.work().atomic_sectors = k.work().atomic_lanes = 1000;
  EXPECT_EQ(k.find("atomic_collisions"), nullptr);
}

// Each warp adds to a word of its own row: the block's atomics go to few sectors, the launch's to many.
TEST(Rules, AtomicsOfAWarpAreCombinedWhereBlocksHaveTheirOwnSectors) {
  KernelBuilder k;
  k.site("reduction", 32768, 32768, 7);
  k.kernel().sites[0].metrics[MetricId::site_sectors].value = 32768 * 32;
  k.kernel().sites[0].metrics[MetricId::site_inst].value = 32768;
  k.work().blocks = 8192;
  k.work().atomic_requests = 32768, k.work().atomic_sectors = k.work().atomic_lanes = 32768 * 32;
  k.work().atomic_distinct_sectors = 128;
  const results::Advice* a = k.find("atomic_collisions");
  ASSERT_NE(a, nullptr);
  EXPECT_GT(a->estimated_gain, 0.5);
}

TEST(Rules, FusedArithmetic) {
  EXPECT_TRUE(KernelBuilder()
                  .set(MetricId::machine_fadd, 11)
                  .set(MetricId::machine_fmul, 11)
                  .set(MetricId::machine_ffma, 78)
                  .fires("non_fused_arithmetic"));
  EXPECT_FALSE(KernelBuilder()
                   .set(MetricId::machine_fadd, 10)
                   .set(MetricId::machine_fmul, 10)
                   .set(MetricId::machine_ffma, 80)
                   .fires("non_fused_arithmetic"));
  EXPECT_FALSE(KernelBuilder().set(MetricId::machine_fadd, 100).fires("non_fused_arithmetic"));  // nothing to fuse with
}

TEST(Rules, OldGpusCountTransactions) {
  KernelBuilder k("Tesla C1060");
  k.site("load", 4000, 4000, 10);
  k.set(MetricId::global_ld_transaction_bytes, 4000 * 32 * 2);
  EXPECT_TRUE(k.fires("uncoalesced_global_access"));
  KernelBuilder modern;
  modern.site("load", 4000, 4000, 10).set(MetricId::global_ld_transaction_bytes, 4000 * 32 * 2);
  EXPECT_FALSE(modern.fires("uncoalesced_global_access"));
}

TEST(Rules, DocumentIsUpToDate) {
  EXPECT_EQ(read_file(WARPGRIND_TESTS "/../docs/rules.md"), rules_as_markdown())
      << "run: warpgrind-advice-docs > docs/rules.md";
}

}  // namespace
}  // namespace warpgrind::advice
