// Reader of exercises: exercise.json with its rules, and the folder of all exercises.
#include "exercises/exercise.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/assert.h"
#include "base/edit_distance.h"
#include "base/file.h"
#include "base/json.h"
#include "base/regular_expression.h"

namespace warpgrind::exercises {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using json::text;

constexpr const char* kDescription = "exercise.json";

Error wrong_description(const std::string& path, const std::string& what) {
  return {ErrorKind::bad_input, fmt::format("{}: {}", path, what), "see docs/exercise-format.md for its format"};
}

Result<Rule> counter_rule(const Json& j) {
  Rule rule;
  rule.text = text(j, "counter");
  auto expectation = report::parse_expectation(rule.text);
  if (!expectation) return expectation.error();
  rule.expectation = expectation.take();
  return rule;
}

Result<Rule> time_rule(const Json& j) {
  Rule rule;
  rule.kind = Rule::Kind::time;
  rule.factor = json::get<double>(j, "time");
  rule.than = text(j, "than");
  rule.timeline = text(j, "of") == "timeline";
  if (rule.factor <= 0) return Error{ErrorKind::bad_input, "\"time\" must be a number above 0", ""};
  rule.text = fmt::format("estimated time{} <= {} x {}", rule.timeline ? " from the first copy to the last" : "",
                          rule.factor, rule.than.empty() ? "the solution's" : "that of " + rule.than);
  return rule;
}

Result<Rule> copies_rule(const Json& j) {
  Rule rule;
  rule.kind = Rule::Kind::copies;
  rule.copies = text(j, "copies");
  if (rule.copies != "pinned" && rule.copies != "none")
    return Error{ErrorKind::bad_input, fmt::format("\"copies\": \"{}\": it must be pinned or none", rule.copies), ""};
  rule.text = rule.copies == "none" ? "no copy between host and device" : "copies use pinned host memory";
  return rule;
}

Result<Rule> source_rule(const Json& j, bool lacks) {
  Rule rule;
  rule.kind = Rule::Kind::source;
  rule.lacks = lacks;
  rule.pattern = text(j, lacks ? "source_lacks" : "source_has");
  if (rule.pattern.empty() || !RegularExpression(rule.pattern).good())
    return Error{ErrorKind::bad_input, fmt::format("\"{}\" is not a POSIX extended regular expression", rule.pattern),
                 ""};
  const std::string what = text(j, "what");
  rule.text = fmt::format("the source {} {}", lacks ? "does without" : "uses", what.empty() ? rule.pattern : what);
  return rule;
}

Result<Rule> read_rule(const Json& j) {
  Result<Rule> rule = j.contains("counter")        ? counter_rule(j)
                      : j.contains("time")         ? time_rule(j)
                      : j.contains("copies")       ? copies_rule(j)
                      : j.contains("source_has")   ? source_rule(j, false)
                      : j.contains("source_lacks") ? source_rule(j, true)
                                                   : Error{ErrorKind::bad_input,
                                                           "a rule has one of: counter, time, copies, source_has, "
                                                           "source_lacks",
                                                           ""};
  if (rule) rule->message = text(j, "message");
  return rule;
}

Status read_lists(const Json& j, Exercise& out) {
  Status problem = Ok{};
  json::each(j, "rubric", [&](const Json& entry) {
    auto rule = read_rule(entry);
    if (rule)
      out.rules.push_back(rule.take());
    else if (problem)
      problem = rule.error();
  });
  json::each(j, "findings", [&](const Json& f) { out.findings.push_back({text(f, "kind"), text(f, "message")}); });
  json::each(j, "wrong", [&](const Json& w) { out.wrong.push_back({text(w, "file"), text(w, "message")}); });
  if (const auto hints = j.find("hints"); hints != j.end() && hints->is_array())
    for (const Json& hint : *hints)
      if (hint.is_string()) out.hints.push_back(hint.get<std::string>());
  return problem;
}

}  // namespace

Result<Exercise> read_exercise(const std::string& folder) {
  Exercise out;
  out.folder = folder;
  out.name = fs::path(folder).filename().string();
  const std::string path = folder + "/" + kDescription;
  const auto whole = read_whole(path);
  if (!whole) return Error{ErrorKind::environment, fmt::format("cannot read {}", path), ""};
  const Json j = Json::parse(*whole, nullptr, false);
  if (!j.is_object()) return wrong_description(path, "it is not a JSON object");
  json::read(j, "title", out.title);
  json::read(j, "topic", out.topic);
  json::read(j, "document", out.document);
  json::read(j, "section", out.section);
  json::read(j, "order", out.order);
  json::read(j, "level", out.level);
  json::read(j, "gpu", out.gpu);
  json::read(j, "devices", out.devices);
  json::read(j, "seconds", out.seconds);
  if (out.title.empty()) return wrong_description(path, "it has no \"title\"");
  if (Status s = read_lists(j, out); !s) {
    Error error = wrong_description(path, s.error().message);
    if (!s.error().detail.empty()) error.detail = s.error().detail;
    return error;
  }
  std::error_code none;
  for (const char* file : {"text.md", "skeleton.cu", "solution.cu", "driver.cu"})
    if (!fs::exists(out.file(file), none)) return wrong_description(path, fmt::format("the folder lacks {}", file));
  for (const WrongAnswer& w : out.wrong)
    if (w.file.empty() || !fs::exists(out.file(w.file), none))
      return wrong_description(path, fmt::format("the folder lacks the wrong answer \"{}\"", w.file));
  return out;
}

Result<std::vector<Exercise>> find_exercises(const std::string& folder) {
  std::vector<Exercise> out;
  std::error_code problem, none;
  for (fs::directory_iterator at(folder, problem), end; !problem && at != end; at.increment(problem)) {
    if (!fs::exists(at->path() / kDescription, none)) continue;
    auto exercise = read_exercise(at->path().string());
    if (!exercise) return exercise.error();
    out.push_back(exercise.take());
  }
  if (out.empty())
    return Error{ErrorKind::environment, fmt::format("no exercises in {}", folder),
                 "build or install warpgrind again, or name the folder with --exercises"};
  std::sort(out.begin(), out.end(), [](const Exercise& a, const Exercise& b) {
    return a.order != b.order ? a.order < b.order : a.name < b.name;
  });
  return out;
}

Result<const Exercise*> find_exercise(const std::vector<Exercise>& exercises, const std::string& name) {
  std::vector<std::string> names;
  for (const Exercise& e : exercises) {
    if (e.name == name) return &e;
    names.push_back(e.name);
  }
  constexpr std::size_t kNear = 4;
  std::string advice = "`warpgrind exercise list` shows all";
  WG_ASSERT(names.size() == exercises.size());
  if (const auto near = nearest_names(name, names, kNear); !near.empty())
    advice = fmt::format("did you mean {}? {}", names[near.front()], advice);
  return Error{ErrorKind::bad_input, fmt::format("there is no exercise '{}'", name), advice};
}

}  // namespace warpgrind::exercises
