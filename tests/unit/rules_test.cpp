// Rules that give advice: conditions, gains and order.
#include "advice/rules.h"

#include <gtest/gtest.h>

#include "advice/advise.h"
#include "read_file.h"

namespace warpgrind::advice {
namespace {

struct KernelBuilder {
  results::Profile profile;

  explicit KernelBuilder(const char* gpu = "NVIDIA H200") {
    profile.gpu = gpu;
    profile.kernels.emplace_back();
    set(MetricId::grid_size, 1000).set(MetricId::block_size, 256).set(MetricId::launches, 1);
    set(MetricId::occupancy, 100);
  }
  results::KernelProfile& kernel() { return profile.kernels[0]; }
  KernelBuilder& set(MetricId metric, double value) {
    kernel().metrics[metric].value = value;
    return *this;
  }
  KernelBuilder& text(MetricId metric, const char* value) {
    kernel().metrics[metric].text = value;
    return *this;
  }
  KernelBuilder& bounds(std::vector<results::BoundProfile> bounds) {
    kernel().bounds = std::move(bounds);
    return *this;
  }
  // Adds the hardware's counters to the kernel's sums.
  KernelBuilder& site(const char* kind, double sectors, double ideal, std::uint32_t line) {
    results::SiteProfile& s = kernel().sites.emplace_back();
    s.kind = kind;
    s.space = "global";
    s.file = "a.cu";
    s.line = line;
    s.metrics[MetricId::theoretical_sectors].value = sectors;
    s.metrics[MetricId::ideal_sectors].value = ideal;
    s.metrics[MetricId::excessive_sectors].value = sectors - ideal;
    for (const MetricId id : {MetricId::theoretical_sectors, MetricId::ideal_sectors, MetricId::excessive_sectors})
      kernel().metrics[id].value += s.metrics.value(id);
    return *this;
  }
  const results::Advice* find(const std::string& rule) {
    advise(profile);
    for (const results::Advice& a : kernel().advice)
      if (a.rule == rule) return &a;
    return nullptr;
  }
};

TEST(Rules, NothingToSayAboutAPerfectKernel) {
  KernelBuilder k;
  k.site("load", 4000, 4000, 10).site("store", 4000, 4000, 11);
  advise(k.profile);
  EXPECT_TRUE(k.kernel().advice.empty()) << k.kernel().advice[0].title;
}

TEST(Rules, UncoalescedLoadsAndStoresPointAtTheWorstLineFirst) {
  KernelBuilder k;
  k.site("load", 5000, 4000, 10).site("store", 8000, 4000, 11);
  const results::Advice* a = k.find("uncoalesced_global_access");
  ASSERT_NE(a, nullptr);
  ASSERT_EQ(a->places.size(), 2u);
  EXPECT_EQ(a->places[0].line, 11u);
  EXPECT_EQ(a->places[1].line, 10u);
  EXPECT_NE(a->title.find("38 %"), std::string::npos) << a->title;  // 5000 of 13000
  ASSERT_FALSE(a->evidence.empty());
  EXPECT_EQ(a->evidence[0].value, 5000);
}

TEST(Rules, OneSidedStrideIsATransposeAndSaidOnce) {
  KernelBuilder k;
  k.site("load", 4000, 4000, 10).site("store", 32000, 4000, 11);
  const results::Advice* a = k.find("transpose_through_shared_memory");
  ASSERT_NE(a, nullptr);
  EXPECT_EQ(a->places.at(0).line, 11u);
  EXPECT_EQ(k.find("uncoalesced_global_access"), nullptr);
}

TEST(Rules, StridedOnBothSidesIsNoTranspose) {
  KernelBuilder k;
  k.site("load", 32000, 4000, 10).site("store", 32000, 4000, 11);
  EXPECT_EQ(k.find("transpose_through_shared_memory"), nullptr);
  EXPECT_NE(k.find("uncoalesced_global_access"), nullptr);
}

TEST(Rules, GainIsWhatBindsNext) {
  KernelBuilder k;
  k.site("load", 4000, 4000, 10).site("store", 32000, 4000, 11);
  k.set(MetricId::time, 1000).bounds({{limit::kL2, 900}, {limit::kLatency, 450}});
  // Eight ninths of the excess disappear. Then latency, 450 ns, is the limit.
  const results::Advice* a = k.find("transpose_through_shared_memory");
  ASSERT_NE(a, nullptr);
  EXPECT_NEAR(a->estimated_gain, 0.45, 0.01);
  EXPECT_EQ(a->origin, Origin::estimated);
}

TEST(Rules, SortedByGain) {
  KernelBuilder k;
  k.site("load", 5000, 4000, 10);
  k.set(MetricId::time, 1000).bounds({{limit::kLatency, 900}, {limit::kL2, 100}});
  k.set(MetricId::occupancy, 25).text(MetricId::occupancy_limiter, "registers");
  advise(k.profile);
  ASSERT_GE(k.kernel().advice.size(), 2u);
  EXPECT_EQ(k.kernel().advice[0].rule, "theoretical_occupancy");
}

TEST(Rules, ThresholdsOfNsight) {
  EXPECT_EQ(
      KernelBuilder().set(MetricId::lanes_per_inst, 24).set(MetricId::lanes_on_per_inst, 24).find("thread_divergence"),
      nullptr);
  EXPECT_NE(KernelBuilder()
                .set(MetricId::lanes_per_inst, 32)
                .set(MetricId::lanes_on_per_inst, 23.9)
                .find("thread_divergence"),
            nullptr);
  EXPECT_EQ(KernelBuilder().set(MetricId::occupancy, 80).find("theoretical_occupancy"), nullptr);
  EXPECT_NE(KernelBuilder().set(MetricId::occupancy, 79).find("theoretical_occupancy"), nullptr);
  EXPECT_EQ(KernelBuilder().set(MetricId::block_size, 96).find("block_size"), nullptr);
  EXPECT_NE(KernelBuilder().set(MetricId::block_size, 100).find("block_size"), nullptr);
  // 132 SMs
  EXPECT_EQ(KernelBuilder().set(MetricId::grid_size, 132).find("small_grid"), nullptr);
  EXPECT_NE(KernelBuilder().set(MetricId::grid_size, 131).find("small_grid"), nullptr);
  EXPECT_NE(KernelBuilder().set(MetricId::grid_size, 263).set(MetricId::inst_barrier, 1).find("small_grid"), nullptr);
  EXPECT_EQ(KernelBuilder().set(MetricId::grid_size, 264).set(MetricId::inst_barrier, 1).find("small_grid"), nullptr);
  EXPECT_EQ(KernelBuilder().set(MetricId::waves, 0.5).find("tail_effect"), nullptr);
  EXPECT_NE(KernelBuilder().set(MetricId::waves, 1.1).find("tail_effect"), nullptr);
  EXPECT_EQ(KernelBuilder().set(MetricId::waves, 2).find("tail_effect"), nullptr);
  EXPECT_EQ(KernelBuilder().set(MetricId::waves, 5.1).find("tail_effect"), nullptr);
}

TEST(Rules, TheLaunchOfATestGetsOneLine) {
  KernelBuilder one;
  one.site("load", 32, 1, 10).site("store", 32, 1, 11);
  one.set(MetricId::launches, 2).set(MetricId::thread_count, 2).set(MetricId::block_size, 1);
  one.set(MetricId::grid_size, 1).set(MetricId::occupancy, 50);
  one.text(MetricId::occupancy_limiter, "blocks");
  advise(one.profile);
  ASSERT_EQ(one.kernel().advice.size(), 1u) << one.kernel().advice[0].title;
  EXPECT_EQ(one.kernel().advice[0].rule, "small_launch");
  EXPECT_TRUE(one.kernel().advice[0].text.empty());
  // Advice on a warp's memory accesses is still given.
  KernelBuilder warp;
  warp.site("load", 32, 4, 10).site("store", 32, 4, 11);
  warp.set(MetricId::launches, 1).set(MetricId::thread_count, 32);
  EXPECT_NE(warp.find("uncoalesced_global_access"), nullptr);
  EXPECT_EQ(warp.find("small_grid"), nullptr);
  EXPECT_EQ(KernelBuilder().set(MetricId::launches, 1).set(MetricId::thread_count, 33).find("small_launch"), nullptr);
}

// All blocks are resident at once, so a lower limit would hold them too.
TEST(Rules, OccupancyLimitsOnlyGridsOfAWave) {
  const auto kernel = [](double waves) {
    return KernelBuilder().set(MetricId::occupancy, 50).set(MetricId::waves, waves);
  };
  EXPECT_EQ(kernel(0.5).find("theoretical_occupancy"), nullptr);
  EXPECT_NE(kernel(1.5).find("theoretical_occupancy"), nullptr);
}

TEST(Rules, SplitBranchesBeforeLanesGetFew) {
  const auto kernel = [](double lanes, double efficiency) {
    return KernelBuilder()
        .set(MetricId::lanes_per_inst, lanes)
        .set(MetricId::lanes_on_per_inst, lanes)
        .set(MetricId::divergent_branches, 100 - efficiency)
        .set(MetricId::branches, 100);
  };
  EXPECT_NE(kernel(25, 89).find("divergent_branches"), nullptr);
  EXPECT_EQ(kernel(25, 90).find("divergent_branches"), nullptr);
  EXPECT_EQ(kernel(20, 50).find("divergent_branches"), nullptr);
  // Branches that ptxas turns into predicates do not diverge.
  EXPECT_EQ(kernel(25, 50).set(MetricId::machine_divergent, 0).find("divergent_branches"), nullptr);
  EXPECT_NE(kernel(20, 50).find("thread_divergence"), nullptr);
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
  EXPECT_NE(kernel(32000, 31000).find("shared_memory_conflicts"), nullptr);
  EXPECT_NE(kernel(1000, 100).find("shared_memory_conflicts"), nullptr);
  EXPECT_EQ(kernel(1000, 99).find("shared_memory_conflicts"), nullptr);
  EXPECT_NE(kernel(1000, 99).find("uncoalesced_shared_access"), nullptr);
  EXPECT_EQ(kernel(1000, 0).find("uncoalesced_shared_access"), nullptr);
  EXPECT_EQ(kernel(32000, 31000).find("uncoalesced_shared_access"), nullptr);
}

TEST(Rules, RedundantLoadsOfANaiveProduct) {
  KernelBuilder k;
  k.site("load", 40000, 40000, 5);
  k.set(MetricId::global_ld_sectors, 40000);
  k.set(MetricId::footprint, 40000 * 32 / 10.0);
  const results::Advice* a = k.find("redundant_global_loads");
  ASSERT_NE(a, nullptr);
  EXPECT_NE(a->title.find("10 times"), std::string::npos) << a->title;
  k.set(MetricId::footprint, 40000 * 32);
  EXPECT_EQ(k.find("redundant_global_loads"), nullptr);
}

TEST(Rules, AtomicsOfAWarpOnOneAddress) {
  KernelBuilder k;
  k.site("atomic", 1000, 1000, 7);
  k.kernel().sites[0].metrics[MetricId::site_sectors].value = 32000;
  k.kernel().sites[0].metrics[MetricId::site_inst].value = 1000;
  const results::Advice* a = k.find("atomic_collisions");
  ASSERT_NE(a, nullptr);
  EXPECT_NE(a->title.find("32.0 rounds"), std::string::npos) << a->title;
  EXPECT_EQ(a->places.at(0).line, 7u);
  // One atomic a block is good.
  k.kernel().sites[0].metrics[MetricId::site_sectors].value = 1000;
  EXPECT_EQ(k.find("atomic_collisions"), nullptr);
}

TEST(Rules, FusedArithmetic) {
  EXPECT_NE(KernelBuilder()
                .set(MetricId::machine_fadd, 11)
                .set(MetricId::machine_fmul, 11)
                .set(MetricId::machine_ffma, 78)
                .find("non_fused_arithmetic"),
            nullptr);
  EXPECT_EQ(KernelBuilder()
                .set(MetricId::machine_fadd, 10)
                .set(MetricId::machine_fmul, 10)
                .set(MetricId::machine_ffma, 80)
                .find("non_fused_arithmetic"),
            nullptr);
  EXPECT_EQ(KernelBuilder().set(MetricId::machine_fadd, 100).find("non_fused_arithmetic"),
            nullptr);  // nothing to fuse with
}

TEST(Rules, OldGpusCountTransactions) {
  KernelBuilder k("Tesla C1060");
  k.site("load", 4000, 4000, 10);
  k.set(MetricId::global_ld_transaction_bytes, 4000 * 32 * 2);
  EXPECT_NE(k.find("uncoalesced_global_access"), nullptr);
  KernelBuilder modern;
  modern.site("load", 4000, 4000, 10).set(MetricId::global_ld_transaction_bytes, 4000 * 32 * 2);
  EXPECT_EQ(modern.find("uncoalesced_global_access"), nullptr);
}

TEST(Rules, DocumentIsUpToDate) {
  EXPECT_EQ(read_file(WARPGRIND_TESTS "/../docs/rules.md"), rules_as_markdown())
      << "run: warpgrind-advice-docs > docs/rules.md";
}

}  // namespace
}  // namespace warpgrind::advice
