// The rule about spilled registers.
#include <gtest/gtest.h>

#include <algorithm>

#include "advice/advise.h"
#include "advice/rules.h"
#include "timing/estimate.h"

namespace warpgrind::advice {
namespace {

using results::MetricId;

constexpr double kSectorsOfSpill = 4;  // of 32 lanes

results::Profile profile_with(double spills) {
  results::Profile profile;
  profile.gpu = "NVIDIA H200";
  results::KernelProfile& k = profile.kernels.emplace_back();
  const auto set = [&](MetricId id, double value) { k.metrics[id].value = value; };
  set(MetricId::grid_size, 1000), set(MetricId::block_size, 256), set(MetricId::launches, 1);
  set(MetricId::occupancy, 75), set(MetricId::waves, 3), set(MetricId::registers, 40);
  k.metrics[MetricId::occupancy_limiter].text = "registers";
  const double sectors = kSectorsOfSpill * spills;
  set(MetricId::spill_ld, spills), set(MetricId::spill_st, spills), set(MetricId::spill_bytes, 600);
  set(MetricId::spill_ld_sectors, sectors), set(MetricId::spill_st_sectors, sectors);
  results::WorkProfile& launch = k.work.emplace_back();
  launch.launches = 1;
  timing::LaunchWork& w = launch.work;
  w.blocks = 1000, w.threads_per_block = 256, w.warps_per_block = 8, w.resident_blocks = 6;
  w.instructions = 1000 + 2 * spills / (w.blocks * w.warps_per_block), w.static_instructions = 1000;
  w.path_0 = 4000, w.path_40 = 5000, w.path_290 = 40'000, w.path_700 = 90'000, w.path_1000 = 120'000;
  w.l1_load_passes = w.l1_store_passes = spills;
  w.l2_write_sectors = sectors, w.l2_write_lines = spills;
  return profile;
}

const results::Advice* find(const results::Profile& profile, const std::string& rule) {
  const auto& all = profile.kernels[0].advice;
  const auto it = std::find_if(all.begin(), all.end(), [&](const results::Advice& a) { return a.rule == rule; });
  return it == all.end() ? nullptr : &*it;
}

// Fewer registers for more occupancy would be the opposite of what helps.
TEST(SpillRules, SpilledRegistersAskForAHigherLimit) {
  results::Profile without = profile_with(0);
  advise(without);
  EXPECT_EQ(find(without, "spilled_registers"), nullptr);
  EXPECT_NE(find(without, "theoretical_occupancy"), nullptr);

  results::Profile with = profile_with(1'000'000);
  advise(with);
  const results::Advice* a = find(with, "spilled_registers");
  ASSERT_NE(a, nullptr);
  EXPECT_EQ(a, &with.kernels[0].advice[0]);
  EXPECT_NE(a->title.find("1,000,000 loads and 1,000,000 stores"), std::string::npos) << a->title;
  EXPECT_NE(a->text.find("Raise the limit"), std::string::npos) << a->text;
  // The time of the launch without spills.
  EXPECT_NEAR(a->without_cause_ns,
              timing::estimate_kernel(**find_gpu_model("h200"), without.kernels[0].work[0].work).ns, 1);
  EXPECT_GT(a->estimated_gain, 0.1);
  EXPECT_EQ(find(with, "theoretical_occupancy"), nullptr);

  results::Profile most = profile_with(1'000'000);
  most.kernels[0].metrics[MetricId::registers].value = 255;
  advise(most);
  EXPECT_EQ(find(most, "spilled_registers")->text.find("Raise the limit"), std::string::npos);
}

}  // namespace
}  // namespace warpgrind::advice
