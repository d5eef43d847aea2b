// Gains, evidence and places of a kernel for the advice rules.
#include "advice/kernel_view.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace warpgrind::advice {

double KernelView::gain(std::initializer_list<Shrink> shrink) const {
  const double time = value(MetricId::time);
  if (time <= 0) return 0;
  std::vector<results::BoundProfile> bounds = kernel_.bounds;
  // Old profiles have only the longest bound, not the next ones.
  if (bounds.empty()) bounds.push_back({text(MetricId::time_limit), time});
  double longest = 0, after = 0;
  for (const results::BoundProfile& b : bounds) {
    double factor = 1;
    for (const auto& [limit, f] : shrink)
      if (b.limit == limit) factor = std::min(factor, f);
    longest = std::max(longest, b.ns);
    after = std::max(after, b.ns * factor);
  }
  return std::clamp((longest - after) / time, 0.0, 1.0);
}

double KernelView::dram_bytes() const {
  if (const double modelled = value(MetricId::dram_read) + value(MetricId::dram_write); modelled > 0) return modelled;
  if (model_ == nullptr) return 0;
  for (const results::BoundProfile& b : kernel_.bounds)
    if (b.limit == limit::kDram)
      return b.ns * 1e-9 * model_->theoretical_bandwidth() * model_->achievable_bandwidth_fraction;
  return 0;
}

std::vector<results::Advice::Evidence> KernelView::evidence(const std::vector<MetricId>& metrics) const {
  std::vector<results::Advice::Evidence> out;
  for (const MetricId id : metrics)
    if (const results::Metric* m = kernel_.metrics.find(id); m != nullptr && m->text.empty())
      out.push_back({name(id), m->value, m->unit, m->origin});
  return out;
}

std::vector<results::Advice::Place> KernelView::places(
    const std::function<double(const results::SiteProfile&)>& weight) const {
  // Without line information each instruction is a place of its own.
  std::map<std::tuple<std::string, std::uint32_t, std::uint32_t>, std::pair<double, results::Advice::Place>> lines;
  for (const results::SiteProfile& s : kernel_.sites) {
    const double w = weight(s);
    if (w <= 0) continue;
    const results::Advice::Place at{s.file, s.line, s.ptx_line};
    auto& [sum, place] = lines[{at.file, at.line, at.line == 0 ? at.ptx_line : 0}];
    if (sum == 0) place = at;
    sum += w;
  }
  std::vector<std::pair<double, results::Advice::Place>> sorted;
  for (auto& [key, entry] : lines) sorted.push_back(entry);
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<results::Advice::Place> out;
  constexpr std::size_t kMost = 5;
  for (const auto& [sum, place] : sorted) {
    if (out.size() == kMost) break;
    out.push_back(place);
  }
  return out;
}

}  // namespace warpgrind::advice
