// Child processes of the lab. Their output is captured; Ctrl-C reaches them and ends the wait.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace warpgrind::lab {

inline constexpr double kDescribeSeconds = 20;

struct ProcessResult {
  int exit_code = -1;  // 128 + n: signal n ended it; 127: it could not be started
  std::string output, errors;
  bool timed_out = false;
};

struct ProcessSettings {
  double seconds = 0;                // 0: no limit
  std::string library{};             // the CUDA runtime that the child finds first; empty: what the loader finds
  void (*on_tick)(void*) = nullptr;  // called about five times per second while the child runs
  void* tick_data = nullptr;
};
// The child ends when this process ends.
ProcessResult run_captured(const std::vector<std::string>& arguments, const ProcessSettings& settings);

// After the first call, SIGINT and SIGTERM set a flag instead of ending this process. The children get them too.
void catch_interrupts();
bool interrupted();

}  // namespace warpgrind::lab
