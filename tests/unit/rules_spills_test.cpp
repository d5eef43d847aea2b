// The rule about spilled registers.
#include <gtest/gtest.h>

#include <algorithm>

#include "advice/advise.h"
#include "advice/rules.h"

namespace warpgrind::advice {
namespace {

using results::MetricId;

results::Profile profile_with(double spills) {
  results::Profile profile;
  profile.gpu = "NVIDIA H200";
  results::KernelProfile& k = profile.kernels.emplace_back();
  const auto set = [&](MetricId id, double value) { k.metrics[id].value = value; };
  set(MetricId::grid_size, 1000), set(MetricId::block_size, 256), set(MetricId::launches, 1);
  set(MetricId::occupancy, 75), set(MetricId::waves, 3), set(MetricId::registers, 40);
  k.metrics[MetricId::occupancy_limiter].text = "registers";
  set(MetricId::time, 100'000), set(MetricId::machine_inst, 10'000'000);
  set(MetricId::lsu_sectors, 1000), set(MetricId::l2_read, 1000);
  set(MetricId::spill_ld, spills), set(MetricId::spill_st, spills), set(MetricId::spill_bytes, 600);
  set(MetricId::spill_ld_sectors, 4 * spills), set(MetricId::spill_st_sectors, 4 * spills);
  k.bounds = {{"L2 bandwidth", 90'000}, {"L1 throughput", 70'000}, {"instruction issue", 10'000}};
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
  // Nearly all of L1's and L2's work is that of spills; the schedulers' is what is left.
  EXPECT_GT(a->estimated_gain, 0.75);
  EXPECT_LE(a->estimated_gain, 0.9);
  EXPECT_EQ(find(with, "theoretical_occupancy"), nullptr);

  results::Profile most = profile_with(1'000'000);
  most.kernels[0].metrics[MetricId::registers].value = 255;
  advise(most);
  EXPECT_EQ(find(most, "spilled_registers")->text.find("Raise the limit"), std::string::npos);
}

}  // namespace
}  // namespace warpgrind::advice
