// Locations of hand-ins: a learner's folder with its marker, and the hand-ins of a class.
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
  int hints = 0;  // number shown so far
};
std::optional<Marker> read_marker(const std::string& folder);
Status write_marker(const std::string& folder, const Marker& marker);

struct HandIn {
  std::string student, exercise, file;
  std::string problem;  // why it cannot be judged
};

// `target`: a file, a folder with a marker, or empty for the current folder. `name`: the exercise, if the file name
// does not give it.
Result<HandIn> find_hand_in(const std::string& target, const std::string& name, const std::vector<Exercise>& exercises);

// Finds FOLDER/STUDENT/NAME.cu, with any folders between them; FOLDER/NAME.cu has no student. Sorted by student and
// exercise. Links are not followed: they could lead out of the hand-ins.
// `student`: all hand-ins are of this student, whatever their folders; empty: folders name students.
Result<std::vector<HandIn>> find_hand_ins(const std::string& folder, const std::vector<Exercise>& exercises,
                                          const std::string& student = "");

// The names of all students: the folders in `folder`, also without hand-ins.
std::vector<std::string> find_students(const std::string& folder);

}  // namespace warpgrind::exercises
