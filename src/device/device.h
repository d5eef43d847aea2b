// One virtual GPU: its memory, the modules loaded on it, and the execution of grids. launch() runs a grid to its end on
// the calling thread and its workers; several threads may launch at the same time, and then their grids run beside each
// other (which ones may is for the streams above to say, see host/executor.h). Time is virtual (timing/timeline.h).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "device/schedule.h"
#include "events/observer.h"
#include "events/scoreboard.h"
#include "gpu/gpu_model.h"
#include "gpu/types.h"
#include "jit/compile/compiler.h"
#include "ptx/ast.h"
#include "ptx/inlining.h"

namespace warpgrind::machine {
struct Code;
}

namespace warpgrind::device {

// What a fault of the user's kernel is; each maps to one cudaError_t (host/state.cpp).
enum class FaultKind : std::uint8_t {
  illegal_address,
  misaligned_address,
  shared_out_of_bounds,
  local_out_of_bounds,
  stack_overflow,
  write_to_constant,
  assertion,
  trap,
  illegal_instruction,
  invalid_pc,
  deadlock,
  barrier_mismatch,
  barrier_number,   // no such barrier
  barrier_count,    // arrivals at one barrier name different counts
  member_deadlock,  // lanes of a warp wait for each other at .sync operations
  warp_mismatch,    // lanes of a .sync operation
  absent_lanes,     // that a shuffle reads
  grid_barrier,     // of a launch that is not cooperative
  block_order,      // a block waits for one that need not have begun
  timeout,
  interrupted,
  unsupported,
  out_of_heap,
  invalid_texture,
  out_of_resources,  // of the host
};

// A warp, or lanes of one, that wait.
struct FaultPlace {
  std::string what;  // "waits at a barrier"
  std::string function, file, ptx_text;
  std::vector<ptx::Caller> callers;
  std::uint32_t line = 0, ptx_line = 0;
  Dim3 block{0, 0, 0}, thread{0, 0, 0};  // the first of the lanes
  std::uint32_t warp = 0;
  LaneMask lanes = 0;
};

// The first fault of a launch: what, where, who.
struct Fault {
  FaultKind kind = FaultKind::illegal_address;
  std::string message;   // one line: "write of 4 bytes at 0x... is 400 bytes past the end of a 4096-byte allocation"
  std::string advice;    // what to do
  std::string kernel;    // demangled
  std::string function;  // PTX function when not the kernel itself
  std::string file;
  std::uint32_t line = 0;  // CUDA source, line 0 unknown
  std::vector<ptx::Caller> callers;
  std::uint32_t ptx_line = 0;
  std::string ptx_text;
  Dim3 block{0, 0, 0}, thread{0, 0, 0};
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;
  std::vector<std::string> warps;   // timeout / deadlock / Ctrl-C: where each warp is
  std::vector<FaultPlace> waiting;  // deadlock: the same of the first block, one by one
  // A warning about accesses that went on (Options::bounds_stop): how many of threads there were at this site.
  std::uint64_t went_on = 0;
};

struct LaunchConfig {
  Dim3 grid, block, cluster{1, 1, 1};
  std::uint64_t dynamic_shared = 0;
  bool cooperative = false;
  bool counted = true;       // false: no counters, and no observer hears of it (checks of addresses stay)
  std::string_view range{};  // events::Launch::range; only while it runs
  bool operator==(const LaunchConfig&) const = default;
};

struct LaunchResult {
  LaunchConfig config;
  std::optional<Fault> fault;
  // The fault is the first of accesses that did not happen (events::InvalidAccess): the launch went on, and so may
  // those that have been issued after it.
  bool survived = false;
  std::vector<Fault> warnings;  // e.g. a barrier left by threads that had exited
  events::LaunchCounts counts;
  const jit::CompiledKernel* kernel = nullptr;  // facts; lives as long as the device
  const machine::Code* machine = nullptr;       // likewise; null: nothing was counted
  std::string why_all_blocks;                   // it ran whole although Options::blocks asked for some of its blocks
  bool waited_outside = false;                  // for a while all its warps only waited: for the host or other work
  bool quick = false;                           // it ended with the quick code of a new kernel (Options::quick_start)
  double wall_seconds = 0, compile_seconds = 0;
  std::vector<LaunchResult>
      children;  // grids that the kernel launched itself, in the order they ran (grandchildren too)
};

// Ctrl-C: every kernel that runs now ends with FaultKind::interrupted at its next loop. Async-signal-safe.
void request_interrupt();
// The limit of the run: every kernel that runs now ends with FaultKind::timeout. False: none runs.
bool request_timeout();

struct Options {
  unsigned workers = 0;        // 0: all cores
  double timeout_seconds = 0;  // 0: none; wall clock of one launch
  Schedule schedule;
  std::uint64_t blocks = 0;  // 3 or more: of each launch about so many run, and the counts are scaled; 0: all
  bool counters = true;
  bool caches = false;  // some blocks of each launch are logged for the modelled caches (LaunchCounts::log)
  // False: an access outside every allocation goes on where a GPU would have memory, and is a warning.
  bool bounds_stop = true;
  // What memory holds that nobody has written: allocations of the program, shared memory when a block begins, the
  // kernel's local variables when a warp begins. nullopt: zeroes, or what was there.
  std::optional<std::uint8_t> fill;
  std::string cpu;  // for the JIT
  std::string cache_directory;
  bool quick_start = false;  // quick code for new kernels (jit/compile/tier.h), better code for those that run for long
  std::optional<jit::Tier> tier;  // for tests of the JIT; nullopt: by the kernel's size
  // Called at most once a kernel or device: a kernel takes long to compile; the folder of compiled kernels is not used.
  std::function<void(const jit::SlowCompilation&)> on_slow_compilation;
  double slow_seconds = 2;
  std::function<void(const std::string& why)> on_cache_refused;
};

// The functions machine code may call become known to the JIT; every Device does this first.
void register_symbols();

// Variables that have a place already, in the program's own memory (__managed__ without nvcc), by name.
using PlacedVariables = std::map<std::string, std::uint64_t>;
class LoadedModule;  // a linked PTX module on one device: addresses of its variables

// The arguments of a kernel as its .param list lies in memory. Packed once, when the launch is issued; everything below
// passes these bytes on.
struct PackedParameters {
  std::vector<std::uint8_t> bytes;
};
// `arguments`: one pointer a parameter, as cudaLaunchKernel takes them. nullopt: one is missing.
std::optional<PackedParameters> pack(const std::vector<jit::ParameterLayout>& layout, void* const* arguments);

class Device {
 public:
  Device(int ordinal, const GpuModel& model, const Options& options);
  ~Device();
  const GpuModel& model() const;
  int ordinal() const;
  void add_observer(events::Observer* observer);  // before the first launch

  // Memory: device addresses are host addresses in one reserved range; pages are committed when touched. file: whose
  // pages they are (Range::file).
  Result<std::uint64_t> allocate(std::uint64_t size, std::uint64_t alignment = 512,
                                 events::Allocation::Kind as = events::Allocation::Kind::device, int file = -1);
  // Host and device may use it. Since compute capability 6 it may be larger than the GPU's memory, and takes none of it
  // before it is used there.
  Result<std::uint64_t> allocate_managed(std::uint64_t size);
  bool take_memory(std::uint64_t bytes);  // for what is kept elsewhere (arrays); false: there is not so much
  void give_memory_back(std::uint64_t bytes);
  // False: not the start of an allocation of this device. by: who frees it, for messages about uses after it.
  bool free(std::uint64_t address, const char* by = "cudaFree");
  struct Allocation {
    std::uint64_t address = 0, size = 0;
    bool managed = false, host = false;
    int device = 0;
  };
  std::optional<Allocation> find(
      std::uint64_t address) const;  // the allocation that holds the address, host-registered ones too
  void register_host(void* pointer, std::uint64_t size);  // pinned or mapped host memory: kernels may access it
  void unregister_host(void* pointer);
  std::uint64_t bytes_free() const, bytes_total() const;
  bool set_heap_size(std::uint64_t bytes);  // false: a kernel that allocates has run, and the heap has its size
  void set_stack_size(std::uint64_t bytes_per_thread), set_printf_fifo(std::uint64_t bytes);

  // Written by what no event tells (libraries): nothing there is undefined any more.
  void define(std::uint64_t address, std::uint64_t bytes) const;
  // With Options::fill: what a fresh allocation holds.
  void fill(std::uint64_t address, std::uint64_t bytes) const;

  // What happens outside of kernels, to the observers that want it.
  const events::Wants& wants() const;
  void publish(const events::StreamWork& work) const;
  void publish(const events::HostWait& wait) const;
  void publish(const events::HostCopy& copy) const;
  void publish(const events::HostFill& fill) const;
  void publish_allocation(const events::Allocation& allocation) const;
  void publish_deallocation(const events::Allocation& allocation) const;
  void publish(const events::InvalidFree& free) const;
  void publish(const events::FailedAllocation& failed) const;

  // Modules. The module must stay alive as long as the device.
  Result<LoadedModule*> load(std::shared_ptr<const ptx::Module> module, const PlacedVariables& placed = {});
  void unload(LoadedModule* module);
  std::optional<Allocation> variable(const LoadedModule* module, const std::string& name) const;

  // Compiles when needed, and checks what the model allows. An error here is one of the launch call; afterwards
  // launch() ends with a result.
  Result<const jit::CompiledKernel*> prepare(LoadedModule* module, std::uint32_t function, const LaunchConfig& config);
  // work: events::StreamWork::id.
  Result<LaunchResult> launch(LoadedModule* module, std::uint32_t function, const LaunchConfig& config,
                              const PackedParameters& parameters, std::uint64_t work = 0);
  Result<LaunchResult> launch(LoadedModule* module, std::uint32_t function, const LaunchConfig& config,
                              void* const* arguments);
  // Of the launches to come. alone: nothing runs beside them, no other thread of this process either (a process that
  // was copied by fork). They use the calling thread only, and one whose warps all wait ends as at the time limit.
  void set_schedule(const Schedule& schedule, bool alone);
  // Where undefined bits are followed: bytes that nobody has written, and the distance of the first; else none.
  static std::pair<std::uint64_t, std::uint64_t> unwritten(std::uint64_t address, std::uint64_t bytes);
  // Nothing is compiled, nor looked up, by other threads meanwhile: for a fork, whose child would wait for them for
  // ever.
  std::unique_lock<std::mutex> hold_compilation() const;
  // The context is broken: every launch that runs now ends, without a fault of its own, and so do those to come, until
  // it is told otherwise.
  void abandon_launches(bool abandon_them);
  // Launches run, and all their warps only spin: they wait for something outside of them.
  bool only_waits() const;
  // What device code printed since the last call goes to stdout. CUDA does this at synchronisation and at blocking
  // copies; launch() does it when half of the buffer is full.
  void flush_output();
  Result<const jit::CompiledKernel*> compiled(LoadedModule* module, std::uint32_t function, const Dim3& block,
                                              bool counted = true);

  struct Impl;
  Impl& impl();

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace warpgrind::device
