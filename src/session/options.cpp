#include "session/options.h"

#include <cstdlib>
#include <nlohmann/json.hpp>

namespace warpgrind::session {

std::string encode(const RunOptions& o) {
  nlohmann::json j = {{"gpu", o.gpu},
                      {"devices", o.devices},
                      {"threads", o.threads},
                      {"json", o.json_path},
                      {"csv", o.csv_path},
                      {"launches", o.each_launch},
                      {"quiet", o.quiet},
                      {"timeout", o.timeout_seconds},
                      {"counters", o.counters},
                      {"detail", o.detail},
                      {"block_x", o.trace_block.x},
                      {"block_y", o.trace_block.y},
                      {"block_z", o.trace_block.z},
                      {"cache", o.cache_directory},
                      {"program", o.program},
                      {"command", o.command},
                      {"status", o.status_directory}};
  return j.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

namespace {
template <class T>
void take(const nlohmann::json& j, const char* key, T& field) {
  auto found = j.find(key);
  if (found == j.end()) return;
  if constexpr (std::is_same_v<T, std::string>) {
    if (found->is_string()) field = found->template get<std::string>();
  } else if constexpr (std::is_same_v<T, bool>) {
    if (found->is_boolean()) field = found->template get<bool>();
  } else {
    if (found->is_number()) field = found->template get<T>();
  }
}
}  // namespace

Result<RunOptions> decode(std::string_view text) {
  nlohmann::json j = nlohmann::json::parse(text, nullptr, false);
  if (!j.is_object())
    return Error{ErrorKind::bad_input, "the environment variable WARPGRIND_OPTIONS is not a JSON object",
                 "It is set by `warpgrind run`; unset it to use the defaults."};
  RunOptions o;
  take(j, "gpu", o.gpu);
  take(j, "devices", o.devices);
  take(j, "threads", o.threads);
  take(j, "json", o.json_path);
  take(j, "csv", o.csv_path);
  take(j, "launches", o.each_launch);
  take(j, "quiet", o.quiet);
  take(j, "timeout", o.timeout_seconds);
  take(j, "counters", o.counters);
  take(j, "detail", o.detail);
  take(j, "block_x", o.trace_block.x);
  take(j, "block_y", o.trace_block.y);
  take(j, "block_z", o.trace_block.z);
  take(j, "cache", o.cache_directory);
  take(j, "program", o.program);
  take(j, "command", o.command);
  take(j, "status", o.status_directory);
  return o;
}

std::string default_cache_directory() {
  if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg && *xdg) return std::string(xdg) + "/warpgrind";
  if (const char* home = std::getenv("HOME"); home && *home) return std::string(home) + "/.cache/warpgrind";
  return {};
}

}  // namespace warpgrind::session
