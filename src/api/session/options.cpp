// Encoding of the options as JSON, and the default cache folder.
#include "session/options.h"

#include <sys/stat.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/json.h"

namespace warpgrind::session {

std::string encode(const RunOptions& o) {
  nlohmann::json j = {{"gpu", o.gpu},
                      {"devices", o.devices},
                      {"threads", o.threads},
                      {"json", o.json_path},
                      {"csv", o.csv_path},
                      {"work", o.work_path},
                      {"launches", o.each_launch},
                      {"quiet", o.quiet},
                      {"timeout", o.timeout_seconds},
                      {"stall", o.stall_seconds},
                      {"slow", o.slow_seconds},
                      {"hold", o.hold_compilation},
                      {"counters", o.counters},
                      {"kernel_name", o.launches.kernel_name},
                      {"kernel_name_base", o.launches.name_base},
                      {"launch_skip", o.launches.skip},
                      {"launch_count", o.launches.count},
                      {"blocks", o.blocks},
                      {"despite_data", o.despite_data},
                      {"caches", o.caches},
                      {"kernels", o.kernels},
                      {"bounds_stop", o.bounds_stop},
                      {"schedule", device::name(o.schedule)},
                      {"schedules", o.schedules},
                      {"detail", o.detail},
                      {"steps", o.steps},
                      {"steps_of_ranges", o.steps_of_ranges},
                      {"steps_kib", o.steps_kib},
                      {"fill", o.fill},
                      {"track_unused_memory", o.track_unused_memory},
                      {"block_x", o.trace_block.x},
                      {"block_y", o.trace_block.y},
                      {"block_z", o.trace_block.z},
                      {"cache", o.cache_directory},
                      {"program", o.program},
                      {"command", o.command},
                      {"executable", o.executable},
                      {"status", o.status_directory},
                      {"core", o.core_path},
                      {"core_bytes", o.core_bytes},
                      {"debug_socket", o.debug_socket},
                      {"debug_history", o.debug_history}};
  for (const auto& [group, member] : checkers::kGroups) j["check_" + std::string(group)] = o.checks.*member;
  return j.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Result<RunOptions> decode(std::string_view text) {
  nlohmann::json j = nlohmann::json::parse(text, nullptr, false);
  if (!j.is_object())
    return Error{ErrorKind::bad_input, "the environment variable WARPGRIND_OPTIONS is not a JSON object",
                 "It is set by `warpgrind run`; unset it to use the defaults."};
  RunOptions o;
  json::read(j, "gpu", o.gpu);
  json::read(j, "devices", o.devices);
  json::read(j, "threads", o.threads);
  json::read(j, "json", o.json_path);
  json::read(j, "csv", o.csv_path);
  json::read(j, "blocks", o.blocks);
  json::read(j, "despite_data", o.despite_data);
  json::read(j, "work", o.work_path);
  json::read(j, "launches", o.each_launch);
  json::read(j, "quiet", o.quiet);
  json::read(j, "timeout", o.timeout_seconds);
  json::read(j, "stall", o.stall_seconds);
  json::read(j, "slow", o.slow_seconds);
  json::read(j, "hold", o.hold_compilation);
  json::read(j, "counters", o.counters);
  json::read(j, "kernel_name", o.launches.kernel_name);
  json::read(j, "kernel_name_base", o.launches.name_base);
  json::read(j, "launch_skip", o.launches.skip);
  json::read(j, "launch_count", o.launches.count);
  json::read(j, "caches", o.caches);
  json::read(j, "kernels", o.kernels);
  json::read(j, "bounds_stop", o.bounds_stop);
  std::string schedule;
  json::read(j, "schedule", schedule);
  o.schedule = device::read_schedule(schedule).value_or(o.schedule);
  json::read(j, "schedules", o.schedules);
  json::read(j, "detail", o.detail);
  json::read(j, "steps", o.steps);
  json::read(j, "steps_of_ranges", o.steps_of_ranges);
  json::read(j, "steps_kib", o.steps_kib);
  json::read(j, "fill", o.fill);
  json::read(j, "track_unused_memory", o.track_unused_memory);
  json::read(j, "block_x", o.trace_block.x);
  json::read(j, "block_y", o.trace_block.y);
  json::read(j, "block_z", o.trace_block.z);
  json::read(j, "cache", o.cache_directory);
  json::read(j, "program", o.program);
  json::read(j, "command", o.command);
  json::read(j, "executable", o.executable);
  json::read(j, "status", o.status_directory);
  json::read(j, "core", o.core_path);
  json::read(j, "core_bytes", o.core_bytes);
  json::read(j, "debug_socket", o.debug_socket);
  json::read(j, "debug_history", o.debug_history);
  for (const auto& [group, member] : checkers::kGroups)
    json::read(j, ("check_" + std::string(group)).c_str(), o.checks.*member);
  return o;
}

std::string default_cache_directory() {
  if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg && *xdg) return std::string(xdg) + "/warpgrind";
  // A home folder that does not exist (HOME=/nonexistent, as for services) counts as none. It is never created.
  struct stat info {};
  if (const char* home = std::getenv("HOME"); home && *home && stat(home, &info) == 0 && S_ISDIR(info.st_mode))
    return std::string(home) + "/.cache/warpgrind";
  return {};
}

}  // namespace warpgrind::session
