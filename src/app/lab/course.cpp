// Reader of the course's files, with the list of each topic's exercises.
#include "lab/course.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/file.h"
#include "base/json.h"

namespace warpgrind::lab {
namespace {

namespace fs = std::filesystem;
using OrderedJson = nlohmann::ordered_json;

Result<OrderedJson> read_format(const fs::path& path, const char* format) {
  const auto text = read_whole(path.string());
  if (!text)
    return Error{ErrorKind::environment, fmt::format("cannot read {}", path.string()),
                 "it is part of the lab: build warpgrind again (make build)"};
  OrderedJson j = OrderedJson::parse(*text, nullptr, false);
  if (!j.is_object() || json::get<std::string>(j, "format") != format)
    return Error{ErrorKind::bad_input, fmt::format("{} is not JSON of the format \"{}\"", path.string(), format),
                 "see docs/lab-format.md for its format"};
  return j;
}

// "[[term|words]]" -> "words"; code marks are removed.
std::string plain(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 2, "[[") == 0) {
      const std::size_t end = text.find("]]", i);
      if (end == std::string::npos) return out + text.substr(i);
      const std::string term = text.substr(i + 2, end - i - 2);
      out += term.substr(term.find('|') == std::string::npos ? 0 : term.find('|') + 1);
      i = end + 1;
    } else if (text[i] != '`') {
      out += text[i];
    }
  }
  return out;
}

ChapterWords words_of(const OrderedJson& chapter) {
  ChapterWords words{plain(json::get<std::string>(chapter, "question")), ""};
  if (const auto it = chapter.find("take_away"); it != chapter.end() && it->is_array() && !it->empty())
    if (const OrderedJson& first = it->front(); first.is_string()) words.lesson = plain(first.get<std::string>());
  return words;
}

StepsRun steps_of(const OrderedJson& recorded) {
  StepsRun out{json::get<std::string>(recorded, "sizes"),
               json::get<std::string>(recorded, "type"),
               {},
               json::get<bool>(recorded, "slow")};
  if (const auto it = recorded.find("rungs"); it != recorded.end() && it->is_array())
    for (const OrderedJson& rung : *it)
      if (rung.is_string()) out.rungs.push_back(rung.get<std::string>());
  return out;
}

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> out;
  std::error_code problem;
  for (fs::directory_iterator at(folder, problem), end; !problem && at != end; at.increment(problem))
    if (at->path().extension() == ".json") out.push_back(at->path());
  std::sort(out.begin(), out.end());
  return out;
}

// The exercises of each topic in their order, for the end of its chapter. An exercise that cannot be read is left out;
// `warpgrind exercise list` reports the error.
std::map<std::string, OrderedJson> exercises_by_topic(const std::string& folder) {
  std::vector<std::pair<std::int64_t, OrderedJson>> all;
  std::error_code problem;
  for (fs::directory_iterator at(folder, problem), end; !problem && at != end; at.increment(problem)) {
    const auto text = read_whole((at->path() / "exercise.json").string());
    const OrderedJson j = text ? OrderedJson::parse(*text, nullptr, false) : OrderedJson();
    if (!j.is_object()) continue;
    all.emplace_back(json::get<std::int64_t>(j, "order"), OrderedJson{{"name", at->path().filename().string()},
                                                                      {"title", json::get<std::string>(j, "title")},
                                                                      {"level", json::get<std::int64_t>(j, "level")},
                                                                      {"topic", json::get<std::string>(j, "topic")}});
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::map<std::string, OrderedJson> out;
  for (auto& [order, exercise] : all) out[exercise["topic"].get<std::string>()].push_back(std::move(exercise));
  return out;
}

}  // namespace

Result<Course> read_course(const std::string& folder, const std::string& exercises_folder) {
  const fs::path root = fs::path(folder) / "course";
  std::error_code ignored;
  Course course;
  if (!fs::is_directory(root, ignored)) return course;
  auto whole = read_format(root / "course.json", "warpgrind-course 1");
  if (!whole) return whole.error();
  auto glossary = read_format(root / "glossary.json", "warpgrind-glossary 1");
  if (!glossary) return glossary.error();
  OrderedJson chapters = OrderedJson::object();
  std::map<std::string, OrderedJson> exercises = exercises_by_topic(exercises_folder);
  for (const fs::path& path : files_in(root / "chapters")) {
    auto chapter = read_format(path, "warpgrind-chapter 1");
    if (!chapter) return chapter.error();
    const std::string topic = json::get<std::string>(*chapter, "topic");
    if (topic.empty()) return Error{ErrorKind::bad_input, fmt::format("{} names no \"topic\"", path.string()), ""};
    course.chapters[topic] = words_of(*chapter);
    if (const auto it = chapter->find("recorded"); it != chapter->end() && it->is_object())
      course.steps[topic] = steps_of(*it);
    chapters[topic] = chapter.take();
    if (const auto of_it = exercises.find(topic); of_it != exercises.end())
      chapters[topic]["exercises"] = std::move(of_it->second);
  }
  if (const auto it = whole->find("order"); it != whole->end() && it->is_array())
    for (const OrderedJson& topic : *it)
      if (topic.is_string()) course.order.push_back(topic.get<std::string>());
  (*whole)["glossary"] = (*glossary)["terms"];
  (*whole)["chapters"] = std::move(chapters);
  course.json = whole->dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
  return course;
}

}  // namespace warpgrind::lab
