// Points of a class: what every format for graders and learning platforms is made of.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "exercises/exercise.h"
#include "exercises/verdict.h"
#include "results/detail.h"

namespace warpgrind::exercises {

// One point of a rubric. Points that could not be judged are there, too, so that sums do not depend on the outcome.
struct Mark {
  std::string name;  // "vector_add: the results are right"
  std::string text;  // what was seen, where, what helps
  int points = 0, most = 0;
  std::string asked, message;                    // of the rubric
  std::optional<results::AccessPattern> access;  // drawn on the page of a class
  std::string details;
};

struct ExerciseMarks {
  std::string exercise, file;
  bool handed_in = false;
  std::string problem;  // why there is no verdict
  std::vector<Mark> marks;
  int points = 0, most = 0;
  bool solved() const { return handed_in && problem.empty() && points == most; }
};

struct StudentMarks {
  std::string student;
  std::vector<ExerciseMarks> exercises;  // assigned ones in the order of the course, then files that belong to none
  int points = 0, most = 0;
  double seconds = 0;
};

int most_points(const Exercise& exercise);

// `students`: all of them, also without hand-ins. `assigned`: what everyone should hand in; a missing one has 0 points.
// Of several hand-ins of a student for one exercise the best counts.
std::vector<StudentMarks> marks_of(const std::vector<Graded>& graded, const std::vector<std::string>& students,
                                   const std::vector<const Exercise*>& assigned);

}  // namespace warpgrind::exercises
