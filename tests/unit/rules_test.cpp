// Rules that give advice: conditions, gains and order.
#include "advice/rules.h"

#include <gtest/gtest.h>

#include "advice/advise.h"
#include "read_file.h"

namespace warpgrind::advice {
namespace {

constexpr const char* kSectors = "memory_l2_theoretical_sectors_global";
constexpr const char* kIdeal = "memory_l2_theoretical_sectors_global_ideal";
constexpr const char* kExcessive = "derived__memory_l2_theoretical_sectors_global_excessive";

struct KernelBuilder {
  results::Profile profile;

  explicit KernelBuilder(const char* gpu = "NVIDIA H200") {
    profile.gpu = gpu;
    profile.kernels.emplace_back();
    set("launch__grid_size", 1000).set("launch__block_size", 256).set("warpgrind__launches.sum", 1);
    set("sm__maximum_warps_per_active_cycle_pct", 100);
  }
  results::KernelProfile& kernel() { return profile.kernels[0]; }
  KernelBuilder& set(const std::string& metric, double value) {
    kernel().metrics[metric].value = value;
    return *this;
  }
  KernelBuilder& text(const std::string& metric, const char* value) {
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
    s.metrics[kSectors].value = sectors;
    s.metrics[kIdeal].value = ideal;
    s.metrics[kExcessive].value = sectors - ideal;
    for (const char* name : {kSectors, kIdeal, kExcessive}) kernel().metrics[name].value += s.metrics[name].value;
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
  k.set("gpu__time_duration.sum", 1000).bounds({{limit::kL2, 900}, {limit::kLatency, 450}});
  // Eight ninths of the excess disappear. Then latency, 450 ns, is the limit.
  const results::Advice* a = k.find("transpose_through_shared_memory");
  ASSERT_NE(a, nullptr);
  EXPECT_NEAR(a->estimated_gain, 0.45, 0.01);
  EXPECT_EQ(a->origin, Origin::estimated);
}

TEST(Rules, SortedByGain) {
  KernelBuilder k;
  k.site("load", 5000, 4000, 10);
  k.set("gpu__time_duration.sum", 1000).bounds({{limit::kLatency, 900}, {limit::kL2, 100}});
  k.set("sm__maximum_warps_per_active_cycle_pct", 25).text("warpgrind__occupancy_limiter", "registers");
  advise(k.profile);
  ASSERT_GE(k.kernel().advice.size(), 2u);
  EXPECT_EQ(k.kernel().advice[0].rule, "theoretical_occupancy");
}

TEST(Rules, ThresholdsOfNsight) {
  constexpr const char* kLanes = "warpgrind__ptx_thread_inst_executed_per_inst_executed.ratio";
  constexpr const char* kOn = "warpgrind__ptx_thread_inst_executed_pred_on_per_inst_executed.ratio";
  EXPECT_EQ(KernelBuilder().set(kLanes, 24).set(kOn, 24).find("thread_divergence"), nullptr);
  EXPECT_NE(KernelBuilder().set(kLanes, 32).set(kOn, 23.9).find("thread_divergence"), nullptr);
  EXPECT_EQ(KernelBuilder().set("sm__maximum_warps_per_active_cycle_pct", 80).find("theoretical_occupancy"), nullptr);
  EXPECT_NE(KernelBuilder().set("sm__maximum_warps_per_active_cycle_pct", 79).find("theoretical_occupancy"), nullptr);
  EXPECT_EQ(KernelBuilder().set("launch__block_size", 96).find("block_size"), nullptr);
  EXPECT_NE(KernelBuilder().set("launch__block_size", 100).find("block_size"), nullptr);
  // 132 SMs
  EXPECT_EQ(KernelBuilder().set("launch__grid_size", 132).find("small_grid"), nullptr);
  EXPECT_NE(KernelBuilder().set("launch__grid_size", 131).find("small_grid"), nullptr);
  constexpr const char* kBarriers = "warpgrind__ptx_inst_executed_op_barrier.sum";
  EXPECT_NE(KernelBuilder().set("launch__grid_size", 263).set(kBarriers, 1).find("small_grid"), nullptr);
  EXPECT_EQ(KernelBuilder().set("launch__grid_size", 264).set(kBarriers, 1).find("small_grid"), nullptr);
  constexpr const char* kWaves = "launch__waves_per_multiprocessor";
  EXPECT_EQ(KernelBuilder().set(kWaves, 0.5).find("tail_effect"), nullptr);
  EXPECT_NE(KernelBuilder().set(kWaves, 1.1).find("tail_effect"), nullptr);
  EXPECT_EQ(KernelBuilder().set(kWaves, 2).find("tail_effect"), nullptr);
  EXPECT_EQ(KernelBuilder().set(kWaves, 5.1).find("tail_effect"), nullptr);
}

TEST(Rules, TheLaunchOfATestGetsOneLine) {
  KernelBuilder one;
  one.site("load", 32, 1, 10).site("store", 32, 1, 11);
  one.set("warpgrind__launches.sum", 2).set("launch__thread_count", 2).set("launch__block_size", 1);
  one.set("launch__grid_size", 1).set("sm__maximum_warps_per_active_cycle_pct", 50);
  one.text("warpgrind__occupancy_limiter", "blocks");
  advise(one.profile);
  ASSERT_EQ(one.kernel().advice.size(), 1u) << one.kernel().advice[0].title;
  EXPECT_EQ(one.kernel().advice[0].rule, "small_launch");
  EXPECT_TRUE(one.kernel().advice[0].text.empty());
  // Advice on a warp's memory accesses is still given.
  KernelBuilder warp;
  warp.site("load", 32, 4, 10).site("store", 32, 4, 11);
  warp.set("warpgrind__launches.sum", 1).set("launch__thread_count", 32);
  EXPECT_NE(warp.find("uncoalesced_global_access"), nullptr);
  EXPECT_EQ(warp.find("small_grid"), nullptr);
  EXPECT_EQ(KernelBuilder().set("warpgrind__launches.sum", 1).set("launch__thread_count", 33).find("small_launch"),
            nullptr);
}

// All blocks are resident at once, so a lower limit would hold them too.
TEST(Rules, OccupancyLimitsOnlyGridsOfAWave) {
  const auto kernel = [](double waves) {
    return KernelBuilder()
        .set("sm__maximum_warps_per_active_cycle_pct", 50)
        .set("launch__waves_per_multiprocessor", waves);
  };
  EXPECT_EQ(kernel(0.5).find("theoretical_occupancy"), nullptr);
  EXPECT_NE(kernel(1.5).find("theoretical_occupancy"), nullptr);
}

TEST(Rules, SplitBranchesBeforeLanesGetFew) {
  constexpr const char* kLanes = "warpgrind__ptx_thread_inst_executed_per_inst_executed.ratio";
  constexpr const char* kOn = "warpgrind__ptx_thread_inst_executed_pred_on_per_inst_executed.ratio";
  const auto kernel = [](double lanes, double efficiency) {
    return KernelBuilder()
        .set(kLanes, lanes)
        .set(kOn, lanes)
        .set("warpgrind__divergent_branches.sum", 100 - efficiency)
        .set("warpgrind__branches.sum", 100);
  };
  EXPECT_NE(kernel(25, 89).find("divergent_branches"), nullptr);
  EXPECT_EQ(kernel(25, 90).find("divergent_branches"), nullptr);
  EXPECT_EQ(kernel(20, 50).find("divergent_branches"), nullptr);
  // Branches that ptxas turns into predicates do not diverge.
  EXPECT_EQ(kernel(25, 50).set("smsp__sass_branch_targets_threads_divergent.sum", 0).find("divergent_branches"),
            nullptr);
  EXPECT_NE(kernel(20, 50).find("thread_divergence"), nullptr);
}

TEST(Rules, BankConflictsFromATenthOfTheWavefronts) {
  const auto kernel = [](double wavefronts, double conflicts) {
    KernelBuilder k;
    k.set("warpgrind__shared_op_ld_requests.sum", 1000);
    k.set("smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", wavefronts);
    k.set("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", conflicts);
    k.set("memory_l1_wavefronts_shared", wavefronts).set("memory_l1_wavefronts_shared_ideal", wavefronts - conflicts);
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
  k.set("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 40000);
  k.set("warpgrind__global_footprint.sum", 40000 * 32 / 10.0);
  const results::Advice* a = k.find("redundant_global_loads");
  ASSERT_NE(a, nullptr);
  EXPECT_NE(a->title.find("10 times"), std::string::npos) << a->title;
  k.set("warpgrind__global_footprint.sum", 40000 * 32);
  EXPECT_EQ(k.find("redundant_global_loads"), nullptr);
}

TEST(Rules, AtomicsOfAWarpOnOneAddress) {
  KernelBuilder k;
  k.site("atomic", 1000, 1000, 7);
  k.kernel().sites[0].metrics["warpgrind__sectors.sum"].value = 32000;
  k.kernel().sites[0].metrics["inst_executed"].value = 1000;
  const results::Advice* a = k.find("atomic_collisions");
  ASSERT_NE(a, nullptr);
  EXPECT_NE(a->title.find("32.0 rounds"), std::string::npos) << a->title;
  EXPECT_EQ(a->places.at(0).line, 7u);
  // One atomic a block is good.
  k.kernel().sites[0].metrics["warpgrind__sectors.sum"].value = 1000;
  EXPECT_EQ(k.find("atomic_collisions"), nullptr);
}

TEST(Rules, FusedArithmetic) {
  constexpr const char* kAdd = "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum";
  constexpr const char* kMul = "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum";
  constexpr const char* kFma = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum";
  EXPECT_NE(KernelBuilder().set(kAdd, 11).set(kMul, 11).set(kFma, 78).find("non_fused_arithmetic"), nullptr);
  EXPECT_EQ(KernelBuilder().set(kAdd, 10).set(kMul, 10).set(kFma, 80).find("non_fused_arithmetic"), nullptr);
  EXPECT_EQ(KernelBuilder().set(kAdd, 100).find("non_fused_arithmetic"), nullptr);  // nothing to fuse with
}

TEST(Rules, OldGpusCountTransactions) {
  KernelBuilder k("Tesla C1060");
  k.site("load", 4000, 4000, 10);
  k.set("warpgrind__global_op_ld_transaction_bytes.sum", 4000 * 32 * 2);
  EXPECT_NE(k.find("uncoalesced_global_access"), nullptr);
  KernelBuilder modern;
  modern.site("load", 4000, 4000, 10).set("warpgrind__global_op_ld_transaction_bytes.sum", 4000 * 32 * 2);
  EXPECT_EQ(modern.find("uncoalesced_global_access"), nullptr);
}

TEST(Rules, DocumentIsUpToDate) {
  EXPECT_EQ(read_file(WARPGRIND_TESTS "/../docs/rules.md"), rules_as_markdown())
      << "run: warpgrind-advice-docs > docs/rules.md";
}

}  // namespace
}  // namespace warpgrind::advice
