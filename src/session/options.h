// What the user asked for, decided once by the CLI and handed to the process under test as one JSON environment
// variable. Nothing below reads the environment.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "checkers/selection.h"
#include "device/schedule.h"
#include "gpu/types.h"
#include "session/launch_choice.h"

namespace warpgrind::session {

struct RunOptions {
  std::string gpu = "h200";
  unsigned devices = 1;
  unsigned threads = 0;  // worker threads; 0: all cores
  std::string json_path, csv_path;
  std::string work_path;  // what each launch asked of the GPU, as the time model reads it
  bool each_launch = false;
  bool quiet = false;
  double timeout_seconds = 0;     // wall clock of the run; 0: none
  double slow_seconds = 2;        // after which a line says what is being compiled
  bool hold_compilation = false;  // for tests: what is being compiled for so long is never done
  bool counters = true;
  LaunchFilter launches;             // which are counted
  std::uint64_t blocks = 0;          // of each launch about so many run, and the counts are scaled; 0: all
  bool caches = true;                // with counters: modelled ones, from some blocks of each launch
  bool bounds_stop = true;           // false: an access outside an allocation is said, and goes on as on a GPU
  device::Schedule schedule;         // in which every launch runs
  unsigned schedules = 1;            // `warpgrind check`: how many orders each launch is tried in, that one included
  Dim3 trace_block{0, 0, 0};         // with detail: the block whose accesses are kept in order
  bool detail = false;               // also how requests looked, counters by line, sources: for reports
  checkers::Selection checks;        // `warpgrind check`
  bool tell_at_signals = false;      // SIGTERM and SIGINT: the profile is written first, as checks tell what they found
  bool track_unused_memory = false;  // with the checks of init: allocations that nobody writes are told
  int fill = -1;                     // the byte that memory holds which nobody has written; -1: as it comes
  std::string cache_directory;       // empty: no cache
  std::string program, command;
  std::string executable;  // what `program` is started as: other executables of the run name themselves
  // Where processes of the run leave notes for the CLI: who uses CUDA, what went wrong. Empty: started without the CLI.
  std::string status_directory;
};

inline constexpr const char* kOptionsVariable = "WARPGRIND_OPTIONS";

std::string encode(const RunOptions& options);
Result<RunOptions> decode(std::string_view json);

// ~/.cache/warpgrind or its XDG equivalent; empty when there is no home folder.
std::string default_cache_directory();

}  // namespace warpgrind::session
