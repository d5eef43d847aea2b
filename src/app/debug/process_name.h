// What a process is called when a program has several: its number, its program, and its rank in an MPI job.
#pragma once

#include <sys/types.h>

#include <string>

namespace warpgrind::debug {

struct ProcessName {
  pid_t id = 0;
  std::string program;       // path of its executable; empty: it has ended, or is another user's
  std::string rank;          // empty: no MPI launcher has started it
  std::string text() const;  // "process 1234, rank 1"
};
// Reads /proc.
ProcessName name_of_process(pid_t id);

}  // namespace warpgrind::debug
