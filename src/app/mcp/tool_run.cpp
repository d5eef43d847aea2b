// Tool `run`: runs a program, and says what decides the speed of its kernels and what the run does not prove.
#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "base/words.h"
#include "counters/metric_table.h"
#include "mcp/caveats.h"
#include "mcp/kernel_numbers.h"
#include "mcp/result_parts.h"
#include "report/expectations.h"
#include "report/kernel_names.h"

namespace warpgrind::mcp {

namespace {

using report::ExpectationResult;
using results::KernelProfile;

struct Wishes {
  std::vector<std::string> metrics;
  std::vector<report::Expectation> expectations;
  std::string output;  // that the program's output must contain; empty: none
};

Result<Wishes> read_wishes(const Json& arguments) {
  Wishes out;
  out.output = json::text(arguments, "expect_output");
  if (const auto list = arguments.find("metrics"); list != arguments.end())
    for (const Json& one : *list) {
      out.metrics.push_back(one.get<std::string>());
      if (counters::find_metric_or_alias(out.metrics.back())) continue;
      std::string near;
      for (const std::string& name : counters::similar_metrics(out.metrics.back()))
        near += (near.empty() ? "" : ", ") + name;
      return Error{ErrorKind::bad_input, fmt::format("there is no counter \"{}\"", out.metrics.back().substr(0, 80)),
                   (near.empty() ? "" : "similar ones: " + near + "; ") + "the resource warpgrind://counters has all"};
    }
  if (const auto list = arguments.find("expect"); list != arguments.end())
    for (const Json& one : *list) {
      auto read = report::parse_expectation(one.get_ref<const std::string&>());
      if (!read) return read.error();
      out.expectations.push_back(read.take());
    }
  return out;
}

std::vector<std::string> expectation_texts(const Wishes& wishes, const results::Profile& profile, bool& failed) {
  std::vector<std::string> out;
  for (const ExpectationResult& r : report::check(wishes.expectations, {profile})) {
    failed |= r.bad();
    const char* const outcome = r.outcome == ExpectationResult::Outcome::passed   ? "holds"
                                : r.outcome == ExpectationResult::Outcome::failed ? "FAILS"
                                : r.outcome == ExpectationResult::Outcome::not_applicable
                                    ? "does not apply"
                                    : "FAILS: nothing was checked";
    std::string places;
    for (const auto& place : r.places)
      if (places.size() < 60)
        places += fmt::format("{}{}:{}", places.empty() ? ", at " : ", ", base_name(place.file), place.line);
    out.push_back(fmt::format(
        "{}: {}{}{}{}", r.text, outcome, r.kernel.empty() ? "" : " for " + report::short_name(r.kernel),
        r.figures.empty() ? "" : ": " + r.figures, r.outcome == ExpectationResult::Outcome::failed ? places : ""));
  }
  return out;
}

// The slowest first.
std::vector<const KernelProfile*> by_time(const results::Profile& profile) {
  std::vector<const KernelProfile*> out;
  for (const KernelProfile& k : profile.kernels) out.push_back(&k);
  std::stable_sort(out.begin(), out.end(), [](const KernelProfile* a, const KernelProfile* b) {
    return time_ns(*a) * static_cast<double>(a->launches) > time_ns(*b) * static_cast<double>(b->launches);
  });
  return out;
}

std::vector<std::string> next_steps(const ProgramRun& run, const std::string& name) {
  std::vector<std::string> out;
  if (run.profile)
    for (const KernelProfile* k : by_time(*run.profile)) {
      for (const results::Advice& a : k->advice) {
        if (a.places.empty() || a.places[0].line == 0) continue;
        out.push_back(fmt::format(
            R"(explain {{"run": "{}", "kernel": "{}", "line": {}}} draws the access that the first advice is about)",
            name, report::short_name(k->name), a.places[0].line));
        break;
      }
      if (!out.empty()) break;
    }
  out.emplace_back(
      "check with the same program: races, bounds, uninitialised memory, leaks and failed calls are not looked for "
      "here");
  if (!name.empty())
    out.push_back(fmt::format(R"(after a change: diff {{"before": {{"run": "{}"}}, "after": {{...}}}})", name));
  return out;
}

void add_kernels(ResultBuilder& b, const Program& program, const ProgramRun& run, const Wishes& wishes,
                 const Room& room) {
  Json kernels = Json::array();
  for (const KernelProfile* k : by_time(*run.profile)) {
    if (kernels.size() == room.kernels) break;
    Json one = kernel_json(*k, model_of(program.gpu), room);
    if (!wishes.metrics.empty()) one["metrics"] = metrics_json(*k, wishes.metrics);
    b.text(kernel_lines(one));
    kernels.push_back(std::move(one));
  }
  if (const std::size_t all = run.profile->kernels.size(); all > kernels.size())
    b.line(fmt::format("{} more kernels took less time; \"detail\": \"full\" shows up to 20.", all - kernels.size()));
  b.object()["kernels"] = std::move(kernels);
}

}  // namespace

ToolResult call_run(const Json& arguments, const CallContext& context) {
  const Room room = room_of(arguments);
  auto program = read_program(arguments, arguments, context.settings);
  if (!program) return refused(program.error());
  auto wishes = read_wishes(arguments);
  if (!wishes) return refused(wishes.error());
  auto run = run_program(*program, Manner::run, {"--detail", "--quiet"}, context);
  if (!run) return refused(run.error());
  if (!run->compiled) return did_not_start(*program, *run, room);
  ResultBuilder b(room);
  const bool none_ran = no_kernel_ran(*run);
  const std::vector<std::string> faults = faults_of(*run);
  const Verification verification = verify(*program, *run, wishes->output);
  const std::string name = keep(*program, *run, verification, context.runs), failure = failure_of(*program, *run);
  b.object() = {{"run", name},
                {"status", !failure.empty()  ? "failed"
                           : none_ran        ? "no_kernel_ran"
                           : !faults.empty() ? "faulted"
                                             : "ran"},
                {"verified", verification.verified},
                {"verification", verification.text}};
  b.line(fmt::format("{}{} on a virtual {}: {}.", name.empty() ? "" : "RUN " + name + ": ", program->shown,
                     program->gpu, run->end));
  b.line(verification.text);
  if (none_ran) b.line("NO KERNEL RAN.");
  if (run->too_slow) b.line(kLessWork);
  add_end(b, *program, *run, room);
  if (run->profile) {
    b.list("FAULTS (counts and times of a kernel that was stopped are those of a part of its work)", "faults", faults);
    bool failed = false;
    b.list("EXPECTATIONS", "expectations", expectation_texts(*wishes, *run->profile, failed));
    if (!wishes->expectations.empty()) b.object()["expectations_hold"] = !failed && faults.empty();
    add_kernels(b, *program, *run, *wishes, room);
  } else if (!wishes->expectations.empty()) {
    b.object()["expectations_hold"] = false;
    b.line("EXPECTATIONS were NOT checked: there are no counts.");
  }
  if (run->content && !run->content->refused.empty()) b.list("NOT SUPPORTED", "not_supported", run->content->refused);
  std::vector<std::string> open = caveats(*run, model_of(program->gpu));
  if (run->profile && !none_ran)
    open.emplace_back(program->blocks != 0 ? "Times are estimates, and counts are scaled from some of the blocks."
                                           : "Times are estimates, not measurements; counts of accesses are exact.");
  b.list("NOT PROVEN", "not_proven", open);
  b.object()["never_ran"] = kernels_never_run(*run);
  b.list("NEXT", "next", next_steps(*run, name));
  return b.take();
}

}  // namespace warpgrind::mcp
