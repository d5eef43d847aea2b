// SARIF 2.1.0 of findings, failed expectations and advice.
#include "report/sarif.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <set>

#include "advice/rules.h"
#include "report/kernel_names.h"

namespace warpgrind::report {
namespace {

using Json = nlohmann::ordered_json;

std::string percent_encoded(std::string_view path) {
  std::string out;
  for (const char c : path) {
    const bool plain =
        std::isalnum(static_cast<unsigned char>(c)) != 0 || std::string_view("/-._~").find(c) != std::string_view::npos;
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

class SarifWriter {
 public:
  explicit SarifWriter(const RunFacts& run) : run_(run) {}

  void finding(const results::Finding& f) {
    std::string text = f.message;
    if (!f.advice.empty()) text += ". " + f.advice;
    const bool error = f.severity == results::Severity::error;
    std::string rule = error ? "kernel_error" : "kernel_warning";
    if (!f.accesses.empty()) {  // with accesses, the kind is a stable word
      rule = f.kind;
      std::replace(rule.begin(), rule.end(), ' ', '-');
      kinds_.insert(rule);
    }
    const char* const level = error ? "error" : f.severity == results::Severity::warning ? "warning" : "note";
    if (!f.missing.empty()) text += ". Missing: " + f.missing;
    Json j = result(rule, level, text, f.kernel);
    if (f.line != 0) j["locations"] = Json::array({location(f.file, f.line)});
    add_kernel(j, f.kernel);
    add_related(j, f);
    Json& properties = j["properties"];
    properties["ptx"] = f.text;
    properties["ptx_line"] = f.ptx_line;
    properties["notes"] = f.notes;
    results_.push_back(std::move(j));
  }

  void expectation(const ExpectationResult& r) {
    if (!r.bad()) return;
    Json j = result("expectation", "error", fmt::format("{}: {}", r.text, r.figures), r.kernel);
    add_places(j, r.places);
    add_kernel(j, r.kernel);
    j["properties"]["origin"] = name(r.origin);
    results_.push_back(std::move(j));
  }

  void advice(const results::KernelProfile& kernel, const results::Advice& a) {
    Json j = result(a.rule, "note", fmt::format("{}. {}", a.title, a.text), kernel.name);
    add_places(j, a.places);
    add_kernel(j, kernel.name);
    Json evidence = Json::array();
    for (const auto& e : a.evidence)
      evidence.push_back({{"metric", e.metric}, {"value", e.value}, {"unit", e.unit}, {"origin", name(e.origin)}});
    j["properties"] = {{"estimated_gain", a.estimated_gain}, {"origin", name(a.origin)}, {"evidence", evidence}};
    results_.push_back(std::move(j));
  }

  Json run() {
    Json driver = {{"name", "warpgrind"}, {"version", run_.version}, {"rules", rules()}};
    Json out = {{"tool", {{"driver", std::move(driver)}}},
                {"invocations", Json::array({{{"commandLine", run_.command},
                                              {"executionSuccessful", run_.exit_code == 0},
                                              {"exitCode", run_.exit_code}}})}};
    if (!run_.directory.empty())
      out["originalUriBaseIds"] = {{kRoot, {{"uri", "file://" + percent_encoded(run_.directory) + "/"}}}};
    out["columnKind"] = "utf16CodeUnits";
    out["results"] = std::move(results_);
    return out;
  }

 private:
  static constexpr const char* kRoot = "SRCROOT";

  static Json result(const std::string& rule, const char* level, const std::string& text, const std::string& kernel) {
    std::string message = text;
    if (!kernel.empty()) message = fmt::format("{}: {}", short_name(kernel), text);
    return {{"ruleId", rule}, {"level", level}, {"message", {{"text", message}}}};
  }

  Json location(const std::string& file, std::uint32_t line) const {
    Json artifact;
    const std::string root = run_.directory + "/";
    if (!run_.directory.empty() && file.starts_with(root))
      artifact = {{"uri", percent_encoded(file.substr(root.size()))}, {"uriBaseId", kRoot}};
    else
      artifact = {{"uri", (file.starts_with("/") ? "file://" : "") + percent_encoded(file)}};
    return {{"physicalLocation", {{"artifactLocation", artifact}, {"region", {{"startLine", line}}}}}};
  }

  // The first place becomes the location, the others related locations.
  void add_places(Json& j, const std::vector<results::Advice::Place>& places) const {
    bool first = true;
    for (const results::Advice::Place& p : places) {
      if (p.line == 0 || p.file.empty()) continue;
      j[first ? "locations" : "relatedLocations"].push_back(location(p.file, p.line));
      first = false;
    }
  }

  // Adds the other accesses, the origin and the cause as related locations.
  void add_related(Json& j, const results::Finding& f) const {
    const auto add = [&](const std::string& file, std::uint32_t line, const std::string& text) {
      if (line == 0 || file.empty()) return;
      Json at = location(file, line);
      at["message"]["text"] = text;
      j["relatedLocations"].push_back(std::move(at));
    };
    for (std::size_t i = 1; i < f.accesses.size(); ++i)
      add(f.accesses[i].file, f.accesses[i].line, f.accesses[i].access);
    if (f.origin) add(f.origin->file, f.origin->line, "from " + f.origin->kind);
    if (f.cause) add(f.cause->file, f.cause->line, f.cause->text);
  }

  static void add_kernel(Json& j, const std::string& kernel) {
    if (kernel.empty()) return;
    Json logical = Json::array({{{"fullyQualifiedName", kernel}, {"kind", "function"}}});
    if (!j.contains("locations")) j["locations"] = Json::array({Json::object()});
    j["locations"][0]["logicalLocations"] = std::move(logical);
  }

  Json rules() const {
    Json out = Json::array();
    const auto add = [&](const std::string& id, const std::string& name, const std::string& text) {
      out.push_back({{"id", id}, {"shortDescription", {{"text", name}}}, {"fullDescription", {{"text", text}}}});
    };
    add("kernel_error", "A kernel did something wrong", "Execution of the kernel ended there, as it would on a GPU.");
    add("kernel_warning", "A kernel did something doubtful", "It went on, but its results may be wrong.");
    add("expectation", "An expectation does not hold", "A condition given with --expect.");
    for (const std::string& kind : kinds_) add(kind, kind, "A finding of this kind: docs/checks.md.");
    add(advice::kSmallLaunch, "A launch too small to judge",
        "Fires when each launch has at most 32 threads. Rules about the launch shape, idle lanes and redundant loads "
        "are "
        "then silent; with one thread, all other rules are.");
    for (const advice::RuleRow& r : advice::rules()) add(r.id, r.name, std::string("Fires when ") + r.fires + ".");
    return out;
  }

  const RunFacts& run_;
  Json results_ = Json::array();
  std::set<std::string> kinds_;
};

}  // namespace

std::string sarif_json(const std::vector<ExpectationResult>& expectations,
                       const std::vector<results::Profile>& profiles, const RunFacts& run) {
  SarifWriter w(run);
  for (const results::Profile& p : profiles)
    for (const results::Finding& f : p.findings) w.finding(f);
  for (const ExpectationResult& r : expectations) w.expectation(r);
  for (const results::Profile& p : profiles)
    for (const results::KernelProfile& k : p.kernels)
      for (const results::Advice& a : k.advice) w.advice(k, a);
  const Json j = {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                  {"version", "2.1.0"},
                  {"runs", Json::array({w.run()})}};
  return j.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace warpgrind::report
