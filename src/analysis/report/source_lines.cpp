// Counters by source line, and lookup of source text in a profile.
#include "report/source_lines.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "report/line_matching.h"

namespace warpgrind::report {
std::vector<SourceLine> source_lines(const results::KernelProfile& kernel) {
  if (!kernel.lines.empty()) {
    std::vector<SourceLine> out;
    for (const results::LineProfile& l : kernel.lines) out.push_back({l.file, l.line, l.function, l.metrics});
    std::stable_sort(out.begin(), out.end(), [](const SourceLine& a, const SourceLine& b) {
      return std::tie(a.file, a.line) < std::tie(b.file, b.line);
    });
    return out;
  }
  std::map<std::pair<std::string, std::uint32_t>, SourceLine> lines;
  for (const results::SiteProfile& s : kernel.sites) {
    const std::uint32_t number = s.file.empty() || s.line == 0 ? s.ptx_line : s.line;
    const std::string file = s.line == 0 ? "" : s.file;
    SourceLine& line = lines[{file, number}];
    line.file = file;
    line.line = number;
    for (const auto& [name, metric] : s.metrics.by_name()) {
      if (!results::adds_up(name)) continue;
      results::Metric& sum =
          line.metrics.by_name().try_emplace(name, results::Metric{0, metric.unit, metric.origin, ""}).first->second;
      sum.value += metric.value;
    }
  }
  std::vector<SourceLine> out;
  for (auto& [place, line] : lines) out.push_back(std::move(line));
  return out;
}

const std::string* source_text(const results::Profile& profile, const std::string& file) {
  for (const results::SourceFile& s : profile.sources)
    if (s.file == file && s.missing.empty()) return &s.text;
  return nullptr;
}

std::string line_text(const results::Profile& profile, const std::string& file, std::uint32_t line) {
  const std::string* text = source_text(profile, file);
  if (text == nullptr || line == 0) return "";
  const std::vector<std::string_view> lines = lines_of(*text);
  return line <= lines.size() ? std::string(lines[line - 1]) : "";
}

}  // namespace warpgrind::report
