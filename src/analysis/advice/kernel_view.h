// Access to one kernel's counters for the rules.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "gpu/gpu_model.h"
#include "results/profile.h"

namespace warpgrind::advice {

using results::MetricId;

// Limits of the time estimate, by their names there (timing::name).
namespace limit {
inline constexpr const char* kDram = "DRAM bandwidth";
inline constexpr const char* kL2 = "L2 bandwidth";
inline constexpr const char* kL1 = "L1 throughput";
inline constexpr const char* kShared = "shared memory throughput";
inline constexpr const char* kAtomics = "atomics";
inline constexpr const char* kFp32 = "FP32 units";
inline constexpr const char* kFp64 = "FP64 units";
inline constexpr const char* kInteger = "integer units";
inline constexpr const char* kSpecial = "special function units";
inline constexpr const char* kIssue = "instruction issue";
inline constexpr const char* kLatency = "latency";
}  // namespace limit

class KernelView {
 public:
  // model: null if the GPU of the profile is unknown.
  KernelView(const results::KernelProfile& kernel, const GpuModel* model) : kernel_(kernel), model_(model) {}

  const results::KernelProfile& profile() const { return kernel_; }
  const GpuModel* model() const { return model_; }
  double value(MetricId metric) const { return kernel_.metrics.value(metric); }  // 0 when absent
  bool has(MetricId metric) const { return kernel_.metrics.has(metric); }
  std::string text(MetricId metric) const { return kernel_.metrics.text(metric); }

  // Fraction of the estimated time that is saved if each of these limits shrinks to its factor (the second member).
  using Shrink = std::pair<const char*, double>;
  double gain(std::initializer_list<Shrink> shrink) const;
  double dram_bytes() const;  // from the modelled caches, else derived from the DRAM bound of the time; 0: unknown

  // The metrics as evidence, with the value, unit and origin in the profile.
  std::vector<results::Advice::Evidence> evidence(const std::vector<MetricId>& metrics) const;

  // Places of the sites with the largest weights above 0, one per source line, the worst first.
  std::vector<results::Advice::Place> places(const std::function<double(const results::SiteProfile&)>& weight) const;

 private:
  const results::KernelProfile& kernel_;
  const GpuModel* model_;
};

}  // namespace warpgrind::advice
