#include "lab/run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "base/temporary_folder.h"
#include "lab/process.h"
#include "results/json.h"

namespace warpgrind::lab {

namespace {

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> command_line(const Topic& topic, const RunSettings& s, const std::string& rows,
                                      const std::string& profile) {
  std::vector<std::string> line;
  if (!s.native) {
    line = {s.warpgrind, "run", "--quiet", "--gpu", s.gpu, "--json", profile};
    if (s.threads > 0) line.insert(line.end(), {"--threads", std::to_string(s.threads)});
    if (s.timeout_seconds > 0) line.insert(line.end(), {"--timeout", fmt::format("{}", s.timeout_seconds)});
    if (s.no_cache)
      line.push_back("--no-cache");
    else if (!s.cache.empty())
      line.insert(line.end(), {"--cache", s.cache});
    // A topic for several GPUs says how many with its own option; the virtual machine must have that many.
    if (const TopicOption* devices = topic.option("devices")) {
      std::string count = devices->fallback;
      for (const auto& [name, value] : s.options)
        if (name == "devices") count = value;
      line.insert(line.end(), {"--devices", count});
    }
  }
  line.insert(line.end(), {topic.program, "--json", rows});
  if (s.full) line.push_back("--full");
  if (!s.sizes.empty()) line.insert(line.end(), {"--sizes", s.sizes});
  if (!s.type.empty()) line.insert(line.end(), {"--type", s.type});
  for (const std::string& rung : s.rungs) line.insert(line.end(), {"--rung", rung});
  for (const auto& [name, value] : s.options)
    if (topic.option(name)) line.insert(line.end(), {"--" + name, value});
  return line;
}

void join_counters(TopicResult& topic, const results::Profile& profile) {
  std::map<std::string, const results::KernelProfile*> by_range;
  for (const results::KernelProfile& r : profile.ranges) by_range[r.range] = &r;
  for (Row& row : topic.rows)
    if (const auto it = by_range.find(row.range); it != by_range.end()) row.metrics = it->second->metrics;
}

// The last lines a program left, for the user to see why.
std::string last_words(const ProcessResult& run) {
  std::string text = run.errors.empty() ? run.output : run.errors;
  while (!text.empty() && text.back() == '\n') text.pop_back();
  constexpr std::size_t kLines = 12;
  std::size_t at = text.size();
  for (std::size_t lines = 0; at > 0 && lines < kLines; ++lines)
    at = text.rfind('\n', at - 1) == std::string::npos ? 0 : text.rfind('\n', at - 1);
  return text.substr(at > 0 ? at + 1 : 0);
}

}  // namespace

TopicResult run_topic(const Topic& topic, const RunSettings& settings) {
  TopicResult result;
  result.topic = topic.name;
  result.title = topic.title;
  result.document = topic.document;
  result.shows = topic.shows;
  const TemporaryFolder folder;
  if (folder.path.empty()) {
    result.exit_code = -1;
    result.error = folder.problem;
    return result;
  }
  const std::string rows = folder.path + "/rows.json", profile_path = folder.path + "/profile.json";
  const auto begin = std::chrono::steady_clock::now();
  const ProcessResult run = run_captured(command_line(topic, settings, rows, profile_path),
                                         {.on_tick = settings.on_tick, .tick_data = settings.tick_data});
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();

  const std::string text = contents(rows);
  if (!text.empty()) {
    auto read = read_rows(text, rows);
    if (read) {
      result = read.take();
    } else {
      result.error = read.error().message;
    }
  }
  result.exit_code = run.exit_code;
  result.seconds = seconds;
  result.is_virtual = !settings.native;
  result.gpu = settings.native ? result.device.name : settings.gpu;
  if (text.empty() && result.error.empty())
    result.error = interrupted() ? "interrupted" : fmt::format("exit code {}: {}", run.exit_code, last_words(run));
  if (!settings.native && !result.rows.empty()) {
    auto profile = results::from_json(contents(profile_path), profile_path);
    if (profile) {
      join_counters(result, *profile);
    } else {
      result.error = "no counters: " + profile.error().message;
    }
  }
  return result;
}

}  // namespace warpgrind::lab
