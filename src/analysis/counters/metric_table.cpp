#include "counters/metric_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/assert.h"

namespace warpgrind::counters {
namespace {

constexpr std::array<MetricRow, kMetrics> kTable = [] {
  std::array<MetricRow, kMetrics> table = {
#define WG_METRIC(ID, ...) MetricRow{.id = #ID, __VA_ARGS__},
#include "counters/metrics.inc"
#undef WG_METRIC
  };
  // A quotient is no better than its parts.
  for (MetricRow& r : table)
    for (const MetricId part : {r.numerator, r.divisor})
      if (part != MetricId::count) r.origin = std::max(r.origin, table[static_cast<std::size_t>(part)].origin);
  return table;
}();

// 1 for the rows that add up. As wide as a value, so that compilers make a vector loop of Values::add().
constexpr std::array<std::uint64_t, kMetrics> kIsSum = [] {
  std::array<std::uint64_t, kMetrics> sums{};
  for (std::size_t i = 0; i < kMetrics; ++i) sums[i] = kTable[i].kind == MetricKind::sum;
  return sums;
}();

}  // namespace

std::span<const MetricRow, kMetrics> metric_table() {
  return std::span<const MetricRow, kMetrics>(kTable);
}

const MetricRow& row(MetricId id) {
  WG_ASSERT(id < MetricId::count);
  return kTable[static_cast<std::size_t>(id)];
}

const char* name(MetricId id) {
  return row(id).name;
}

std::optional<MetricId> find_metric(std::string_view name) {
  for (std::size_t i = 0; i < kMetrics; ++i)
    if (name == kTable[i].name) return static_cast<MetricId>(i);
  return std::nullopt;
}

void Values::add(const Values& other) {
  static const std::bitset<kMetrics> sums = [] {
    std::bitset<kMetrics> set;
    for (std::size_t i = 0; i < kMetrics; ++i) set[i] = kIsSum[i] != 0;
    return set;
  }();
  for (std::size_t i = 0; i < kMetrics; ++i) values_[i] += kIsSum[i] != 0 ? other.values_[i] : 0;  // 0 when absent
  present_ |= other.present_ & sums;
  scaled |= other.scaled;
}

Origin Values::origin(MetricId id) const {
  const MetricRow& r = row(id);
  const bool of_shape = r.kind == MetricKind::first || id == MetricId::launches || id == MetricId::thread_count ||
                        id == MetricId::blocks_run;
  if (scaled && !of_shape && r.origin != Origin::measured) return Origin::sampled;
  return r.from_registers && !registers_known ? Origin::estimated : r.origin;
}

std::string_view Values::text(MetricId id) const {
  if (id == MetricId::occupancy_limiter) return occupancy_limiter;
  return id == MetricId::time_limit ? std::string_view(time_limit) : std::string_view();
}

std::string metrics_as_markdown() {
  std::string out =
      "# Counters\n\nMade from `src/analysis/counters/metrics.inc` by `warpgrind-docs counters`; do not edit.\n\nA "
      "name without the prefix `warpgrind__` is Nsight Compute's and means the same quantity.\n\n| origin | the figure "
      "|\n|---|---|\n| exact | follows from addresses, masks and the launch alone |\n| modelled | depends on an "
      "assumed choice of driver or caches |\n| estimated | is a time on the modelled GPU, or depends on an estimated "
      "register count |\n| sampled | comes from some blocks of each launch, scaled to all (`--sample-blocks`), "
      "whatever the table says |\n\n| over launches | the figure |\n|---|---|\n| sum | adds up over the launches of a "
      "kernel "
      "|\n| first | is of its first launch |\n| derived | is computed from the sums |\n\n| name | unit | over launches "
      "| origin | per site | definition |\n|---|---|---|---|---|---|\n";
  for (const MetricRow& r : kTable) {
    const char* kind = r.kind == MetricKind::sum ? "sum" : r.kind == MetricKind::first ? "first" : "derived";
    std::string origin = name(r.origin);
    if (r.from_registers && r.origin == Origin::exact) origin += " (estimated without the binary's register count)";
    out += fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", r.name, r.unit, kind, origin, r.per_site ? "yes" : "",
                       r.definition);
  }
  out +=
      "\n## Short names\n\nFor `--expect` and `--fail-if`, from `src/analysis/counters/metric_aliases.inc`.\n\n"
      "| short name | counter |\n|---|---|\n";
  for (const MetricAlias& a : metric_aliases()) out += fmt::format("| `{}` | `{}` |\n", a.name, row(a.id).name);
  return out;
}

}  // namespace warpgrind::counters
