// Programs as children: their output is captured, Ctrl-C reaches them and ends the wait.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace warpgrind::lab {

inline constexpr double kDescribeSeconds = 20;

struct ProcessResult {
  int exit_code = -1;  // 128 + n: ended by signal n; 127: could not be started
  std::string output, errors;
  bool timed_out = false;
};

struct ProcessSettings {
  double seconds = 0;                // 0 waits for ever
  std::string library{};             // the CUDA runtime that it finds first; empty: what the loader finds
  void (*on_tick)(void*) = nullptr;  // called about five times a second while the child runs
  void* tick_data = nullptr;
};
// The child ends with this process.
ProcessResult run_captured(const std::vector<std::string>& arguments, const ProcessSettings& settings);

// From the first call on SIGINT and SIGTERM no longer end this process but set this flag (the children get them too).
void catch_interrupts();
bool interrupted();

}  // namespace warpgrind::lab
