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

// seconds: 0 waits for ever. on_tick is called about five times a second while the child runs.
ProcessResult run_captured(const std::vector<std::string>& arguments, double seconds = 0,
                           void (*on_tick)(void*) = nullptr, void* tick_data = nullptr);

// From the first call on SIGINT and SIGTERM no longer end this process but set this flag (the children get them too).
void catch_interrupts();
bool interrupted();

}  // namespace warpgrind::lab
