// The table of counters (metrics.inc) and a set of values for it.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/origin.h"

namespace warpgrind::counters {

enum class MetricKind : std::uint8_t {
  sum,     // adds up over launches
  first,   // of the first launch
  derived  // computed from the others after adding up
};

enum class MetricId : std::uint16_t {
#define WG_METRIC(ID, ...) ID,
#include "counters/metrics.inc"
#undef WG_METRIC
  count
};
inline constexpr std::size_t kMetrics = static_cast<std::size_t>(MetricId::count);

struct MetricRow {
  const char* id = "";
  const char* name = "";
  const char* unit = "";
  MetricKind kind = MetricKind::sum;
  Origin origin = Origin::exact;
  bool from_registers = false;       // only as exact as the register count
  bool zero_when_undefined = false;  // 0 where the divisor is 0, as Nsight Compute prints it; others are left out
  bool per_site = false;             // has a meaning for one instruction site
  bool text = false;                 // a word, not a number
  // Derived rows may say what they are: scale * numerator / divisor (no divisor: 1), of rows above them.
  MetricId numerator = MetricId::count, divisor = MetricId::count;
  double scale = 1;
  const char* definition = "";
};

std::span<const MetricRow, kMetrics> metric_table();
const MetricRow& row(MetricId id);
// By Nsight's or our name; null when there is none.
const MetricRow* find_metric(std::string_view name);

// Short names ("shared_bank_conflicts") of the counters that people ask for most: metric_aliases.inc.
struct MetricAlias {
  const char* name = "";
  MetricId id = MetricId::count;
};
std::span<const MetricAlias> metric_aliases();
// By Nsight's name, ours, or the short one; null when there is none.
const MetricRow* find_metric_or_alias(std::string_view name);
// Names (short ones first) that look like `name`, the nearest first, at most three.
std::vector<std::string> similar_metrics(std::string_view name);

class Values {
 public:
  bool has(MetricId id) const { return present_[index(id)]; }
  double get(MetricId id) const { return values_[index(id)]; }  // 0 when absent
  void set(MetricId id, double value) {
    values_[index(id)] = value;
    present_[index(id)] = true;
  }
  void add(MetricId id, double value) { set(id, get(id) + value); }
  // Adds the sums of another launch; what is `first` stays, derived values must be computed again.
  void add(const Values& other);
  Origin origin(MetricId id) const;

  bool scaled = false;           // from some of the blocks: no count is exact
  bool registers_known = false;  // launch__registers_per_thread comes from the binary
  std::string occupancy_limiter, time_limit;
  std::string_view text(MetricId id) const;  // of a row with text = true

 private:
  static std::size_t index(MetricId id) { return static_cast<std::size_t>(id); }
  std::array<double, kMetrics> values_{};
  std::bitset<kMetrics> present_;
};

// The table as Markdown: docs/counters.md.
std::string metrics_as_markdown();

}  // namespace warpgrind::counters
