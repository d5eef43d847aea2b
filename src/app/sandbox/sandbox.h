// Sandbox for programs that are not trusted: no network, a read-only system, one writable folder that disappears with
// the box, and a limit for every resource that a machine can run out of. Host code runs natively, so the box must
// withstand a program that tries to escape. bubblewrap makes the namespaces, seccomp blocks the system calls used to
// leave them, and this process checks the limits from outside.
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
  // Resident memory of all processes together, plus the content of their memory files.
  std::uint64_t memory_bytes = 2ull << 30;
  int processes = 128;                   // including threads
  std::uint64_t output_bytes = 1 << 20;  // standard output and standard error
  std::uint64_t disk_bytes = 256 << 20;  // of the work folder and /tmp together; both are in memory
  int files = 4096;                      // in both folders
  std::uint64_t file_bytes = 64 << 20;   // of one file that leaves the box; larger ones stay and are lost
};

// The job's work folder inside the box; also its current folder.
inline constexpr const char* kWorkFolder = "/tmp/box";

struct Job {
  std::vector<std::string> command;  // a path in the box, or a name in /usr/bin
  // Folder whose content is copied into the box. When the job has ended, its files there are copied back: regular files
  // and folders only. Empty: no copies.
  std::filesystem::path work;
  std::vector<std::string> taken;  // names in that folder of what is copied back; empty: everything
  // Absolute paths, visible in the box under the same path; missing ones are left out. If warpgrind runs as root, files
  // that only root may read stay unreadable.
  std::vector<std::filesystem::path> readable;
  std::vector<std::pair<std::string, std::string>> environment;  // in addition to PATH, HOME, TMPDIR and LANG
  Limits limits;
  std::function<void(std::string_view)> on_output;  // called as output arrives, in the thread that called run()
};

enum class Ending { exited, signalled, cpu_time, wall_time, memory, processes, output, disk, cancelled };

struct End {
  Ending how = Ending::exited;
  int code = 0;  // exit code, or signal
  std::string output;
  double cpu_seconds = 0;
  double wall_seconds = 0;
  std::uint64_t peak_memory = 0;
  std::vector<std::string> too_large;  // files that were not copied back, with their paths in the work folder
  bool ok() const { return how == Ending::exited && code == 0; }
};
// One line for people: "exit code 3", "killed by signal 11 (Segmentation fault)", "stopped: more than 20 s of CPU
// time".
std::string text_of(const End& end, const Limits& limits);

// An error means that there is no sandbox, or that the job is not valid. Whatever the program does is an End.
Result<End> run(const Job& job, std::stop_token cancel = {});

// Runs the job without a box, as the current user; only for trusted programs. It limits the CPU time of one process,
// the time and the output, and ends all processes of the program's session. For machines without a sandbox. The program
// can read whatever this user can read; job.readable has no effect.
Result<End> run_without_box(const Job& job, std::stop_token cancel = {});

// Empty: programs can be boxed on this machine. Otherwise: what is missing and what to do. The first call finds out by
// running a program.
const std::string& why_none();

}  // namespace warpgrind::sandbox
