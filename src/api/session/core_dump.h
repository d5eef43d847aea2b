// Core files of the run (RunOptions::core_path): the start of each launch is kept, and written if the launch faults.
// One file for each process, of its first fault. Thread-safe. Lives as long as the session.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "device/device.h"
#include "device/memory/memory_snapshot.h"
#include "session/devices.h"
#include "session/launch_request.h"
#include "session/messages.h"
#include "session/options.h"

namespace warpgrind::session {

// Memory at the start of a launch that runs.
class LaunchStart {
 public:
  LaunchStart(std::uint64_t limit, const void* kernel);  // of KeptMemory::begin()
  ~LaunchStart();
  LaunchStart(const LaunchStart&) = delete;
  LaunchStart& operator=(const LaunchStart&) = delete;
  const device::MemorySnapshot& memory() const { return memory_; }
  std::string why_lost() const;  // empty: the memory is known

 private:
  device::MemorySnapshot memory_;
};

class CoreDump {
 public:
  // All arguments outlive this object.
  CoreDump(const RunOptions& options, const Devices& devices, Messages& messages)
      : options_(options), devices_(devices), messages_(messages) {}

  // Before a launch runs. Null: no core file is wanted any more.
  std::unique_ptr<LaunchStart> keep_start(const LaunchRequest& request) const;
  // After it has run. If it has faulted, the core file is written, or a line says why there is none.
  void write_after(const LaunchStart& start, const LaunchRequest& request, const device::LoadedModule& module,
                   const device::LaunchResult& result);

 private:
  Result<std::string> write(const LaunchStart& start, const LaunchRequest& request, const device::LoadedModule& module,
                            const device::Fault& fault) const;
  std::string why_not_repeatable(const LaunchStart& start, const LaunchRequest& request,
                                 const device::LoadedModule& module, const device::Fault& fault) const;

  const RunOptions& options_;
  const Devices& devices_;
  Messages& messages_;
  std::atomic<bool> done_{false};
};

// CUDA_COREDUMP_FILE's patterns: %h is the host's name, %p the process, %t the time in seconds since 1970.
std::string expand_core_path(const std::string& pattern);

}  // namespace warpgrind::session
