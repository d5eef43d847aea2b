#include "cli/class_reports.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "base/file.h"
#include "exercises/class_page.h"
#include "exercises/grader_files.h"
#include "exercises/hand_ins.h"
#include "exercises/marks.h"

namespace warpgrind::cli {

namespace {

namespace fs = std::filesystem;
using exercises::Exercise;

// Of a run of Classroom 50; its runner sets the variables. Elsewhere: words that say so.
exercises::Submission submission() {
  const auto variable = [](const char* name, const char* otherwise) {
    const char* value = std::getenv(name);
    return std::string(value && *value ? value : otherwise);
  };
  exercises::Submission out;
  out.classroom = variable("CLASSROOM", "local");
  out.assignment = variable("ASSIGNMENT", "local");
  out.assignment_type = variable("MODE", "individual") == "group" ? "group" : "individual";
  out.submission = variable("SUBMISSION_TAG", "submit/local");
  out.commit = variable("COMMIT_URL", "local");
  out.release = variable("RELEASE_URL", "local");
  out.review = variable("REVIEW_URL", out.commit.c_str());
  out.time = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                         fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
  return out;
}

// FOLDER/STUDENT/NAME; a student without a folder of his own: FOLDER/NAME.
Status write_for_student(const std::string& folder, const std::string& student, const char* name,
                         const std::string& text) {
  const fs::path path = student == "-" ? fs::path(folder) : fs::path(folder) / student;
  std::error_code problem;
  fs::create_directories(path, problem);
  if (problem)
    return Error{ErrorKind::environment, fmt::format("cannot create {}: {}", path.string(), problem.message()), ""};
  return write_whole((path / name).string(), text);
}

}  // namespace

Status write_class_reports(const ExerciseCommand& command, const std::vector<Exercise>& all,
                           const std::vector<exercises::Graded>& graded) {
  std::vector<const Exercise*> columns, assigned;
  for (const Exercise& e : all) {
    const bool is_assigned =
        std::find(command.assigned.begin(), command.assigned.end(), e.name) != command.assigned.end();
    if (is_assigned) assigned.push_back(&e);
    if (is_assigned || command.assigned.empty()) columns.push_back(&e);
  }
  const std::vector<std::string> students =
      command.student.empty() ? exercises::find_students(command.target.empty() ? "." : command.target)
                              : std::vector<std::string>{command.student};
  const auto marks = exercises::marks_of(graded, students, assigned);
  if (!command.csv_path.empty())
    if (Status s = write_whole(command.csv_path, exercises::class_csv(marks, columns)); !s) return s;
  if (!command.page_path.empty()) {
    std::vector<const Exercise*> handed_in;  // a column without any hand-in says nothing
    for (const Exercise* e : columns)
      if (!assigned.empty() ||
          std::any_of(graded.begin(), graded.end(), [&](const auto& g) { return g.exercise == e->name; }))
        handed_in.push_back(e);
    if (Status s = write_whole(command.page_path, exercises::class_page(marks, handed_in)); !s) return s;
  }
  for (const exercises::StudentMarks& student : marks) {
    if (!command.gradescope_folder.empty())
      if (Status s = write_for_student(command.gradescope_folder, student.student, "results.json",
                                       exercises::gradescope_json(student));
          !s)
        return s;
    if (!command.classroom50_folder.empty())
      if (Status s = write_for_student(command.classroom50_folder, student.student, "result.json",
                                       exercises::classroom50_json(student, submission()));
          !s)
        return s;
  }
  return Ok{};
}

}  // namespace warpgrind::cli
