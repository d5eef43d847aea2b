// Numbers of a kernel that decide.
#include "mcp/kernel_numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "base/words.h"
#include "counters/metric_table.h"
#include "report/format.h"

namespace warpgrind::mcp {

namespace {

using results::KernelProfile;
using results::MetricId;
using results::Metrics;

double rounded(double value, int digits = 2) {
  const double scale = std::pow(10.0, digits);
  return std::round(value * scale) / scale;
}

struct Access {
  const char* name;
  MetricId requests, sectors_per_request, efficiency, bytes;
};
#define WG_ACCESS(NAME, OP)                                                              \
  {                                                                                      \
    NAME, MetricId::global_##OP##_requests, MetricId::global_##OP##_sectors_per_request, \
        MetricId::global_##OP##_efficiency, MetricId::global_##OP##_bytes                \
  }
constexpr Access kAccesses[] = {WG_ACCESS("global_loads", ld), WG_ACCESS("global_stores", st),
                                WG_ACCESS("global_atomics", atom), WG_ACCESS("global_reductions", red)};
#undef WG_ACCESS

void add_time(Json& out, const KernelProfile& k, double launches) {
  if (time_ns(k) <= 0) return;
  out["time_us"] = rounded(time_ns(k) / 1000, 3);
  if (k.metrics.has(MetricId::time_low) && k.metrics.has(MetricId::time_high))
    out["time_range_us"] = {rounded(k.metrics.value(MetricId::time_low) / launches / 1000, 3),
                            rounded(k.metrics.value(MetricId::time_high) / launches / 1000, 3)};
  out["time_origin"] = "estimated";
  out["bound_by"] = k.metrics.text(MetricId::time_limit);
  if (k.bounds.size() > 1 && k.bounds[0].ns > 0) {
    out["next_bound"] = k.bounds[1].limit;
    out["next_bound_at_percent_less"] = rounded(100 * (1 - k.bounds[1].ns / k.bounds[0].ns), 0);
  }
}

void add_memory(Json& out, const KernelProfile& k, const GpuModel* model, double launches) {
  const Metrics& m = k.metrics;
  double asked = 0;
  for (const Access& a : kAccesses) {
    if (m.value(a.requests) == 0) continue;
    asked += m.value(a.bytes);
    out[a.name] = {{"requests", rounded(m.value(a.requests) / launches, 0)},
                   {"sectors_per_request", rounded(m.value(a.sectors_per_request))},
                   {"bytes_used_percent", rounded(m.value(a.efficiency), 1)}};
  }
  const double wavefronts = m.value(MetricId::shared_wavefronts);
  if (wavefronts > 0)
    out["shared_memory"] = {{"wavefronts", rounded(wavefronts / launches, 0)},
                            {"ideal_wavefronts", rounded(m.value(MetricId::shared_ideal) / launches, 0)},
                            {"bank_conflicts", rounded(m.value(MetricId::shared_conflicts) / launches, 0)}};
  if (const double spills = m.value(MetricId::spill_requests); spills > 0)
    out["spilled_register_requests"] = rounded(spills / launches, 0);
  if (const double local = m.value(MetricId::local_theoretical_sectors); local > 0)
    out["local_memory_sectors"] = rounded(local / launches, 0);
  const double total = m.value(MetricId::time), dram = m.value(MetricId::dram_read) + m.value(MetricId::dram_write);
  if (total <= 0 || asked + dram <= 0) return;
  Json bandwidth = {{"asked_gb_s", rounded(asked / total, 1)}, {"dram_gb_s", rounded(dram / total, 1)}};
  if (model) {
    const double peak = model->theoretical_bandwidth() / 1e9;
    bandwidth["dram_theoretical_gb_s"] = rounded(peak, 0);
    bandwidth["dram_percent_of_theoretical"] = rounded(100 * dram / total / peak, 1);
  }
  out["bandwidth"] = std::move(bandwidth);
  if (m.has(MetricId::l2_hit_rate)) out["l2_hit_percent"] = rounded(m.value(MetricId::l2_hit_rate), 1);
}

void add_arithmetic(Json& out, const KernelProfile& k, const GpuModel* model) {
  const double total = k.metrics.value(MetricId::time), flop = k.metrics.value(MetricId::flop);
  if (total <= 0 || flop <= 0) return;
  Json flops = {{"gflop_s", rounded(flop / total, 1)}};
  const bool doubles = k.metrics.value(MetricId::flop64) > flop / 2;
  const bool halves = k.metrics.value(MetricId::flop16) > flop / 2;  // tensor cores have other peaks
  if (model && !halves) {
    const double peak = model->peak_flops(doubles ? 64 : 32) / 1e9;
    flops[doubles ? "fp64_peak_gflop_s" : "fp32_peak_gflop_s"] = rounded(peak, 0);
    flops["percent_of_peak"] = rounded(100 * flop / total / peak, 1);
  }
  out["arithmetic"] = std::move(flops);
}

std::string place_text(const results::Advice::Place& place) {
  return place.file.empty() ? fmt::format("PTX line {}", place.ptx_line)
                            : fmt::format("{}:{}", base_name(place.file), place.line);
}

Json advice_json(const KernelProfile& k, const Room& room) {
  Json out = Json::array();
  for (const results::Advice& a : k.advice) {
    if (out.size() == room.advice) break;
    Json places = Json::array();
    for (const auto& place : a.places) {
      if (const std::string text = place_text(place); std::find(places.begin(), places.end(), text) == places.end())
        places.push_back(text);
      if (places.size() == room.lines) break;
    }
    Json one = {{"rule", a.rule}, {"title", a.title}, {"at", std::move(places)}, {"text", a.text}};
    if (a.estimated_gain > 0) one["estimated_saving_percent"] = rounded(100 * a.estimated_gain, 0);
    out.push_back(std::move(one));
  }
  return out;
}

std::string number(const Json& object, const char* name) {
  return report::grouped(json::get<double>(object, name));
}

std::string digits(const Json& object, const char* name, int count) {
  return report::fixed(json::get<double>(object, name), count);
}

}  // namespace

double time_ns(const KernelProfile& kernel) {
  return kernel.metrics.value(MetricId::time) / static_cast<double>(std::max<std::uint64_t>(1, kernel.launches));
}

Json kernel_json(const KernelProfile& k, const GpuModel* model, const Room& room) {
  const auto launches = static_cast<double>(std::max<std::uint64_t>(1, k.launches));
  Json out = {{"name", k.name},
              {"launches", k.launches},
              {"grid", report::compact_dim3(k.grid)},
              {"block", report::compact_dim3(k.block)}};
  if (k.shapes_differ) out["shapes_differ"] = true;
  add_time(out, k, launches);
  if (const auto* m = k.metrics.find(MetricId::occupancy)) {
    out["occupancy_percent"] = rounded(m->value, 1);
    out["occupancy_limited_by"] = k.metrics.text(MetricId::occupancy_limiter);
  }
  if (const auto* m = k.metrics.find(MetricId::waves)) out["waves"] = rounded(m->value);
  if (const auto* m = k.metrics.find(MetricId::registers)) {
    out["registers"] = m->value;
    if (m->origin == Origin::estimated) out["registers_origin"] = "estimated";
  }
  add_memory(out, k, model, launches);
  add_arithmetic(out, k, model);
  if (k.metrics.has(MetricId::lanes_on_per_inst))
    out["lanes_active_of_32"] = rounded(k.metrics.value(MetricId::lanes_on_per_inst), 1);
  if (const double divergent = k.metrics.value(MetricId::divergent_branches); divergent > 0)
    out["divergent_branches_percent"] =
        rounded(100 * divergent / std::max(1.0, k.metrics.value(MetricId::branches)), 1);
  out["advice"] = advice_json(k, room);
  return out;
}

std::string kernel_lines(const Json& k) {
  std::string out =
      fmt::format("KERNEL {}: {} launch{}, grid {}, block {}{}\n", json::text(k, "name"), number(k, "launches"),
                  json::get<double>(k, "launches") == 1 ? "" : "es", json::text(k, "grid"), json::text(k, "block"),
                  k.contains("shapes_differ") ? " (the first; shapes differ)" : "");
  if (k.contains("time_us")) {
    out += fmt::format("  time {} us a launch, estimated", digits(k, "time_us", 2));
    if (const auto range = k.find("time_range_us"); range != k.end() && range->size() == 2)
      out += fmt::format(" ({} to {})", report::fixed((*range)[0].get<double>(), 2),
                         report::fixed((*range)[1].get<double>(), 2));
    out += "; bound by " + json::text(k, "bound_by");
    if (k.contains("next_bound"))
      out += fmt::format("; without that, by {} at {} % less time", json::text(k, "next_bound"),
                         digits(k, "next_bound_at_percent_less", 0));
    out += "\n";
  }
  for (const auto& [name, label] :
       {std::pair("global_loads", "global loads"), std::pair("global_stores", "global stores"),
        std::pair("global_atomics", "global atomics"), std::pair("global_reductions", "global reductions")})
    if (const auto a = k.find(name); a != k.end())
      out += fmt::format(
          "  {}: {} requests, {} sectors each (ideal: 4 for accesses of 4 bytes), {} % of moved bytes used\n", label,
          number(*a, "requests"), digits(*a, "sectors_per_request", 2), digits(*a, "bytes_used_percent", 1));
  if (const auto s = k.find("shared_memory"); s != k.end())
    out += fmt::format("  shared memory: {} wavefronts (ideal {}), {} bank conflicts\n", number(*s, "wavefronts"),
                       number(*s, "ideal_wavefronts"), number(*s, "bank_conflicts"));
  if (k.contains("spilled_register_requests"))
    out += fmt::format("  spilled registers: {} requests\n", number(k, "spilled_register_requests"));
  if (k.contains("local_memory_sectors"))
    out += fmt::format("  local memory: {} sectors\n", number(k, "local_memory_sectors"));
  if (const auto b = k.find("bandwidth"); b != k.end()) {
    out += fmt::format("  bandwidth: asked for {} GB/s; DRAM moves {}", digits(*b, "asked_gb_s", 0),
                       digits(*b, "dram_gb_s", 0));
    if (b->contains("dram_theoretical_gb_s"))
      out += fmt::format(" of {} GB/s theoretical ({} %)", digits(*b, "dram_theoretical_gb_s", 0),
                         digits(*b, "dram_percent_of_theoretical", 1));
    if (k.contains("l2_hit_percent")) out += fmt::format("; L2 hits {} %", digits(k, "l2_hit_percent", 1));
    out += "\n";
  }
  if (const auto a = k.find("arithmetic"); a != k.end()) {
    out += fmt::format("  arithmetic: {} GFLOP/s", digits(*a, "gflop_s", 0));
    if (a->contains("percent_of_peak"))
      out += fmt::format(", {} % of the peak of {}", digits(*a, "percent_of_peak", 1),
                         a->contains("fp64_peak_gflop_s") ? "fp64" : "fp32");
    out += "\n";
  }
  out += fmt::format("  occupancy {} % (limit: {}), {} waves, {} registers{}, {} of 32 lanes active",
                     digits(k, "occupancy_percent", 0), json::text(k, "occupancy_limited_by"), digits(k, "waves", 2),
                     digits(k, "registers", 0), k.contains("registers_origin") ? " (estimated)" : "",
                     digits(k, "lanes_active_of_32", 1));
  if (k.contains("divergent_branches_percent"))
    out += fmt::format(", {} % of branches diverge", digits(k, "divergent_branches_percent", 1));
  out += "\n";
  if (const auto metrics = k.find("metrics"); metrics != k.end())
    for (const auto& [name, value] : metrics->items()) out += fmt::format("  {}: {}\n", name, value.get<std::string>());
  json::each(k, "advice", [&](const Json& a) {
    out += "  ADVICE: " + json::text(a, "title");
    if (a.contains("estimated_saving_percent"))
      out += fmt::format(" (saves {} % of the time, estimated)", digits(a, "estimated_saving_percent", 0));
    std::string places;
    for (const Json& place : a["at"]) places += (places.empty() ? "" : ", ") + place.get<std::string>();
    out += fmt::format("\n    at {}\n", places.empty() ? "the launch" : places);
    if (const std::string text = json::text(a, "text"); !text.empty()) out += fmt::format("    {}\n", text);
  });
  return out;
}

Json metrics_json(const KernelProfile& kernel, const std::vector<std::string>& names) {
  Json out = Json::object();
  for (const std::string& name : names) {
    const auto id = counters::find_metric_or_alias(name);
    const results::Metric* const m = id ? kernel.metrics.find(*id) : nullptr;
    if (!m)
      out[name] = "this kernel has no such figure";
    else
      out[name] = m->text.empty() ? fmt::format("{}{}{} ({})", report::grouped(m->value), m->unit.empty() ? "" : " ",
                                                m->unit, warpgrind::name(m->origin))
                                  : m->text;
  }
  return out;
}

}  // namespace warpgrind::mcp
