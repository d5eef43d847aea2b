// Derivation of a topic's figures from its counters, times and limits.
#include "lab/derive.h"

#include <algorithm>

#include "base/assert.h"
#include "gpu/gpu_model.h"
#include "lab/explain.h"

namespace warpgrind::lab {

namespace {

// The best value of this rung, over all sizes and widths.
double best(const TopicResult& topic, const std::string& rung, double Derived::*figure) {
  double value = 0;
  for (const Row& row : topic.rows)
    if (row.rung == rung && row.shown()) value = std::max(value, row.derived.*figure);
  return value;
}

void derive_counts(Row& row, const Limits& limits) {
  Derived& d = row.derived;
  d.load_sectors_per_request = row.metric(MetricId::global_ld_sectors_per_request);
  d.store_sectors_per_request = row.metric(MetricId::global_st_sectors_per_request);
  d.bank_conflicts = row.metric(MetricId::shared_conflicts);
  const double requests = row.metric(MetricId::shared_ld_requests) + row.metric(MetricId::shared_st_requests);
  d.conflicts_per_request = requests > 0 ? d.bank_conflicts / requests : 0;
  d.divergent_branches = row.metric(MetricId::divergent_branches);
  d.cgma = row.metric(MetricId::cgma_loads);
  // The documents' formula: each access moves a word, so bandwidth / word x ratio limits the arithmetic, as its peak
  // does.
  const bool fp64 = row.type == "double";
  const double peak = fp64 ? limits.fp64_gflops : limits.fp32_gflops;
  d.cgma_ceiling_gflops = d.cgma * limits.dram_gbs / (fp64 ? 8 : 4);
  if (peak > 0) d.cgma_ceiling_gflops = std::min(d.cgma_ceiling_gflops, peak);
  d.limit = row.metrics.text(MetricId::time_limit);
}

void derive_rates(Row& row, const Limits& limits) {
  Derived& d = row.derived;
  const std::optional<Timing>& time = row.gpu ? row.gpu : row.cpu;
  if (!time || time->median <= 0) return;
  d.time_us = time->median;
  d.gbs = row.bytes / d.time_us / 1e3;
  d.gflops = row.flop / d.time_us / 1e3;
  if (row.role == "host") return;
  const bool fp64 = row.type == "double";
  const auto share = [](double value, double limit) { return limit > 0 ? value / limit : 0; };
  const double by_bytes = share(d.gbs, limits.dram_gbs);
  const double by_flops = share(d.gflops, fp64 ? limits.fp64_gflops : limits.fp32_gflops);
  d.share_of_flops = by_flops > by_bytes;
  d.theoretical_share = std::max(by_bytes, by_flops);
  d.ceiling_share = std::max(share(d.gbs, limits.dram_ceiling_gbs),
                             share(d.gflops, fp64 ? limits.fp64_ceiling_gflops : limits.fp32_ceiling_gflops));
}

}  // namespace

Limits limits_of_model(const std::string& gpu) {
  Limits l;
  const auto model = find_gpu_model(gpu);
  if (!model) return l;
  l.dram_gbs = (*model)->theoretical_bandwidth() / 1e9;
  l.fp32_gflops = (*model)->peak_flops(32) / 1e9;
  l.fp64_gflops = (*model)->peak_flops(64) / 1e9;
  l.dram_ceiling_gbs = l.dram_gbs * (*model)->achievable_bandwidth_fraction;
  l.fp32_ceiling_gflops = l.fp32_gflops;
  l.fp64_ceiling_gflops = l.fp64_gflops;
  return l;
}

Limits limits_of_device(const Device& device, const TopicResult* bandwidth) {
  Limits l;
  for (const GpuModel& model : gpu_models())
    if (model.name == device.name) l = limits_of_model(model.id);
  l.dram_gbs = device.theoretical_gbs();
  l.dram_ceiling_gbs = 0;
  l.fp32_ceiling_gflops = l.fp64_ceiling_gflops = 0;
  if (bandwidth) {
    l.dram_ceiling_gbs =
        std::max(best(*bandwidth, "copy", &Derived::gbs), best(*bandwidth, "copy tiles", &Derived::gbs));
    l.fp32_ceiling_gflops = best(*bandwidth, "fma float", &Derived::gflops);
    l.fp64_ceiling_gflops = best(*bandwidth, "fma double", &Derived::gflops);
  }
  return l;
}

std::string ladder_of(const Row& row) {
  const std::size_t end = row.rung.find(" / ");
  return end == std::string::npos ? "" : row.rung.substr(0, end);
}

void derive(TopicResult& topic, const Limits& limits) {
  // Speed-ups are between rungs of the same problem: same ladder, size and type. Rows that differ in a parameter (the
  // number of GPUs) are steps of one ladder, so "total" compares them with the ladder's first row.
  struct Ladder {
    double first = 0;
    const Row* before = nullptr;
  };
  std::map<std::string, Ladder> ladders;
  for (Row& row : topic.rows) {
    row.derived = {};
    if (!row.shown()) continue;
    derive_counts(row, limits);
    derive_rates(row, limits);
    if (row.role != "rung" || row.derived.time_us <= 0) continue;
    Ladder& ladder = ladders[ladder_of(row) + " " + row.size_text + " " + row.type];
    WG_ASSERT(!ladder.before || ladder.first > 0);
    if (ladder.before) {
      row.derived.step = ladder.before->derived.time_us / row.derived.time_us;
      row.derived.cumulative = ladder.first / row.derived.time_us;
      row.derived.why = explain(*ladder.before, row);
    } else {
      ladder.first = row.derived.time_us;
    }
    ladder.before = &row;
  }
}

}  // namespace warpgrind::lab
