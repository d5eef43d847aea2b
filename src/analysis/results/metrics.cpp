#include "results/metrics.h"

namespace warpgrind::results {

const Metric* Metrics::find(MetricId id) const {
  const auto it = by_name_.find(std::string_view(name(id)));
  return it == by_name_.end() ? nullptr : &it->second;
}

double Metrics::value(MetricId id) const {
  const Metric* m = find(id);
  return m == nullptr ? 0 : m->value;
}

std::string Metrics::text(MetricId id) const {
  const Metric* m = find(id);
  return m == nullptr ? std::string() : m->text;
}

Metric& Metrics::operator[](MetricId id) {
  return by_name_[name(id)];
}

bool adds_up(std::string_view name) {
  return !name.ends_with(".ratio") && !name.ends_with(".pct") && name != counters::name(MetricId::site_lanes) &&
         name != counters::name(MetricId::site_nway);
}

}  // namespace warpgrind::results
