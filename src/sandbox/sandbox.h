// Programs that nobody vouches for, in a box: no network, a read-only system, one folder to write to that is gone with
// the box, and limits of everything that a machine can run out of. Host code runs natively, so that the box must hold
// against a program that wants out: bubblewrap makes the namespaces, seccomp takes the system calls away that are for
// leaving them, and the limits are watched from outside.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace warpgrind::sandbox {

struct Limits {
  double cpu_seconds = 20;  // of all processes of the job together
  double wall_seconds = 60;
  std::uint64_t memory_bytes =
      2ull << 30;                        // resident, of all processes together, and what lies in their files in memory
  int processes = 128;                   // and threads
  std::uint64_t output_bytes = 1 << 20;  // standard output and standard error
  std::uint64_t disk_bytes = 256 << 20;  // of the work folder and /tmp together; they are in memory
  int files = 4096;                      // there
};

// Where a job finds its work folder, which is its current folder.
inline constexpr const char* kWorkFolder = "/tmp/box";

struct Job {
  std::vector<std::string> command;  // the program: a path in the box, or a name in /usr/bin
  // What lies in it is copied into the box, and what the job has written there is copied back when it has ended:
  // regular files and folders only. Empty: nothing of both.
  std::filesystem::path work;
  std::vector<std::filesystem::path> readable;  // absolute, seen under the same path; what is not there is left out;
                                                // as root, what nobody but root may read stays closed
  std::vector<std::pair<std::string, std::string>> environment;  // besides PATH, HOME, TMPDIR and LANG
  Limits limits;
  std::function<void(std::string_view)> on_output;  // as it arrives, from the thread that called
};

enum class Ending { exited, signalled, cpu_time, wall_time, memory, processes, output, disk, cancelled };

struct End {
  Ending how = Ending::exited;
  int code = 0;  // exit code, or signal
  std::string output;
  double cpu_seconds = 0;
  double wall_seconds = 0;
  std::uint64_t peak_memory = 0;
  bool ok() const { return how == Ending::exited && code == 0; }
};
// One line for people: "exit code 3", "killed by signal 11 (Segmentation fault)", "stopped: more than 20 s of CPU
// time".
std::string text_of(const End& end, const Limits& limits);

// An error is that there is no sandbox, or that the job was not described well; whatever the program does is an End.
Result<End> run(const Job& job, std::stop_token cancel = {});

// Without a box: as this user, who vouches for the program. Holds the limits of CPU time of one process, of time and of
// output, and ends what the program has started in its session. It is for machines where there is no box; nothing is
// readable that is not for this user, and job.readable means nothing.
Result<End> run_without_box(const Job& job, std::stop_token cancel = {});

// Empty: programs can be boxed on this machine. Otherwise what is missing and what to do. Tried once, by a run.
const std::string& why_none();

}  // namespace warpgrind::sandbox
