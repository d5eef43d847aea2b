// One virtual GPU: its memory, its loaded modules, and the execution of grids. launch() runs a grid to its end on the
// calling thread and its workers. Several threads may launch at once; their grids then run concurrently
// (semantics/executor.h decides which may). Time is virtual (timing/timeline.h).
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

namespace warpgrind::sass {
struct Code;
}

namespace warpgrind::device {

class StopHandler;  // stop_handler.h

// Kinds of faults of the user's kernel. Each maps to one cudaError_t (semantics/state.cpp).
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
  barrier_number,   // no barrier has this number
  barrier_count,    // arrivals at one barrier name different counts
  member_deadlock,  // lanes of a warp wait for each other at .sync operations
  warp_mismatch,    // mismatched lanes at a .sync operation
  absent_lanes,     // a shuffle reads lanes that take no part
  grid_barrier,     // grid barrier in a launch that is not cooperative
  block_order,      // a block waits for another one that may not have begun
  timeout,
  interrupted,
  unsupported,
  out_of_heap,
  invalid_texture,
  out_of_resources,  // the host is out of resources
  launch_control,    // misuse of clusterlaunchcontrol
  tensor_memory,     // an address or a rule of tensor memory (tcgen05)
};

// A waiting warp, or some waiting lanes of a warp.
struct FaultPlace {
  std::string what;  // "waits at a barrier"
  std::string function, file, ptx_text;
  std::vector<ptx::Caller> callers;
  std::uint32_t line = 0, ptx_line = 0;
  Dim3 block{0, 0, 0}, thread{0, 0, 0};  // of the first lane
  std::uint32_t warp = 0;
  LaneMask lanes = 0;
};

// The first fault of a launch: its kind, place and thread.
struct Fault {
  FaultKind kind = FaultKind::illegal_address;
  std::string message;   // one line: "write of 4 bytes at 0x... is 400 bytes past the end of a 4096-byte allocation"
  std::string advice;    // what the user can do
  std::string kernel;    // demangled
  std::string function;  // PTX function, if not the kernel itself
  std::string file;
  std::uint32_t line = 0;  // CUDA source line; 0: unknown
  std::vector<ptx::Caller> callers;
  std::uint32_t ptx_line = 0;
  std::string ptx_text;
  Dim3 block{0, 0, 0}, thread{0, 0, 0};
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;
  std::vector<std::string> warps;   // timeout, deadlock, Ctrl-C: position of each warp
  std::vector<FaultPlace> waiting;  // deadlock: the waiting warps of the first block
  // Warning about accesses that were allowed to go on (Options::bounds_stop): number of thread accesses at this site.
  std::uint64_t went_on = 0;
};

struct LaunchConfig {
  Dim3 grid, block, cluster{1, 1, 1};
  std::uint64_t dynamic_shared = 0;
  bool cooperative = false;
  bool counted = true;  // false: no counters and no events (addresses are still checked)
  // The log for the modelled caches has its usual size (access/access_log.h) divided by this (access/log_parts.h).
  std::uint32_t log_part = 1;
  std::string_view range{};  // events::Launch::range; valid only while the launch runs
  bool in_graph = false;     // a node of a graph: its kernel may launch graphs
  std::uint64_t graph = 0;   // handle of that graph, if kernels may launch it; else 0
  unsigned stream = 0;       // for a debugger's lists; 0: a default stream
  bool operator==(const LaunchConfig&) const = default;
};

// A graph that a kernel launches (cudaGraphLaunch in device code).
struct GraphRequest {
  std::uint64_t graph = 0;
  // forget: a child of the running graph. tail: after the running graph and its children. sibling: independent of it.
  enum class Kind : std::uint8_t { forget, tail, sibling } kind = Kind::forget;
};

struct LaunchResult {
  LaunchConfig config;
  std::optional<Fault> fault;
  // The fault is the first of the suppressed accesses (events::InvalidAccess). The launch went on, and work issued
  // after it may run.
  bool survived = false;
  std::vector<Fault> warnings;  // e.g. a barrier left by threads that had exited
  events::LaunchCounts counts;
  const jit::CompiledKernel* kernel = nullptr;  // facts; lives as long as the device
  const sass::Code* machine = nullptr;          // lives as long as the device; null: nothing was counted
  std::string why_all_blocks;                   // reason why all blocks ran although Options::blocks was set
  bool waited_outside = false;                  // for a while all its warps only waited for the host or other work
  bool quick = false;                           // it ended with quick code (Options::quick_start)
  double wall_seconds = 0, compile_seconds = 0;
  std::vector<LaunchResult> children;  // child grids in the order they ran, grandchildren included
  std::vector<GraphRequest> graphs;    // in the order of the blocks; the caller launches them
};

// Handler of Ctrl-C: every running kernel ends with FaultKind::interrupted at its next loop. Async-signal-safe.
void request_interrupt();
// Time limit of the run: every running kernel ends with FaultKind::timeout. Returns false if none runs.
bool request_timeout();

struct Options {
  unsigned workers = 0;        // 0: all cores
  double timeout_seconds = 0;  // limit per launch in wall-clock time; 0: none
  double stall_seconds = 0;    // CPU time of this process during which a block of a launch must end; 0: no limit
  Schedule schedule;
  std::uint64_t blocks = 0;  // 3 or more: run about this many blocks of each launch and scale the counts; 0: all
  // Options::blocks holds for kernels whose branches or addresses depend on data, too. False: they run whole.
  bool blocks_despite_data = false;
  bool kernels = true;  // false: launches are checked and compiled, but none of their blocks runs
  bool counters = true;
  bool caches = false;  // log some blocks of each launch for the modelled caches (LaunchCounts::log)
  // False: an access outside all allocations goes on, with a warning, if a GPU would have mapped memory there.
  bool bounds_stop = true;
  // Fill byte of unwritten memory: new allocations of the program, shared memory when a block begins, the kernel's
  // local variables when a warp begins. nullopt: zeroes, or earlier contents.
  std::optional<std::uint8_t> fill;
  std::string cpu;  // target CPU of the JIT
  std::string cache_directory;
  std::string prepared_directory;  // of jit::CompileOptions
  StopHandler* stops = nullptr;    // a debugger, which may stop warps; its launches have one worker. Null: none
  bool quick_start = false;  // quick code for new kernels (jit/compile/tier.h); better code for kernels that run long
  std::optional<jit::Tier> tier;  // for tests of the JIT; nullopt: chosen by the kernel's size
  // Called at most once per kernel, if its compilation takes longer than slow_seconds.
  std::function<void(const jit::SlowCompilation&)> on_slow_compilation;
  double slow_seconds = 2;
  // Called at most once per device, if the cache directory cannot be used.
  std::function<void(const std::string& why)> on_cache_refused;
};

// Registers the functions that machine code may call with the JIT. Every Device does this first.
void register_symbols();

// Variables that already have addresses, by name: in the program's own memory (__managed__ without nvcc).
using PlacedVariables = std::map<std::string, std::uint64_t>;
class LoadedModule;  // a linked PTX module on one device, with the addresses of its variables

// Kernel arguments in the layout of the .param list. Packed once, when the launch is issued; all lower layers pass
// these bytes on.
struct PackedParameters {
  std::vector<std::uint8_t> bytes;
};
// `arguments`: one pointer per parameter, as in cudaLaunchKernel. nullopt: one is missing.
std::optional<PackedParameters> pack(const std::vector<jit::ParameterLayout>& layout, void* const* arguments);

class Device {
 public:
  Device(int ordinal, const GpuModel& model, const Options& options);
  ~Device();
  const GpuModel& model() const;
  int ordinal() const;
  void add_observer(events::Observer* observer);  // before the first launch

  // Memory. Device addresses are host addresses in one reserved range; pages are committed when touched. file: the file
  // that backs the pages (Range::file).
  Result<std::uint64_t> allocate(std::uint64_t size, std::uint64_t alignment = 512,
                                 events::Allocation::Kind as = events::Allocation::Kind::device, int file = -1);
  // Memory for host and device. Since compute capability 6 it may be larger than the GPU's memory, and uses GPU memory
  // only when the GPU touches it.
  Result<std::uint64_t> allocate_managed(std::uint64_t size);
  bool take_memory(std::uint64_t bytes);  // for data stored elsewhere (arrays); false: not enough is free
  void give_memory_back(std::uint64_t bytes);
  // Returns false if the address is not the start of an allocation of this device. by: name of the freeing function,
  // for messages about later uses.
  bool free(std::uint64_t address, const char* by = "cudaFree");
  struct Allocation {
    std::uint64_t address = 0, size = 0;
    bool managed = false, host = false;
    int device = 0;
  };
  std::optional<Allocation> find(std::uint64_t address) const;  // includes host-registered memory
  void register_host(void* pointer, std::uint64_t size);        // pinned or mapped host memory: kernels may access it
  void unregister_host(void* pointer);
  std::uint64_t bytes_free() const, bytes_total() const;
  bool set_heap_size(std::uint64_t bytes);  // false: the size is fixed, because a kernel that uses the heap has run
  void set_stack_size(std::uint64_t bytes_per_thread), set_printf_fifo(std::uint64_t bytes);

  // Marks memory as defined, for writes without an event (libraries).
  void define(std::uint64_t address, std::uint64_t bytes) const;
  // Fills a new allocation as Options::fill says.
  void fill(std::uint64_t address, std::uint64_t bytes) const;

  // Publish events outside kernels to the observers that want them.
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

  // Compiles if needed, and checks the limits of the GPU model. An error here belongs to the launch call. Afterwards,
  // launch() always ends with a result.
  Result<const jit::CompiledKernel*> prepare(LoadedModule* module, std::uint32_t function, const LaunchConfig& config);
  // work: events::StreamWork::id.
  Result<LaunchResult> launch(LoadedModule* module, std::uint32_t function, const LaunchConfig& config,
                              const PackedParameters& parameters, std::uint64_t work = 0);
  Result<LaunchResult> launch(LoadedModule* module, std::uint32_t function, const LaunchConfig& config,
                              void* const* arguments);
  // Sets the schedule of later launches. alone: nothing else runs concurrently, not even another thread of this process
  // (a process copied by fork). Launches then use the calling thread only, and a launch whose warps all wait ends as at
  // the time limit.
  void set_schedule(const Schedule& schedule, bool alone);
  // The number of unwritten bytes and the offset of the first, if undefined bits are tracked; else zeroes.
  static std::pair<std::uint64_t, std::uint64_t> unwritten(std::uint64_t address, std::uint64_t bytes);
  // Blocks compilation and lookup by other threads while held. For fork, whose child would wait for those threads
  // forever.
  std::unique_lock<std::mutex> hold_compilation() const;
  // Ends all running and later launches, without a fault of their own, because the context is broken. Call with false
  // to end this state.
  void abandon_launches(bool abandon_them);
  // True if launches run and all their warps only spin: they wait for something outside of them.
  bool only_waits() const;
  // Writes the device printf output since the last call to stdout. CUDA does this at synchronisation and at blocking
  // copies. launch() does it when the buffer is half full.
  void flush_output();
  Result<const jit::CompiledKernel*> compiled(LoadedModule* module, std::uint32_t function, const Dim3& block,
                                              bool counted = true);

  struct Impl;
  Impl& impl();

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace warpgrind::device
