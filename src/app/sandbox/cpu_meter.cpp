#include "sandbox/cpu_meter.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <string_view>

#include "base/file.h"

namespace warpgrind::sandbox {

namespace {

// A counter that children inherit, and that keeps their time when they end.
int open_counter(pid_t first) {
  perf_event_attr about{};
  about.size = sizeof about;
  about.type = PERF_TYPE_SOFTWARE;
  about.config = PERF_COUNT_SW_TASK_CLOCK;
  about.inherit = 1;
  about.exclude_kernel = 1;  // wanted from users without privileges; this clock counts time in the kernel, too
  about.exclude_hv = 1;
  return static_cast<int>(syscall(SYS_perf_event_open, &about, first, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

std::string unified_mount() {
  for (const char* folder : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"})
    if (access(fmt::format("{}/cgroup.controllers", folder).c_str(), F_OK) == 0) return folder;
  return "";
}

// A cgroup below this process's own, with the process `first` in it; empty: not possible here. A service needs
// Delegate=yes. Every cgroup of version 2 counts its time.
std::string make_cgroup(pid_t first) {
  const std::string mount = unified_mount();
  const std::string own = read_whole("/proc/self/cgroup").value_or("");
  const std::size_t line = own.starts_with("0::") ? 0 : own.find("\n0::") + 1;
  if (mount.empty() || own.compare(line, 3, "0::") != 0) return "";
  const std::string path = own.substr(line + 3, own.find('\n', line) - line - 3);
  static std::atomic<unsigned> serial{0};
  std::string folder = fmt::format("{}{}/warpgrind-{}-{}", mount, path == "/" ? "" : path, getpid(), serial++);
  if (mkdir(folder.c_str(), 0755) != 0) return "";
  const Descriptor members(open((folder + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
  const std::string number = std::to_string(first);
  if (members.get() >= 0 && write(members.get(), number.data(), number.size()) == static_cast<ssize_t>(number.size()))
    return folder;
  rmdir(folder.c_str());
  return "";
}

double seconds_of_cgroup(const std::string& folder) {
  const std::string text = read_whole(folder + "/cpu.stat").value_or("");
  constexpr std::string_view kKey = "usage_usec ";
  const std::size_t at = text.find(kKey);
  std::uint64_t microseconds = 0;
  if (at != std::string::npos) std::from_chars(text.data() + at + kKey.size(), text.data() + text.size(), microseconds);
  return static_cast<double>(microseconds) * 1e-6;
}

}  // namespace

double LostTime::add(const std::vector<ProcessTime>& processes) {
  std::map<int, ProcessTime> now;
  double gone = 0, reaped = 0;
  for (const ProcessTime& process : processes) {
    now[process.process] = process;
    reaped += process.reaped;
    const auto was = before_.find(process.process);
    if (was != before_.end() && was->second.start == process.start) reaped -= was->second.reaped;
  }
  for (const auto& [number, was] : before_) {
    const auto still = now.find(number);
    if (still == now.end() || still->second.start != was.start) gone += was.own + was.reaped;
  }
  lost_ += std::max(0.0, gone - reaped);
  before_ = std::move(now);
  return lost_;
}

CpuMeter::CpuMeter(pid_t first, Kind from) {
  if (from == Kind::counter) counter_.reset(open_counter(first));
  if (counter_.get() >= 0) {
    kind_ = Kind::counter;
    return;
  }
  if (from != Kind::processes) cgroup_ = make_cgroup(first);
  if (!cgroup_.empty()) kind_ = Kind::cgroup;
}

CpuMeter::~CpuMeter() {
  if (!cgroup_.empty()) rmdir(cgroup_.c_str());
}

double CpuMeter::seconds(const std::vector<ProcessTime>& processes) {
  double living = 0;
  for (const ProcessTime& process : processes) living += process.own + process.reaped;
  double exact = 0;
  std::uint64_t nanoseconds = 0;
  if (kind_ == Kind::counter && read(counter_.get(), &nanoseconds, sizeof nanoseconds) == sizeof nanoseconds)
    exact = static_cast<double>(nanoseconds) * 1e-9;
  if (kind_ == Kind::cgroup) exact = seconds_of_cgroup(cgroup_);
  return std::max(exact, kind_ == Kind::processes ? living + lost_.add(processes) : living);
}

}  // namespace warpgrind::sandbox
