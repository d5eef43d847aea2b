#include "exercises/grader_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/words.h"

namespace warpgrind::exercises {

namespace {

using OrderedJson = nlohmann::ordered_json;

// Gradescope and Classroom 50 refuse files above some 10 MB; 64 KiB of text are more than anyone reads.
constexpr std::size_t kMostText = 64 << 10;

std::string dumped_json(const OrderedJson& j) {
  return j.dump(1, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

std::string shortened(const std::string& text) {
  return text.size() <= kMostText ? text : text.substr(0, kMostText) + "\n... (cut)";
}

// A table's program takes cells that begin with these characters for formulas.
std::string csv_cell(std::string text) {
  if (!text.empty() && std::string("=+-@\t\r").find(text[0]) != std::string::npos && text != "-") text = "'" + text;
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

}  // namespace

std::string gradescope_json(const StudentMarks& student) {
  OrderedJson tests = OrderedJson::array();
  std::size_t solved = 0;
  for (const ExerciseMarks& e : student.exercises) {
    solved += e.solved();
    for (const Mark& mark : e.marks) {
      if (mark.most == 0 && mark.points == 0 && mark.text.empty()) continue;
      tests.push_back({{"score", mark.points},
                       {"max_score", mark.most},
                       {"status", mark.points == mark.most && mark.most > 0 ? "passed" : "failed"},
                       {"name", mark.name},
                       {"output", shortened(mark.text)},
                       {"output_format", "text"},
                       {"visibility", "visible"}});
    }
  }
  const OrderedJson out = {
      {"score", student.points},
      {"execution_time", student.seconds},
      {"output",
       student.exercises.empty()
           ? std::string("No file of an exercise was found. An answer is a file NAME.cu, named after its exercise.")
           : fmt::format("{} of {} solved", solved, counted(student.exercises.size(), "exercise"))},
      {"output_format", "text"},
      {"visibility", "visible"},
      {"stdout_visibility", "hidden"},
      {"tests", std::move(tests)}};
  return dumped_json(out);
}

std::string classroom50_json(const StudentMarks& student, const Submission& submission) {
  OrderedJson tests = OrderedJson::array();
  for (const ExerciseMarks& e : student.exercises)
    for (const Mark& mark : e.marks)
      tests.push_back({{"test-name", mark.name},
                       {"passed", mark.points == mark.most && mark.most > 0},
                       {"score", mark.points},
                       {"max-score", mark.most},
                       {"output", shortened(mark.text)}});
  const OrderedJson out = {{"schema", "classroom50/result/v1"},
                           {"classroom", submission.classroom},
                           {"assignment", submission.assignment},
                           {"assignment_type", submission.assignment_type},
                           {"owner", student.student},
                           {"submission", submission.submission},
                           {"commit", submission.commit},
                           {"release", submission.release},
                           {"review", submission.review},
                           {"datetime", submission.time},
                           {"score", student.points},
                           {"max-score", student.most},
                           {"tests", std::move(tests)}};
  return dumped_json(out);
}

std::string class_csv(const std::vector<StudentMarks>& students, const std::vector<const Exercise*>& exercises) {
  std::string out = "student,points,most";
  for (const Exercise* exercise : exercises) out += "," + csv_cell(exercise->name);
  out += "\n";
  for (const StudentMarks& student : students) {
    int points = 0, most = 0;
    std::string row;
    for (const Exercise* exercise : exercises) {
      const auto found = std::find_if(student.exercises.begin(), student.exercises.end(),
                                      [&](const ExerciseMarks& e) { return e.exercise == exercise->name; });
      row += ",";
      if (found == student.exercises.end()) continue;
      if (found->handed_in) row += std::to_string(found->points);
      points += found->points;
      most += found->most;
    }
    out += fmt::format("{},{},{}{}\n", csv_cell(student.student), points, most, row);
  }
  return out;
}

}  // namespace warpgrind::exercises
