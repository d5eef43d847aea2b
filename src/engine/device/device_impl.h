// Implementation of Device: its parts and internal functions.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "device/better_code.h"
#include "device/device.h"
#include "device/memory/device_heap.h"
#include "device/memory/memory_snapshot.h"
#include "device/module.h"
#include "device/state.h"
#include "device/watchdog.h"
#include "device/worker_team.h"
#include "gpu/launch_limits.h"

namespace warpgrind::device {

// Buffer of text printed by kernels, until the host flushes it. Like CUDA's buffer, it loses the oldest text when full.
class OutputBuffer {
 public:
  void set_limit(std::uint64_t bytes) { limit_ = bytes; }
  void append(OutputRecord record);
  void flush();
  void flush_when_half_full();

 private:
  void write_all();  // under mutex_

  std::mutex mutex_;
  std::deque<OutputRecord> records_;
  std::uint64_t bytes_ = 0;
  std::atomic<std::uint64_t> limit_{std::uint64_t{1} << 20};
};

inline constexpr std::uint64_t kParameterAreaBytes = 32768;

// Resources of one running grid: workers, and the memory that belongs to a launch. Concurrent grids have one each.
struct Engine {
  Engine(unsigned worker_count, unsigned first_number);
  ~Engine();
  Status open(int ordinal);

  std::uint64_t parameter_area = 0;  // kernel parameters: read-only for kernels
  std::uint64_t grid_workspace = 0;  // for the grid barrier of cooperative groups
  std::vector<std::unique_ptr<Worker>> workers;
  WorkerTeam team;
  std::uint64_t work = 0;  // StreamWork::id of the host's launch
  KeptBuffers kept;
  MemorySnapshot before;  // under a debugger: memory when the launch began
  // The running grid, for those that stop it from outside (watchdog.h); null: none runs.
  std::atomic<Launch*> running{nullptr};
  bool busy = false;                        // under Device::Impl::engine_mutex
  std::atomic<unsigned> active_workers{0};  // of the running grid; 0: none runs
};

// Logs of launches that may repeat with the same kernel, shape and arguments. Arguments that decide neither branches
// nor addresses (q0sqr in Rodinia's srad) may differ, once the kernel has been launched with some other arguments. If
// all addresses are affine, the second launch needs no log. Otherwise the fourth needs none, if three had equal counts.
// A kernel whose counts then change (they depend on data) is logged every time.
class RepeatedLogs {
 public:
  using Key = std::string;
  Key key_of(const Launch& launch, const std::vector<std::uint8_t>& arguments);
  std::shared_ptr<const events::AccessLog> find(const Key& key) const;
  // digest: digest of all exact counts of the launch.
  void keep(const Launch& launch, const Key& key, std::shared_ptr<const events::AccessLog> log, std::uint64_t digest);
  void compare(const Launch& launch, const Key& key, std::uint64_t digest);
  void clear() {
    const std::lock_guard lock(mutex_);
    logs_.clear();
    varying_.clear();
    new_keys_.clear();
  }

 private:
  static constexpr std::size_t kMost = 4096;
  static constexpr unsigned kSure = 3;
  static constexpr unsigned kOften = 8;  // new keys of a kernel, before its parameters are looked at
  struct Kept {
    std::shared_ptr<const events::AccessLog> log;
    std::uint64_t digest = 0;
    unsigned times = 0;  // launches with this digest; at kSure it is not logged again
  };
  mutable std::mutex mutex_;
  std::unordered_map<Key, Kept> logs_;
  std::set<const KernelRecord*> varying_;
  std::unordered_map<const KernelRecord*, unsigned> new_keys_;
};

// Parameter buffers that device code has requested but not launched yet, by address. Not stored in front of the buffer,
// where kernels could overwrite it.
struct LaunchBuffer {
  std::uint32_t function = 0;
  LaunchConfig config;
  std::uint64_t bytes = 0;
};
class LaunchBuffers {
 public:
  using All = std::unordered_map<std::uint64_t, LaunchBuffer>;
  void add(std::uint64_t address, const LaunchBuffer& buffer) {
    const std::lock_guard lock(mutex_);
    buffers_[address] = buffer;
  }
  std::optional<LaunchBuffer> take(std::uint64_t address) {
    const std::lock_guard lock(mutex_);
    auto node = buffers_.extract(address);
    if (node.empty()) return std::nullopt;
    return node.mapped();
  }
  All keep() {
    const std::lock_guard lock(mutex_);
    return buffers_;
  }
  void restore(const All& kept) {
    const std::lock_guard lock(mutex_);
    buffers_ = kept;
  }

 private:
  std::mutex mutex_;
  All buffers_;
};

// Device::Impl's heap, launch_memory and launch_buffers at the beginning of a launch.
struct KernelHeaps {
  std::shared_ptr<const DeviceHeap::Pieces> heap, launch_memory;
  LaunchBuffers::All launch_buffers;
};

struct Device::Impl {
  Impl(Device& self, int device, const GpuModel& gpu, const Options& given);
  ~Impl();

  Result<KernelRecord*> kernel(LoadedModule& module, std::uint32_t function, const Dim3& block, bool counted,
                               bool clusters);
  Result<KernelRecord*> checked_kernel(LoadedModule& module, std::uint32_t function, const LaunchConfig& config);
  Result<LaunchResult> launch(LoadedModule& module, std::uint32_t function, const LaunchConfig& config,
                              const PackedParameters& parameters, std::uint64_t work);
  Result<LaunchResult> run_grid(Engine& engine, LoadedModule& module, std::uint32_t function,
                                const LaunchConfig& config, const PackedParameters& parameters, unsigned depth,
                                std::vector<ChildLaunch>* children);
  Status run_children(Engine& engine, LoadedModule& module, std::vector<ChildLaunch> children, LaunchResult& result);
  LaunchResult run_planned(Engine& engine, Launch& launch, KernelRecord& kernel, const PackedParameters& parameters,
                           unsigned interrupts_before, std::vector<ChildLaunch>* children);
  const MemorySnapshot* keep_memory(Engine& engine, const LoadedModule& module, const KernelRecord& kernel) const;
  KernelHeaps keep_heaps();
  void restore_heaps(const KernelHeaps& heaps);
  void restore(const MemorySnapshot& memory, const KernelHeaps& heaps);
  void run_earlier(Engine& engine, const MemorySnapshot& before, const KernelHeaps& heaps, std::uint64_t back);
  Status check(const LaunchConfig& config, const KernelRecord& kernel) const;
  Status open_heaps(const LoadedModule& module);
  Result<Engine*> take_engine();
  void give_back(Engine& engine);
  // Steps of run_grid(), in order.
  bool is_watched() const { return options.timeout_seconds > 0 || options.stall_seconds > 0; }
  Status start_watchdog();
  Launch make_launch(Engine& engine, LoadedModule& module, const KernelRecord& kernel, const LaunchConfig& config,
                     unsigned depth);
  void start_clocks(Engine& engine, Launch& launch) const;
  void ask_observers(Engine& engine, Launch& launch);
  std::shared_ptr<const events::AccessLog> find_repeated(Launch& launch, const RepeatedLogs::Key& key) const;
  void begin_supervision(Engine& engine, Launch& launch, unsigned interrupts_before);
  void run_blocks(Engine& engine, Launch& launch, KernelRecord& kernel, LaunchResult& result);
  // Returns the number of blocks that ran (execution/some_blocks.h).
  std::uint64_t run_some_blocks(Engine& engine, Launch& launch, LaunchResult& result);
  void end_supervision(Engine& engine, Launch& launch);
  void collect_results(Engine& engine, Launch& launch, LaunchResult& result, std::vector<ChildLaunch>* children);
  void finish_log(Engine& engine, Launch& launch, const RepeatedLogs::Key& key,
                  const std::shared_ptr<const events::AccessLog>& repeated, events::LaunchCounts& counts);
  void report_end(const Launch& launch, const events::LaunchCounts& counts);

  Device& device;
  const int ordinal;
  const GpuModel& model;
  const Options options;
  Schedule schedule;
  bool alone = false;                    // as in Device::set_schedule
  events::Audience observers;            // by Observer::wants(): for host events and for compiling kernels
  std::mutex observer_mutex;             // guards begin and end of launches
  events::Wants wants;                   // union over all observers, and the device's own needs
  const ShadowMemory* shadow = nullptr;  // set if an observer wants undefined uses and the host has room to track them

  std::atomic<std::uint64_t> bytes_used{0};
  std::atomic<std::uint64_t> heap_size{std::uint64_t{8} << 20}, stack_size{kDefaultStackBytes};
  std::atomic<std::uint64_t> cycles{0};  // SM clock at the end of the last kernel that read it
  OutputBuffer output;
  DeviceHeap heap;           // malloc in kernels
  DeviceHeap launch_memory;  // parameter buffers of child grids
  LaunchBuffers launch_buffers;

  // Lock order: engine_mutex and mutex are never held together. Only compilation runs under either.
  std::mutex mutex;  // modules and their kernels, heaps
  std::unique_ptr<jit::Compiler> compiler;
  std::vector<std::unique_ptr<LoadedModule>> modules;
  mutable std::mutex engine_mutex;
  std::vector<std::unique_ptr<Engine>> engines;
  std::atomic<bool> abandoned{false};  // all launches must end
  Watchdog watchdog;
  BetterCode better_code;
  RepeatedLogs repeated_logs;
};

// Runs a copy or fill that a kernel issued, after its grid has ended (calls/device_launch.cpp).
std::optional<Fault> run_queued_copy(Device::Impl& device, const ChildLaunch& copy, std::uint64_t work);

}  // namespace warpgrind::device
