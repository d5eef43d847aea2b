// What a Device consists of.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "device/device.h"
#include "device/execution/state.h"
#include "device/execution/watchdog.h"
#include "device/execution/worker_team.h"
#include "device/memory/device_heap.h"
#include "device/module.h"

namespace warpgrind::device {

// Text printed by kernels, until the host asks for it. Like CUDA's buffer, it loses the oldest text when it is full.
class OutputBuffer {
 public:
  void set_limit(std::uint64_t bytes) { limit_ = bytes; }
  void append(OutputRecord record);
  void flush();

 private:
  std::mutex mutex_;
  std::deque<OutputRecord> records_;
  std::uint64_t bytes_ = 0, limit_ = std::uint64_t{1} << 20;
};

struct Device::Impl {
  Impl(Device& self, int device, const GpuModel& gpu, const Options& given);
  ~Impl();

  Result<KernelRecord*> kernel(LoadedModule& module, std::uint32_t function, const Dim3& block);
  Result<LaunchResult> launch(LoadedModule& module, std::uint32_t function, const LaunchConfig& config,
                              const std::uint8_t* parameters);  // parameters: laid out as the .param list
  Result<LaunchResult> run_grid(LoadedModule& module, std::uint32_t function, const LaunchConfig& config,
                                const std::uint8_t* parameters, std::vector<ChildLaunch>* children);
  Status run_children(LoadedModule& module, std::vector<ChildLaunch> children, LaunchResult& result);
  Status check(const LaunchConfig& config, const KernelRecord& kernel) const;
  Status open_heaps(const LoadedModule& module);
  void set_up(Launch& launch, LoadedModule& module, const KernelRecord& kernel, const LaunchConfig& config);
  void collect_results(Launch& launch, LaunchResult& result, std::vector<ChildLaunch>* children);

  Device& device;
  const int ordinal;
  const GpuModel& model;
  const Options options;
  std::vector<events::Observer*> observers;
  events::Wants wants;

  std::atomic<std::uint64_t> bytes_used{0};
  std::uint64_t heap_size = std::uint64_t{8} << 20, stack_size = 0;
  OutputBuffer output;
  DeviceHeap heap;           // malloc in kernels
  DeviceHeap launch_memory;  // parameter buffers of grids that kernels launch

  std::recursive_mutex mutex;  // one launch at a time; modules
  std::unique_ptr<jit::Compiler> compiler;
  std::vector<std::unique_ptr<LoadedModule>> modules;
  std::uint64_t parameter_area = 0;  // kernel parameters: read-only for kernels
  std::uint64_t grid_workspace = 0;  // of cooperative groups' grid barrier
  std::vector<std::unique_ptr<Worker>> workers;
  WorkerTeam team;
  Watchdog watchdog;
  Launch current;  // kept, so that request_interrupt() may look at it at any time
};

inline constexpr std::uint64_t kParameterAreaBytes = 32768;

// The launches that run now, for request_interrupt().
void enlist(Launch* launch);
void delist(Launch* launch);

}  // namespace warpgrind::device
