// Suppressions: reading, matching, and writing them for findings.
#include "report/suppressions.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/words.h"

namespace warpgrind::report {
namespace {

using Json = nlohmann::ordered_json;

bool fits(const std::string& pattern, const std::string& text) {
  return pattern.empty() || pattern == text || fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

// "kernels.cu" and "src/kernels.cu" both match the file /home/me/src/kernels.cu.
bool matches_file(const std::string& pattern, const std::string& path) {
  return fits(pattern, path) || path.ends_with("/" + pattern) || fits("*/" + pattern, path);
}

}  // namespace

Result<std::vector<Suppression>> read_suppressions(std::string_view text, const std::string& name) {
  const Json j = Json::parse(text, nullptr, false);
  const auto list = j.is_object() ? j.find("suppressions") : j.end();
  if (!j.is_object() || list == j.end() || !list->is_array())
    return Error{ErrorKind::bad_input, fmt::format("{}: not a file of suppressions", name),
                 "JSON as `warpgrind check --gen-suppressions FILE` writes it: {\"suppressions\": [...]}"};
  std::vector<Suppression> out;
  std::size_t number = 0;
  for (const Json& entry : *list) {
    ++number;
    Suppression s;
    if (entry.is_object()) {
      json::read(entry, "kind", s.kind);
      json::read(entry, "kernel", s.kernel);
      json::read(entry, "message", s.message);
      json::each(entry, "places", [&](const Json& p) {
        Suppression::Place& at = s.places.emplace_back();
        json::read(p, "file", at.file);
        json::read(p, "function", at.function);
        json::read(p, "line", at.line);
      });
    }
    if (s.kind.empty() && s.kernel.empty() && s.message.empty() && s.places.empty())
      return Error{ErrorKind::bad_input, fmt::format("{}: suppression {} says nothing", name, number),
                   "name at least one of kind, kernel, message, places; it would hide everything"};
    out.push_back(std::move(s));
  }
  return out;
}

bool suppresses(const Suppression& s, const results::Finding& f) {
  if (!fits(s.kind, f.kind) || !fits(s.kernel, f.kernel) || !fits(s.message, f.message)) return false;
  if (s.places.size() > f.accesses.size()) return false;
  for (std::size_t i = 0; i < s.places.size(); ++i) {
    const Suppression::Place& p = s.places[i];
    const results::FindingAccess& a = f.accesses[i];
    if ((p.line != 0 && p.line != a.line) || !matches_file(p.file, a.file) || !fits(p.function, a.function))
      return false;
  }
  return true;
}

std::string suppressions_json(const std::vector<results::Finding>& findings) {
  Json list = Json::array();
  for (const results::Finding& f : findings) {
    Json entry = {{"kind", f.kind}};
    if (!f.kernel.empty()) entry["kernel"] = f.kernel;
    if (f.accesses.empty()) entry["message"] = f.message;
    for (const results::FindingAccess& a : f.accesses) {
      Json place = Json::object();
      if (!a.file.empty()) place["file"] = base_name(a.file);
      if (a.line != 0) place["line"] = a.line;
      if (!a.function.empty()) place["function"] = a.function;
      entry["places"].push_back(std::move(place));
    }
    list.push_back(std::move(entry));
  }
  return Json{{"suppressions", std::move(list)}}.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace warpgrind::report
