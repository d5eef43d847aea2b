// Judgement of a hand-in: compilation, results, findings and rules.
#include "exercises/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "base/file.h"
#include "base/words.h"
#include "exercises/rules.h"
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

// The compiler's messages without "In file included from judged.cu": that file is our own.
std::string compiler_messages(const std::string& output) {
  std::stringstream in(output);
  std::string out, line;
  while (std::getline(in, line))
    if (!line.starts_with("In file included from judged.cu")) out += line + "\n";
  return beginning(out, kCompilerLines);
}

Judged judge_compilation(const ChildEnd& end) {
  Judged out{.rule = "compiles", .asked = "it compiles"};
  out.outcome = end.stopped.empty() && end.exit_code == 0 ? Outcome::passed : Outcome::failed;
  if (out.outcome == Outcome::passed) return out;
  out.seen = end.stopped.empty() ? "it does not compile" : "the compiler was " + end.stopped;
  out.details = compiler_messages(end.output);
  if (out.details.find("driver.cu") != std::string::npos)
    out.message = "The test (driver.cu) calls your code: keep the names and parameters of the skeleton.";
  if (out.details.find("redefinition of 'main'") != std::string::npos)
    out.message = "The test has a main() of its own: hand in only what the skeleton has.";
  return out;
}

// "right: n = 1, n = 256"
std::string names_of(const std::vector<Case>& cases, bool right) {
  std::string out;
  for (const Case& c : cases)
    if (c.right == right) out += (out.empty() ? "" : "; ") + c.name;
  return out.empty() ? "" : (right ? "right: " : "wrong: ") + out + "\n";
}

Judged judge_results(const Ran& ran) {
  Judged out{.rule = "results", .asked = "the results are right"};
  std::size_t right = 0;
  const Case* wrong = nullptr;
  for (const Case& c : ran.cases) {
    right += c.right;
    if (!c.right && !wrong) wrong = &c;
  }
  out.outcome = !wrong && ran.finished && !ran.cases.empty() ? Outcome::passed : Outcome::failed;
  if (out.outcome == Outcome::passed) {
    out.seen = fmt::format("{} of {} cases", right, ran.cases.size());
  } else if (wrong) {
    out.seen = fmt::format("{}: {}", wrong->name, wrong->seen);
    if (ran.cases.size() > 1) out.details = names_of(ran.cases, true) + names_of(ran.cases, false);
  } else {
    out.seen = !ran.end.stopped.empty() ? "the program was " + ran.end.stopped
               : ran.end.exit_code > 128
                   ? fmt::format("signal {} ended the program early", ran.end.exit_code - 128)
                   : fmt::format("the program ended before its test did (exit code {})", ran.end.exit_code);
    out.message =
        "Possible causes: an endless loop, a barrier that not all threads reach, or a crash of host code. Its last "
        "output is below.";
    out.details = beginning(ran.end.output, kOutputLines);
  }
  return out;
}

// "oob-*" means all kinds that begin with "oob-".
bool is_kind(const std::string& pattern, const std::string& kind) {
  return pattern.ends_with('*') ? kind.starts_with(pattern.substr(0, pattern.size() - 1)) : pattern == kind;
}

void judge_findings(const Exercise& exercise, const Ran& ran, bool colour, Verdict& verdict) {
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

}  // namespace

bool Verdict::passed() const {
  return !lines.empty() &&
         std::all_of(lines.begin(), lines.end(), [](const Judged& j) { return j.outcome == Outcome::passed; });
}

Status Judge::judge_rules(const Exercise& exercise, const std::string& source, const results::Profile* profile,
                          const std::string& unjudged, Verdict& verdict) {
  for (const Rule& rule : exercise.rules) {
    if (rule.kind == Rule::Kind::source) {
      verdict.lines.push_back(judge_source(rule, source, exercise.hand_in()));
    } else if (!profile) {
      verdict.lines.push_back({.rule = name(rule.kind), .asked = rule.text, .seen = unjudged});
    } else if (rule.kind == Rule::Kind::counter) {
      verdict.lines.push_back(judge_counter(rule, *profile, settings_.colour));
    } else if (rule.kind == Rule::Kind::copies) {
      verdict.lines.push_back(judge_copies(rule, *profile));
    } else {
      auto judged = judge_time(exercise, rule, *profile);
      if (!judged) return judged.error();
      verdict.lines.push_back(judged.take());
    }
  }
  return Ok{};
}

Result<Verdict> Judge::judge(const Exercise& exercise, const std::string& file) {
  Verdict verdict{exercise.name, exercise.title, file, {}};
  Trial trial(exercise, settings_);
  if (Status s = trial.prepare(file); !s) return s.error();
  auto compiled = trial.compile();
  if (!compiled) return compiled.error();
  compiled->output = trial.without_folder(compiled->output);
  verdict.lines.push_back(judge_compilation(*compiled));
  if (verdict.lines[0].outcome != Outcome::passed) return verdict;
  auto checked = trial.run_checked();
  if (!checked) return checked.error();
  verdict.lines.push_back(judge_results(*checked));
  judge_findings(exercise, *checked, settings_.colour, verdict);
  const std::string source = without_comments(read_whole(file).value_or(""));
  if (verdict.lines[1].outcome != Outcome::passed) {
    if (Status s = judge_rules(exercise, source, nullptr, "judged once the results are right", verdict); !s)
      return s.error();
    return verdict;
  }
  if (exercise.rules.empty()) return verdict;
  auto ran = trial.run_counted();
  if (!ran) return ran.error();
  if (Judged large = judge_results(*ran); large.outcome != Outcome::passed || ran->profiles.empty()) {
    if (ran->profiles.empty() && large.outcome == Outcome::passed) large.seen = "the run produced no profile";
    large.outcome = Outcome::failed;
    verdict.lines[1] = large;
    if (Status s = judge_rules(exercise, source, nullptr, "judged once the results are right", verdict); !s)
      return s.error();
    return verdict;
  }
  const results::Profile profile = of_hand_in(ran->profiles[0]);
  if (file == exercise.file("solution.cu")) references_[exercise.name] = {kernels_ns(profile), timeline_ns(profile)};
  if (Status s = judge_rules(exercise, source, &profile, "", verdict); !s) return s.error();
  return verdict;
}

}  // namespace warpgrind::exercises
