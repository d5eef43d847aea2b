#include "results/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "base/json.h"
#include "counters/metric_table.h"
#include "gpu/gpu_model.h"
#include "results/member_json.h"

namespace warpgrind::results {
namespace {

using Json = nlohmann::ordered_json;
using json::each;
using json::read;

Json dim(const Dim3& d) {
  return Json::array({d.x, d.y, d.z});
}

// Counts are whole numbers and are written as such.
Json number(double value) {
  constexpr double kExact = 9007199254740992.0;
  if (std::floor(value) == value && std::fabs(value) <= kExact) return static_cast<std::int64_t>(value);
  return value;
}

Json metrics_json(const Metrics& metrics) {
  Json out = Json::object();
  for (const auto& [key, m] : metrics) {
    Json& j = out[key];
    j["value"] = m.text.empty() ? number(m.value) : Json(m.text);
    j["unit"] = m.unit;
    j["origin"] = name(m.origin);
  }
  return out;
}

Json addresses_json(LaneMask mask, const std::array<std::int64_t, kWarpSize>& addresses) {
  Json out = Json::array();
  for (unsigned l = 0; l < kWarpSize; ++l) out.push_back((mask >> l & 1) != 0 ? Json(addresses[l]) : Json(nullptr));
  return out;
}

Json pattern_json(const AccessPattern& p) {
  Json transactions = Json::array();
  for (const Transaction& t : p.transactions)
    transactions.push_back({{"address_offset", t.address_offset}, {"bytes", t.bytes}});
  return {{"count", p.count},
          {"mask", fmt::format("{:#010x}", p.mask)},
          {"lane_bytes", p.lane_bytes},
          {"space", p.space},
          {"addresses", addresses_json(p.mask, p.addresses)},
          {"base", {{"allocation", p.allocation ? Json(*p.allocation) : Json(nullptr)}, {"offset", p.base_offset}}},
          {"alignment", p.alignment},
          {"sectors", p.sectors},
          {"lines_128", p.lines_128},
          {"wavefronts", p.wavefronts},
          {"ideal_sectors", p.ideal_sectors},
          {"ideal_wavefronts", p.ideal_wavefronts},
          {"transactions", std::move(transactions)},
          {"block", dim(p.block)},
          {"warp", p.warp}};
}

Json site_json(const SiteProfile& s) {
  Json out = {{"id", s.id},
              {"kind", s.kind},
              {"space", s.space},
              {"function", s.function},
              {"ptx", s.ptx},
              {"file", s.file},
              {"line", s.line},
              {"ptx_line", s.ptx_line},
              {"metrics", metrics_json(s.metrics)}};
  if (s.patterns.empty() && s.patterns_other == 0) return out;
  Json patterns = Json::array();
  for (const AccessPattern& p : s.patterns) patterns.push_back(pattern_json(p));
  out["patterns"] = std::move(patterns);
  out["patterns_other"] = s.patterns_other;
  out["worst"] = s.worst;
  out["best"] = s.best;
  return out;
}

Json advice_json(const Advice& a) {
  Json evidence = Json::array(), places = Json::array();
  for (const Advice::Evidence& e : a.evidence)
    evidence.push_back(
        {{"metric", e.metric}, {"value", number(e.value)}, {"unit", e.unit}, {"origin", name(e.origin)}});
  for (const Advice::Place& place : a.places)
    places.push_back({{"file", place.file}, {"line", place.line}, {"ptx_line", place.ptx_line}});
  return {{"rule", a.rule},
          {"title", a.title},
          {"text", a.text},
          {"estimated_gain", number(a.estimated_gain)},
          {"evidence", std::move(evidence)},
          {"places", std::move(places)},
          {"origin", name(a.origin)}};
}

Json block_trace_json(const BlockTraceProfile& trace) {
  Json events = Json::array();
  for (const TraceEventProfile& e : trace.events)
    events.push_back({{"site", e.site},
                      {"warp", e.warp},
                      {"mask", fmt::format("{:#010x}", e.mask)},
                      {"addresses", addresses_json(e.mask, e.addresses)},
                      {"allocation", e.allocation ? Json(*e.allocation) : Json(nullptr)},
                      {"phase", e.phase}});
  return {{"block", dim(trace.block)}, {"events", std::move(events)}, {"left_out", trace.left_out}};
}

Json graph_json(const FlowGraph& graph) {
  Json blocks = Json::array(), edges = Json::array();
  for (std::size_t id = 0; id < graph.blocks.size(); ++id) {
    const GraphBlock& b = graph.blocks[id];
    Json& out = blocks.emplace_back(Json{{"id", id},
                                         {"first_ptx_line", b.first_ptx_line},
                                         {"last_ptx_line", b.last_ptx_line},
                                         {"file", b.file},
                                         {"line", b.line},
                                         {"warps", b.warps},
                                         {"lanes", b.lanes}});
    if (!b.function.empty()) out["function"] = b.function;
  }
  for (const GraphEdge& e : graph.edges)
    edges.push_back({{"from", e.from}, {"to", e.to}, {"warps", e.warps}, {"lanes", e.lanes}});
  return {{"blocks", std::move(blocks)}, {"edges", std::move(edges)}, {"entry", graph.entry}};
}

Json code_json(const CodeRow& c) {
  // All rows have the same members: the report makes a table of them.
  Json out = {{"ptx_line", c.ptx_line}, {"text", c.text}, {"block", c.block},
              {"file", c.file},         {"line", c.line}, {"function", c.function}};
  out["inlined_at"] = JsonWriter::value(c.inlined_at);
  return out;
}

Json kernel_json(const KernelProfile& k) {
  Json sites = Json::array();
  for (const SiteProfile& s : k.sites) sites.push_back(site_json(s));
  Json advice = Json::array();
  for (const Advice& a : k.advice) advice.push_back(advice_json(a));
  Json bounds = Json::array();
  for (const BoundProfile& b : k.bounds) bounds.push_back({{"limit", b.limit}, {"ns", number(b.ns)}});
  Json out = {{"name", k.name},
              {"mangled_name", k.mangled_name},
              {"range", k.range},
              {"launches", k.launches},
              {"first_id", k.first_id},
              {"device", k.device},
              {"grid", dim(k.grid)},
              {"block", dim(k.block)},
              {"shapes_differ", k.shapes_differ},
              {"metrics", metrics_json(k.metrics)},
              {"bounds", std::move(bounds)},
              {"sites", std::move(sites)},
              {"advice", std::move(advice)}};
  if (k.code.empty() && k.lines.empty()) return out;
  Json code = Json::array();
  for (const CodeRow& c : k.code) code.push_back(code_json(c));
  const auto lines_json = [](const std::vector<LineProfile>& lines) {
    Json list = Json::array();
    for (const LineProfile& l : lines)
      list.push_back(
          {{"file", l.file}, {"line", l.line}, {"function", l.function}, {"metrics", metrics_json(l.metrics)}});
    return list;
  };
  out["code"] = std::move(code);
  if (k.graph) out["graph"] = graph_json(*k.graph);
  if (k.block_trace) out["block_trace"] = block_trace_json(*k.block_trace);
  out["lines"] = lines_json(k.lines);
  if (!k.inlined_lines.empty()) out["inlined_lines"] = lines_json(k.inlined_lines);
  return out;
}

// ---- Reading. Missing members keep their default: an earlier version may not have them.

void get_dim(const Json& j, const char* key, Dim3& out) {
  const auto it = j.find(key);
  if (it == j.end() || !it->is_array() || it->size() != 3) return;
  for (const Json& n : *it)
    if (!n.is_number_unsigned()) return;
  out = {(*it)[0].get<std::uint32_t>(), (*it)[1].get<std::uint32_t>(), (*it)[2].get<std::uint32_t>()};
}
void get_list(const Json& j, const char* key, std::vector<std::string>& out) {
  const auto it = j.find(key);
  if (it == j.end() || !it->is_array()) return;
  for (const Json& s : *it)
    if (s.is_string()) out.push_back(s.get<std::string>());
}
Metrics read_metrics(const Json& j) {
  Metrics out;
  const auto it = j.find("metrics");
  if (it == j.end() || !it->is_object()) return out;
  for (auto m = it->begin(); m != it->end(); ++m) {
    if (!m.value().is_object()) continue;
    Metric& metric = out[m.key()];
    read(m.value(), "value", metric.value);
    read(m.value(), "value", metric.text);
    read(m.value(), "unit", metric.unit);
    std::string origin;
    read(m.value(), "origin", origin);
    metric.origin = origin_of(origin);
  }
  return out;
}

// 32 numbers, null where a lane is off.
void get_addresses(const Json& j, LaneMask& mask, std::array<std::int64_t, kWarpSize>& out) {
  const auto it = j.find("addresses");
  if (it == j.end() || !it->is_array()) return;
  for (std::size_t lane = 0; lane < std::min<std::size_t>(it->size(), kWarpSize); ++lane) {
    if ((*it)[lane].is_number_integer())
      out[lane] = (*it)[lane].get<std::int64_t>();
    else
      mask &= ~(LaneMask{1} << lane);
  }
}

LaneMask get_mask(const Json& j) {
  std::string mask;
  read(j, "mask", mask);
  return static_cast<LaneMask>(std::strtoul(mask.c_str(), nullptr, 16));
}

BlockTraceProfile read_block_trace(const Json& j) {
  BlockTraceProfile trace;
  get_dim(j, "block", trace.block);
  read(j, "left_out", trace.left_out);
  each(j, "events", [&](const Json& e) {
    TraceEventProfile& out = trace.events.emplace_back();
    read(e, "site", out.site);
    read(e, "warp", out.warp);
    read(e, "phase", out.phase);
    out.mask = get_mask(e);
    get_addresses(e, out.mask, out.addresses);
    if (const auto id = e.find("allocation"); id != e.end() && id->is_number_unsigned())
      out.allocation = id->get<std::uint32_t>();
  });
  return trace;
}

AccessPattern read_pattern(const Json& j) {
  AccessPattern p;
  read(j, "count", p.count);
  p.mask = get_mask(j);
  read(j, "lane_bytes", p.lane_bytes);
  read(j, "space", p.space);
  get_addresses(j, p.mask, p.addresses);
  if (const auto it = j.find("base"); it != j.end() && it->is_object()) {
    if (const auto id = it->find("allocation"); id != it->end() && id->is_number_unsigned())
      p.allocation = id->get<std::uint32_t>();
    read(*it, "offset", p.base_offset);
  }
  read(j, "alignment", p.alignment);
  read(j, "sectors", p.sectors);
  read(j, "lines_128", p.lines_128);
  read(j, "wavefronts", p.wavefronts);
  read(j, "ideal_sectors", p.ideal_sectors);
  read(j, "ideal_wavefronts", p.ideal_wavefronts);
  each(j, "transactions", [&](const Json& t) {
    Transaction& out = p.transactions.emplace_back();
    read(t, "address_offset", out.address_offset);
    read(t, "bytes", out.bytes);
  });
  get_dim(j, "block", p.block);
  read(j, "warp", p.warp);
  return p;
}

FlowGraph read_graph(const Json& j) {
  FlowGraph graph;
  each(j, "blocks", [&](const Json& b) {
    GraphBlock& out = graph.blocks.emplace_back();
    read(b, "first_ptx_line", out.first_ptx_line);
    read(b, "last_ptx_line", out.last_ptx_line);
    read(b, "file", out.file);
    read(b, "line", out.line);
    read(b, "function", out.function);
    read(b, "warps", out.warps);
    read(b, "lanes", out.lanes);
  });
  each(j, "edges", [&](const Json& e) {
    GraphEdge& out = graph.edges.emplace_back();
    read(e, "from", out.from);
    read(e, "to", out.to);
    read(e, "warps", out.warps);
    read(e, "lanes", out.lanes);
  });
  read(j, "entry", graph.entry);
  return graph;
}

CodeRow read_code(const Json& j) {
  CodeRow c;
  read(j, "ptx_line", c.ptx_line);
  read(j, "text", c.text);
  read(j, "file", c.file);
  read(j, "line", c.line);
  read(j, "block", c.block);
  read(j, "function", c.function);
  JsonReader(j).member("inlined_at", c.inlined_at, Since::first, "");
  return c;
}

SiteProfile read_site(const Json& j) {
  SiteProfile s;
  read(j, "id", s.id);
  read(j, "kind", s.kind);
  read(j, "space", s.space);
  read(j, "function", s.function);
  read(j, "ptx", s.ptx);
  read(j, "file", s.file);
  read(j, "line", s.line);
  read(j, "ptx_line", s.ptx_line);
  s.metrics = read_metrics(j);
  each(j, "patterns", [&](const Json& pattern) { s.patterns.push_back(read_pattern(pattern)); });
  read(j, "patterns_other", s.patterns_other);
  read(j, "worst", s.worst);
  read(j, "best", s.best);
  const auto known = [&](std::uint32_t i) { return i < s.patterns.size() ? i : 0; };
  s.worst = known(s.worst);
  s.best = known(s.best);
  return s;
}

Advice read_advice(const Json& j) {
  Advice a;
  read(j, "rule", a.rule);
  read(j, "title", a.title);
  read(j, "text", a.text);
  read(j, "estimated_gain", a.estimated_gain);
  std::string origin;
  read(j, "origin", origin);
  a.origin = origin_of(origin);
  each(j, "evidence", [&](const Json& e) {
    Advice::Evidence& out = a.evidence.emplace_back();
    read(e, "metric", out.metric);
    read(e, "value", out.value);
    read(e, "unit", out.unit);
    std::string word;
    read(e, "origin", word);
    out.origin = origin_of(word);
  });
  each(j, "places", [&](const Json& place) {
    Advice::Place& out = a.places.emplace_back();
    read(place, "file", out.file);
    read(place, "line", out.line);
    read(place, "ptx_line", out.ptx_line);
  });
  return a;
}

KernelProfile read_kernel(const Json& j) {
  KernelProfile k;
  read(j, "name", k.name);
  read(j, "mangled_name", k.mangled_name);
  read(j, "range", k.range);
  read(j, "launches", k.launches);
  read(j, "first_id", k.first_id);
  read(j, "device", k.device);
  get_dim(j, "grid", k.grid);
  get_dim(j, "block", k.block);
  read(j, "shapes_differ", k.shapes_differ);
  k.metrics = read_metrics(j);
  each(j, "sites", [&](const Json& s) { k.sites.push_back(read_site(s)); });
  each(j, "advice", [&](const Json& a) { k.advice.push_back(read_advice(a)); });
  each(j, "bounds", [&](const Json& b) {
    BoundProfile& out = k.bounds.emplace_back();
    read(b, "limit", out.limit);
    read(b, "ns", out.ns);
  });
  each(j, "code", [&](const Json& c) { k.code.push_back(read_code(c)); });
  if (const auto it = j.find("graph"); it != j.end() && it->is_object()) k.graph = read_graph(*it);
  if (const auto it = j.find("block_trace"); it != j.end() && it->is_object()) k.block_trace = read_block_trace(*it);
  const auto read_lines = [&](const char* key, std::vector<LineProfile>& lines) {
    each(j, key, [&](const Json& l) {
      LineProfile& out = lines.emplace_back();
      read(l, "file", out.file);
      read(l, "function", out.function);
      read(l, "line", out.line);
      out.metrics = read_metrics(l);
    });
  };
  read_lines("lines", k.lines);
  read_lines("inlined_lines", k.inlined_lines);
  return k;
}

// Before there was a severity, a warning's kind said so.
void read_severity(Finding& f) {
  constexpr std::string_view kWarning = "warning, ";
  if (f.kind.starts_with(kWarning)) {
    f.kind.erase(0, kWarning.size());
    f.severity = Severity::warning;
  }
  if (f.kind == "warning") f.severity = Severity::warning;
}

Finding read_finding(const Json& j) {
  Finding f;
  JsonReader::read(j, f);
  read_severity(f);
  return f;
}

}  // namespace

namespace {

const char* coalescing_name(CoalescingRule rule) {
  switch (rule) {
    case CoalescingRule::half_warp_strict:
      return "half_warp_strict";
    case CoalescingRule::half_warp_segments:
      return "half_warp_segments";
    case CoalescingRule::lines_128:
      return "lines_128";
    case CoalescingRule::sectors_32:
      return "sectors_32";
  }
  return "unknown";
}

Json model_json(const std::string& gpu) {
  for (const GpuModel& m : gpu_models()) {
    if (m.name != gpu) continue;
    const BankRule& banks = m.rules.banks;
    return {{"id", m.id},
            {"name", m.name},
            {"cc", fmt::format("{}.{}", m.cc_major, m.cc_minor)},
            {"sm_count", m.sm_count},
            {"sm_clock_mhz", number(m.sm_clock_mhz)},
            {"fp32_gflops", m.peak_flops(32) * 1e-9},
            {"fp64_gflops", m.peak_flops(64) * 1e-9},
            {"dram_gbs", m.theoretical_bandwidth() * 1e-9},
            {"dram_achievable_fraction", m.achievable_bandwidth_fraction},
            {"l2_bytes", m.l2_bytes},
            {"shared_per_sm", m.shared_per_sm},
            {"max_warps_per_sm", m.max_warps_per_sm},
            {"link_gbps_pinned", number(m.link_gbps_pinned)},
            {"link_gbps_pageable", number(m.link_gbps_pageable)},
            {"coalescing", coalescing_name(m.rules.coalescing)},
            {"banks", {{"banks", banks.banks}, {"bank_bytes", banks.bank_bytes}, {"lanes", banks.lanes}}}};
  }
  return nullptr;
}

// Of every metric that occurs.
Json definitions_json(const Profile& p) {
  std::set<std::string> names;
  const auto take = [&](const Metrics& metrics) {
    for (const auto& [key, m] : metrics) names.insert(key);
  };
  for (const auto* kernels : {&p.kernels, &p.launches, &p.ranges})
    for (const KernelProfile& k : *kernels) {
      take(k.metrics);
      for (const SiteProfile& s : k.sites) take(s.metrics);
      for (const auto* lines : {&k.lines, &k.inlined_lines})
        for (const LineProfile& l : *lines) take(l.metrics);
    }
  Json out = Json::object();
  for (const std::string& key : names)
    if (const counters::MetricRow* row = counters::find_metric(key))
      out[key] = {{"unit", row->unit}, {"origin", name(row->origin)}, {"definition", row->definition}};
  return out;
}

}  // namespace

std::string to_json(const Profile& p) {
  Json kernels = Json::array(), launches = Json::array(), ranges = Json::array(), transfers = Json::array(),
       findings = Json::array();
  for (const KernelProfile& k : p.kernels) kernels.push_back(kernel_json(k));
  for (const KernelProfile& k : p.launches) launches.push_back(kernel_json(k));
  for (const KernelProfile& k : p.ranges)
    ranges.push_back({{"range", k.range}, {"launches", k.launches}, {"metrics", metrics_json(k.metrics)}});
  for (const TransferProfile& t : p.transfers)
    transfers.push_back({{"direction", t.direction},
                         {"host_memory", t.host_memory},
                         {"count", t.count},
                         {"bytes", t.bytes},
                         {"estimated_ns", number(t.estimated_ns)}});
  Json library_calls = Json::array();
  for (const LibraryCallProfile& c : p.library_calls)
    library_calls.push_back({{"device", c.device},
                             {"function", c.function},
                             {"arguments", c.arguments},
                             {"by", c.by},
                             {"count", c.count},
                             {"estimated_ns", number(c.estimated_ns)}});
  for (const Finding& f : p.findings) findings.push_back(JsonWriter::value(f));
  Json sources = Json::array();
  for (const SourceFile& s : p.sources) {
    Json& out = sources.emplace_back(Json{{"file", s.file}, {"text", s.text}});
    if (!s.missing.empty()) out["missing"] = s.missing;
    if (s.changed) out["changed"] = true;
  }
  Json timeline = Json::array();
  for (const TimelineEntry& t : p.timeline)
    timeline.push_back({{"device", t.device},
                        {"stream", t.stream},
                        {"kind", t.kind},
                        {"name", t.name},
                        {"begin_ns", number(t.begin_ns)},
                        {"end_ns", number(t.end_ns)},
                        {"bytes", t.bytes},
                        {"work", t.work}});
  Json allocations = Json::array();
  for (const AllocationProfile& a : p.allocations)
    allocations.push_back({{"id", a.id}, {"bytes", a.bytes}, {"address", fmt::format("{:#x}", a.address)}});
  const Json j = {{"format", Profile::kFormatVersion},
                  {"program", p.program},
                  {"gpu", p.gpu},
                  {"command", p.command},
                  {"detail", p.detail},
                  {"model", model_json(p.gpu)},
                  {"definitions", definitions_json(p)},
                  {"sources", std::move(sources)},
                  {"allocations", std::move(allocations)},
                  {"not_modelled", p.not_modelled},
                  {"kernels", std::move(kernels)},
                  {"launches", std::move(launches)},
                  {"ranges", std::move(ranges)},
                  {"transfers", std::move(transfers)},
                  {"library_calls", std::move(library_calls)},
                  {"timeline", std::move(timeline)},
                  {"timeline_left_out", p.timeline_left_out},
                  {"checks", p.checks},
                  {"findings", std::move(findings)}};
  // A name that is not UTF-8 must not cost the profile.
  // Details are long lists of numbers, which nobody reads in lines.
  return j.dump(p.detail ? -1 : 1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<Profile> from_json(std::string_view text, std::string_view file) {
  const Json j = Json::parse(text.begin(), text.end(), nullptr, false);
  if (!j.is_object())
    return Error{ErrorKind::bad_input, fmt::format("{}: not a warpgrind profile (JSON object)", file), {}};
  int format = 0;
  read(j, "format", format);
  if (format < 1 || j.find("kernels") == j.end())
    return Error{
        ErrorKind::bad_input, fmt::format("{}: not a warpgrind profile (no \"format\" or \"kernels\")", file), {}};
  if (format > Profile::kFormatVersion)
    return Error{
        ErrorKind::bad_input,
        fmt::format("{}: format {} is newer than this warpgrind reads ({})", file, format, Profile::kFormatVersion),
        "use the warpgrind that wrote it, or a newer one"};
  Profile p;
  read(j, "program", p.program);
  read(j, "gpu", p.gpu);
  read(j, "command", p.command);
  get_list(j, "not_modelled", p.not_modelled);
  each(j, "kernels", [&](const Json& k) { p.kernels.push_back(read_kernel(k)); });
  each(j, "launches", [&](const Json& k) { p.launches.push_back(read_kernel(k)); });
  each(j, "ranges", [&](const Json& k) { p.ranges.push_back(read_kernel(k)); });
  each(j, "transfers", [&](const Json& t) {
    TransferProfile& out = p.transfers.emplace_back();
    read(t, "direction", out.direction);
    read(t, "host_memory", out.host_memory);
    read(t, "count", out.count);
    read(t, "bytes", out.bytes);
    read(t, "estimated_ns", out.estimated_ns);
  });
  each(j, "library_calls", [&](const Json& c) {
    LibraryCallProfile& out = p.library_calls.emplace_back();
    read(c, "device", out.device);
    read(c, "function", out.function);
    read(c, "arguments", out.arguments);
    read(c, "by", out.by);
    read(c, "count", out.count);
    read(c, "estimated_ns", out.estimated_ns);
  });
  read(j, "detail", p.detail);
  each(j, "timeline", [&](const Json& t) {
    TimelineEntry& out = p.timeline.emplace_back();
    read(t, "device", out.device);
    read(t, "stream", out.stream);
    read(t, "kind", out.kind);
    read(t, "name", out.name);
    read(t, "begin_ns", out.begin_ns);
    read(t, "end_ns", out.end_ns);
    read(t, "bytes", out.bytes);
    read(t, "work", out.work);
  });
  read(j, "timeline_left_out", p.timeline_left_out);
  get_list(j, "checks", p.checks);
  each(j, "allocations", [&](const Json& a) {
    AllocationProfile& out = p.allocations.emplace_back();
    read(a, "id", out.id);
    read(a, "bytes", out.bytes);
    std::string address;
    read(a, "address", address);
    out.address = std::strtoull(address.c_str(), nullptr, 16);
  });
  each(j, "sources", [&](const Json& s) {
    SourceFile& out = p.sources.emplace_back();
    read(s, "file", out.file);
    read(s, "text", out.text);
    read(s, "missing", out.missing);
    read(s, "changed", out.changed);
  });
  each(j, "findings", [&](const Json& f) { p.findings.push_back(read_finding(f)); });
  return p;
}

Result<Profile> read_profile(const std::string& path) {
  std::FILE* f = std::fopen(path.c_str(), "rbe");
  const auto failure = [&] {
    return Error{ErrorKind::bad_input, fmt::format("cannot read {}: {}", path, std::strerror(errno)), ""};
  };
  if (f == nullptr) return failure();
  std::string text;
  char buffer[1 << 16];
  for (std::size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, f)) > 0;) text.append(buffer, n);
  const bool good = std::ferror(f) == 0;
  const Error error = failure();
  std::fclose(f);
  if (!good) return error;
  return from_json(text, path);
}

Status write_file(const std::string& path, std::string_view text) {
  std::FILE* f = path == "-" ? stdout : std::fopen(path.c_str(), "wb");
  if (f == nullptr)
    return Error{ErrorKind::environment, fmt::format("cannot write {}: {}", path, std::strerror(errno)), {}};
  bool good = std::fwrite(text.data(), 1, text.size(), f) == text.size();
  good = std::fflush(f) == 0 && good;
  if (f != stdout) good = std::fclose(f) == 0 && good;
  if (!good) return Error{ErrorKind::environment, fmt::format("cannot write {}: {}", path, std::strerror(errno)), {}};
  return Ok{};
}

}  // namespace warpgrind::results
