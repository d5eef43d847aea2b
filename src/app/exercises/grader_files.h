// Marks in the formats of graders and learning platforms.
#pragma once

#include <string>
#include <vector>

#include "exercises/marks.h"

namespace warpgrind::exercises {

// results.json of Gradescope (gradescope-autograders.readthedocs.io, "Autograder Output Format"), for one student.
std::string gradescope_json(const StudentMarks& student);

// What Classroom 50's runner knows of a submission, as its environment variables say it.
struct Submission {
  std::string classroom, assignment, assignment_type, submission, commit, release, review;
  std::string time;  // "2026-11-29T12:00:00Z"
};
// result.json of Classroom 50 (schema classroom50/result/v1 of foundation50/classroom50), for one student.
std::string classroom50_json(const StudentMarks& student, const Submission& submission);

// A row for each student and a column for each exercise, in the order of `exercises`: points, or nothing if it was not
// handed in. Columns depend on `exercises` alone, so that tables of different days fit together.
std::string class_csv(const std::vector<StudentMarks>& students, const std::vector<const Exercise*>& exercises);

}  // namespace warpgrind::exercises
