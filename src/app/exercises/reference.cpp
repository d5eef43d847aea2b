// Reference times of an exercise: its solution's times on the virtual GPU. The solution runs once; the times are
// cached.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/digest.h"
#include "base/file.h"
#include "base/json.h"
#include "exercises/judge.h"
#include "exercises/rules.h"
#include "exercises/trial.h"
#include "report/format.h"

namespace warpgrind::exercises {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

// Everything that the times depend on; another build of warpgrind may give other estimates.
std::string key_of(const Exercise& exercise, const JudgeSettings& settings) {
  std::error_code none;
  const auto built = fs::last_write_time(settings.warpgrind, none).time_since_epoch().count();
  std::string text = fmt::format("{} {} {} {}", exercise.name, settings.gpu.empty() ? exercise.gpu : settings.gpu,
                                 exercise.devices, built);
  std::vector<std::string> files = test_headers(settings.include);
  files.insert(files.end(), {exercise.file("solution.cu"), exercise.file("driver.cu")});
  for (const std::string& file : files) text += "\n" + read_whole(file).value_or("");
  return digest(text);
}

}  // namespace

Result<Judge::Reference> Judge::run_solution(const Exercise& exercise) {
  const auto broken = [&](const std::string& what, const std::string& output) {
    return Error{ErrorKind::environment, fmt::format("the solution of {} {}", exercise.name, what), output};
  };
  JudgeSettings settings = settings_;
  settings.boxed = false;  // the solution is our own
  Trial trial(exercise, settings);
  if (Status s = trial.prepare(exercise.file("solution.cu")); !s) return s.error();
  auto compiled = trial.compile();
  if (!compiled) return compiled.error();
  if (compiled->exit_code != 0) return broken("does not compile", compiled->output);
  auto ran = trial.run_counted();
  if (!ran) return ran.error();
  if (ran->profiles.empty()) return broken("leaves no profile", ran->end.output);
  return Reference{kernels_ns(ran->profiles[0]), timeline_ns(ran->profiles[0])};
}

Result<Judge::Reference> Judge::reference(const Exercise& exercise) {
  if (const auto it = references_.find(exercise.name); it != references_.end()) return it->second;
  const std::string folder = settings_.cache.empty() ? "" : settings_.cache + "/exercises";
  const std::string path = folder.empty() ? "" : folder + "/" + key_of(exercise, settings_) + ".json";
  if (!path.empty()) {
    const Json kept = Json::parse(read_whole(path).value_or(""), nullptr, false);
    if (kept.is_object()) {
      const Reference found{json::get<double>(kept, "kernels_ns"), json::get<double>(kept, "timeline_ns")};
      if (found.kernels_ns > 0) return references_[exercise.name] = found;
    }
  }
  auto found = run_solution(exercise);
  if (!found) return found;
  if (!path.empty()) {
    std::error_code none;
    fs::create_directories(folder, none);
    const Json kept = {{"kernels_ns", found->kernels_ns}, {"timeline_ns", found->timeline_ns}};
    (void)write_whole(path, kept.dump() + "\n");  // on failure, the solution runs again next time
  }
  return references_[exercise.name] = *found;
}

Result<Judged> Judge::judge_time(const Exercise& exercise, const Rule& rule, const results::Profile& profile) {
  Judged out{.rule = name(rule.kind), .asked = rule.text};
  double limit = 0;
  if (rule.than.empty()) {
    auto solution = reference(exercise);
    if (!solution) return solution.error();
    limit = rule.timeline ? solution->timeline_ns : solution->kernels_ns;
  } else {
    limit = kernel_ns(profile, rule.than);
  }
  const double took = rule.timeline ? timeline_ns(profile) : kernels_ns(profile);
  const bool good = took > 0 && took <= rule.factor * limit;
  out.outcome = good ? Judged::Outcome::passed : Judged::Outcome::failed;
  out.seen = took > 0 ? fmt::format("{}, {} takes {}: {} times as long", report::with_time(took),
                                    rule.than.empty() ? "the solution" : rule.than, report::with_time(limit),
                                    report::fixed(limit > 0 ? took / limit : 0, 2))
                      : std::string("no kernel ran");
  if (good) return out;
  out.message = rule.message.empty() ? "It takes longer than it must: what limits it stands below." : rule.message;
  out.details = rule.timeline ? timeline_text(profile) : slowest_kernel_advice(profile);
  return out;
}

}  // namespace warpgrind::exercises
