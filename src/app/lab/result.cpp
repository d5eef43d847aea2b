// JSON and CSV forms of the lab's results.
#include "lab/result.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/assert.h"
#include "base/json.h"
#include "lab/json_lines.h"
#include "lab/row_kernel_members.h"

namespace warpgrind::lab {

namespace {

using Json = nlohmann::json;
using json::text;
constexpr const char* kFormat = "warpgrind-lab 1";
constexpr std::string_view kCsvHeads =
    "topic,rung,parameters,role,size,type,gpu,origin,verified,max_error,tolerance,gpu_us,gpu_us_low,gpu_us_high,cpu_us,"
    "bytes,flop,gbs,gflops,theoretical_pct,ceiling_pct,step,cumulative,load_sectors_per_request,"
    "store_sectors_per_request,bank_conflicts,divergent_branches,cgma,limit,skipped\n";
constexpr const char* kRowsFormat = "warpgrind-lab-rows 1";

Json number(double v) {
  return std::isfinite(v)
             ? Json(v == std::floor(v) && std::fabs(v) < 9e15 ? Json(static_cast<std::int64_t>(v)) : Json(v))
             : Json(nullptr);
}
double value(const Json& j, const char* name) {
  return json::get<double>(j, name);
}

Json timing_json(const Timing& t) {
  return {{"median", number(t.median)}, {"low", number(t.low)}, {"high", number(t.high)}, {"count", t.count}};
}
std::optional<Timing> read_timing(const Json& j, const char* name) {
  const auto it = j.find(name);
  if (it == j.end() || !it->is_object()) return std::nullopt;
  return Timing{value(*it, "median"), value(*it, "low"), value(*it, "high"), static_cast<int>(value(*it, "count"))};
}

Json metrics_json(const results::Metrics& metrics) {
  Json out = Json::object();
  for (const auto& [name, m] : metrics.by_name()) {
    if (m.text.empty() && m.value == 0) continue;  // most of the counters do not apply to a kernel
    out[name] = {{"value", m.text.empty() ? number(m.value) : Json(m.text)},
                 {"unit", m.unit},
                 {"origin", warpgrind::name(m.origin)}};
  }
  return out;
}
results::Metrics read_metrics(const Json& j) {
  results::Metrics out;
  const auto it = j.find("metrics");
  if (it == j.end() || !it->is_object()) return out;
  for (const auto& [name, m] : it->items()) {
    if (!m.is_object()) continue;
    results::Metric& metric = out.by_name()[name];
    metric.value = value(m, "value");
    metric.text = text(m, "value");
    metric.unit = text(m, "unit");
    metric.origin = origin_of(text(m, "origin"));
  }
  return out;
}

Json derived_json(const Derived& d) {
  return {{"time_us", number(d.time_us)},
          {"gbs", number(d.gbs)},
          {"gflops", number(d.gflops)},
          {"theoretical_share", number(d.theoretical_share)},
          {"ceiling_share", number(d.ceiling_share)},
          {"share_of", d.share_of_flops ? "flops" : "bandwidth"},
          {"step", number(d.step)},
          {"cumulative", number(d.cumulative)},
          {"load_sectors_per_request", number(d.load_sectors_per_request)},
          {"store_sectors_per_request", number(d.store_sectors_per_request)},
          {"bank_conflicts", number(d.bank_conflicts)},
          {"conflicts_per_request", number(d.conflicts_per_request)},
          {"divergent_branches", number(d.divergent_branches)},
          {"cgma", number(d.cgma)},
          {"cgma_ceiling_gflops", number(d.cgma_ceiling_gflops)},
          {"limit", d.limit},
          {"why", d.why}};
}
Derived read_derived(const Json& row) {
  Derived d;
  const auto it = row.find("derived");
  if (it == row.end() || !it->is_object()) return d;
  d.time_us = value(*it, "time_us");
  d.gbs = value(*it, "gbs");
  d.gflops = value(*it, "gflops");
  d.theoretical_share = value(*it, "theoretical_share");
  d.ceiling_share = value(*it, "ceiling_share");
  d.share_of_flops = text(*it, "share_of") == "flops";
  d.step = value(*it, "step");
  d.cumulative = value(*it, "cumulative");
  d.load_sectors_per_request = value(*it, "load_sectors_per_request");
  d.store_sectors_per_request = value(*it, "store_sectors_per_request");
  d.bank_conflicts = value(*it, "bank_conflicts");
  d.conflicts_per_request = value(*it, "conflicts_per_request");
  d.divergent_branches = value(*it, "divergent_branches");
  d.cgma = value(*it, "cgma");
  d.cgma_ceiling_gflops = value(*it, "cgma_ceiling_gflops");
  d.limit = text(*it, "limit");
  d.why = text(*it, "why");
  return d;
}

Json row_json(const Row& r) {
  Json size = Json::array(), parameters = Json::object();
  for (const double n : r.size) size.push_back(number(n));
  for (const auto& [name, v] : r.parameters) parameters[name] = number(v);
  Json j = {{"rung", r.rung},
            {"what", r.what},
            {"role", r.role},
            {"size", std::move(size)},
            {"size_text", r.size_text},
            {"type", r.type},
            {"parameters", std::move(parameters)},
            {"range", r.range}};
  if (!r.skipped.empty()) {
    j["skipped"] = r.skipped;
    return j;
  }
  j["verified"] = r.verified;
  if (r.blocks > 0) {
    j["blocks"] = r.blocks;
  } else {
    j["max_error"] = number(r.max_error);
    j["tolerance"] = number(r.tolerance);
    j["wrong"] = number(r.wrong);
    j["elements"] = number(r.elements);
  }
  if (!r.shown()) return j;
  j["bytes"] = number(r.bytes);
  j["flop"] = number(r.flop);
  j["origin"] = r.origin;
  if (r.gpu) j["gpu_us"] = timing_json(*r.gpu);
  if (r.cpu) j["cpu_us"] = timing_json(*r.cpu);
  j["metrics"] = metrics_json(r.metrics);
  j["derived"] = derived_json(r.derived);
  if (!r.kernels.empty()) j["kernels"] = results::JsonWriter::value(r.kernels);
  if (!r.recordings.empty()) j["recordings"] = r.recordings;
  return j;
}

// Reads a list of objects whose type has a table of members.
template <class T>
void read_list(const Json& j, const char* name, std::vector<T>& out) {
  if (const auto it = j.find(name); it != j.end()) results::JsonReader::read(results::JsonReader::Json(*it), out);
}

Row read_row(const Json& j) {
  Row r;
  r.rung = text(j, "rung");
  r.what = text(j, "what");
  r.role = text(j, "role");
  r.size_text = text(j, "size_text");
  r.type = text(j, "type");
  r.range = text(j, "range");
  r.origin = text(j, "origin");
  r.skipped = text(j, "skipped");
  if (const auto it = j.find("size"); it != j.end() && it->is_array())
    for (const Json& n : *it) r.size.push_back(n.is_number() ? n.get<double>() : 0);
  if (const auto it = j.find("parameters"); it != j.end() && it->is_object())
    for (const auto& [name, v] : it->items()) r.parameters[name] = v.is_number() ? v.get<double>() : 0;
  r.verified = json::get<bool>(j, "verified");
  r.blocks = static_cast<std::uint64_t>(value(j, "blocks"));
  r.max_error = value(j, "max_error");
  r.tolerance = value(j, "tolerance");
  r.wrong = value(j, "wrong");
  r.elements = value(j, "elements");
  r.bytes = value(j, "bytes");
  r.flop = value(j, "flop");
  r.gpu = read_timing(j, "gpu_us");
  r.cpu = read_timing(j, "cpu_us");
  r.metrics = read_metrics(j);
  r.derived = read_derived(j);
  read_list(j, "kernels", r.kernels);
  json::each(j, "recordings", [&](const Json& n) {
    if (n.is_number_unsigned()) r.recordings.push_back(n.get<std::uint32_t>());
  });
  return r;
}

Json device_json(const Device& d) {
  return {{"name", d.name},
          {"cc", d.cc},
          {"sm_count", number(d.sm_count)},
          {"sm_clock_mhz", number(d.sm_clock_mhz)},
          {"memory_clock_mhz", number(d.memory_clock_mhz)},
          {"memory_bus_bits", number(d.memory_bus_bits)},
          {"driver_version", number(d.driver)},
          {"runtime_version", number(d.runtime)}};
}
Device read_device(const Json& topic) {
  Device d;
  const auto it = topic.find("device");
  if (it == topic.end() || !it->is_object()) return d;
  d.name = text(*it, "name");
  d.cc = it->contains("cc") ? value(*it, "cc") : value(*it, "cc_major") + value(*it, "cc_minor") / 10;
  d.sm_count = value(*it, "sm_count");
  d.sm_clock_mhz = value(*it, "sm_clock_mhz");
  d.memory_clock_mhz = value(*it, "memory_clock_mhz");
  d.memory_bus_bits = value(*it, "memory_bus_bits");
  d.driver = value(*it, "driver_version");
  d.runtime = value(*it, "runtime_version");
  return d;
}

Json topic_json(const TopicResult& t) {
  Json large = Json::array();
  for (const Row& r : t.large) large.push_back(row_json(r));
  Json rows = Json::array(), notes = Json::array(), models = Json::array();
  for (const Row& r : t.rows) rows.push_back(row_json(r));
  for (const Note& n : t.notes) notes.push_back({{"title", n.title}, {"text", n.text}});
  for (const TopicResult& m : t.models) models.push_back(topic_json(m));
  Json out = {{"topic", t.topic},
              {"title", t.title},
              {"document", t.document},
              {"shows", t.shows},
              {"gpu", t.gpu},
              {"virtual", t.is_virtual},
              {"error", t.error},
              {"exit_code", t.exit_code},
              {"seconds", number(t.seconds)},
              {"sm_mhz_before", number(t.sm_mhz_before)},
              {"sm_mhz_after", number(t.sm_mhz_after)},
              {"device", device_json(t.device)},
              {"rows", std::move(rows)},
              {"notes", std::move(notes)},
              {"models", std::move(models)}};
  if (!t.large.empty()) out["large"] = std::move(large);
  if (!t.sources.empty()) out["sources"] = results::JsonWriter::value(t.sources);
  if (!t.recordings.empty()) {
    out["recordings"] = results::JsonWriter::value(t.recordings);
    out["recorded_sources"] = results::JsonWriter::value(t.recorded_sources);
  }
  if (!t.no_recordings.empty()) out["no_recordings"] = t.no_recordings;
  return out;
}

TopicResult read_topic(const Json& j) {
  TopicResult t;
  t.topic = text(j, "topic");
  t.title = text(j, "title");
  t.document = titles_of_documents(text(j, "document"));
  t.shows = text(j, "shows");
  t.gpu = text(j, "gpu");
  t.error = text(j, "error");
  t.is_virtual = json::get<bool>(j, "virtual");
  t.exit_code = static_cast<int>(value(j, "exit_code"));
  t.seconds = value(j, "seconds");
  t.sm_mhz_before = value(j, "sm_mhz_before");
  t.sm_mhz_after = value(j, "sm_mhz_after");
  t.device = read_device(j);
  json::each(j, "rows", [&](const Json& r) { t.rows.push_back(read_row(r)); });
  json::each(j, "large", [&](const Json& r) { t.large.push_back(read_row(r)); });
  json::each(j, "notes", [&](const Json& n) { t.notes.push_back({text(n, "title"), text(n, "text")}); });
  read_list(j, "sources", t.sources);
  read_list(j, "recordings", t.recordings);
  read_list(j, "recorded_sources", t.recorded_sources);
  t.no_recordings = text(j, "no_recordings");
  json::each(j, "models", [&](const Json& m) { t.models.push_back(read_topic(m)); });
  return t;
}

Result<Json> parse(const std::string& source, const std::string& file, const char* format, const char* what) {
  Json j = Json::parse(source, nullptr, false);
  if (!j.is_object() || text(j, "format") != format)
    return Error{ErrorKind::bad_input, fmt::format("{}: not {}", file, what),
                 fmt::format("a JSON object with \"format\": \"{}\" was expected", format)};
  return j;
}

std::string csv_field(const std::string& field) {
  if (field.find_first_of(",\"\n") == std::string::npos) return field;
  std::string out = "\"";
  for (const char c : field) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

void append_csv(std::string& out, const TopicResult& t) {
  for (const Row& r : t.rows) {
    const Derived& d = r.derived;
    std::string parameters;
    for (const auto& [name, v] : r.parameters)
      parameters += fmt::format("{}{}={:g}", parameters.empty() ? "" : " ", name, v);
    const auto figure = [&](double v) { return r.shown() && v != 0 ? fmt::format("{:.8g}", v) : std::string(); };
    const std::string verdict = !r.skipped.empty() ? "skipped" : r.verified ? "yes" : r.blocks > 0 ? "sampled" : "no";
    const std::vector<std::string> fields = {t.topic,
                                             r.rung,
                                             parameters,
                                             r.role,
                                             r.size_text,
                                             r.type,
                                             t.gpu,
                                             r.origin,
                                             verdict,
                                             figure(r.max_error),
                                             figure(r.tolerance),
                                             figure(r.gpu ? r.gpu->median : 0),
                                             figure(r.gpu ? r.gpu->low : 0),
                                             figure(r.gpu ? r.gpu->high : 0),
                                             figure(r.cpu ? r.cpu->median : 0),
                                             figure(r.bytes),
                                             figure(r.flop),
                                             figure(d.gbs),
                                             figure(d.gflops),
                                             figure(d.theoretical_share * 100),
                                             figure(d.ceiling_share * 100),
                                             figure(d.step),
                                             figure(d.cumulative),
                                             figure(d.load_sectors_per_request),
                                             figure(d.store_sectors_per_request),
                                             figure(d.bank_conflicts),
                                             figure(d.divergent_branches),
                                             figure(d.cgma),
                                             d.limit,
                                             r.skipped};
    WG_ASSERT(static_cast<std::ptrdiff_t>(fields.size()) == 1 + std::ranges::count(kCsvHeads, ','));
    for (std::size_t i = 0; i < fields.size(); ++i) out += (i ? "," : "") + csv_field(fields[i]);
    out += "\n";
  }
  for (const TopicResult& m : t.models) append_csv(out, m);
}

}  // namespace

std::string Row::label() const {
  std::string out = rung;
  for (const auto& [name, v] : parameters) out += fmt::format(" {} {:g}", name, v);
  return out;
}

std::string Row::key() const {
  return label() + "|" + size_text + "|" + type;
}

void add_missing_rows(LabResult& result, LabResult&& more) {
  for (TopicResult& topic : more.topics) {
    const auto same =
        std::ranges::find_if(result.topics, [&](const TopicResult& known) { return known.topic == topic.topic; });
    if (same == result.topics.end()) {
      result.topics.push_back(std::move(topic));
      continue;
    }
    for (Row& row : topic.rows)
      if (std::ranges::none_of(same->rows, [&](const Row& known) { return known.key() == row.key(); }))
        same->rows.push_back(std::move(row));
  }
}

std::size_t TopicResult::verified() const {
  std::size_t n = 0;
  for (const Row& r : rows) n += r.skipped.empty() && r.verified;
  return n;
}

std::size_t TopicResult::shown() const {
  std::size_t n = 0;
  for (const Row& r : rows) n += r.skipped.empty();
  return n;
}

std::string to_json(const LabResult& result) {
  Json topics = Json::array(), left_out = Json::array();
  for (const TopicResult& t : result.topics) topics.push_back(topic_json(t));
  for (const LeftOut& l : result.left_out) left_out.push_back({{"topic", l.topic}, {"reason", l.reason}});
  const Json j = {{"format", kFormat},
                  {"command", result.command},
                  {"date", result.date},
                  {"machine", result.machine},
                  {"on", result.on},
                  {"full", result.full},
                  {"topics", std::move(topics)},
                  {"left_out", std::move(left_out)}};
  return json_lines(j);
}

Result<LabResult> from_json(const std::string& source, const std::string& file) {
  const auto j = parse(source, file, kFormat, "a result of the lab");
  if (!j) return j.error();
  LabResult result;
  result.command = text(*j, "command");
  result.date = text(*j, "date");
  result.machine = text(*j, "machine");
  result.on = text(*j, "on");
  result.full = json::get<bool>(*j, "full");
  json::each(*j, "topics", [&](const Json& t) { result.topics.push_back(read_topic(t)); });
  json::each(*j, "left_out", [&](const Json& l) { result.left_out.push_back({text(l, "topic"), text(l, "reason")}); });
  return result;
}

Result<TopicResult> read_rows(const std::string& source, const std::string& file) {
  const auto j = parse(source, file, kRowsFormat, "what a program of the lab writes");
  if (!j) return j.error();
  return read_topic(*j);
}

std::string to_csv(const LabResult& result) {
  std::string out(kCsvHeads);
  for (const TopicResult& t : result.topics) append_csv(out, t);
  return out;
}

}  // namespace warpgrind::lab
