// Runtime state of a running grid: launch, worker, block, warp. Machine code sees only jit::WarpContext, whose
// `runtime` points to the WarpFiber around it. One worker is one host thread, so nothing below Launch needs locks.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "device/block_share.h"
#include "device/cancellable_grid.h"
#include "device/device.h"
#include "device/fiber.h"
#include "device/memory/address_space.h"
#include "events/access_log.h"
#include "events/observer.h"
#include "flow/definitions.h"
#include "gpu/addresses.h"
#include "gpu/instruction_kinds.h"
#include "gpu/tensor_box.h"
#include "jit/abi.h"
#include "jit/compile/compiler.h"
#include "sass/code.h"

namespace warpgrind::device {

struct Worker;
struct Block;
struct Launch;
struct SiteRecord;
struct ParkedPath;
struct ParkedPaths;
struct UndefinedLoads;
struct Watchpoints;
class LoadedModule;
class MemorySnapshot;
class ShadowMemory;
class TensorMemory;
class TextureUnit;

// Site facts that an access needs, packed.
struct SiteFacts {
  AccessForm form;  // space: as written
  SiteKind kind = SiteKind::load;
  std::uint8_t element = 4, vector = 1;
  events::MemoryOrder order = events::MemoryOrder::weak;
  events::MemoryScope scope = events::MemoryScope::none;
  // Bytes per lane of the merged access, if ptxas merges this site with its neighbours and this site has the lowest
  // address. The merged access begins at a multiple of them. 0: not merged.
  std::uint8_t joint_bytes = 0;
  // Sites that are counted together with this one (events::Site::leader), and the range of their distances, with 0 for
  // this site.
  struct Follower {
    std::uint32_t site;
    std::int64_t distance;
  };
  std::vector<Follower> followers{};
  std::int64_t least_distance = 0, most_distance = 0;
};

// Bounds that the accesses of a site should stay in: [low, high) in addresses of a space. Unknown bounds hold
// everything.
struct Bound {
  std::uint64_t low = 0, high = ~std::uint64_t{0};
  const events::AddressOrigin* origin = nullptr;  // null: unknown bounds
  bool holds(std::uint64_t address, std::uint64_t bytes) const {
    return address >= low && address <= high && bytes <= high - address;
  }
};
struct SiteBounds {
  Bound memory, shared, local;
  const Bound& of(StateSpace space) const {
    return space == StateSpace::shared ? shared : space == StateSpace::local ? local : memory;
  }
};

// Windows of a worker's sites that are still open from its last launch, and what they depend on.
struct OpenWindows {
  std::size_t sites = 0;     // the first ones
  std::uint64_t kernel = 0;  // KernelRecord::serial
  std::shared_ptr<const RangeTable> ranges;
  std::uint64_t shared_size = 0, local_size = 0;
  std::vector<SiteBounds> bounds;
};

// States and records of the sites of one kernel, for one worker.
struct SiteSet {
  jit::SiteState* sites = nullptr;  // 2 * capacity: for all blocks, and for logged ones
  SiteRecord* records = nullptr;
  std::size_t capacity = 0;
  OpenWindows windows;
};

// A compiled kernel and the data that the device derives from it once.
struct KernelRecord {
  inline static std::atomic<std::uint64_t> made{0};
  const std::uint64_t serial = ++made;        // of all records of the process
  std::unique_ptr<jit::CompiledKernel> code;  // the first code; facts are the same for all code of the kernel
  std::unique_ptr<const sass::Code> machine;  // null: nothing is counted
  std::vector<SiteFacts> sites;
  // Work of each block of code, for events::BlockWork. Empty: all warps run the same rounds of its loops, or they
  // depend on other warps.
  std::vector<std::uint32_t> weights;
  // For kernels with weights and barriers, by block of code: blocks outside its loop from which warps enter the loop.
  std::vector<std::vector<std::uint32_t>> loop_entries;
  std::string demangled;
  jit::LaneShape shape = jit::LaneShape::linear;
  std::atomic<double> seconds_per_block{0};  // of one worker, in the last launch; 0: unknown

  const ptx::Function* text = nullptr;           // in the module
  const flow::Definitions& definitions() const;  // of the kernel's own registers; built on first use
  // Which branch, guard or address depends on data, as a sentence; empty: none does. Built on first use.
  const std::string& data_dependence() const;
  // Whether a block may wait for what other blocks write (flow/spin_loops.h). Found on first use.
  bool may_wait_for_blocks() const;
  // For each byte of the arguments: 0xff if it may decide a branch, a guard or an address, otherwise 0. Built on first
  // use.
  const std::vector<std::uint8_t>& deciding_bytes() const;

  // Compilation inputs, for better code (better_code.h).
  jit::Compiler* compiler = nullptr;
  const ptx::Module* module = nullptr;
  std::uint32_t function = 0;
  jit::CompileOptions how;
  std::mutex improving;  // held while better code is made
  // Time that its quick code has run, of one worker, with that of earlier processes.
  std::atomic<double> quick_seconds{0};
  void add_quick_seconds(double seconds);

  jit::WarpFunction entry() const { return newest().entry(); }
  bool is_quick() const { return quick_.load(std::memory_order_acquire); }
  void improve(std::unique_ptr<jit::CompiledKernel> better) {
    better_ = std::move(better);
    quick_.store(false, std::memory_order_release);
  }
  void keep_quick() { quick_.store(false, std::memory_order_release); }
  void begin() {
    quick_ = code->better_seconds > 0;
    quick_seconds = stored_seconds_ = code->quick_seconds;
  }
  std::uint64_t stack_bytes(std::uint64_t local_size) const;  // host stack for frames of the newest code

 private:
  // Better code is written once, before is_quick() becomes false. Warps may still run the first code then.
  const jit::CompiledKernel& newest() const { return !is_quick() && better_ ? *better_ : *code; }

  std::atomic<bool> quick_{false};
  double stored_seconds_ = 0;  // of quick_seconds
  std::unique_ptr<jit::CompiledKernel> better_;
  mutable std::once_flag defined_;
  mutable std::unique_ptr<const flow::Definitions> definitions_;
  mutable std::once_flag dependence_found_;
  mutable std::string dependence_;
  mutable std::once_flag waits_found_;
  mutable bool may_wait_for_blocks_ = false;
  mutable std::once_flag deciding_found_;
  mutable std::vector<std::uint8_t> deciding_bytes_;
};

// Warps that are queued to run have `barrier` (released from one) or `yielded` (they gave way), or `due`: another warp
// waits until they have run (together.cpp).
enum class WarpState : std::uint8_t { idle, running, barrier, yielded, due };

// A warp. At the end of a region its whole state is in its context and frame (codegen/kernel/regions.h). If it waits
// anywhere else, it keeps its stack. A fiber whose warp has ended is reused for another warp.
struct alignas(64) WarpFiber {
  jit::WarpContext context;   // must be first: WarpContext::running points to Worker::current
  Continuation continuation;  // on_stack: where it goes on
  Worker* worker = nullptr;
  Block* block = nullptr;
  std::uint64_t block_linear = 0;  // of the block the context is set up for
  std::uint64_t launch = ~0ull;    // serial of the launch the context is set up for
  WarpFiber* next = nullptr;       // in the queue that `state` names
  WarpState state = WarpState::idle;
  bool on_stack = false;          // it waits inside a region
  bool waits_by_path = false;     // barrier: its lanes wait at several places, kept in `parked` (paths.h)
  std::uint32_t wait_site = ~0u;  // barrier: site of the instruction it waits at
  std::uint32_t wait_barrier = 0;
  std::uint32_t barrier_operation = 0;  // bar.red
  std::uint32_t exited_counted = 0;     // threads of the warp already counted in Block::exited
  std::uint32_t products = 0;           // wgmma issued
  std::uint32_t apart_at = 0;           // bit per barrier with a count: some lanes arrived without the rest of the warp
  std::unique_ptr<LaneMask[]> came_apart;           // those lanes, by barrier; allocated on first use
  std::uint32_t cluster_phase = 0;                  // generation of the cluster barrier that it arrived at
  LaneMask cluster_arrived = 0;                     // lanes that arrived there
  std::uint32_t polls = 0;                          // loop heads passed since it last waited (orders)
  std::uint32_t polled_site = ~0u;                  // site of the last loop head (orders)
  LaneMask spinning = 0;                            // lanes in the last iteration of a loop that waits
  bool owes_way = false;                            // other lanes must run: found in a wait that cannot switch to them
  bool awaited_parity = false;                      // of the phase that its last wait for `awaited` found incomplete
  const void* awaited = nullptr;                    // that mbarrier (calls/mbarriers.h); null: the wait has succeeded
  std::unique_ptr<ParkedPaths> parked;              // allocated when lanes first wait apart from the rest
  std::unique_ptr<UndefinedLoads> undefined_loads;  // allocated by the first
  std::uint32_t undefined_site = ~0u;               // last site with an undefined address
  LaneMask undefined_lanes = 0;  // lanes with that address: already reported, so not reported as invalid too
  WarpFiber();
  ~WarpFiber();
  WarpFiber(const WarpFiber&) = delete;
  WarpFiber& operator=(const WarpFiber&) = delete;
  std::uint8_t* local = nullptr;  // of all lanes; unwritten pages take no memory
  std::uint64_t local_capacity = 0;
  std::uint64_t local_mapped = 0;  // mapped bytes; twice the capacity if a shadow follows
  std::uint64_t frame_capacity = 0;
};

// A stack with the worker's loop on it; it runs warps.
struct Carrier {
  Continuation continuation;
  Stack stack;
  Worker* worker = nullptr;
  bool fresh = true;        // the continuation must be prepared before the first switch
  Carrier* next = nullptr;  // list of idle ones
};

inline WarpFiber& fiber_of(jit::WarpContext& context) {
  return *static_cast<WarpFiber*>(context.runtime);
}

inline const WarpFiber& fiber_of(const jit::WarpContext& context) {
  return *static_cast<const WarpFiber*>(context.runtime);
}

inline constexpr unsigned kBarriers = 16;
inline constexpr std::size_t kPlacesListed = 64;  // most warps listed for a deadlock or timeout

// A block barrier. Without a count, it waits for every thread that has not left the kernel, and counts threads. With a
// count (`bar.sync 1, 64`), it waits for exactly that many threads, even if others have left the kernel. A warp that
// arrives and then leaves counts. A warp that leaves without arriving does not. A count larger than the block is never
// reached. A barrier with a count counts whole warps: a warp arrives when its last remaining lane does. Measured on an
// H100.
struct Barrier {
  std::uint32_t arrived = 0;   // threads
  std::uint32_t expected = 0;  // threads, a multiple of 32; 0: the arrivals name no count
  std::uint32_t popc = 0;
  bool all = true, any = false, reduces = false;
  bool in_parts = false;       // it has a count, and some lanes arrived alone (WarpFiber::came_apart)
  WarpFiber* first = nullptr;  // whole warps that wait
  WarpFiber* last = nullptr;
  ParkedPath* parked = nullptr;    // some lanes of a warp
  std::uint32_t whole_site = ~0u;  // Wants::whole_blocks: site of the whole warps that wait, not yet published
};

// A cluster: blocks that run at the same time and can access each other's shared memory. Their memories lie 1 <<
// kClusterShift bytes apart.
inline constexpr unsigned kMaxClusterSize = 16;
struct Cluster {
  Block* blocks[kMaxClusterSize] = {};  // null: ended
  std::uint32_t size = 0, live = 0, threads = 0;
  std::uint32_t arrived = 0, exited = 0;  // threads
  std::uint32_t generation = 0;           // barriers passed
  WarpFiber* first = nullptr;             // whole warps that wait at the barrier
  ParkedPath* parked = nullptr;           // some lanes of a warp
  std::uint8_t* memory = nullptr;         // reserved for kMaxClusterSize blocks
  Cluster* next = nullptr;                // free list
  Cluster() = default;
  ~Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;
};

struct alignas(64) Block {
  // The fields used to start and end a warp share one cache line.
  std::uint64_t linear = 0;
  std::uint32_t index[3] = {0, 0, 0};
  std::uint32_t smid = 0;  // must follow `index`, as in a WarpContext
  // Warps that take turns are counted when the round ends (rounds.h).
  std::uint32_t warps = 0, started = 0, ended = 0;
  std::uint32_t exited = 0;  // threads; those of a running warp are counted when it arrives at a barrier
  std::uint32_t threads = 0;
  unsigned barriers_in_use = 0;  // highest barrier number used + 1
  bool plain = false;            // Launch::plain_barriers, and warps run in forward order
  bool cancel_failed = false;    // it has seen that a request to cancel a launch failed
  std::uint8_t* shared = nullptr;
  Cluster* cluster = nullptr;
  std::uint32_t cluster_rank = 0;
  std::uint64_t begin_cycles = 0, cycles = 0;  // start and latest time, for kernels that read a clock
  Block* next_start = nullptr;                 // next block of the cluster: its warps start after this block's
  std::uint8_t* shared_memory = nullptr;       // memory that contains `shared`
  std::uint64_t shared_capacity = 0;
  std::uint64_t shared_shadow = 0;         // distance from `shared` to its shadow, if it has one
  std::vector<std::uint64_t> copy_places;  // offsets (count_copy_place())
  events::LateLoads late_loads;
  events::BlockLog* log = nullptr;      // set if the block is logged
  std::uint64_t work = 0, slowest = 0;  // of its ended warps (block_work.h)
  // Wants::whole_blocks: warps that left as a whole, not yet published, and the site of the last one.
  std::uint32_t left = 0, left_site = 0;
  Block() = default;
  ~Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  Barrier barriers[kBarriers];
  TensorMemory* tensor = nullptr;  // one of the worker's, taken by the first tcgen05.alloc and kept
  bool uses_tensor = false;        // the block that runs now has allocated tensor memory
  Block* next = nullptr;           // free list, or list of live blocks
  Block* previous = nullptr;       // live blocks
};

// Thread indexes of each warp of a block, for kernels of LaneShape::general. The same for all blocks of a launch.
struct WarpThreads {
  std::uint32_t tid[3][kWarpSize];
};

struct OutputRecord {
  std::uint64_t block = 0;
  std::uint64_t cost = 0;  // bytes of the FIFO
  std::string text;
};

// A grid, copy, fill or graph launched by device code.
struct ChildLaunch {
  enum class Kind : std::uint8_t { kernel, copy, fill, graph } kind = Kind::kernel;
  std::uint64_t block = 0;  // block of the parent, for the order
  std::uint32_t function = 0;
  LaunchConfig config;
  bool tail = false;
  unsigned depth = 0;
  std::vector<std::uint8_t> parameters;
  GlobalAddress to{}, from{};  // copy, fill
  std::uint64_t bytes = 0;
  std::uint8_t value = 0;  // fill
  GraphRequest graph;
};

struct alignas(64) Worker {
  // The fields used by every warp share one cache line, those used by every block the next.
  Launch* launch = nullptr;   // null between launches
  Block* starting = nullptr;  // the live block that has warps to start
  WarpFiber* ready_first = nullptr;
  WarpFiber* idle = nullptr;         // fibers without a warp
  Carrier* idle_carriers = nullptr;  // carriers whose loop has nothing to do
  std::uint32_t live_blocks = 0;
  std::uint32_t idle_turns = 0;  // yields since the last progress
  std::uint64_t warps_ended = 0, threads_ended = 0, blocks_ended = 0;

  Block* live = nullptr;
  Block* free_blocks = nullptr;
  // rounds.h. round: first warp of the round. in_place: the warp whose fiber the block's next warps reuse. team: the
  // fibers of the previous block, in the order of warp numbers, all ended.
  WarpFiber *round = nullptr, *in_place = nullptr, *team = nullptr;
  bool in_order = false;                        // the round began with the block, in the order of warp numbers
  std::uint64_t chunk_next = 0, chunk_end = 0;  // blocks taken but not started
  WarpFiber* current = nullptr;                 // this and the next field are a jit::RunningWarp
  std::uint64_t ended_in_round = 0;
  WarpFiber* ready_last = nullptr;
  Cluster* free_clusters = nullptr;

  unsigned index = 0;   // in its launch
  unsigned number = 0;  // on its device, for observers
  // Of the current kernel. Between launches they hold no counts, and no open windows but those that `windows`
  // describes. `logged_sites` (for warps whose requests are logged, access/access_log.h) follows `sites`.
  jit::SiteState *sites = nullptr, *logged_sites = nullptr;
  SiteRecord* records = nullptr;
  OpenWindows* windows = nullptr;
  SiteSet site_sets[8];
  unsigned next_set = 0;  // to use for another kernel
  std::uint64_t* scoreboard = nullptr;
  std::uint64_t work_noted = 0;           // of the scoreboard, at the end of the last noted warp
  std::vector<std::uint64_t> ran_before;  // at the end of the last noted block: how often each block of code ran
  Continuation main;                      // the host thread itself
  // State of spinning, read by other workers (barrier.cpp).
  std::uint64_t idle_rounds = 0;         // rounds of yields since the last progress
  std::uint32_t stalled_turns = 0;       // yields left in which each warp gives way to its other lanes
  std::uint32_t turns_period = 0;        // the last Launch::turns_period that this worker has seen
  std::uint32_t may_begin = 0;           // blocks that it may still begin in that period
  bool work_mixed = false;               // warps have run between a warp's beginning and end: Launch::work is wrong
  std::atomic<std::uint64_t> rounds{0};  // ... in total
  std::atomic<bool> spins_only{false}, finished{false};
  std::vector<std::uint64_t> seen_rounds;  // `rounds` of the other workers when this one began to spin
  std::vector<std::unique_ptr<WarpFiber>> fibers;
  std::vector<std::unique_ptr<Carrier>> carriers;
  std::vector<std::unique_ptr<Block>> blocks;
  std::vector<std::unique_ptr<Cluster>> clusters;
  StackPool stacks;

  std::vector<std::unique_ptr<events::BlockLog>> logs;

  std::vector<OutputRecord> output;
  std::vector<ChildLaunch> children;
  std::uint32_t child_error = 0;  // cudaGetLastError() of device code: error of the last refused launch
  std::vector<Fault> warnings;
  std::vector<std::uint64_t> warned;      // keys of `warnings`, in the same order
  std::unique_ptr<TextureUnit> textures;  // allocated by the first fetch
  std::vector<TensorRun> tensor_runs;     // of the tensor copy that is being made
  std::vector<std::uint8_t> tensor_bytes;
  std::vector<std::unique_ptr<TensorMemory>> tensors;
  Range mapped;  // mapped range of the last access that went on outside allocations

  std::size_t scoreboard_capacity = 0;  // it only grows
  Stack emergency;                      // stack for handling crashes of machine code
  std::uint32_t listed_site = ~0u;      // site of the first stopped warp
  Dim3 listed_block, listed_thread;     // and its block and thread
  bool listing = false;                 // timeout or Ctrl-C: each warp reports its position instead of going on
  BlockShare share;                     // with Launch::shares: blocks that it has not taken yet
  Worker();
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
};

// How warps of a block follow each other in machine code (rounds.h). none: the worker's loop begins and ends each warp.
enum class Turns : std::uint8_t { none, round, in_place };

// Buffers of an engine that its launches use one after the other. They are kept because an empty launch takes a few
// microseconds, and allocating and filling them takes as long.
struct KeptBuffers {
  // Warps of a block, and the block shape that they describe. Most launches repeat the last shape and fill nothing.
  std::vector<jit::WarpShape> shapes;
  std::vector<WarpThreads> warp_threads;
  Dim3 shaped_block{0, 0, 0};
  // Filled by every launch that needs them; only their capacity is kept.
  std::vector<std::uint64_t> sm_cycles;
  std::vector<std::uint8_t> watched;
  events::Audience observers;
};

// The plan of a launch: its inputs, and what follows from them alone. It is const. A member without an initialiser must
// be named where the plan is made (launch_plan.cpp); the compiler reports one that is not.
struct LaunchInputs {
  Device* const device;
  LoadedModule* const module;
  const KernelRecord* const kernel;
  const LaunchConfig config;
  const std::uint64_t serial;  // unique in the process
  const unsigned depth;        // nesting depth of a grid launched by device code (tail launches: as the parent)
  const AccessRules rules;
  const bool counters, bounds_stop;
  const ShadowMemory* const shadow;        // set if undefined bits are tracked
  StopHandler* const stops;                // Options::stops
  const std::optional<std::uint8_t> fill;  // Options::fill
};

struct MemoryPlan {
  const std::shared_ptr<const RangeTable> ranges;
  std::uint8_t* const parameters;
  const std::uint64_t shared_size, local_size;
  const std::uint64_t stack_bytes;               // host stack for frames of machine code
  const std::uint32_t total_shared, all_shared;  // %total_smem_size, %aggr_smem_size
  const std::array<std::uint32_t, 4> env;        // %envreg0 ... %envreg3
};

struct GridPlan {
  const std::uint64_t blocks;
  const std::uint32_t cluster_size;
  const std::uint32_t warps_per_block, threads_per_block;
  const std::span<const jit::WarpShape> shapes;  // in KeptBuffers, as the next one
  const std::span<const WarpThreads> warp_threads;
  const std::uint32_t sm_count;
  const events::SmGroups sm_groups;
  const std::uint32_t issue_cycles, sm_clock_khz, capability;
  const bool keeps_time;         // the kernel reads a clock: blocks of one SM follow each other in time
  const bool fits_gpu;           // all blocks could be resident on the GPU at the same time
  const std::uint64_t resident;  // blocks that the GPU could hold at once, by threads alone
  // If the kernel may cancel launches (clusterlaunchcontrol): clusters that are resident at the start. Else 0.
  const std::uint64_t resident_clusters;
};

struct WorkerPlan {
  const std::vector<std::unique_ptr<Worker>>* const all_workers;
  const unsigned workers;     // that run blocks
  const std::uint64_t chunk;  // blocks that a worker takes at a time
  const Schedule schedule;
  const bool ordered;  // not forward (execution/order.h)
  const bool alone;    // Device::set_schedule
};

// Bits of Launch::interrupt.
constexpr std::uint32_t kInterruptStop = 1, kInterruptTurns = 2;

inline constexpr std::uint64_t kNoBlock = ~0ull;

// What the watchdog's thread knows of the progress of a launch. Only that thread uses it.
struct LoopTurns {
  std::uint64_t begun = ~0ull;  // blocks that workers had taken at the last look
  std::chrono::steady_clock::time_point next;
  std::uint32_t periods = 0;
  bool on = false;  // a period is under way
};

// What the observers of a launch want to see. Decided before the launch runs (launch_observation.cpp).
struct LaunchObservation {
  events::Launch info;
  const events::Audience* observers = nullptr;  // by Observer::wants_of() for this launch; in KeptBuffers
  events::Wants wants;                          // union over them
  bool barriers_observed = false;               // some observer wants barriers or barriers_passed
  bool plain_barriers = true;                   // barriers are not observed, and no clock is kept
  bool whole_barriers = false;                  // a barrier of a whole block is one event (Wants::whole_blocks)
  bool shows_affine = false;                    // machine code calls watch() at watched sites (Wants::only_written)
  std::vector<SiteBounds> bounds;               // by site, for observers of invalid accesses; else empty
  std::vector<std::uint8_t> own;                // events::Launch::own
  std::span<const std::uint8_t> watched;        // sites whose accesses observers want; empty: none. In KeptBuffers
  // The modelled caches (access/access_log.h).
  bool logs = false;
  std::uint64_t log_size = 0;  // about so many requests are logged
  std::uint32_t warp_log = 0;  // most logged requests of a warp
  bool logs_textures = false;  // the kernel reads textures: a warp may log more requests
};

// One launch: its plan, what is observed of it, and here its progress. Made anew for each launch, so that no value of
// the last one remains. What outlives a launch is in KeptBuffers and Worker.
struct Launch : LaunchInputs, MemoryPlan, GridPlan, WorkerPlan, LaunchObservation {
  Launch(const LaunchInputs& inputs, const MemoryPlan& memory, const GridPlan& grid, const WorkerPlan& team);

  Turns turns = Turns::none;                      // set once the observers are known
  std::shared_ptr<events::BlockWork> work;        // each block writes its own; null: not recorded
  std::atomic<jit::WarpFunction> entry{nullptr};  // better code may replace it during the launch
  std::span<std::uint64_t> sm_cycles;             // if keeps_time: cycles at the end of the last block, by SM
  std::uint64_t random = 0;                       // state of the random order
  // The blocks that run now: all of them, unless only some run (some_blocks.h). chosen: their numbers, in order. Empty:
  // the first `to_run`.
  std::vector<std::uint64_t> chosen;
  std::uint64_t to_run = 0;
  unsigned running_workers = 1;
  const std::unique_ptr<CancellableGrid> cancellable;  // null: no block cancels the launch of others
  // Set before the blocks run. true: each worker has a share of them (Worker::share). false: all workers take chunks at
  // `next_block`.
  bool shares = false;
  alignas(64) std::atomic<std::uint64_t> next_block{0};

  alignas(64) std::atomic<std::uint32_t> interrupt{0};  // polled by generated code
  // Number of the period in which warps take turns at heads of loops (watchdog.h); 0: none. `interrupt` is set, too.
  std::atomic<std::uint32_t> turns_period{0};
  LoopTurns loop_turns;
  std::atomic<bool> stop{false};
  // With shares: the lowest block that has had a fault. No later block begins, and earlier ones still run, so
  // that the reported fault is that of the lowest block. `stop` is set when all workers have ended.
  std::atomic<std::uint64_t> faulty_block{kNoBlock};
  std::atomic<std::uint32_t> stop_reason{0};  // FaultKind + 1 of timeout or Ctrl-C; 0: none
  std::atomic<bool> waited_outside{false};    // LaunchResult::waited_outside
  std::atomic<bool> stalled{false};           // stop_reason is a timeout because no block ended for so long
  bool counts_ends = false;                   // set before the blocks run: `ended_blocks` is kept
  std::atomic<std::uint64_t> ended_blocks{0};

  std::mutex fault_mutex;  // guards the next five
  std::optional<Fault> fault;
  std::uint64_t fault_order = ~0ull;
  bool survived = false;  // `fault` did not end the launch
  std::set<std::uint32_t> invalid_sites;
  std::vector<std::string> places;  // position of each warp
  // For `stops`. stop_flags: of the warps that start (WarpContext::stop_flags). before: memory when the launch began;
  // null: it cannot run again. runs_again: its results are dropped.
  const std::uint8_t* stop_flags = nullptr;
  const MemorySnapshot* before = nullptr;
  bool runs_again = false;
  // An earlier launch that runs again in place of the newest (memory/earlier_launches.h): how many launches before it;
  // 0: it is the newest itself. runs_back: the same of the launch that runs next, if runs_again. repeats: it has run
  // before.
  std::uint64_t back = 0, runs_back = 0;
  bool repeats = false;
  std::uint64_t clock = 0;             // if keeps_time: Device::Impl::cycles when it began
  const Watchpoints* watch = nullptr;  // of `stops` (access/watchpoints.h); null: none
  std::atomic<std::uint64_t> invalid_accesses{0};

  std::atomic<std::uint64_t> first_block_requests{0};  // requests of block 0, plus 1, once it has ended; 0 before
  std::atomic<std::uint64_t> logged{0};                // logged requests of ended blocks
};

// Number of the cluster of a block. Without clusters: the block's own.
inline std::uint64_t cluster_number(const Launch& launch, const Block& b) {
  const Dim3 &grid = launch.config.grid, &cluster = launch.config.cluster;
  const std::uint64_t wide = grid.x / cluster.x, high = grid.y / cluster.y;
  return b.index[0] / cluster.x + wide * (b.index[1] / cluster.y + high * (b.index[2] / cluster.z));
}

inline Worker& worker_of(jit::WarpContext& context) {
  return *fiber_of(context).worker;
}
inline Launch& launch_of(jit::WarpContext& context) {
  return *worker_of(context).launch;
}
// Bytes of a thread's local memory that count as unwritten when a warp starts: all that the kernel and its calls are
// known to need. For a stack of unknown depth only its first part counts, because clearing 16 MiB per warp would take
// longer than kernels do.
inline std::uint64_t unwritten_local_bytes(const Launch& launch) {
  constexpr std::uint64_t kFirstPart = 16384;
  const jit::CompiledKernel& code = *launch.kernel->code;
  return std::min(launch.local_size, code.open_ended ? std::max(code.local_bytes, kFirstPart) : code.local_bytes);
}
inline bool is_watched(const Launch& launch, std::uint32_t site) {
  return !launch.watched.empty() && (site >= launch.watched.size() || launch.watched[site] != 0);
}
inline const Bound& bound_of(const Launch& launch, std::uint32_t site, StateSpace space) {
  static constexpr Bound kNoOpinion;
  return launch.bounds.empty() ? kNoOpinion : launch.bounds[site].of(space);
}

// ---- Functions of execution/ that accesses, calls and faults need
[[noreturn]] void leave_launch(Worker& worker);  // execution.cpp: abandons every warp of the worker
// order.cpp: lets other warps run although this one could go on. Does nothing in launches that run forward.
void take_turns(WarpFiber& fiber);
// cluster.cpp: whether the block may use this memory outside its own shared memory. The offset is as from
// shared_offset() (device/access/access.h).
bool in_cluster(const jit::WarpContext& context, std::uint64_t offset, std::uint64_t bytes);
bool in_ended_block(const jit::WarpContext& context, std::uint64_t offset, std::uint64_t bytes);  // of the cluster
// cluster.cpp: start of the shared memory that is nearest to the offset: 0 for the block's own, else that of another
// block of its cluster. For messages.
std::int64_t nearest_shared(const jit::WarpContext& context, std::int64_t offset);

}  // namespace warpgrind::device
