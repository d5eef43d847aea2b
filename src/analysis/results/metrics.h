// Metrics of a kernel, a range, an instruction site or a source line.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/origin.h"
#include "counters/metric_id.h"

namespace warpgrind::results {

using counters::MetricId;
using counters::name;

struct Metric {
  double value = 0;
  std::string unit;  // Nsight's unit words: "", "sector", "byte", "%", "inst", "ns", "request"
  Origin origin = Origin::exact;
  std::string text;  // replaces the value of the few metrics that are a word (e.g. the occupancy limiter)
};

// Metrics are stored by name, because a file of another release may have counters that this table lacks. These are kept
// and written again. Code reads and writes the counters of the table by id.
class Metrics {
 public:
  using ByName = std::map<std::string, Metric, std::less<>>;

  const Metric* find(MetricId id) const;  // null: the metric is missing
  bool has(MetricId id) const { return find(id) != nullptr; }
  double value(MetricId id) const;      // 0 if the metric is missing
  std::string text(MetricId id) const;  // "" if the metric is missing or a number
  Metric& operator[](MetricId id);
  bool empty() const { return by_name_.empty(); }

  // For names that come from outside, and for output.
  ByName& by_name() { return by_name_; }
  const ByName& by_name() const { return by_name_; }

 private:
  ByName by_name_;
};

// Can values of the metric be summed over the sites of a source line? Ratios cannot.
bool adds_up(std::string_view name);

}  // namespace warpgrind::results
