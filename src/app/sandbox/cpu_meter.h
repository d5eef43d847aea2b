// CPU time of all processes of a box, also of those that have ended and for which no parent waited. Such a process
// takes its time with it: /proc shows it neither in its own line nor in its parent's.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/descriptor.h"

namespace warpgrind::sandbox {

// A line of /proc/PID/stat.
struct ProcessTime {
  int process = 0;
  std::uint64_t start = 0;  // a later process with the same number has another start
  double own = 0;           // seconds
  double reaped = 0;        // of children that it has waited for
};

// A lower bound of the time that unwaited processes took with them, from one look at the processes after another. The
// times of processes that are gone must be found in their parents. What is not found there is lost.
class LostTime {
 public:
  double add(const std::vector<ProcessTime>& processes);  // seconds lost so far

 private:
  std::map<int, ProcessTime> before_;
  double lost_ = 0;
};

class CpuMeter {
 public:
  enum class Kind { counter, cgroup, processes };

  // `first`: the box's first process, before it has children. Takes the first kind that works here: a counter of the
  // kernel (perf_event_open) or a cgroup, both exact, else the processes.
  explicit CpuMeter(pid_t first, Kind from = Kind::counter);
  ~CpuMeter();  // all processes of the box must have ended
  CpuMeter(const CpuMeter&) = delete;
  CpuMeter& operator=(const CpuMeter&) = delete;

  double seconds(const std::vector<ProcessTime>& processes);
  Kind kind() const { return kind_; }

 private:
  Kind kind_ = Kind::processes;
  Descriptor counter_;
  std::string cgroup_;  // its folder
  LostTime lost_;
};

}  // namespace warpgrind::sandbox
