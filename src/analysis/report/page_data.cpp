// Packing of profiles for the HTML report.
#include "report/page_data.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <vector>

#include "base/json.h"
#include "gpu/gpu_model.h"
#include "report/access_rule_table.h"
#include "report/copy_drawings.h"
#include "results/member_json.h"
#include "results/profile_members.h"

namespace warpgrind::report {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::size_t kFewRows = 4;  // shorter lists stay as they are

class Packer {
 public:
  Json keys = Json::array();  // the table "metric_keys"

  // `key`: the member that holds the value. `sparse`: counters that are 0 may be dropped (for lines, absent means 0).
  Json pack(Json&& value, const std::string& key, bool sparse) {
    if (value.is_object()) {
      if (key == "metrics") return metrics(value, sparse);
      if (key == "definitions") return Json::object();  // the page has the whole table
      Json out = Json::object();
      for (auto it = value.begin(); it != value.end(); ++it)
        out[it.key()] = pack(std::move(it.value()), it.key(), sparse || it.key() == "lines");
      return out;
    }
    if (!value.is_array()) return std::move(value);
    if (same_members(value)) return table(value, sparse);
    for (Json& element : value) element = pack(std::move(element), "", sparse);
    return std::move(value);
  }

 private:
  std::map<std::string, std::size_t> index_;

  Json metrics(Json& value, bool sparse) {
    Json out = Json::array();
    for (auto it = value.begin(); it != value.end(); ++it) {
      const Json& m = it.value();
      if (!m.is_object() || m.find("value") == m.end()) continue;
      const Json& number = m["value"];
      if (sparse && number.is_number() && number.get<double>() == 0) continue;
      const std::string unit = json::get<std::string>(m, "unit");
      std::string origin = "exact";
      json::read(m, "origin", origin);
      const auto [found, added] = index_.try_emplace(it.key() + '\n' + unit + '\n' + origin, keys.size());
      if (added) keys.push_back(Json::array({it.key(), unit, origin}));
      out.push_back(found->second);
      out.push_back(number);
    }
    return out;
  }

  static bool same_members(const Json& list) {
    if (list.size() < kFewRows) return false;
    for (const Json& element : list) {
      if (!element.is_object() || element.size() != list[0].size()) return false;
      for (auto a = element.begin(), b = list[0].begin(); a != element.end(); ++a, ++b)
        if (a.key() != b.key()) return false;
    }
    return true;
  }

  Json table(Json& list, bool sparse) {
    Json columns = Json::array(), rows = Json::array(), words = Json::object();
    for (auto it = list[0].begin(); it != list[0].end(); ++it) columns.push_back(it.key());
    for (Json& element : list) {
      Json row = Json::array();
      for (auto it = element.begin(); it != element.end(); ++it)
        row.push_back(pack(std::move(it.value()), it.key(), sparse || it.key() == "lines"));
      rows.push_back(std::move(row));
    }
    for (std::size_t c = 0; c < columns.size(); ++c) {
      Json list_of_words = intern(rows, c);
      if (!list_of_words.empty()) words[columns[c].get<std::string>()] = std::move(list_of_words);
    }
    Json out = Json::object();
    out["$keys"] = std::move(columns);
    out["$rows"] = std::move(rows);
    if (!words.empty()) out["$words"] = std::move(words);
    return out;
  }

  // Stores repeated strings or lists of a column (inlining chains, addresses) once, with their numbers in the rows.
  static Json intern(Json& rows, std::size_t column) {
    std::unordered_map<std::string, std::size_t> seen;
    Json list = Json::array();
    std::vector<std::size_t> numbers;
    for (const Json& row : rows) {
      const Json& value = row[column];
      if (!value.is_string() && !value.is_structured()) return Json::array();
      const auto [it, fresh] =
          seen.try_emplace(value.dump(-1, ' ', false, Json::error_handler_t::replace), seen.size());
      if (fresh) list.push_back(value);
      if (seen.size() * 2 > rows.size()) return Json::array();
      numbers.push_back(it->second);
    }
    for (std::size_t r = 0; r < numbers.size(); ++r) rows[r][column] = numbers[r];
    return list;
  }
};

Result<Json> parse(const std::string& text, const char* what) {
  Json j = Json::parse(text, nullptr, false);
  if (!j.is_object())
    return Error{ErrorKind::bad_input, fmt::format("the {} for the HTML report is not a JSON object", what), ""};
  return j;
}

// Escapes JSON so that it cannot end its script element or open a comment.
std::string escape(const std::string& json) {
  std::string out;
  out.reserve(json.size() + json.size() / 64);
  for (const char c : json) {
    if (c == '<')
      out += "\\u003c";
    else
      out += c;
  }
  return out;
}

}  // namespace

Result<std::string> page_data(const HtmlInput& input) {
  Packer packer;
  Json page = Json::object();
  page["title"] = input.title;
  page["version"] = input.version;
  Json profiles = Json::array();
  for (const std::string& text : input.profiles) {
    auto profile = parse(text, "profile");
    if (!profile) return profile.error();
    Json json = profile.take();
    add_copy_drawings(json);
    profiles.push_back(packer.pack(std::move(json), "", false));
  }
  page["profiles"] = std::move(profiles);
  for (const auto& [key, text] :
       {std::pair{"lab", &input.lab}, std::pair{"measured", &input.measured}, std::pair{"baseline", &input.baseline}}) {
    if (text->empty()) continue;
    auto lab = parse(*text, key);
    if (!lab) return lab.error();
    page[key] = packer.pack(lab.take(), "", false);
  }
  if (!input.course.empty()) {
    auto course = parse(input.course, "course");
    if (!course) return course.error();
    page["course"] = course.take();
  }
  if (!input.lab.empty()) page["rules"] = access_rule_table();
  Json models = Json::array();
  for (const GpuModel& model : gpu_models()) models.push_back(results::JsonWriter::value(results::model_of(model)));
  page["models"] = std::move(models);
  page["metric_keys"] = std::move(packer.keys);
  page["definitions"] = results::JsonWriter::value(results::all_definitions());
  return escape(page.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace warpgrind::report
