// Execution of blocks by a worker. A loop takes the next warp and runs it to its end or to the end of a region,
// repeatedly on one stack. A warp that waits elsewhere keeps the stack, and the loop continues on another one.
#include "device/execution/execution.h"

#include <fmt/format.h>
#include <pmmintrin.h>
#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>

#include "base/assert.h"
#include "device/access/access_log.h"
#include "device/access/count.h"
#include "device/block_work.h"
#include "device/calls/tensor_memory.h"
#include "device/calls/texture_unit.h"
#include "device/definedness/tracking.h"
#include "device/execution/crash_guard.h"
#include "device/execution/order.h"
#include "device/execution/paths.h"
#include "device/execution/scheduler.h"
#include "device/execution/shares.h"
#include "device/execution/warps.h"
#include "device/fault.h"
#include "device/module.h"
#include "device/state.h"

namespace warpgrind::device {

void give_up(Worker& w, const char* message, const char* advice) {
  Fault fault = describe(*w.launch, FaultKind::out_of_resources, ~0u);
  fault.message = message;
  fault.advice = advice;
  record(*w.launch, std::move(fault), 0, 0);
  leave_launch(w);
}

namespace {

constexpr std::uint32_t kDefaultMxcsr = 0x1f80;  // round to nearest, denormals on, no traps

// ---- Blocks

[[gnu::noinline]] void grow_shared_memory(Worker& w, Block& b, std::uint64_t size) {
  std::free(b.shared_memory);
  // Blocks start at different offsets in a page (see AddressSpace::allocate), and never at that of a stack. The
  // driver's reserved part lies below.
  const std::uint64_t stagger = (w.blocks.size() * 7 % 16) * 256 + 64 + kReservedSharedBytes;
  const std::uint64_t bytes = (size + stagger + 8191) / 4096 * 4096, with_shadow = w.launch->shadow ? 2 * bytes : bytes;
  b.shared_memory = static_cast<std::uint8_t*>(std::aligned_alloc(4096, with_shadow));
  WG_ASSERT(b.shared_memory);
  std::memset(b.shared_memory, 0, with_shadow);
  b.shared_shadow = bytes;
  b.shared = b.shared_memory + stagger;
  b.shared_capacity = size;
}

void give_shared_memory(Worker& w, Block& b) {
  const std::uint64_t size = w.launch->shared_size;
  if (b.shared_capacity < size || !b.shared) grow_shared_memory(w, b, size);
}

// Sets up the unwritten shared memory of a block that begins.
void begin_shared(const Launch& launch, const Block& b) {
  if (launch.shadow) forget_shared(b, launch.shared_size);
  if (launch.fill && launch.shared_size) [[unlikely]]
    std::memset(b.shared, *launch.fill, launch.shared_size);
}

events::BlockEvent block_event(const Launch& launch, Block& b) {
  return {&launch.info, Dim3{b.index[0], b.index[1], b.index[2]}, launch.shared_size, &b.late_loads,
          jit::row_length(launch.kernel->shape)};
}

// Time of an SM, shared by several workers.
std::atomic_ref<std::uint64_t> sm_cycles(Launch& launch, const Block& b) {
  return std::atomic_ref(launch.sm_cycles[b.linear % launch.sm_count]);
}

void begin_time(Launch& launch, Block& b) {
  if (launch.keeps_time) [[unlikely]]
    b.begin_cycles = b.cycles = sm_cycles(launch, b).load(std::memory_order_relaxed);
}

void end_time(Launch& launch, const Block& b) {
  const auto time = sm_cycles(launch, b);
  std::uint64_t before = time.load(std::memory_order_relaxed);
  while (before < b.cycles && !time.compare_exchange_weak(before, b.cycles, std::memory_order_relaxed)) {
  }
}

// ---- Scheduling

void put_idle(Worker& w, Carrier& c) {
  c.next = w.idle_carriers;
  w.idle_carriers = &c;
}

// Resets the worker after a fault: its lists are no longer valid.
void reset(Worker& w) {
  forget_round(w);
  w.idle = w.ready_first = w.ready_last = w.current = nullptr;
  for (const auto& f : w.fibers) {
    f->on_stack = false;
    f->block = nullptr;
    f->launch = ~0ull;
    put_idle(w, *f);
  }
  w.idle_carriers = nullptr;
  for (const auto& c : w.carriers) {
    c->fresh = true;
    put_idle(w, *c);
  }
  const std::uint64_t ended = w.blocks_ended;
  while (w.live) retire_block(w, *w.live);
  w.blocks_ended = ended;  // abandoned blocks have not ended
  w.starting = nullptr;
  w.listing = false;
}

std::size_t site_bytes(std::size_t capacity) {
  return 2 * capacity * sizeof(jit::SiteState);
}

void release_sites(SiteSet& set) {
  if (set.sites) munmap(set.sites, site_bytes(set.capacity));
  delete[] set.records;
  set = {};
}

// A state has 27 KB, of which a launch without counters touches two pages. So their memory is not filled.
void allocate_sites(SiteSet& set, std::size_t capacity) {
  release_sites(set);
  void* const made =
      mmap(nullptr, site_bytes(capacity), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  WG_ASSERT(made != MAP_FAILED);
  set.capacity = capacity;
  set.sites = static_cast<jit::SiteState*>(made);
  for (std::size_t s = 0; s < 2 * capacity; ++s) empty_inline_cache(set.sites[s]);
  set.records = new SiteRecord[capacity];
}

// Kernels that take turns have a set each, so that their windows stay open.
void choose_sites(Worker& w, const KernelRecord& kernel) {
  SiteSet* const end = w.site_sets + std::size(w.site_sets);
  SiteSet* set =
      std::find_if(w.site_sets, end, [&](const SiteSet& s) { return s.windows.kernel == kernel.serial && s.sites; });
  if (set == end) set = &w.site_sets[w.next_set++ % std::size(w.site_sets)];
  const std::size_t sites = kernel.sites.size();
  if (sites > set->capacity || !set->sites) allocate_sites(*set, std::max<std::size_t>(16, sites * 3 / 2));
  w.windows = &set->windows;
  w.sites = set->sites;
  w.logged_sites = set->sites + set->capacity;
  w.records = set->records;
}

}  // namespace

Block::~Block() {
  std::free(shared_memory);
}
Worker::Worker() = default;

Worker::~Worker() {
  for (SiteSet& set : site_sets) release_sites(set);
  std::free(scoreboard);
}

namespace {

// Neighbouring blocks read neighbouring memory, so a worker takes a few at a time. Workers that alternate block by
// block break each other's prefetch streams (vector addition of 2^24 on 2 workers: 860 instead of 1,600 M/s).
BlockRange take_at_cursor(Launch& launch) {
  if (launch.next_block.load(std::memory_order_relaxed) >= launch.to_run) return {};
  const std::uint64_t first = launch.next_block.fetch_add(launch.chunk, std::memory_order_relaxed);
  if (first >= launch.to_run) return {};
  return {first, std::min(first + launch.chunk, launch.to_run)};
}

// A block may wait for an earlier one: the earliest unfinished block is always some worker's next. shares.cpp lists
// what else the callers need.
inline bool next_block(Worker& w, std::uint64_t& linear) {
  Launch& launch = *w.launch;
  if (w.chunk_next == w.chunk_end) {
    const BlockRange chunk = launch.shares ? take_from_shares(w) : take_at_cursor(launch);
    w.chunk_next = chunk.begin;
    w.chunk_end = chunk.end;
    if (chunk.empty()) return false;
  }
  linear = launch.ordered          ? block_in_order(launch, w.chunk_next)
           : launch.chosen.empty() ? w.chunk_next
                                   : launch.chosen[w.chunk_next];
  ++w.chunk_next;
  return true;
}

// Number of the first block of the next cluster to run, in a launch whose blocks may cancel the launch of others.
bool next_cancellable(Worker& w, std::uint64_t& linear) {
  Launch& launch = *w.launch;
  std::optional<std::uint64_t> cluster = launch.cancellable->follow();
  while (!cluster) {
    if (!next_block(w, linear)) return false;
    w.chunk_next += launch.cluster_size - 1;  // chunks hold whole clusters
    cluster = launch.cancellable->arrive(linear / launch.cluster_size);
  }
  linear = *cluster * launch.cluster_size;
  return true;
}

// Writes the index and the SM with one store, as place_in_grid() reads them with one load. A load that spans several
// stores waits until all stores before it have reached the cache: 12 % of the CPU time of Rodinia's lud.
inline void write_place(const Launch& launch, std::uint64_t x, std::uint64_t y, std::uint64_t z, Block& b) {
  using Pair [[gnu::vector_size(16)]] = std::uint64_t;
  const Pair place = {x | y << 32, z | b.linear % launch.sm_count << 32};
  static_assert(sizeof place == sizeof b.index + sizeof b.smid);
  std::memcpy(b.index, &place, sizeof place);
}

// Index of the n-th block to run, row by row or cluster by cluster.
inline void place_block(const Launch& launch, std::uint64_t n, Block& b) {
  const Dim3 &grid = launch.config.grid, &cluster = launch.config.cluster;
  if (launch.cluster_size == 1) {
    b.linear = n;
    const std::uint64_t row = n < grid.x ? 0 : n / grid.x, plane = row < grid.y ? 0 : row / grid.y;
    write_place(launch, n - row * grid.x, row - plane * grid.y, plane, b);
  } else {
    const std::uint64_t rank = n % launch.cluster_size, which = n / launch.cluster_size;
    const std::uint64_t wide = grid.x / cluster.x, high = grid.y / cluster.y;
    const std::uint64_t x = which % wide * cluster.x + rank % cluster.x;
    const std::uint64_t y = which / wide % high * cluster.y + rank / cluster.x % cluster.y;
    const std::uint64_t z = which / wide / high * cluster.z + rank / cluster.x / cluster.y;
    b.linear = x + grid.x * (y + std::uint64_t{grid.y} * z);
    write_place(launch, x, y, z, b);
  }
}

inline Block& new_block(Worker& w) {
  Block* b = w.free_blocks;
  if (b) {
    w.free_blocks = b->next;
  } else {
    w.blocks.push_back(std::make_unique<Block>());
    b = w.blocks.back().get();
  }
  b->warps = w.launch->warps_per_block;
  b->threads = w.launch->threads_per_block;
  b->plain = w.launch->plain_barriers && !w.launch->ordered;
  b->started = b->ended = b->exited = 0;
  b->cluster_rank = 0;
  b->left = 0;
  b->work = b->slowest = 0;
  b->cancel_failed = false;
  b->copy_places.clear();
  b->next_start = nullptr;
  b->next = w.live;
  b->previous = nullptr;
  if (w.live) w.live->previous = b;
  w.live = b;
  ++w.live_blocks;
  return *b;
}

void publish_begin(Worker& w, Block& b) {
  b.late_loads = {};
  const Launch& launch = *w.launch;
  if (launch.wants.blocks) events::publish_block_begin(*launch.observers, block_event(launch, b), w.number);
  if (launch.logs) begin_log(w, b);
}

// Activates the other blocks of a cluster after the first, which has number n.
void activate_cluster(Worker& w, Block& first, std::uint64_t n) {
  Launch& launch = *w.launch;
  Cluster* cluster = nullptr;
  enter_cluster(w, first, cluster);
  for (Block* last = &first; cluster->live < launch.cluster_size;) {  // chunks hold whole clusters
    if (launch.cancellable)
      ++n;
    else
      next_block(w, n);
    Block& b = new_block(w);
    place_block(launch, n, b);
    begin_time(launch, b);
    enter_cluster(w, b, cluster);
    last = last->next_start = &b;
  }
  for (Block* b = &first; b; b = b->next_start) {
    begin_shared(launch, *b);
    publish_begin(w, *b);
  }
}

}  // namespace

bool activate_block(Worker& w) {
  Launch& launch = *w.launch;
  std::uint64_t n = 0;
  if (launch.stop.load(std::memory_order_relaxed) || !(launch.cancellable ? next_cancellable(w, n) : next_block(w, n)))
    return false;
  Block& first = new_block(w);
  place_block(launch, n, first);
  begin_time(launch, first);
  w.starting = &first;
  if (launch.cluster_size == 1) {
    give_shared_memory(w, first);
    begin_shared(launch, first);
    publish_begin(w, first);
  } else {
    activate_cluster(w, first, n);
  }
  return true;
}

void retire_block(Worker& w, Block& b) {
  Launch& launch = *w.launch;
  if (launch.counts_ends) launch.ended_blocks.fetch_add(1, std::memory_order_relaxed);
  if (launch.wants.blocks_ended && !launch.stop.load(std::memory_order_relaxed))
    events::publish_block_end(*launch.observers, block_event(launch, b), w.number);
  if (b.log) end_log(w, b);
  if (launch.work) note_block(w, b);
  if (b.uses_tensor) [[unlikely]]
    end_tensor_memory(w, b);
  (b.previous ? b.previous->next : w.live) = b.next;
  if (b.next) b.next->previous = b.previous;
  for (unsigned k = 0; k < b.barriers_in_use; ++k) b.barriers[k] = {};
  b.barriers_in_use = 0;
  b.next = w.free_blocks;
  w.free_blocks = &b;
  --w.live_blocks;
  ++w.blocks_ended;
  if (launch.keeps_time) end_time(*w.launch, b);
  const bool last_of_cluster = !b.cluster || b.cluster->live == 1;
  if (b.cluster) leave_cluster(w, b);
  if (launch.cancellable && last_of_cluster) launch.cancellable->end(cluster_number(launch, b));
}

Carrier& take_carrier(Worker& w) {
  if (Carrier* c = w.idle_carriers) {
    w.idle_carriers = c->next;
    return *c;
  }
  auto made = std::make_unique<Carrier>();
  if (!w.stacks.take(&made->stack)) {
    give_up(w, "the host has no memory left for the warps of this launch",
            "launch fewer or smaller blocks, or raise the limit on memory maps (sysctl vm.max_map_count)");
  }
  made->worker = &w;
  w.carriers.push_back(std::move(made));
  return *w.carriers.back();
}

namespace {

// Runs the warp, and then the warps that it names at the ends of regions, until one ends or names none. Each may wait
// on this stack meanwhile, while others run on other stacks. Returns the ended warp, if any.
[[nodiscard]] inline WarpFiber* run(Worker& w, WarpFiber& f) {
  begin_to_run(w, f);
  w.launch->entry.load(std::memory_order_relaxed)(&f.context, f.context.frame);
  WarpFiber& last = *w.current;
  if (end_block_in_turn(w, last) || last.state != WarpState::running) return nullptr;
  end_warp(last, w);
  return &last;
}

inline bool stays_in_order(const Worker& w) {
  return !w.launch->ordered && w.launch->interrupt.load(std::memory_order_acquire) == 0;
}

inline bool has_warp_to_start(Worker& w) {
  return w.starting || (w.live_blocks == 0 && activate_block(w));
}

// Starts one warp after the other in the same fiber, as long as they end. Taking a fiber for each would cost short
// warps a tenth.
void start_warps(Worker& w) {
  WarpFiber* fiber = nullptr;
  do {
    Block& block = *w.starting;
    if (WarpFiber* first = begin_block_in_turn(w, block)) {
      if (WarpFiber* ended = run(w, *first)) put_idle(w, *ended);  // the round ended early
      continue;
    }
    if (!fiber) fiber = &take_fiber(w);
    start_warp(*fiber, w, block);
    begin_in_place(w, block, *fiber);
    fiber = run(w, *fiber);
    if (!fiber) return;
  } while (stays_in_order(w) && has_warp_to_start(w));
  if (fiber) put_idle(w, *fiber);
}

void resume(Worker& w, WarpFiber& ready) {
  if (w.launch->keeps_time) [[unlikely]]
    take_time(ready);
  if (WarpFiber* ended = run(w, ready)) put_idle(w, *ended);
}

// All waiting warps of the worker, in the order of blocks and warps.
std::vector<const WarpFiber*> waiting_warps(Worker& w) {
  std::vector<const WarpFiber*> stuck;
  for (const auto& f : w.fibers) {
    if (f->state != WarpState::barrier) continue;
    if (f->waits_by_path) {  // the first of its lanes represents the warp
      const ParkedPath& first = f->parked->of[std::countr_zero(f->parked->in_use)];
      f->wait_site = first.site;
      f->wait_barrier = first.barrier;
    }
    stuck.push_back(f.get());
  }
  std::sort(stuck.begin(), stuck.end(), [](const WarpFiber* a, const WarpFiber* b) {
    return std::pair(a->block_linear, a->context.warp) < std::pair(b->block_linear, b->context.warp);
  });
  if (stuck.empty()) stuck.push_back(w.current);  // lanes of the one warp that still runs
  return stuck;
}

// Text of the reason why warps wait at a barrier with a count. Empty: it has no count.
std::string describe_count(const WarpFiber& f) {
  const Block& b = *f.block;
  const Barrier& barrier = b.barriers[f.wait_barrier];
  if (barrier.expected == 0) return {};
  std::string text = fmt::format(": barrier {} waits for {} threads, and {} have arrived", f.wait_barrier,
                                 barrier.expected, barrier.arrived);
  if (barrier.expected > b.warps * kWarpSize) return text + fmt::format(" (the block has {})", b.threads);
  if (b.exited) text += fmt::format(" ({} threads of the block have exited)", b.exited);
  return text;
}

void record_deadlock(Worker& w) {
  Launch& launch = *w.launch;
  const std::vector<const WarpFiber*> stuck = waiting_warps(w);
  WG_ASSERT(stuck.front());
  const WarpFiber& first = *stuck.front();
  const bool mixed = std::any_of(stuck.begin(), stuck.end(),
                                 [&](const WarpFiber* f) { return f->wait_barrier != first.wait_barrier; });
  const ParkedPath* members = nullptr;
  const WarpFiber* theirs = nullptr;
  for (const WarpFiber* f : stuck)
    if (!members && (members = waits_for_members(*f))) theirs = f;
  Fault fault = describe(launch, mixed ? FaultKind::barrier_mismatch : FaultKind::deadlock, first.wait_site);
  if (members) {
    fault = member_deadlock(launch, *theirs, *members);
  } else {
    set_thread(fault, first.context, 0);
    fault.message = mixed ? "deadlock: warps of one block wait at different barriers"
                          : "deadlock: warps wait at a barrier that other warps never reach";
    fault.advice =
        "let every thread of the block reach the same __syncthreads(), or as many threads as the barrier counts";
    const std::string count = mixed ? std::string() : describe_count(first);
    fault.message += count;
    if (!count.empty())
      fault.advice =
          "let as many threads arrive as the barrier counts, even if others have exited, or use __syncthreads(), which "
          "waits only for the remaining threads";
  }
  for (const WarpFiber* f : stuck) {
    add_places(launch, *f, fault.warps);
    if (f->block_linear == first.block_linear) add_waiting(launch, *f, fault.waiting);
  }
  record(launch, std::move(fault), first.block_linear, 0);
}

}  // namespace

// This frame must own nothing: leaving the launch abandons the fiber's stack without destroying its objects.
void report_deadlock(Worker& w) {
  record_deadlock(w);
  leave_launch(w);
}

// Called when the launch was stopped, instead of going on. Another worker may have completed the list, which ends the
// launch. This worker still adds the positions of its own warps.
void stopped(Worker& w) {
  if (w.launch->stop_reason.load(std::memory_order_relaxed) != 0) {
    w.listing = true;
    w.starting = nullptr;
    if (!w.ready_first) finish_listing(w);
  } else if (w.launch->stop.load(std::memory_order_relaxed)) {
    leave_launch(w);
  }
}

// The worker's loop, run by any free carrier. It owns nothing: a fault may abandon it anywhere.
void carrier_loop(void* argument) {
  auto* self = static_cast<Carrier*>(argument);
  Worker& w = *self->worker;  // it has set MXCSR, and kernels may change it (codegen/kernel/tiny_results.h)
  for (;;) {
    if (w.launch->interrupt.load(std::memory_order_acquire) != 0) stopped(w);
    if (w.launch->ordered ? starts_next(w) : has_warp_to_start(w)) {
      start_warps(w);
      continue;
    }
    WarpFiber* const ready = w.launch->ordered ? next_in_order(w) : next_ready(w);
    if (ready && !ready->on_stack) {
      resume(w, *ready);
      continue;
    }
    put_idle(w, *self);
    if (ready) {
      go_to(w, self->continuation, *ready);
      continue;
    }
    if (w.live_blocks != 0) report_deadlock(w);
    w.current = nullptr;
    switch_to(self->continuation, w.main);
  }
}

void leave_launch(Worker& w) {
  Continuation nowhere;
  switch_to(nowhere, w.main);
  __builtin_unreachable();
}

// Records the warp that a stopped launch names: the first one found.
void list_first(Worker& w, const WarpFiber& f, std::uint32_t site) {
  if (w.listed_site != ~0u) return;
  w.listed_site = site;
  Fault thread;
  set_thread(thread, f.context, static_cast<unsigned>(std::countr_zero(f.context.initial_mask | 1u << 31)));
  w.listed_block = thread.block;
  w.listed_thread = thread.thread;
}

void finish_listing(Worker& w) {
  Launch& launch = *w.launch;
  {
    const std::lock_guard lock(launch.fault_mutex);
    for (const auto& f : w.fibers) {
      if (f->state != WarpState::barrier) continue;
      list_first(w, *f, f->wait_site);
      add_places(launch, *f, launch.places);
    }
  }
  const auto kind = static_cast<FaultKind>(launch.stop_reason.load() - 1);
  Fault fault = describe(launch, kind, w.listed_site);
  const bool stalled = launch.stalled.load();
  fault.message = kind != FaultKind::timeout ? "interrupted while the kernel was running"
                  : stalled                  ? "the kernel made no progress: none of its blocks ended within the limit"
                                             : "the kernel did not end within the time limit";
  if (kind == FaultKind::timeout)
    fault.advice =
        (w.spins_only.load(std::memory_order_relaxed)
             ? "all warps wait: for the host (is a flag set only after a call that waits for the kernel?), for work of "
               "another stream, or for blocks that do not fit on the GPU; "
             : "look for a loop that never ends; ") +
        std::string(stalled ? "--stall SECONDS changes the limit" : "--timeout SECONDS changes the limit");
  fault.block = w.listed_block;
  fault.thread = w.listed_thread;
  record(launch, std::move(fault), w.listed_site == ~0u ? 1 : 0, w.index);  // prefers a worker that had warps
  leave_launch(w);
}

void prepare_worker(Worker& w, Launch& launch) {
  w.launch = &launch;
  w.finished = false;
  w.spins_only = false;
  const std::size_t slots = launch.kernel->code->scoreboard_slots();
  w.chunk_next = w.chunk_end = 0;  // a stopped launch leaves some
  w.work_noted = 0;
  w.ran_before.clear();
  choose_sites(w, *launch.kernel);
  if (slots > w.scoreboard_capacity) {
    std::free(w.scoreboard);
    w.scoreboard_capacity = (std::max<std::size_t>(256, slots * 3 / 2) + 7) / 8 * 8;
    w.scoreboard = static_cast<std::uint64_t*>(std::aligned_alloc(64, w.scoreboard_capacity * sizeof(std::uint64_t)));
    WG_ASSERT(w.scoreboard);
    std::memset(w.scoreboard, 0, w.scoreboard_capacity * sizeof(std::uint64_t));
  }
}

void run_worker(Worker& w) {
  const CrashGuard guard(w);
  const unsigned user_mxcsr = _mm_getcsr();
  _mm_setcsr(kDefaultMxcsr);
  w.warps_ended = w.threads_ended = w.blocks_ended = 0;
  w.idle_turns = 0;
  w.idle_rounds = 0;
  w.turns_period = 0;
  w.work_mixed = false;
  w.spins_only = false;
  w.finished = false;
  w.seen_rounds.assign(w.launch->all_workers->size(), 0);
  w.listed_site = ~0u;
  w.listed_block = w.listed_thread = {0, 0, 0};
  if (w.stacks.grow(w.launch->stack_bytes)) {
    w.carriers.clear();
    w.idle_carriers = nullptr;
    w.emergency = {};
  }
  // take_carrier() may leave the launch at once, so it must run on one of our stacks: the emergency stack.
  if (!w.emergency.low && !w.stacks.take(&w.emergency)) {
    Fault fault = describe(*w.launch, FaultKind::out_of_resources, ~0u);
    fault.message = "the host has no memory left for a stack";
    record(*w.launch, std::move(fault), 0, 0);
    return;
  }
  Continuation start;
  prepare(
      start, w.emergency,
      [](void* argument) {
        Continuation nowhere;
        go_to_loop(*static_cast<Worker*>(argument), nowhere);
      },
      &w);
  switch_to(w.main, start);
  w.finished = true;
  release_team(w);
  if (w.launch->stop.load(std::memory_order_relaxed) || w.launch->faulty_block.load() != kNoBlock) reset(w);
  _mm_setcsr(user_mxcsr);
}

}  // namespace warpgrind::device
