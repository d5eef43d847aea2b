// Run of one topic: its command line, its rows, and their counters from the profile.
#include "lab/run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <span>

#include "base/file.h"
#include "base/installation.h"
#include "base/process.h"
#include "base/temporary_folder.h"
#include "fatbin/elf_image.h"
#include "lab/recordings.h"
#include "lab/row_kernels.h"
#include "results/json.h"

namespace warpgrind::lab {

namespace {

// Number of blocks at a large size: counts are within 1 % of a whole run for the lab's kernels
// (docs/accuracy-blocks.md).
constexpr unsigned kBlocksOfLarge = 64;

// Of one recording: some hundred steps, so that the page of all topics stays small.
constexpr unsigned kMostKibOfRecording = 48;

std::vector<std::string> command_line(const Topic& topic, const RunSettings& s, const std::string& rows,
                                      const std::string& profile) {
  std::vector<std::string> line;
  if (!s.native) {
    line = {s.warpgrind, "run", "--quiet", "--gpu", s.gpu, "--json", profile};
    if (s.detail) line.push_back("--detail");
    if (s.steps)
      line.insert(line.end(), {"--steps", "--steps-of-ranges", "--steps-limit", std::to_string(kMostKibOfRecording),
                               "--no-caches"});
    // Indexes that the topics' kernels read are made at large sizes, too. So kernels that depend on them need not run
    // whole.
    if (s.sample_blocks > 0)
      line.insert(line.end(), {"--sample-blocks", std::to_string(s.sample_blocks)});
    else if (s.large)
      line.insert(line.end(), {"--blocks", std::to_string(kBlocksOfLarge)});
    if (s.threads > 0) line.insert(line.end(), {"--threads", std::to_string(s.threads)});
    if (s.timeout_seconds > 0) line.insert(line.end(), {"--timeout", fmt::format("{}", s.timeout_seconds)});
    if (s.no_cache)
      line.push_back("--no-cache");
    else if (!s.cache.empty())
      line.insert(line.end(), {"--cache", s.cache});
    // A topic for several GPUs has an option with their number; the virtual machine must have as many.
    if (const TopicOption* devices = topic.option("devices")) {
      std::string count = devices->fallback;
      for (const auto& [name, value] : s.options)
        if (name == "devices") count = value;
      line.insert(line.end(), {"--devices", count});
    }
  }
  line.insert(line.end(), {topic.program, "--json", rows});
  if (s.full) line.push_back("--full");
  if (s.large) line.push_back("--large");
  if (!s.sizes.empty()) line.insert(line.end(), {"--sizes", s.sizes});
  if (!s.type.empty()) line.insert(line.end(), {"--type", s.type});
  for (const std::string& rung : s.rungs) line.insert(line.end(), {"--rung", rung});
  for (const auto& [name, value] : s.options)
    if (topic.option(name)) line.insert(line.end(), {"--" + name, value});
  return line;
}

void join_counters(TopicResult& topic, const results::Profile& profile) {
  std::map<std::string, const results::RangeProfile*> by_range;
  for (const results::RangeProfile& r : profile.ranges) by_range[r.range] = &r;
  for (Row& row : topic.rows)
    if (const auto it = by_range.find(row.range); it != by_range.end()) row.metrics = it->second->metrics;
}

// The last lines of a program's output, to show the user the reason.
std::string last_words(const Captured& run) {
  std::string text = run.errors.empty() ? run.output : run.errors;
  while (!text.empty() && text.back() == '\n') text.pop_back();
  constexpr std::size_t kLines = 12;
  std::size_t at = text.size();
  for (std::size_t lines = 0; at > 0 && lines < kLines; ++lines)
    at = text.rfind('\n', at - 1) == std::string::npos ? 0 : text.rfind('\n', at - 1);
  return text.substr(at > 0 ? at + 1 : 0);
}

}  // namespace

bool finds_our_runtime(const std::string& program) {
  const auto library = runtime_library();
  const auto content = read_whole(program, kLargestProgram);
  if (!library || !content) return false;
  const auto image = fatbin::ElfImage::open(std::as_bytes(std::span(*content)));
  if (!image) return false;
  const std::filesystem::path ours = std::filesystem::path(*library).parent_path();
  const auto paths = fatbin::run_path(*image);
  return std::any_of(paths.begin(), paths.end(), [&ours](const std::string& path) {
    std::error_code problem;
    return std::filesystem::equivalent(path, ours, problem);
  });
}

TopicResult run_topic(const Topic& topic, const RunSettings& settings) {
  TopicResult result;
  result.topic = topic.name;
  result.title = topic.title;
  result.document = topic.document;
  result.shows = topic.shows;
  if (settings.native && finds_our_runtime(topic.program)) {
    result.exit_code = -1;
    result.error =
        "linked with warpgrind's own CUDA runtime, so that nothing would be measured: build the lab with nvcc";
    return result;
  }
  const TemporaryFolder folder;
  if (folder.path.empty()) {
    result.exit_code = -1;
    result.error = folder.problem;
    return result;
  }
  const std::string rows = folder.path + "/rows.json", profile_path = folder.path + "/profile.json";
  const auto begin = std::chrono::steady_clock::now();
  const auto tick = [&settings] {
    if (settings.on_tick) settings.on_tick(settings.tick_data);
  };
  const auto run = run_captured({.words = command_line(topic, settings, rows, profile_path), .death_signal = SIGTERM},
                                {.on_tick = tick});
  if (!run) {
    result.exit_code = -1;
    result.error = run.error().message;
    return result;
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();

  const std::string text = read_whole(rows).value_or("");
  if (!text.empty()) {
    auto read = read_rows(text, rows);
    if (read) {
      result = read.take();
    } else {
      result.error = read.error().message;
    }
  }
  result.exit_code = run->end.shell_code();
  result.seconds = seconds;
  result.is_virtual = !settings.native;
  result.gpu = settings.native ? result.device.name : settings.gpu;
  if (text.empty() && result.error.empty())
    result.error = interrupted() ? "interrupted" : fmt::format("exit code {}: {}", result.exit_code, last_words(*run));
  if (!settings.native && !result.rows.empty()) {
    auto profile = results::from_json(read_whole(profile_path).value_or(""), profile_path);
    if (profile) {
      join_counters(result, *profile);
      if (settings.detail) join_kernels(result, *profile);
      if (settings.steps) join_recordings(result, *profile);
    } else {
      result.error = "no counters: " + profile.error().message;
    }
  }
  return result;
}

}  // namespace warpgrind::lab
