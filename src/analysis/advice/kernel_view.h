// Access to one kernel's counters for the rules.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "gpu/gpu_model.h"
#include "results/profile.h"

namespace warpgrind::advice {

using results::MetricId;

class KernelView {
 public:
  KernelView(const results::KernelProfile& kernel, const GpuModel& model) : kernel_(kernel), model_(model) {}

  const results::KernelProfile& profile() const { return kernel_; }
  const GpuModel& model() const { return model_; }
  double value(MetricId metric) const { return kernel_.metrics.value(metric); }  // 0 when absent
  bool has(MetricId metric) const { return kernel_.metrics.has(metric); }
  std::string text(MetricId metric) const { return kernel_.metrics.text(metric); }

  // Part of the counts of all launches that belongs to one such launch, by its number of warps.
  double share_of(const results::WorkProfile& launch) const;
  // Different sectors that a block reads, summed over the blocks of all launches; 0: unknown.
  double block_read_sectors() const;

  // The metrics as evidence, with the value, unit and origin in the profile.
  std::vector<results::Advice::Evidence> evidence(const std::vector<MetricId>& metrics) const;

  // Places of the sites with the largest weights above 0, one per source line, the worst first.
  std::vector<results::Advice::Place> places(const std::function<double(const results::SiteProfile&)>& weight) const;

 private:
  const results::KernelProfile& kernel_;
  const GpuModel& model_;
};

}  // namespace warpgrind::advice
