#include "results/csv.h"

#include <fmt/format.h>

#include <cmath>

namespace warpgrind::results {
namespace {

// Puts a field in quotes and doubles the quotes in it, as ncu does.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

std::string value_text(const Metric& m) {
  if (!m.text.empty()) return m.text;
  if (std::floor(m.value) == m.value && std::fabs(m.value) < 9e15)
    return fmt::format("{}", static_cast<std::int64_t>(m.value));
  return fmt::format("{:.6f}", m.value);
}

std::string dim(const Dim3& d) {
  return fmt::format("({}, {}, {})", d.x, d.y, d.z);
}

}  // namespace

std::string to_csv(const Profile& p) {
  std::string out =
      "\"ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n";
  for (const KernelProfile& k : p.launches.empty() ? p.kernels : p.launches) {
    const std::string start =
        fmt::format("\"{}\",{},{},{},", k.first_id, quoted(k.name), quoted(dim(k.block)), quoted(dim(k.grid)));
    for (const auto& [metric, m] : k.metrics.by_name())
      out += start + fmt::format("{},{},{}\n", quoted(metric), quoted(m.unit), quoted(value_text(m)));
  }
  return out;
}

}  // namespace warpgrind::results
