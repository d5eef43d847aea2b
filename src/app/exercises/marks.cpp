#include "exercises/marks.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/printable.h"

namespace warpgrind::exercises {

namespace {

using Outcome = Judged::Outcome;

constexpr int kOfEveryExercise = 3;  // it compiles, the results are right, nothing is found

std::string text_of(const Judged& j) {
  std::string out = j.seen;
  const std::string place = j.file.empty() ? "" : std::filesystem::path(j.file).filename().string();
  if (!place.empty()) out += fmt::format("\nat {}{}", place, j.line == 0 ? "" : fmt::format(":{}", j.line));
  if (j.outcome == Outcome::failed && !j.message.empty()) out += "\n" + j.message;
  if (j.outcome == Outcome::failed && !j.details.empty()) out += "\n\n" + j.details;
  return printable(out);
}

// The same text for all answers with this mistake. Wrong results alone differ with the numbers of each answer.
std::string help_of(const Judged& j) {
  if (!j.message.empty() || j.rule != "results") return j.message.empty() ? j.seen : j.message;
  if (const std::size_t known = j.seen.find("). "); known != std::string::npos) return j.seen.substr(known + 3);
  if (const std::size_t stopped = j.seen.find("it was stopped"); stopped != std::string::npos)
    return "A kernel or a call failed: " + j.seen.substr(stopped);
  return j.seen.find("never written") != std::string::npos ? "Results are never written." : "Results are wrong.";
}

void add_marks(const Graded& g, int most, ExerciseMarks& out) {
  std::string last;
  for (const Judged& j : g.verdict.lines) {
    const bool again = j.rule == "findings" && last == j.rule;  // several findings are one point
    last = j.rule;
    out.marks.push_back({fmt::format("{}: {}", g.exercise, j.asked), text_of(j), j.outcome == Outcome::passed ? 1 : 0,
                         again ? 0 : 1, j.asked, help_of(j), j.access, printable(j.details)});
    out.points += out.marks.back().points;
    out.most += out.marks.back().most;
  }
  if (out.most >= most) return;
  out.marks.push_back({fmt::format("{}: what could not be judged", g.exercise),
                       "judged once it compiles",
                       0,
                       most - out.most,
                       "",
                       "",
                       {},
                       ""});
  out.most = most;
}

ExerciseMarks marks_of_one(const Graded& g) {
  ExerciseMarks out{g.exercise, g.file, true, g.problem, {}, 0, 0};
  if (g.problem.empty()) {
    add_marks(g, g.most, out);
  } else {
    out.most = g.most;
    out.marks.push_back({fmt::format("{}: judged", std::filesystem::path(g.file).filename().string()),
                         printable(g.problem),
                         0,
                         g.most,
                         "it can be judged",
                         g.problem,
                         {},
                         ""});
  }
  return out;
}

}  // namespace

int most_points(const Exercise& exercise) {
  return kOfEveryExercise + static_cast<int>(exercise.rules.size());
}

std::vector<StudentMarks> marks_of(const std::vector<Graded>& graded, const std::vector<std::string>& students,
                                   const std::vector<const Exercise*>& assigned) {
  std::map<std::string, StudentMarks> all;
  for (const std::string& student : students) all[student].student = student;
  for (const Graded& g : graded) {
    all[g.student].student = g.student;
    all[g.student].seconds += g.seconds;
  }
  std::map<std::string, std::map<std::string, ExerciseMarks>> best;  // by student and exercise
  for (const Graded& g : graded) {
    ExerciseMarks marks = marks_of_one(g);
    auto& kept = best[g.student][g.exercise];
    if (!kept.handed_in || marks.points > kept.points) kept = std::move(marks);
  }
  std::vector<StudentMarks> out;
  for (auto& [name, student] : all) {
    auto& own = best[name];
    for (const Exercise* exercise : assigned) {
      if (const auto found = own.find(exercise->name); found != own.end()) {
        student.exercises.push_back(std::move(found->second));
        own.erase(found);
        continue;
      }
      ExerciseMarks missing{exercise->name, "", false, "", {}, 0, most_points(*exercise)};
      missing.marks.push_back({exercise->name + ": handed in",
                               fmt::format("There is no file {}: its name must be exactly this.", exercise->hand_in()),
                               0,
                               missing.most,
                               "it is handed in",
                               "",
                               {},
                               ""});
      student.exercises.push_back(std::move(missing));
    }
    for (auto& [exercise, marks] : own) student.exercises.push_back(std::move(marks));
    for (const ExerciseMarks& e : student.exercises) {
      student.points += e.points;
      student.most += e.most;
    }
    out.push_back(std::move(student));
  }
  return out;
}

}  // namespace warpgrind::exercises
