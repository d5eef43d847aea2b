// Kernels of a row from its profile: their access sites, bounds and source texts.
#include "lab/row_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/library_headers.h"
#include "lab/function_text.h"

namespace warpgrind::lab {
namespace {

constexpr std::size_t kMostSites = 12;     // of a kernel: the sites with the most traffic
constexpr std::uint32_t kMostLines = 250;  // of a function

// Traffic in wavefronts of 128 bytes, exact enough for sorting: a sector is a quarter of a wavefront.
double traffic(const results::SiteProfile& s) {
  return s.metrics.value(MetricId::site_sectors) / 4 + s.metrics.value(MetricId::shared_wavefronts);
}

std::vector<results::SiteProfile> busiest_sites(const std::vector<results::SiteProfile>& sites) {
  std::vector<results::SiteProfile> out;
  for (const results::SiteProfile& s : sites)
    if (!s.patterns.empty()) out.push_back(s);
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return traffic(a) > traffic(b); });
  if (out.size() > kMostSites) out.resize(kMostSites);
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  return out;
}

// The text of lines first to last; if that is too long, the part of it around `around`.
SourceText excerpt(const results::SourceFile& source, LineSpan span, LineSpan around) {
  if (span.last - span.first >= kMostLines) {
    span.first = std::max(span.first, around.first);
    span.last = std::min({span.last, around.last, span.first + kMostLines - 1});
  }
  std::size_t begin = 0;
  const auto next_line = [&source](std::size_t at) {
    const std::size_t end = source.text.find('\n', at);
    return end == std::string::npos ? source.text.size() : end + 1;
  };
  for (std::uint32_t line = 1; line < span.first; ++line) begin = next_line(begin);
  std::size_t end = begin;
  for (std::uint32_t line = span.first; line <= span.last; ++line) end = next_line(end);
  return {fmt::format("{}:{}", source.file, span.first), source.file, span.first,
          source.text.substr(begin, end - begin)};
}

class Texts {
 public:
  explicit Texts(const results::Profile& profile) : profile_(profile) {}

  // The kernel's own function first.
  std::vector<SourceText> of(const std::string& mangled_name) {
    std::map<std::string, std::set<std::uint32_t>> lines;
    for (const results::KernelProfile& k : profile_.kernels) {
      if (k.mangled_name != mangled_name) continue;
      for (const auto* list : {&k.lines, &k.inlined_lines})
        for (const results::LineProfile& l : *list) lines[l.file].insert(l.line);
    }
    std::vector<SourceText> out;
    for (const results::SourceFile& source : profile_.sources)
      if (const auto it = lines.find(source.file); it != lines.end() && !is_library_header(source.file))
        add(source, it->second, out);
    std::stable_partition(out.begin(), out.end(),
                          [](const SourceText& t) { return t.text.find("__global__") != std::string::npos; });
    return out;
  }

 private:
  void add(const results::SourceFile& source, const std::set<std::uint32_t>& lines, std::vector<SourceText>& out) {
    auto [known, fresh] = spans_.try_emplace(source.file);
    if (fresh) known->second = definitions(source.text);
    for (const LineSpan& span : known->second) {
      const auto begin = lines.lower_bound(span.first), end = lines.upper_bound(span.last);
      if (begin != end) out.push_back(excerpt(source, span, {*begin, *std::prev(end)}));
    }
  }

  const results::Profile& profile_;
  std::map<std::string, std::vector<LineSpan>> spans_;
};

}  // namespace

void join_kernels(TopicResult& topic, const results::Profile& profile) {
  std::map<std::string, const results::RangeProfile*> by_range;
  for (const results::RangeProfile& r : profile.ranges) by_range[r.range] = &r;
  Texts texts(profile);
  std::map<std::string, std::vector<std::string>> sources_of;  // by mangled name
  for (Row& row : topic.rows) {
    const auto it = by_range.find(row.range);
    if (it == by_range.end()) continue;
    for (const results::RangeKernel& k : it->second->kernels) {
      auto [known, fresh] = sources_of.try_emplace(k.mangled_name);
      if (fresh)
        for (SourceText& text : texts.of(k.mangled_name)) {
          known->second.push_back(text.key);
          const bool there = std::any_of(topic.sources.begin(), topic.sources.end(),
                                         [&text](const SourceText& t) { return t.key == text.key; });
          if (!there) topic.sources.push_back(std::move(text));
        }
      row.kernels.push_back({k.name, k.launches, busiest_sites(k.sites), k.bounds, known->second});
    }
  }
}

}  // namespace warpgrind::lab
