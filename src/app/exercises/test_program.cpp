// Compilation of an exercise's test, its cache, the solution's run, and the comparison of results.
#include "exercises/test_program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/digest.h"
#include "base/file.h"
#include "base/json.h"
#include "exercises/prototypes.h"
#include "exercises/records.h"
#include "exercises/rules.h"
#include "report/kernel_names.h"

namespace warpgrind::exercises {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* kTestObject = "/test.o";
constexpr const char* kProgram = "/judged";
constexpr const char* kFigures = "/solution.json";

// Everything that test and figures depend on; another build of warpgrind may give other estimates.
std::string key_of(const Exercise& exercise, const JudgeSettings& settings) {
  std::error_code none;
  const auto built = fs::last_write_time(settings.warpgrind, none).time_since_epoch().count();
  std::string text = fmt::format("2 {} {} {} {}", exercise.name, settings.gpu.empty() ? exercise.gpu : settings.gpu,
                                 exercise.devices, built);
  std::vector<std::string> files = test_headers(settings.include);
  for (const char* name : {"solution.cu", "skeleton.cu", "driver.cu"}) files.push_back(exercise.file(name));
  for (const std::string& file : files) text += "\n" + read_whole(file).value_or("");
  return digest(text);
}

// Reads lines of the form NAME <tab> right|wrong <tab> SEEN, and the last line "end".
Cases read_cases(const std::string& path) {
  Cases out;
  std::stringstream lines(read_whole(path).value_or(""));
  for (std::string line; std::getline(lines, line);) {
    if (line == "end") out.finished = true;
    const std::size_t first = line.find('\t');
    const std::size_t second = first == std::string::npos ? first : line.find('\t', first + 1);
    if (second == std::string::npos) continue;
    out.cases.push_back(
        {line.substr(0, first), line.substr(second + 1), line.compare(first + 1, second - first - 1, "right") == 0});
  }
  return out;
}

Json to_json(const SolutionRun& run) {
  return {{"kernels_ns", run.kernels_ns},
          {"timeline_ns", run.timeline_ns},
          {"copied_bytes", run.copied_bytes},
          {"stored_bytes", run.stored_bytes},
          {"depend_on_kernels", run.depend_on_kernels}};
}

SolutionRun from_json(const Json& j) {
  SolutionRun out;
  json::read(j, "kernels_ns", out.kernels_ns);
  json::read(j, "timeline_ns", out.timeline_ns);
  json::read(j, "copied_bytes", out.copied_bytes);
  if (const auto kernels = j.find("stored_bytes"); kernels != j.end() && kernels->is_object())
    for (const auto& [name, bytes] : kernels->items())
      if (bytes.is_number()) out.stored_bytes[name] = bytes.get<double>();
  if (const auto depend = j.find("depend_on_kernels"); depend != j.end() && depend->is_array())
    for (const Json& one : *depend) out.depend_on_kernels.push_back(one == Json(true));
  return out;
}

}  // namespace

double stored_bytes(const results::KernelProfile& kernel) {
  return kernel.metrics.value(results::MetricId::global_st_bytes);
}

double copied_bytes(const results::Profile& profile) {
  double out = 0;
  for (const results::TransferProfile& t : profile.transfers)
    if (t.direction == "HtoD" || t.direction == "DtoH") out += static_cast<double>(t.bytes);
  return out;
}

Status TestProgram::run_solution(Trial& trial) {
  const auto broken = [&](const std::string& what, const std::string& output) {
    return Error{ErrorKind::environment, fmt::format("the solution of {} {}", exercise_.name, what), output};
  };
  auto counted = trial.run_counted();
  if (!counted) return counted.error();
  if (counted->profiles.empty()) return broken("leaves no profile", counted->end.output);
  const results::Profile& profile = counted->profiles[0];
  solution_ = {kernels_ns(profile), timeline_ns(profile), copied_bytes(profile), {}, {}};
  for (const results::KernelProfile& kernel : profile.kernels)
    if (!is_of_test(kernel.name)) solution_.stored_bytes[report::short_name(kernel.name)] += stored_bytes(kernel);
  auto usual = trial.run_sizes(), without = trial.run_without_kernels();
  if (!usual) return usual.error();
  if (!without) return without.error();
  const auto results = read_records(read_whole(usual->records).value_or(""));
  if (results.empty()) return broken("leaves no results", usual->end.output);
  solution_.depend_on_kernels = depend_on_kernels(results, read_records(read_whole(without->records).value_or("")));
  return Ok{};
}

// Compiles into `folder`: the test's object, and the program of test and solution.
Status TestProgram::build(const std::string& folder) {
  const auto broken = [&](const char* what, const ChildEnd& end) {
    const std::string how =
        end.stopped.empty() ? "does not compile" : "was not compiled: the compiler was " + end.stopped;
    return Error{ErrorKind::environment, fmt::format("{} of {} {}", what, exercise_.name, how), end.output};
  };
  std::vector<std::string> own = test_headers(settings_.include);
  own.push_back(exercise_.file("driver.cu"));
  for (const std::string& path : own) {
    const auto text = read_whole(path);
    if (!text)
      return Error{ErrorKind::environment, fmt::format("cannot read {}", path), "build or install warpgrind again"};
    if (Status s = write_whole(folder + "/" + fs::path(path).filename().string(), *text); !s) return s;
  }
  const Declarations called = declarations_of(read_whole(exercise_.file("skeleton.cu")).value_or(""));
  const std::string unit =
      fmt::format("#include \"judge.h\"\n{}{}#include \"driver.cu\"\n", called.types, called.prototypes);
  if (Status s = write_whole(folder + "/test.cu", unit); !s) return s;
  auto test = compile(exercise_, settings_, {folder, {"-c", "test.cu", "-o", "test.o"}, false});
  if (!test) return test.error();
  if (test->exit_code != 0) return broken("the test", *test);
  Trial trial(exercise_, settings_);
  if (Status s = trial.prepare(exercise_.file("solution.cu"), {folder + kTestObject, called.prototypes}); !s) return s;
  auto compiled = trial.compile_answer();
  if (!compiled) return compiled.error();
  if (compiled->exit_code != 0) return broken("the solution", *compiled);
  auto linked = trial.link();
  if (!linked) return linked.error();
  if (linked->exit_code != 0) return broken("the solution", *linked);
  if (Status s = run_solution(trial); !s) return s;
  std::error_code problem;
  fs::copy_file(trial.program(), folder + kProgram, problem);
  if (problem)
    return Error{ErrorKind::environment, fmt::format("cannot write to {}: {}", folder, problem.message()), ""};
  return write_whole(folder + kFigures, to_json(solution_).dump() + "\n");
}

bool TestProgram::read(const std::string& folder) {
  const Json figures = Json::parse(read_whole(folder + kFigures).value_or(""), nullptr, false);
  if (!figures.is_object() || access((folder + kProgram).c_str(), X_OK) != 0) return false;
  solution_ = from_json(figures);
  folder_ = folder;
  parts_ = {folder + kTestObject, declarations_of(read_whole(exercise_.file("skeleton.cu")).value_or("")).prototypes};
  return true;
}

Result<std::shared_ptr<const TestProgram>> TestProgram::make(const Exercise& exercise, const JudgeSettings& settings) {
  std::shared_ptr<TestProgram> out(new TestProgram(exercise, settings));
  if (out->own_.path.empty()) return Error{ErrorKind::environment, out->own_.problem, "set TMPDIR to another folder"};
  std::error_code none;
  const std::string all = settings.cache.empty() ? "" : fs::absolute(settings.cache, none).string() + "/exercises";
  const std::string kept = all.empty() ? "" : all + "/" + key_of(exercise, settings);
  if (!kept.empty() && out->read(kept)) return std::shared_ptr<const TestProgram>(out);
  const std::string folder = out->own_.path + "/test";
  fs::create_directory(folder, none);
  if (Status s = out->build(folder); !s) return s.error();
  if (!out->read(folder)) return Error{ErrorKind::environment, fmt::format("cannot read {}", folder), ""};
  if (kept.empty()) return std::shared_ptr<const TestProgram>(out);
  // Another process may keep the same test at the same time: the first one to rename its copy wins. On failure, the
  // test is compiled again next time.
  std::error_code problem;
  const std::string copy = fmt::format("{}.{}", kept, getpid());
  fs::create_directories(copy, problem);
  for (const char* name : {kTestObject, kProgram, kFigures})
    if (!problem) fs::copy_file(folder + name, copy + name, problem);
  if (!problem) fs::rename(copy, kept, problem);
  if (problem) fs::remove_all(copy, none);
  return std::shared_ptr<const TestProgram>(out);
}

Result<Cases> TestProgram::compare(const std::string& run, unsigned seed, const std::string& records) const {
  const std::string out = fmt::format("{}.verdict", records);
  ChildJob job;
  job.command = {settings_.warpgrind,
                 "run",
                 "--quiet",
                 "--gpu",
                 settings_.gpu.empty() ? exercise_.gpu : settings_.gpu,
                 "--devices",
                 std::to_string(exercise_.devices),
                 "--timeout",
                 fmt::format("{}", exercise_.seconds),
                 folder_ + kProgram,
                 run,
                 std::to_string(seed),
                 records,
                 out};
  job.work = own_.path;
  job.seconds = 2 * exercise_.seconds;
  std::error_code none;
  if (!fs::exists(records, none)) return Cases{};
  auto end = run_child(job);
  if (!end) return end.error();
  if (end->exit_code != 0 || !fs::exists(out, none))
    return Error{ErrorKind::environment, fmt::format("the test of {} does not run", exercise_.name), end->output};
  return read_cases(out);
}

}  // namespace warpgrind::exercises
