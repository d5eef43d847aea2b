// Table of counters (metrics.inc), and a set of values for it.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/origin.h"
#include "counters/metric_id.h"

namespace warpgrind::counters {

enum class MetricKind : std::uint8_t {
  sum,     // added over launches
  first,   // value of the first launch
  derived  // computed from the others after adding
};

struct MetricRow {
  const char* id = "";
  const char* name = "";
  const char* unit = "";
  MetricKind kind = MetricKind::sum;
  Origin origin = Origin::exact;
  bool from_registers = false;       // only as exact as the register count
  bool zero_when_undefined = false;  // 0 if the divisor is 0, as in Nsight Compute; other counters are then left out
  bool per_site = false;             // meaningful for one instruction site
  bool text = false;                 // a word, not a number
  // Formula of a derived row, if it has one: scale * numerator / divisor (no divisor: 1). It uses rows above this one.
  MetricId numerator = MetricId::count, divisor = MetricId::count;
  double scale = 1;
  const char* definition = "";
};

std::span<const MetricRow, kMetrics> metric_table();
const MetricRow& row(MetricId id);
// Finds a counter by Nsight's or our name.
std::optional<MetricId> find_metric(std::string_view name);

// Short name ("shared_bank_conflicts") of a counter that is often needed: metric_aliases.inc.
struct MetricAlias {
  const char* name = "";
  MetricId id = MetricId::count;
};
std::span<const MetricAlias> metric_aliases();
// As find_metric(), and also by short name.
std::optional<MetricId> find_metric_or_alias(std::string_view name);
// At most three names similar to `name`, most similar first; of equally similar ones, short names first.
std::vector<std::string> similar_metrics(std::string_view name);

class Values {
 public:
  bool has(MetricId id) const { return present_[index(id)]; }
  double get(MetricId id) const { return values_[index(id)]; }  // 0 when absent
  void set(MetricId id, double value) {
    values_[index(id)] = value;
    present_[index(id)] = true;
  }
  void remove(MetricId id) { present_[index(id)] = false; }
  void add(MetricId id, double value) { set(id, get(id) + value); }
  // Adds the sums of another launch. `first` values stay; derived values must be computed again.
  void add(const Values& other);
  Origin origin(MetricId id) const;

  bool scaled = false;           // extrapolated from some of the blocks: no count is exact
  bool registers_known = false;  // launch__registers_per_thread comes from the binary
  std::string occupancy_limiter, time_limit;
  std::string_view text(MetricId id) const;  // for a row with text = true

 private:
  static std::size_t index(MetricId id) { return static_cast<std::size_t>(id); }
  std::array<double, kMetrics> values_{};
  std::bitset<kMetrics> present_;
};

// The table as Markdown: docs/counters.md.
std::string metrics_as_markdown();

}  // namespace warpgrind::counters
