// Search for hand-ins, and the marker file of a learner's folder.
#include "exercises/hand_ins.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <tuple>

#include "base/assert.h"
#include "base/file.h"
#include "base/json.h"

namespace warpgrind::exercises {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* kMarker = ".warpgrind-exercise";

bool is_known(const std::vector<Exercise>& exercises, const std::string& name) {
  return std::any_of(exercises.begin(), exercises.end(), [&](const Exercise& e) { return e.name == name; });
}

}  // namespace

std::optional<Marker> read_marker(const std::string& folder) {
  const auto text = read_whole((fs::path(folder.empty() ? "." : folder) / kMarker).string());
  if (!text) return std::nullopt;
  const Json j = Json::parse(*text, nullptr, false);
  if (!j.is_object()) return std::nullopt;
  Marker out{json::get<std::string>(j, "exercise"), std::max(0, json::get<int>(j, "hints"))};
  if (out.exercise.empty()) return std::nullopt;
  return out;
}

Status write_marker(const std::string& folder, const Marker& marker) {
  WG_ASSERT(!marker.exercise.empty() && marker.hints >= 0);  // else read_marker() refuses it
  const Json j = {{"exercise", marker.exercise}, {"hints", marker.hints}};
  return write_whole((fs::path(folder) / kMarker).string(), j.dump() + "\n");
}

Result<HandIn> find_hand_in(const std::string& target, const std::string& name,
                            const std::vector<Exercise>& exercises) {
  std::error_code none;
  fs::path file = target;
  if (target.empty() || fs::is_directory(file, none)) {
    const auto marker = read_marker(target);
    const std::string exercise = !name.empty() ? name : marker ? marker->exercise : "";
    if (exercise.empty())
      return Error{
          ErrorKind::bad_input,
          fmt::format("{} is not a folder that `warpgrind exercise start` created", target.empty() ? "this" : target),
          "give a file: warpgrind exercise check NAME.cu"};
    file /= exercise + ".cu";
    if (!fs::exists(file, none))
      return Error{ErrorKind::bad_input, fmt::format("{} does not exist", file.string()),
                   fmt::format("`warpgrind exercise start {}` creates it", exercise)};
    return HandIn{"", exercise, file.string(), ""};
  }
  if (!fs::exists(file, none)) {
    if (is_known(exercises, target))
      return Error{ErrorKind::bad_input, fmt::format("'{}' is the name of an exercise, not a file", target),
                   fmt::format("give your answer's file: warpgrind exercise check {0}/{0}.cu", target)};
    return Error{ErrorKind::bad_input, fmt::format("{}: no such file", target), ""};
  }
  if (!name.empty()) return HandIn{"", name, target, ""};
  if (is_known(exercises, file.stem().string())) return HandIn{"", file.stem().string(), target, ""};
  if (const auto marker = read_marker(file.parent_path().string())) return HandIn{"", marker->exercise, target, ""};
  return Error{ErrorKind::bad_input, fmt::format("the exercise that {} answers is not known", target),
               "name the file NAME.cu, or use --exercise NAME"};
}

// The exercise of a file: its name, or that of the folder's marker.
std::string exercise_of(const fs::path& path, const std::vector<Exercise>& exercises) {
  std::string name = path.stem().string();
  if (is_known(exercises, name)) return name;
  const auto marker = read_marker(path.parent_path().string());
  return marker && is_known(exercises, marker->exercise) ? marker->exercise : name;
}

std::vector<std::string> find_students(const std::string& folder) {
  std::vector<std::string> out;
  std::error_code problem, none;
  for (fs::directory_iterator at(folder, problem), end; !problem && at != end; at.increment(problem))
    if (fs::symlink_status(at->path(), none).type() == fs::file_type::directory &&
        !at->path().filename().string().starts_with("."))
      out.push_back(at->path().filename().string());
  std::sort(out.begin(), out.end());
  return out;
}

Result<std::vector<HandIn>> find_hand_ins(const std::string& folder, const std::vector<Exercise>& exercises,
                                          const std::string& student) {
  std::vector<HandIn> out;
  std::error_code problem, none;
  if (!fs::is_directory(folder, none))
    return Error{ErrorKind::bad_input, fmt::format("{} is not a folder", folder),
                 "--all judges FOLDER/STUDENT/NAME.cu"};
  constexpr auto kPassOver = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator at(folder, kPassOver, problem), end; !problem && at != end;
       at.increment(problem)) {
    const fs::path& path = at->path();
    if (path.extension() != ".cu") continue;
    const fs::path within = path.lexically_relative(folder);
    HandIn found;
    found.student = !student.empty()                                  ? student
                    : std::distance(within.begin(), within.end()) > 1 ? within.begin()->string()
                                                                      : "-";
    found.exercise = exercise_of(path, exercises);
    found.file = path.string();
    const fs::file_status status = fs::symlink_status(path, none);
    if (status.type() != fs::file_type::regular)
      found.problem = "it is not a regular file (links are not followed)";
    else if (!is_known(exercises, found.exercise)) {
      const Error unknown = find_exercise(exercises, found.exercise).error();
      found.problem =
          fmt::format("{}: {}. The file of an exercise must be named NAME.cu", unknown.message, unknown.detail);
    }
    out.push_back(std::move(found));
  }
  if (problem) return Error{ErrorKind::environment, fmt::format("cannot read {}: {}", folder, problem.message()), ""};
  if (out.empty() && student.empty() && find_students(folder).empty())
    return Error{ErrorKind::bad_input, fmt::format("no .cu file below {}", folder),
                 "--all judges FOLDER/STUDENT/NAME.cu"};
  std::sort(out.begin(), out.end(), [](const HandIn& a, const HandIn& b) {
    return std::tie(a.student, a.exercise, a.file) < std::tie(b.student, b.exercise, b.file);
  });
  return out;
}

}  // namespace warpgrind::exercises
