// Judgement of a hand-in: compilation, results, findings and rules.
#include "exercises/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "base/file.h"
#include "base/words.h"
#include "exercises/evidence.h"
#include "exercises/records.h"
#include "exercises/rules.h"
#include "exercises/test_program.h"
#include "exercises/trial.h"
#include "report/check_text.h"
#include "report/format.h"

namespace warpgrind::exercises {

namespace {

using Outcome = Judged::Outcome;

// The first lines of a program's output.
std::string beginning(const std::string& text, std::size_t most) {
  std::stringstream in(text);
  std::string out, line;
  std::size_t lines = 0;
  for (; std::getline(in, line); ++lines)
    if (lines < most) out += line + "\n";
  if (lines > most) out += fmt::format("... and {} more lines\n", lines - most);
  return out;
}

constexpr std::size_t kCompilerLines = 24, kOutputLines = 12;

// The compiler's messages without "In file included from answer.cu": that file is our own.
std::string compiler_messages(const std::string& output) {
  std::stringstream in(output);
  std::string out, line;
  while (std::getline(in, line))
    if (!line.starts_with("In file included from answer.cu")) out += line + "\n";
  return beginning(out, kCompilerLines);
}

Judged judge_compilation(const ChildEnd& end) {
  Judged out{.rule = "compiles", .asked = "it compiles"};
  out.outcome = end.stopped.empty() && end.exit_code == 0 ? Outcome::passed : Outcome::failed;
  if (out.outcome == Outcome::passed) return out;
  out.seen = end.stopped.empty() ? "it does not compile" : "the compiler was " + end.stopped;
  out.details = compiler_messages(end.output);
  if (out.details.find("prototypes.h") != std::string::npos)
    out.message = "The test (driver.cu) calls your code: keep the names and parameters of the skeleton.";
  return out;
}

// "right: n = 1, n = 256"
std::string names_of(const std::vector<Case>& cases, bool right) {
  std::string out;
  for (const Case& c : cases)
    if (c.right == right) out += (out.empty() ? "" : "; ") + c.name;
  return out.empty() ? "" : (right ? "right: " : "wrong: ") + out + "\n";
}

Judged judge_results(const Run& run, const Cases& found) {
  Judged out{.rule = "results", .asked = "the results are right"};
  std::size_t right = 0;
  const Case* wrong = nullptr;
  for (const Case& c : found.cases) {
    right += c.right;
    if (!c.right && !wrong) wrong = &c;
  }
  out.outcome = !wrong && found.finished && !found.cases.empty() ? Outcome::passed : Outcome::failed;
  if (out.outcome == Outcome::passed) {
    out.seen = fmt::format("{} of {} cases", right, found.cases.size());
  } else if (wrong) {
    out.seen = fmt::format("{}: {}", wrong->name, wrong->seen);
    if (found.cases.size() > 1) out.details = names_of(found.cases, true) + names_of(found.cases, false);
  } else {
    out.seen = !run.end.stopped.empty() ? "the program was " + run.end.stopped
               : run.end.exit_code > 128
                   ? fmt::format("signal {} ended the program early", run.end.exit_code - 128)
                   : fmt::format("the program ended before its test did (exit code {})", run.end.exit_code);
    out.message =
        "Possible causes: an endless loop, a barrier that not all threads reach, or a crash of host code. Its last "
        "output is below.";
    out.details = beginning(run.end.output, kOutputLines);
  }
  return out;
}

// "oob-*" means all kinds that begin with "oob-".
bool is_kind(const std::string& pattern, const std::string& kind) {
  return pattern.ends_with('*') ? kind.starts_with(pattern.substr(0, pattern.size() - 1)) : pattern == kind;
}

void judge_findings(const Exercise& exercise, const Run& ran, bool colour, Verdict& verdict) {
  Judged good{.rule = "findings", .asked = "`warpgrind check` finds nothing"};
  if (ran.profiles.empty()) {
    good.seen = "the run produced no findings file";
    verdict.lines.push_back(good);
    return;
  }
  constexpr std::size_t kShown = 3;
  std::size_t found = 0;
  for (const results::Profile& profile : ran.profiles)
    for (const results::Finding& f : profile.findings) {
      if (f.severity == results::Severity::info || ++found > kShown) continue;
      Judged out = good;
      out.outcome = Outcome::failed;
      out.seen = fmt::format("{}: {}", f.kind, f.message);
      out.file = f.file;
      out.line = f.line;
      for (const FindingHelp& help : exercise.findings)
        if (is_kind(help.kind, f.kind)) out.message = help.message;
      out.details = report::check_finding_text(f, profile, {.colour = colour});
      verdict.lines.push_back(out);
    }
  if (found == 0) {
    good.outcome = Outcome::passed;
    verdict.lines.push_back(good);
  } else if (found > kShown) {
    verdict.lines.back().details += fmt::format("... and {} more\n", counted(found - kShown, "finding"));
  }
}

Judged judge_time(const Rule& rule, const results::Profile& profile, const SolutionRun& solution) {
  Judged out{.rule = name(rule.kind), .asked = rule.text};
  const double limit = !rule.than.empty() ? kernel_ns(profile, rule.than)
                       : rule.timeline    ? solution.timeline_ns
                                          : solution.kernels_ns;
  const double took = rule.timeline ? timeline_ns(profile) : kernels_ns(profile);
  const bool good = took > 0 && took <= rule.factor * limit;
  out.outcome = good ? Outcome::passed : Outcome::failed;
  out.seen = took > 0 ? fmt::format("{}, {} takes {}: {} times as long", report::with_time(took),
                                    rule.than.empty() ? "the solution" : rule.than, report::with_time(limit),
                                    report::fixed(limit > 0 ? took / limit : 0, 2))
                      : std::string("no kernel ran");
  if (good) return out;
  out.message = rule.message.empty() ? "It takes longer than it must: what limits it stands below." : rule.message;
  out.details = rule.timeline ? timeline_text(profile) : slowest_kernel_advice(profile);
  return out;
}

// `profile`: null: the rules are not judged, for the reason `unjudged`.
void judge_rules(const Exercise& exercise, const std::string& source, const results::Profile* profile,
                 const SolutionRun& solution, bool colour, Verdict& verdict) {
  for (const Rule& rule : exercise.rules) {
    if (rule.kind == Rule::Kind::source) {
      verdict.lines.push_back(judge_source(rule, source, exercise.hand_in()));
    } else if (!profile) {
      verdict.lines.push_back(
          {.rule = name(rule.kind), .asked = rule.text, .seen = "judged once the results are right"});
    } else if (rule.kind == Rule::Kind::counter) {
      verdict.lines.push_back(judge_counter(rule, *profile, colour));
    } else if (rule.kind == Rule::Kind::copies) {
      verdict.lines.push_back(judge_copies(rule, *profile));
    } else {
      verdict.lines.push_back(judge_time(rule, *profile, solution));
    }
  }
}

// What the compiler and the rules about object files say. nullopt: the answer is linked with its test.
Result<std::optional<Judged>> find_build_problem(Trial& trial) {
  auto compiled = trial.compile_answer();
  if (!compiled) return compiled.error();
  compiled->output = trial.without_folder(compiled->output);
  Judged out = judge_compilation(*compiled);
  if (out.outcome != Outcome::passed) return std::optional<Judged>(out);
  if (const auto breach = trial.find_breach()) {
    out.outcome = Outcome::failed;
    out.seen = breach->seen;
    out.message = breach->message;
    return std::optional<Judged>(out);
  }
  auto linked = trial.link();
  if (!linked) return linked.error();
  linked->output = trial.without_folder(linked->output);
  out = judge_compilation(*linked);
  if (out.outcome != Outcome::passed) return std::optional<Judged>(out);
  return std::optional<Judged>();
}

// Runs the answer with kernels that do nothing: results that stay the same come from elsewhere.
Status judge_origin(Trial& trial, const Run& checked, const SolutionRun& solution, Judged& results) {
  const auto& depend = solution.depend_on_kernels;
  if (std::find(depend.begin(), depend.end(), true) == depend.end()) return Ok{};
  auto without = trial.run_without_kernels();
  if (!without) return without.error();
  const auto usual = read_records(read_whole(checked.records).value_or(""));
  const auto idle = read_records(read_whole(without->records).value_or(""));
  const Record* same = computed_elsewhere(usual, idle, depend);
  if (!same) return Ok{};
  results.outcome = Outcome::failed;
  results.seen = fmt::format("{}: the results are the same if no kernel does anything", same->name);
  results.message = "The kernels have to compute the results, not the host.";
  return Ok{};
}

}  // namespace

bool Verdict::passed() const {
  return !lines.empty() &&
         std::all_of(lines.begin(), lines.end(), [](const Judged& j) { return j.outcome == Outcome::passed; });
}

Result<std::shared_ptr<const TestProgram>> Judge::test_of(const Exercise& exercise) {
  if (const auto it = tests_.find(exercise.name); it != tests_.end()) return it->second;
  auto made = TestProgram::make(exercise, settings_);
  if (!made) return made;
  return tests_[exercise.name] = made.take();
}

Result<Verdict> Judge::judge(const Exercise& exercise, const std::string& file) {
  Verdict verdict{exercise.name, exercise.title, file, {}};
  auto test = test_of(exercise);
  if (!test) return test.error();
  const SolutionRun& solution = (*test)->solution();
  Trial trial(exercise, settings_);
  if (Status s = trial.prepare(file, (*test)->parts()); !s) return s.error();
  auto problem = find_build_problem(trial);
  if (!problem) return problem.error();
  verdict.lines.push_back(*problem ? **problem
                                   : Judged{.rule = "compiles", .asked = "it compiles", .outcome = Outcome::passed});
  if (*problem) return verdict;
  auto checked = trial.run_checked();
  if (!checked) return checked.error();
  auto cases = (*test)->compare("checked", trial.seed(), checked->records);
  if (!cases) return cases.error();
  verdict.lines.push_back(judge_results(*checked, *cases));
  judge_findings(exercise, *checked, settings_.colour, verdict);
  const std::string source = without_comments(read_whole(file).value_or(""));
  if (Judged& results = verdict.lines[1]; results.outcome == Outcome::passed)
    if (Status s = judge_origin(trial, *checked, solution, results); !s) return s.error();
  if (verdict.lines[1].outcome != Outcome::passed) {
    judge_rules(exercise, source, nullptr, solution, settings_.colour, verdict);
    return verdict;
  }
  auto counted = trial.run_counted();
  if (!counted) return counted.error();
  auto large = (*test)->compare("counted", trial.seed(), counted->records);
  if (!large) return large.error();
  Judged results = judge_results(*counted, *large);
  if (results.outcome == Outcome::passed && counted->profiles.empty()) {
    results.outcome = Outcome::failed;
    results.seen = "the run produced no profile";
  }
  if (results.outcome == Outcome::passed) {
    if (const Judged elsewhere = find_work_elsewhere(counted->profiles[0], solution, exercise.rules);
        !elsewhere.seen.empty()) {
      results.outcome = Outcome::failed;
      results.seen = elsewhere.seen;
      results.message = elsewhere.message;
    }
  }
  if (results.outcome != Outcome::passed) {
    verdict.lines[1] = results;
    judge_rules(exercise, source, nullptr, solution, settings_.colour, verdict);
    return verdict;
  }
  const results::Profile profile = of_hand_in(counted->profiles[0]);
  judge_rules(exercise, source, &profile, solution, settings_.colour, verdict);
  return verdict;
}

}  // namespace warpgrind::exercises
