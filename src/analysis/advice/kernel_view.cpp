// Shares, evidence and places of a kernel for the advice rules.
#include "advice/kernel_view.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace warpgrind::advice {

double KernelView::share_of(const results::WorkProfile& launch) const {
  const double all = value(MetricId::warps_launched), warps = launch.work.blocks * launch.work.warps_per_block;
  const double launches = std::max(1.0, value(MetricId::launches));
  return all > 0 ? std::min(1.0, warps / all) : 1 / launches;
}

double KernelView::block_read_sectors() const {
  double sectors = 0, launches = 0;
  for (const results::WorkProfile& w : kernel_.work) {
    sectors += w.launches * w.block_read_sectors;
    launches += w.launches;
  }
  return launches > 0 ? sectors * std::max(1.0, value(MetricId::launches) / launches) : 0;
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
