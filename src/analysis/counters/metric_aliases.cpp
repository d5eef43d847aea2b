#include <algorithm>
#include <array>

#include "base/edit_distance.h"
#include "counters/metric_table.h"

namespace warpgrind::counters {
namespace {

constexpr MetricAlias kAliases[] = {
#define WG_ALIAS(NAME, ID) {#NAME, MetricId::ID},
#include "counters/metric_aliases.inc"
#undef WG_ALIAS
};

}  // namespace

std::span<const MetricAlias> metric_aliases() {
  return kAliases;
}

std::optional<MetricId> find_metric_or_alias(std::string_view name) {
  for (const MetricAlias& a : kAliases)
    if (name == a.name) return a.id;
  return find_metric(name);
}

std::vector<std::string> similar_metrics(std::string_view written) {
  std::vector<std::string> names, out;
  for (const MetricAlias& a : kAliases) names.emplace_back(a.name);
  for (const MetricRow& r : metric_table()) names.emplace_back(r.name);
  constexpr std::size_t kShown = 3;
  for (const std::size_t i : nearest_names(written, names, std::max<std::size_t>(3, written.size() / 2)))
    if (out.size() < kShown) out.push_back(names[i]);
  return out;
}

}  // namespace warpgrind::counters
