// Subcommand `warpgrind exercise`: list, start, text, check, hints, solution and test of exercises.
#include "cli/exercise_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "base/digest.h"
#include "base/file.h"
#include "base/installation.h"
#include "base/json.h"
#include "base/printable.h"
#include "base/process.h"
#include "cli/class_reports.h"
#include "cli/commands.h"
#include "exercises/hand_ins.h"
#include "exercises/judge.h"
#include "exercises/marks.h"
#include "exercises/verdict.h"
#include "gpu/gpu_model.h"
#include "report/advice_text.h"
#include "report/format.h"
#include "report/terminal.h"
#include "sandbox/sandbox.h"

namespace warpgrind::cli {

namespace {

namespace fs = std::filesystem;
using exercises::Exercise;
using exercises::find_exercise;
using Exercises = std::vector<Exercise>;

constexpr int kNotSolved = 1;
constexpr std::size_t kWidth = 80;

int refuse(const Error& error) {
  complain(error);
  return kUsageError;
}

std::string folder_of(const ExerciseCommand& command) {
  return command.folder.empty() ? exercises_folder() : command.folder;
}

exercises::JudgeSettings settings_of(const ExerciseCommand& command) {
  exercises::JudgeSettings out;
  out.warpgrind = own_executable();
  out.include = folder_of(command) + "/include";
  out.cache = command.no_cache ? "" : command.cache;
  out.gpu = command.gpu;
  out.colour = report::wants_colour(stdout);
  return out;
}

int list(const Exercises& all) {
  std::size_t width = 0;
  for (const Exercise& e : all) width = std::max(width, e.name.size());
  std::string topic, out;
  for (const Exercise& e : all) {
    if (e.topic != topic) out += fmt::format("{}{}\n", out.empty() ? "" : "\n", e.topic);
    topic = e.topic;
    out += fmt::format("  {}  {}  {}\n", report::left(e.name, static_cast<int>(width)),
                       report::left(std::string(static_cast<std::size_t>(std::clamp(e.level, 1, 5)), '*'), 5), e.title);
  }
  print_text(stdout, out);
  std::puts("\nin the order of the course's chapters (`warpgrind lab`); * is easy, ***** hard");
  std::puts("`warpgrind exercise start NAME` begins one");
  return 0;
}

Status write_new(const fs::path& path, const std::string& text) {
  std::error_code none;
  if (fs::exists(path, none))
    return Error{ErrorKind::bad_input, fmt::format("{} already exists", path.string()),
                 "choose another folder: warpgrind exercise start NAME FOLDER"};
  return write_whole(path.string(), text);
}

int start(const Exercise& e, const std::string& target) {
  const fs::path folder = target.empty() ? e.name : target;
  std::error_code problem;
  fs::create_directories(folder, problem);
  if (problem) {
    complain(fmt::format("cannot create {}: {}", folder.string(), problem.message()));
    return kUsageError;
  }
  const auto text = read_whole(e.file("text.md")), skeleton = read_whole(e.file("skeleton.cu"));
  if (!text || !skeleton) return complain(fmt::format("cannot read the files of {}", e.name)), kUsageError;
  if (Status s = write_new(folder / e.hand_in(), *skeleton); !s) return refuse(s.error());
  if (Status s = write_whole((folder / "text.md").string(), *text); !s) return refuse(s.error());
  if (Status s = exercises::write_marker(folder.string(), {e.name, 0}); !s) return refuse(s.error());
  print_text(stdout, *text);
  std::puts(fmt::format("\n----\nWrite your answer into {}, then: cd {} && warpgrind exercise check",
                        (folder / e.hand_in()).string(), folder.string())
                .c_str());
  return 0;
}

// The given name, or the exercise of the current folder.
std::string name_here(const ExerciseCommand& command) {
  if (!command.name.empty()) return command.name;
  const auto marker = exercises::read_marker(".");
  return marker ? marker->exercise : "";
}

Error which() {
  return {ErrorKind::bad_input, "the name of the exercise is missing",
          "give its name, or change to the folder that `warpgrind exercise start NAME` created"};
}

int print_file(const Exercise& e, const char* file) {
  const auto text = read_whole(e.file(file));
  if (!text) return complain(fmt::format("cannot read {}", e.file(file))), kUsageError;
  print_text(stdout, *text);
  return 0;
}

// Prints the next hint, or that of --step.
int hint(const ExerciseCommand& command, const Exercise& e) {
  const int most = static_cast<int>(e.hints.size());
  auto marker = exercises::read_marker(".");
  const bool here = marker && marker->exercise == e.name;
  if (most == 0) return std::puts("There is no hint for this one."), 0;
  int step = command.step > 0 ? command.step : here ? marker->hints + 1 : 1;
  if (step > most) {
    std::puts(fmt::format("There are {} hints; this is the last. `warpgrind exercise solution {}` shows the solution.",
                          most, e.name)
                  .c_str());
    step = most;
  }
  const std::string begin = fmt::format("Hint {} of {}: ", step, most);
  print_text(stdout, report::wrapped(begin + e.hints[static_cast<std::size_t>(step) - 1], kWidth, ""));
  if (here && step > marker->hints) {
    marker->hints = step;
    if (Status s = exercises::write_marker(".", *marker); !s) return refuse(s.error());
  }
  if (step < most && !here)
    std::puts(fmt::format("The next: warpgrind exercise hint {} --step {}", e.name, step + 1).c_str());
  return 0;
}

exercises::Graded grade(exercises::Judge& judge, const Exercises& all, const exercises::HandIn& hand_in) {
  exercises::Graded out{hand_in.student, hand_in.exercise, hand_in.file, {}, hand_in.problem, 0};
  if (!out.problem.empty()) return out;
  const auto e = find_exercise(all, hand_in.exercise);
  if (!e) return out.problem = e.error().message, out;
  out.most = exercises::most_points(**e);
  const auto begin = std::chrono::steady_clock::now();
  auto verdict = judge.judge(**e, hand_in.file);
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (verdict)
    out.verdict = verdict.take();
  else
    out.problem = verdict.error().message + (verdict.error().detail.empty() ? "" : ": " + verdict.error().detail);
  return out;
}

int write_reports(const ExerciseCommand& command, const std::vector<exercises::Graded>& graded) {
  if (!command.json_path.empty())
    if (Status s = write_whole(command.json_path, exercises::verdict_json(graded)); !s) return refuse(s.error());
  if (!command.junit_path.empty())
    if (Status s = write_whole(command.junit_path, exercises::verdict_junit(graded)); !s) return refuse(s.error());
  const bool solved = std::all_of(graded.begin(), graded.end(), [](const auto& g) { return g.passed(); });
  const bool broken = std::any_of(graded.begin(), graded.end(), [](const auto& g) { return !g.problem.empty(); });
  return broken && !command.all ? kUsageError : solved ? 0 : kNotSolved;
}

int check_class(const ExerciseCommand& command, const Exercises& all) {
  exercises::JudgeSettings settings = settings_of(command);
  settings.colour = false;  // the details are for files
  settings.boxed = !command.no_sandbox;
  if (settings.boxed && !sandbox::why_none().empty()) {
    complain("--all runs other people's programs in a sandbox, which is not available: " + sandbox::why_none(),
             "--no-sandbox runs them without a sandbox; use it only for programs that you have read");
    return kUsageError;
  }
  for (const std::string& name : command.assigned)
    if (auto e = find_exercise(all, name); !e) return refuse(e.error());
  auto hand_ins = exercises::find_hand_ins(command.target.empty() ? "." : command.target, all, command.student);
  if (!hand_ins) return refuse(hand_ins.error());
  exercises::Judge judge(settings);
  std::vector<exercises::Graded> graded;
  std::map<std::string, exercises::Graded> judged;  // by exercise and text
  for (const exercises::HandIn& hand_in : *hand_ins) {
    // The same text gets the same verdict: many hand in the skeleton as it was.
    const std::string key =
        digest(hand_in.exercise + "\n" + hand_in.problem + "\n" + read_whole(hand_in.file).value_or(""));
    const auto known = hand_in.problem.empty() ? judged.find(key) : judged.end();
    exercises::Graded one = known == judged.end() ? grade(judge, all, hand_in) : known->second;
    if (interrupted()) break;
    one.student = hand_in.student;
    one.file = hand_in.file;
    if (known != judged.end()) one.seconds = 0;
    judged.emplace(key, one);
    graded.push_back(std::move(one));
  }
  if (command.json_path != "-" && command.junit_path != "-")
    print_text(stdout, exercises::class_text(graded, report::wants_colour(stdout)));
  if (Status s = write_class_reports(command, all, graded); !s) return refuse(s.error());
  return write_reports(command, graded);
}

int check(const ExerciseCommand& command, const Exercises& all) {
  if (command.all) return check_class(command, all);
  auto hand_in = exercises::find_hand_in(command.target, command.name, all);
  if (!hand_in) return refuse(hand_in.error());
  exercises::Judge judge(settings_of(command));
  const exercises::Graded graded = grade(judge, all, *hand_in);
  if (!graded.problem.empty()) complain(graded.problem);
  if (graded.problem.empty() && command.json_path != "-" && command.junit_path != "-")
    print_text(stdout, exercises::verdict_text(graded.verdict, report::wants_colour(stdout)));
  return write_reports(command, {graded});
}

// Test for authors of an exercise: the skeleton fails, the solution passes, and the wrong answers get their messages.
int test(const ExerciseCommand& command, const Exercise& e) {
  exercises::JudgeSettings settings = settings_of(command);
  settings.colour = false;
  exercises::Judge judge(settings);
  bool good = true;
  const auto expect = [&](const std::string& file, bool pass, const std::string& message) -> Status {
    auto verdict = judge.judge(e, e.file(file));
    if (!verdict) return verdict.error();
    const std::string text = exercises::verdict_text(*verdict, false);
    std::string flat, squeezed;  // messages are wrapped
    for (const char c : text) flat += c == '\n' ? ' ' : c;
    std::unique_copy(flat.begin(), flat.end(), std::back_inserter(squeezed),
                     [](char a, char b) { return a == ' ' && b == ' '; });
    const bool compiles = verdict->lines[0].outcome == exercises::Judged::Outcome::passed;
    const bool as_expected = compiles && verdict->passed() == pass && squeezed.find(message) != std::string::npos;
    good &= as_expected;
    print_text(stdout, fmt::format("{}  {}/{} {}\n", as_expected ? "pass" : "FAIL", e.name, file,
                                   pass              ? "is solved"
                                   : message.empty() ? "is not solved"
                                                     : "gets the message: " + message));
    if (!as_expected) print_text(stdout, text);
    return Ok{};
  };
  if (Status s = expect("solution.cu", true, ""); !s) return refuse(s.error());
  if (Status s = expect("skeleton.cu", false, ""); !s) return refuse(s.error());
  for (const exercises::WrongAnswer& w : e.wrong)
    if (Status s = expect(w.file, false, w.message); !s) return refuse(s.error());
  return good ? 0 : kNotSolved;
}

}  // namespace

int exercise(const ExerciseCommand& command) {
  using Action = ExerciseCommand::Action;
  if (!command.gpu.empty())
    if (auto model = find_gpu_model(command.gpu); !model) return refuse(model.error());
  for (const std::string* path : {&command.json_path, &command.junit_path, &command.csv_path, &command.page_path})
    if (Status s = check_writable(*path); !s) return refuse(s.error());
  auto all = exercises::find_exercises(folder_of(command));
  if (!all) return refuse(all.error());
  catch_interrupts();
  if (command.action == Action::list) return list(*all);
  // Reports missing parts first, so that they do not count as a fault of the answer.
  if (command.action == Action::check || command.action == Action::test)
    if (Status s = check_parts_to_compile_and_run(); !s) return refuse(s.error());
  if (command.action == Action::check) return check(command, *all);
  const std::string name = name_here(command);
  if (name.empty()) return refuse(which());
  auto e = find_exercise(*all, name);
  if (!e) return refuse(e.error());
  switch (command.action) {
    case Action::start:
      return start(**e, command.target);
    case Action::hint:
      return hint(command, **e);
    case Action::text:
      return print_file(**e, "text.md");
    case Action::solution:
      return print_file(**e, "solution.cu");
    default:
      return test(command, **e);
  }
}

}  // namespace warpgrind::cli
