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

// How far a name is from what was written; part of a name counts as near.
std::size_t dissimilarity(std::string_view written, std::string_view name) {
  const std::size_t edits = edit_distance(written, name);
  constexpr std::size_t kShortest = 4;
  if (written.size() >= kShortest && name.find(written) != std::string_view::npos)
    return std::min(edits, edits / 6 + 1);
  return edits;
}

}  // namespace

std::span<const MetricAlias> metric_aliases() {
  return kAliases;
}

const MetricRow* find_metric_or_alias(std::string_view name) {
  for (const MetricAlias& a : kAliases)
    if (name == a.name) return &row(a.id);
  return find_metric(name);
}

std::vector<std::string> similar_metrics(std::string_view written) {
  std::vector<std::pair<std::size_t, std::string>> near;
  const std::size_t most = std::max<std::size_t>(3, written.size() / 2);
  const auto consider = [&](const char* name) {
    if (const std::size_t d = dissimilarity(written, name); d <= most) near.emplace_back(d, name);
  };
  for (const MetricAlias& a : kAliases) consider(a.name);
  for (const MetricRow& r : metric_table()) consider(r.name);
  std::stable_sort(near.begin(), near.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> out;
  constexpr std::size_t kShown = 3;
  for (std::size_t i = 0; i < std::min(kShown, near.size()); ++i) out.push_back(near[i].second);
  return out;
}

}  // namespace warpgrind::counters
