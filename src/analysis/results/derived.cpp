// Figures of a GPU model, and definitions of metrics.
#include "results/derived.h"

#include <fmt/format.h>

#include <set>

#include "counters/metric_table.h"

namespace warpgrind::results {
namespace {

const char* coalescing_name(CoalescingRule rule) {
  switch (rule) {
    case CoalescingRule::half_warp_strict:
      return "half_warp_strict";
    case CoalescingRule::half_warp_segments:
      return "half_warp_segments";
    case CoalescingRule::lines_128:
      return "lines_128";
    case CoalescingRule::sectors_32:
      return "sectors_32";
  }
  return "unknown";
}

Definition definition(const counters::MetricRow& row) {
  return {row.unit, row.origin, row.definition};
}

}  // namespace

Model model_of(const GpuModel& gpu) {
  const BankRule& banks = gpu.rules.banks;
  return {.id = gpu.id,
          .name = gpu.name,
          .cc = fmt::format("{}.{}", gpu.cc_major, gpu.cc_minor),
          .sm_count = gpu.sm_count,
          .max_warps_per_sm = gpu.max_warps_per_sm,
          .sm_clock_mhz = gpu.sm_clock_mhz,
          .fp32_gflops = gpu.peak_flops(32) * 1e-9,
          .fp64_gflops = gpu.peak_flops(64) * 1e-9,
          .dram_gbs = gpu.theoretical_bandwidth() * 1e-9,
          .dram_achievable_fraction = gpu.achievable_bandwidth_fraction,
          .l2_bytes = gpu.l2_bytes,
          .shared_per_sm = gpu.shared_per_sm,
          .link_gbps_pinned = gpu.timing.pinned_to_device_gbps,
          .link_gbps_pageable = gpu.timing.pageable_to_device_gbps,
          .coalescing = coalescing_name(gpu.rules.coalescing),
          .banks = {banks.banks, banks.bank_bytes, banks.lanes}};
}

std::optional<Model> model_named(const std::string& name) {
  const Result<const GpuModel*> found = find_gpu_model(name);
  return found ? std::optional(model_of(**found)) : std::nullopt;
}

std::map<std::string, Definition> all_definitions() {
  std::map<std::string, Definition> out;
  for (const counters::MetricRow& row : counters::metric_table()) out[row.name] = definition(row);
  return out;
}

std::map<std::string, Definition> definitions_of(const Profile& profile) {
  std::set<std::string> names;
  const auto take = [&](const Metrics& metrics) {
    for (const auto& [name, m] : metrics.by_name()) names.insert(name);
  };
  for (const auto* kernels : {&profile.kernels, &profile.launches})
    for (const KernelProfile& k : *kernels) {
      take(k.metrics);
      for (const SiteProfile& s : k.sites) take(s.metrics);
      for (const auto* lines : {&k.lines, &k.inlined_lines})
        for (const LineProfile& l : *lines) take(l.metrics);
    }
  for (const RangeProfile& r : profile.ranges) {
    take(r.metrics);
    for (const RangeKernel& k : r.kernels)
      for (const SiteProfile& s : k.sites) take(s.metrics);
  }
  std::map<std::string, Definition> out;
  for (const std::string& name : names)
    if (const auto id = counters::find_metric(name)) out[name] = definition(counters::row(*id));
  return out;
}

}  // namespace warpgrind::results
