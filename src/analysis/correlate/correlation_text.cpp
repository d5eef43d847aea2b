// Output of a correlation as text and as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "correlate/correlate.h"

namespace warpgrind::correlate {
namespace {

std::uint64_t launches(const Correlation& c) {
  std::uint64_t out = 0;
  for (const KernelComparison& k : c.kernels) out += k.launches;
  return out;
}

std::string number(double value) {
  constexpr double kWhole = 1e4;  // from here on without fractions
  if ((value == std::floor(value) || std::fabs(value) >= kWhole) && std::fabs(value) < 1e15)
    return fmt::format("{:.0f}", value);
  return fmt::format("{:.5g}", value);
}

std::string percent(double difference) {
  if (!std::isfinite(difference)) return "only here";
  return fmt::format("{:+.1f} %", 100 * difference);
}

std::string joined(const std::vector<std::string>& words, std::size_t most) {
  std::string out;
  constexpr std::size_t kLength = 40;  // libraries' kernels have names of hundreds of letters
  for (std::size_t i = 0; i < words.size() && i < most; ++i)
    out += (i ? ", " : "") + (words[i].size() > kLength ? words[i].substr(0, kLength) + "..." : words[i]);
  if (words.size() > most) out += fmt::format(" and {} more", words.size() - most);
  return out;
}

// Summary of the time ratios: their median deviation and the worst one.
std::string times_text(const Correlation& c) {
  if (c.time_ratios.empty()) return "";
  std::vector<double> off;
  for (const double r : c.time_ratios) off.push_back(std::fabs(r - 1));
  std::sort(off.begin(), off.end());
  const double worst = *std::max_element(c.time_ratios.begin(), c.time_ratios.end(), [](double a, double b) {
    return std::fabs(std::log(a)) < std::fabs(std::log(b));
  });
  std::string out =
      fmt::format("times: {} launches, half of the estimates within {:.0f} %, the worst {:.1f} times the GPU's",
                  off.size(), 100 * off[off.size() / 2], worst);
  if (c.times_inside > 0) out += fmt::format("; {} inside the estimate's interval", c.times_inside);
  return out + "\n";
}

void add_kernel(const KernelComparison& k, bool all, std::string& out) {
  std::string rows;
  std::uint64_t equal = 0, values = 0;
  for (const MetricComparison& m : k.metrics) {
    equal += m.equal;
    values += m.launches;
    const bool same = m.equal == m.launches;
    if (same && !all) continue;
    const std::string theirs = m.hardware_text.empty() ? number(m.hardware) : m.hardware_text;
    std::string ours = m.here_text.empty() ? number(m.here) : m.here_text;
    if (m.high > 0) ours += fmt::format(" ({}..{})", number(m.low), number(m.high));
    rows += fmt::format("  {:<66} {:>14} {:>14} {:>10}  {:<9} {}{}\n", m.metric, theirs, ours,
                        same ? "equal" : percent(m.difference()), name(m.origin),
                        m.launches > 1 ? fmt::format("{} of {} equal; ", m.equal, m.launches) : "", m.cause);
  }
  out += fmt::format("{}{} block {} grid {}: {} {}, {} of {} values equal\n", rows.empty() ? "" : "\n", k.kernel,
                     k.block, k.grid, k.launches, k.launches == 1 ? "launch" : "launches", equal, values);
  if (!rows.empty())
    out +=
        fmt::format("  {:<66} {:>14} {:>14} {:>10}  {:<9} {}\n", "", "GPU", "here", "difference", "origin", "") + rows;
}

}  // namespace

std::string correlation_text(const Correlation& c, bool all) {
  std::string out =
      fmt::format("{} of {} values equal ({:.1f} %) in {} launches of {} kernels and shapes\n", c.equal, c.values,
                  c.values ? 100.0 * static_cast<double>(c.equal) / static_cast<double>(c.values) : 0.0, launches(c),
                  c.kernels.size());
  if (c.modelled > 0)
    out +=
        fmt::format("exact ones: {} of {}; modelled ones (caches, machine code): {} of {}, {} within 5 %\n",
                    c.equal - c.modelled_equal, c.values - c.modelled, c.modelled_equal, c.modelled, c.modelled_near);
  out += times_text(c);
  if (!c.hardware_only.empty()) out += "only on the GPU: " + joined(c.hardware_only, 8) + "\n";
  if (!c.here_only.empty()) out += "only here: " + joined(c.here_only, 8) + "\n";
  if (!c.metrics_unknown.empty()) out += "not counted here: " + joined(c.metrics_unknown, 8) + "\n";
  for (const KernelComparison& k : c.kernels) add_kernel(k, all, out);
  return out;
}

std::string correlation_json(const Correlation& c) {
  using Json = nlohmann::ordered_json;
  const auto finite = [](double v) { return std::isfinite(v) ? Json(v) : Json(nullptr); };
  Json kernels = Json::array();
  for (const KernelComparison& k : c.kernels) {
    Json metrics = Json::array();
    for (const MetricComparison& m : k.metrics) {
      Json row = {{"metric", m.metric},
                  {"unit", m.unit},
                  {"origin", name(m.origin)},
                  {"launches", m.launches},
                  {"equal", m.equal},
                  {"hardware", m.hardware_text.empty() ? finite(m.hardware) : Json(m.hardware_text)},
                  {"here", m.here_text.empty() ? finite(m.here) : Json(m.here_text)},
                  {"difference", finite(m.difference())}};
      if (m.high > 0) row["interval"] = {m.low, m.high};
      if (!m.cause.empty()) row["cause"] = m.cause;
      metrics.push_back(std::move(row));
    }
    kernels.push_back({{"kernel", k.kernel},
                       {"block", k.block},
                       {"grid", k.grid},
                       {"launches", k.launches},
                       {"metrics", std::move(metrics)}});
  }
  const Json out = {{"format", "warpgrind-correlation 1"},
                    {"program", c.program},
                    {"gpu", c.gpu},
                    {"launches", launches(c)},
                    {"values", c.values},
                    {"equal", c.equal},
                    {"modelled", c.modelled},
                    {"modelled_equal", c.modelled_equal},
                    {"modelled_within_5_percent", c.modelled_near},
                    {"time_ratios", c.time_ratios},
                    {"times_inside_interval", c.times_inside},
                    {"hardware_only", c.hardware_only},
                    {"here_only", c.here_only},
                    {"not_counted", c.metrics_unknown},
                    {"kernels", std::move(kernels)}};
  return out.dump(1) + "\n";
}

}  // namespace warpgrind::correlate
