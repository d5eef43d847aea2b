// Options of a run. The CLI decides them once and passes them to the process under test as JSON in one environment
// variable, so that lower layers need not read the environment.
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
  std::string work_path;  // output file: the work of each launch, as input of the time model
  bool each_launch = false;
  bool quiet = false;
  double timeout_seconds = 0;     // wall clock of the run; 0: none
  double stall_seconds = 0;       // CPU time in which a block of a running kernel must end; 0: no limit
  double slow_seconds = 2;        // after this time of compiling a kernel, a line names it
  bool hold_compilation = false;  // for tests: a compilation that takes that long never ends
  bool kernels = true;            // false: launches run no block, to see what a program's results owe to its kernels
  bool counters = true;
  LaunchFilter launches;         // the launches that are counted
  std::uint64_t blocks = 0;      // about this many of each launch run, and the counts are scaled; 0: all
  bool despite_data = false;     // with `blocks`: of kernels that depend on data, too
  bool caches = true;            // with `counters`: also model caches, from some blocks of each launch
  bool bounds_stop = true;       // false: an access outside an allocation is reported, and goes on as on a GPU
  device::Schedule schedule;     // order of blocks and warps in every launch
  unsigned schedules = 1;        // `warpgrind check`: number of orders each launch is tried in, including `schedule`
  Dim3 trace_block{0, 0, 0};     // with `detail`: the block whose accesses are kept in order
  bool detail = false;           // for reports: also request patterns, counters by line, sources
  bool steps = false;            // record the steps of that block, in the first counted launch of each kernel
  bool steps_of_ranges = false;  // the same in each NVTX range
  unsigned steps_kib = 1536;     // most KiB of such a recording
  checkers::Selection checks;    // `warpgrind check`
  bool track_unused_memory = false;  // with the checks of init: report allocations that are never written
  int fill = -1;                     // initial value of each byte of memory; -1: unspecified
  std::string cache_directory;       // empty: no cache
  std::string program, command;
  std::string executable;  // file of `program`; other executables of the run appear under their own names
  // Folder where processes of the run leave notes for the CLI: that they use CUDA, and problems. Empty: started without
  // the CLI.
  std::string status_directory;
  std::string core_path;         // file for the first launch that faults (core_dump.h), with %h, %p, %t; empty: none
  std::uint64_t core_bytes = 0;  // most bytes of memory in it
  // Path at which the debugger's front listens (docs/debugging-protocol.md); empty: nothing is debugged.
  std::string debug_socket;
  // Under the debugger: most memory, in MiB, that is kept of launches that have ended, so that it can enter them again.
  unsigned debug_history = 64;
};

inline constexpr const char* kOptionsVariable = "WARPGRIND_OPTIONS";

std::string encode(const RunOptions& options);
Result<RunOptions> decode(std::string_view json);

// ~/.cache/warpgrind or its XDG equivalent; empty when there is no home folder.
std::string default_cache_directory();

}  // namespace warpgrind::session
