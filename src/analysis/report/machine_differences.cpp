// Sentences on differences between PTX and ptxas's machine code, from the counters of sites.
#include "report/machine_differences.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace warpgrind::report {
namespace {

using results::MetricId;

constexpr std::size_t kMostLines = 3;

struct AccessCounts {
  double ptx = 0, machine = 0;
};
using AccessLine = std::tuple<std::string, std::string, std::uint32_t>;  // "shared loads", file, line

std::string place(const std::string& file, std::uint32_t line) {
  if (line == 0) return "the kernel";
  return fmt::format("{}:{}", file.substr(file.rfind('/') + 1), line);
}

// Accesses that ptxas reduces, by source line, the largest first.
std::vector<std::pair<AccessLine, AccessCounts>> merged_accesses(const results::KernelProfile& kernel) {
  std::map<AccessLine, AccessCounts> lines;
  for (const results::SiteProfile& s : kernel.sites) {
    const results::Metric* left = s.metrics.find(MetricId::site_machine_inst);
    if (left == nullptr) continue;
    AccessCounts& c = lines[{s.space + (s.kind == "store" ? " stores" : " loads"), s.file, s.line}];
    c.ptx += s.metrics.value(MetricId::site_inst);
    c.machine += left->value;
  }
  std::vector<std::pair<AccessLine, AccessCounts>> found;
  for (const auto& [line, change] : lines)
    if (change.machine < change.ptx) found.emplace_back(line, change);
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return a.second.ptx - a.second.machine > b.second.ptx - b.second.machine;
  });
  return found;
}

}  // namespace

std::vector<std::string> machine_differences(const results::KernelProfile& kernel) {
  std::vector<std::string> sentences;
  const auto lines = merged_accesses(kernel);
  for (std::size_t n = 0; n < std::min(lines.size(), kMostLines); ++n) {
    const auto& [what, file, line] = lines[n].first;
    sentences.push_back(fmt::format("ptxas merges neighbours: {:.0f} {} of {} become {:.0f}", lines[n].second.ptx, what,
                                    place(file, line), lines[n].second.machine));
  }
  if (lines.size() > kMostLines)
    sentences.push_back(fmt::format("... and on {} more lines", lines.size() - kMostLines));
  const results::Metric* split = kernel.metrics.find(MetricId::machine_divergent);
  const double of_ptx = kernel.metrics.value(MetricId::divergent_branches);
  if (split != nullptr && split->value < of_ptx)
    sentences.push_back(fmt::format(
        "ptxas turns short branches into predicates: {:.0f} of {:.0f} divergent branches stay", split->value, of_ptx));
  return sentences;
}

}  // namespace warpgrind::report
