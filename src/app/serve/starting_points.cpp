// Starting points of the playground, from our own programs, the exercises and the lab's sources.
#include "serve/starting_points.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/installation.h"
#include "base/json.h"

namespace warpgrind::serve {

namespace {

namespace fs = std::filesystem;

struct Short {
  const char* name;
  const char* text;
};
constexpr Short kShort[] = {
#include "serve/short_programs.inc"
};

// The first line of a comment or of a text, without its comment marks.
std::string first_line(const std::string& text) {
  std::string line = text.substr(0, text.find('\n'));
  line.erase(0, line.find_first_not_of("/*# "));
  if (line.size() > 90) line = line.substr(0, line.rfind(' ', 87)) + " ...";
  return line;
}

std::vector<std::string> folders_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code problem;
  if (folder.empty()) return names;
  for (fs::directory_iterator at(folder, problem), end; !problem && at != end; at.increment(problem))
    if (at->is_directory(problem)) names.push_back(at->path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

// An object; empty if the file cannot be read.
nlohmann::json object_in(const fs::path& path) {
  const nlohmann::json j = nlohmann::json::parse(read_whole(path.string()).value_or(""), nullptr, false);
  return j.is_object() ? j : nlohmann::json::object();
}

// Sorts by place, and by name where places are equal: the names are sorted already.
void sort_by_place(std::vector<std::string>& names, const std::function<std::int64_t(const std::string&)>& place) {
  std::map<std::string, std::int64_t> places;
  for (const std::string& name : names) places[name] = place(name);
  std::stable_sort(names.begin(), names.end(),
                   [&](const std::string& a, const std::string& b) { return places[a] < places[b]; });
}

// Exercises in the order of `warpgrind exercise list`.
std::vector<std::string> exercise_folders() {
  const fs::path root = exercises_folder();
  std::vector<std::string> names = folders_in(root);
  sort_by_place(names, [&](const std::string& name) {
    return warpgrind::json::get<std::int64_t>(object_in(root / name / "exercise.json"), "order");
  });
  return names;
}

// Topics in the order of the course's chapters.
std::vector<std::string> topic_folders(const std::string& lab) {
  std::vector<std::string> names = folders_in(lab);
  const nlohmann::json course = object_in(fs::path(lab_folder()) / "course" / "course.json");
  const nlohmann::json order = course.value("order", nlohmann::json::array());
  sort_by_place(names, [&](const std::string& name) {
    return static_cast<std::int64_t>(std::find(order.begin(), order.end(), name) - order.begin());
  });
  return names;
}

constexpr const char* kSkeleton = "skeleton.cu";
constexpr const char* kText = "text.md";

// True for a program of the harness whose kernels are mostly in one file and that needs no other library.
bool is_one_file(const std::string& text) {
  int others = 0;
  for (std::size_t at = 0; (at = text.find("#include \"", at)) != std::string::npos; ++at)
    if (text.compare(at + 10, 8, "harness/") != 0) ++others;
  const auto has = [&](const char* what) { return text.find(what) != std::string::npos; };
  return has("\"harness/harness.h\"") && others <= 3 && !has("<mpi.h>") && !has("<omp.h>");
}

}  // namespace

// The folder in an installation, or in the source tree around a build.
std::string lab_sources() {
  const fs::path root = fs::path(own_executable()).parent_path().parent_path();
  std::error_code ignored;
  for (const fs::path& folder : {root / "lib" / "warpgrind" / "lab" / "source", root.parent_path() / "lab"})
    if (fs::exists(folder / "harness" / "harness.h", ignored)) return folder.string();
  return "";
}

std::vector<StartingPoint> starting_points() {
  std::vector<StartingPoint> points;
  for (const Short& one : kShort)
    points.push_back({std::string("short/") + one.name, "First steps", first_line(one.text)});
  const fs::path exercises = exercises_folder();
  for (const std::string& name : exercise_folders())
    if (is_exercise(name))
      points.push_back({"exercise/" + name, "Exercises",
                        name + ": " + first_line(read_whole((exercises / name / kText).string()).value_or(name))});
  const std::string lab = lab_sources();
  for (const std::string& topic : topic_folders(lab)) {
    const auto text = read_whole((fs::path(lab) / topic / (topic + ".cu")).string());
    if (text && is_one_file(*text)) points.push_back({"lab/" + topic, "Lab", topic + ": " + first_line(*text)});
  }
  return points;
}

bool is_exercise(const std::string& name) {
  const bool plain =
      !name.empty() && name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_-") == std::string::npos;
  std::error_code ignored;
  return plain && fs::exists(fs::path(exercises_folder()) / name / kSkeleton, ignored);
}

std::optional<StartingSource> starting_source(const std::string& name) {
  for (const Short& one : kShort)
    if (name == std::string("short/") + one.name) return StartingSource{one.text, ""};
  // Only names that were listed become paths.
  const auto points = starting_points();
  if (std::none_of(points.begin(), points.end(), [&](const StartingPoint& p) { return p.name == name; }))
    return std::nullopt;
  const std::string last = name.substr(name.find('/') + 1);
  const fs::path exercise = fs::path(exercises_folder()) / last;
  if (name.starts_with("exercise/"))
    return StartingSource{read_whole((exercise / kSkeleton).string()).value_or(""),
                          read_whole((exercise / kText).string()).value_or("")};
  return StartingSource{read_whole((fs::path(lab_sources()) / last / (last + ".cu")).string()).value_or(""), ""};
}

}  // namespace warpgrind::serve
