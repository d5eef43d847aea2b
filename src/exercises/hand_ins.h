// Where answers lie: a learner's folder with its marker, a class's hand-ins.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "exercises/exercise.h"

namespace warpgrind::exercises {

// The file .warpgrind-exercise of a folder that `start` made.
struct Marker {
  std::string exercise;
  int hints = 0;  // shown so far
};
std::optional<Marker> read_marker(const std::string& folder);
Status write_marker(const std::string& folder, const Marker& marker);

struct HandIn {
  std::string student, exercise, file;
  std::string problem;  // why it cannot be judged
};

// target: a file, a folder with a marker, or empty: this folder. name: the exercise, where the file does not say it.
Result<HandIn> find_hand_in(const std::string& target, const std::string& name, const std::vector<Exercise>& exercises);

// FOLDER/STUDENT/NAME.cu, with folders between as they come; FOLDER/NAME.cu has no student. By student and exercise.
// Links are not followed: they would lead out of the hand-ins.
Result<std::vector<HandIn>> find_hand_ins(const std::string& folder, const std::vector<Exercise>& exercises);

}  // namespace warpgrind::exercises
