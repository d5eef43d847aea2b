// Run of a user's program in a box on this machine: its command, its files and its report.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <sstream>

#include "base/file.h"
#include "base/installation.h"
#include "base/temporary_folder.h"
#include "sandbox/own_files.h"
#include "serve/carrier.h"
#include "serve/starting_points.h"
#include "serve/step_mode.h"

namespace warpgrind::serve {

namespace {

namespace fs = std::filesystem;

constexpr const char* kSource = "main.cu";
constexpr const char* kJudged = "judged.cu";
constexpr const char* kReport = "report.html";
constexpr const char* kProfile = "profile.json";
constexpr const char* kBefore = "before.json";

// Files outside /usr that a run needs.
std::vector<fs::path> readable() {
  std::vector<fs::path> out = sandbox::own_files();
  std::error_code ignored;
  const fs::path lab = fs::canonical(fs::path(lab_sources()), ignored);
  if (!lab.empty() && !lab.string().starts_with("/usr/")) out.push_back(lab);
  return out;
}

std::vector<std::string> words(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> out;
  for (std::string word; stream >> word;) out.push_back(word);
  return out;
}

// A program runs unchanged. A solution to an exercise runs with the exercise's tests behind it, for one size or
// several.
std::vector<std::string> run_command(const RunRequest& run, bool compared, const sandbox::Limits& limits) {
  // clang: nvcc takes several times as long to compile, and the first output should appear soon.
  // stdbuf: without it a program that prints into a pipe keeps its lines until its end.
  const bool steps = records_steps(run.mode);
  const std::string command = steps ? "run" : run.mode;
  std::vector<std::string> out = {"/usr/bin/stdbuf", "-oL",    own_executable(), command,     "--compiler",
                                  "clang",           "--gpu",  run.gpu,          "--threads", "1",
                                  "--no-cache",      "--json", kProfile,         "--report",  kReport};
  // A kernel that never ends is named after a quarter of the time. The whole run has the rest.
  out.insert(out.end(), {"--stall", fmt::format("{}", limits.cpu_seconds / 4)});
  if (command == "run") out.insert(out.end(), {"--detail", "--quiet"});
  if (steps) out.insert(out.end(), {"--steps", "--block", recorded_block(run.mode)});
  if (const std::string lab = lab_sources(); !lab.empty()) out.insert(out.end(), {"--nvcc-flags", "-I" + lab});
  if (compared && run.mode == "run") out.insert(out.end(), {"--baseline", kBefore});
  out.insert(out.end(), {run.exercise.empty() ? kSource : kJudged, "--"});
  if (!run.exercise.empty()) out.emplace_back(command == "run" ? "counted" : "checked");
  for (std::string& word : words(run.arguments)) out.push_back(std::move(word));
  return out;
}

std::vector<std::string> judge_command(const RunRequest& run) {
  // The folder itself: in a build it is a link, and the link is not in the box.
  std::error_code ignored;
  const std::string exercises = fs::canonical(exercises_folder(), ignored).string();
  return {own_executable(), "exercise", "--exercises", exercises,    "check", "--exercise",
          run.exercise,     "--gpu",    run.gpu,       "--no-cache", kSource};
}

sandbox::Job job_of(const RunRequest& run, bool compared, const sandbox::Limits& limits) {
  sandbox::Job job;
  job.command = run.mode == "judge" ? judge_command(run) : run_command(run, compared, limits);
  job.readable = readable();
  job.taken = {kReport, kProfile};
  return job;
}

Status add_tests(const RunRequest& run, const fs::path& work) {
  const fs::path folder = exercises_folder();
  std::error_code problem;
  fs::copy_file(folder / run.exercise / "driver.cu", work / "driver.cu", problem);
  if (!problem) fs::copy(folder / "include", work, problem);
  if (problem)
    return Error{ErrorKind::environment,
                 fmt::format("cannot copy the tests of {}: {}", run.exercise, problem.message()), ""};
  return write_whole((work / kJudged).string(),
                     fmt::format("#include \"{}\"\n#include \"judge.h\"\n#include \"driver.cu\"\n", kSource));
}

Status write_files(const Task& task, const fs::path& work) {
  if (Status s = write_whole((work / kSource).string(), task.run.source); !s) return s;
  if (!task.before.empty())
    if (Status s = write_whole((work / kBefore).string(), task.before); !s) return s;
  return task.run.exercise.empty() ? Status(Ok{}) : add_tests(task.run, work);
}

// A file that the run left. nullopt: it is too large. Empty: there is none. Links are not followed.
std::optional<std::string> file_of_run(const fs::path& path, std::uintmax_t largest, const sandbox::End& end) {
  const auto& stayed = end.too_large;
  if (std::find(stayed.begin(), stayed.end(), path.filename().string()) != stayed.end()) return std::nullopt;
  std::error_code problem;
  if (fs::symlink_status(path, problem).type() != fs::file_type::regular) return "";
  if (fs::file_size(path, problem) > largest || problem) return std::nullopt;
  return read_whole(path.string()).value_or("");
}

// The report's data, without the page around it. Both were made in the box and are not trusted: the browser treats the
// data as data and shows it as text.
std::string report_data(const std::string& page) {
  constexpr std::string_view kBegin = "id=\"data\">";
  const std::size_t begin = page.find(kBegin);
  if (begin == std::string::npos) return "";
  const std::size_t end = page.find("</script>", begin);
  if (end == std::string::npos) return "";
  return page.substr(begin + kBegin.size(), end - begin - kBegin.size());
}

}  // namespace

RunResult run_in_box(const Task& task, const Manner& manner, std::function<void(std::string_view)> on_output,
                     const std::stop_token& stop) {
  const TemporaryFolder folder;
  if (!folder.problem.empty()) return {"not run: " + folder.problem, false, "", "", ""};
  const fs::path work = fs::path(folder.path) / "work";
  std::error_code ignored;
  fs::create_directory(work, ignored);
  if (Status s = write_files(task, work); !s) return {"not run: " + s.error().message, false, "", "", ""};
  sandbox::Job job = job_of(task.run, !task.before.empty(), manner.limits);
  job.work = work;
  job.limits = manner.limits;
  job.limits.file_bytes = std::max(kLargestReport, kLargestProfile);
  job.on_output = std::move(on_output);
  auto end = manner.boxed ? sandbox::run(job, stop) : sandbox::run_without_box(job, stop);
  if (!end) return {"not run: " + end.error().message + ": " + end.error().detail, false, "", "", ""};
  RunResult result{text_of(*end, manner.limits), end->ok(), std::move(end->output), "", ""};
  const auto page = file_of_run(work / kReport, kLargestReport, *end);
  const auto profile = file_of_run(work / kProfile, kLargestProfile, *end);
  if (page) result.report = report_data(*page);
  if (profile) result.profile = *profile;
  if (!page) result.output += fmt::format("\nwarpgrind: the report has more than {} MiB\n", kLargestReport >> 20);
  if (!profile) result.output += fmt::format("\nwarpgrind: the profile has more than {} MiB\n", kLargestProfile >> 20);
  return result;
}

namespace {

class LocalCarrier : public Carrier {
 public:
  explicit LocalCarrier(const Manner& manner) : manner_(manner) {}
  RunResult carry_out(const Task& task, LiveRun& live, const std::stop_token& server_ends) override {
    live.begin();
    const std::stop_callback at_the_end(server_ends, [&] { live.cancel.request_stop(); });
    return run_in_box(
        task, manner_, [&](std::string_view more) { live.say(more); }, live.cancel.get_token());
  }

 private:
  const Manner manner_;
};

}  // namespace

std::unique_ptr<Carrier> make_local_carrier(const Manner& manner) {
  return std::make_unique<LocalCarrier>(manner);
}

}  // namespace warpgrind::serve
