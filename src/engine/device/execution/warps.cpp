// Start and end of warps: their fibers, contexts and local memory.
#include "device/execution/warps.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/assert.h"
#include "device/block_work.h"
#include "device/definedness/tracking.h"
#include "device/execution/order.h"
#include "device/execution/paths.h"
#include "device/execution/scheduler.h"
#include "device/fault.h"
#include "device/memory/shadow_memory.h"
#include "device/module.h"

namespace warpgrind::device {

namespace {

[[gnu::noinline]] void fill_local(const Launch& launch, WarpFiber& f) {
  const std::uint64_t bytes = unwritten_local_bytes(launch);
  if (bytes) std::memset(f.local, *launch.fill, (bytes + 3) / 4 * 4 * kWarpSize);
}

void release_local_memory(WarpFiber& f) {
  if (f.local) munmap(f.local, f.local_mapped);
  f.local = nullptr;
  f.local_capacity = f.local_mapped = 0;
}

// Up to 16 MiB per warp (cudaLimitStackSize), mostly untouched.
[[gnu::noinline]] void grow_local_memory(WarpFiber& f, std::uint64_t bytes) {
  release_local_memory(f);
  bytes = (bytes + 4095) / 4096 * 4096;
  const std::uint64_t mapped = f.worker->launch->shadow ? 2 * bytes : bytes;
  void* p = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED)
    give_up(*f.worker, "the host has no memory left for the local memory of this launch's threads",
            "use smaller arrays in the kernel, a smaller stack (cudaLimitStackSize), or fewer or smaller blocks");
  f.local = static_cast<std::uint8_t*>(p);
  f.local_capacity = bytes;
  f.local_mapped = mapped;
}

[[gnu::noinline]] void grow_frame(WarpFiber& f, std::uint64_t bytes) {
  std::free(f.context.frame);
  f.frame_capacity = (bytes + 63) / 64 * 64;
  f.context.frame = static_cast<std::uint8_t*>(std::aligned_alloc(64, f.frame_capacity));
  WG_ASSERT(f.context.frame);
  if (f.worker->launch->before) std::memset(f.context.frame, 0, f.frame_capacity);
}

// Sets the fields that are the same for every warp of the launch.
void enter_launch(WarpFiber& f, Launch& launch, Worker& w) {
  jit::WarpContext& c = f.context;
  f.launch = launch.serial;
  if (launch.local_size * kWarpSize > f.local_capacity) grow_local_memory(f, launch.local_size * kWarpSize);
  if (launch.kernel->code->region_bytes > f.frame_capacity) grow_frame(f, launch.kernel->code->region_bytes);
  c.params = launch.parameters;
  c.globals = launch.module->globals().data();
  c.functions = nullptr;
  c.scoreboard = w.scoreboard;
  c.shared_size = launch.shared_size;
  c.dynamic_shared_offset = launch.kernel->code->dynamic_shared_offset;
  c.local = f.local;
  c.local_size = launch.local_size;
  static_assert(sizeof launch.interrupt == sizeof *c.interrupt && decltype(launch.interrupt)::is_always_lock_free);
  c.interrupt = reinterpret_cast<const volatile std::uint32_t*>(&launch.interrupt);
  static constexpr std::uint32_t kAlways = 1;  // take turns at every head of a loop
  if (launch.ordered) c.interrupt = &kAlways;
  f.polled_site = ~0u;
  const Dim3 &grid = launch.config.grid, &block = launch.config.block, &cluster = launch.config.cluster;
  const Dim3* from[] = {&grid, &block, &cluster};
  std::uint32_t* to[] = {c.nctaid, c.ntid, c.cluster_dim};
  for (unsigned k = 0; k < 3; ++k) {
    to[k][0] = from[k]->x;
    to[k][1] = from[k]->y;
    to[k][2] = from[k]->z;
  }
  c.explicit_cluster = launch.cluster_size > 1;
  c.alone = launch.warps_per_block == 1 && launch.plain_barriers && !launch.ordered;
  c.issue_cycles = launch.issue_cycles;
  c.capability = launch.capability;
  c.sm_clock_khz = launch.sm_clock_khz;
  c.total_shared = launch.total_shared;
  c.all_shared = launch.all_shared;
  std::copy(std::begin(launch.env), std::end(launch.env), c.env);
  c.graph = launch.config.graph;
  static_assert(offsetof(WarpFiber, context) == 0);
  static_assert(offsetof(Worker, ended_in_round) - offsetof(Worker, current) == offsetof(jit::RunningWarp, ended));
  c.running = reinterpret_cast<jit::RunningWarp*>(&w.current);
  c.runtime = &f;
  c.successor = nullptr;
  c.next_shape = c.last_shape = nullptr;
  c.global_shadow = launch.shadow ? launch.shadow->distance() : 0;
  c.local_shadow = f.local_capacity;
  f.block = nullptr;
}

}  // namespace

WarpFiber::WarpFiber() {
  std::memset(&context, 0, sizeof context);
}
WarpFiber::~WarpFiber() {
  release_local_memory(*this);
  std::free(context.frame);
}
WarpFiber& take_fiber(Worker& w) {
  if (WarpFiber* f = w.idle) {
    w.idle = f->next;
    f->next = nullptr;
    return *f;
  }
  w.fibers.push_back(std::make_unique<WarpFiber>());
  w.fibers.back()->worker = &w;
  return *w.fibers.back();
}

void start_warp(WarpFiber& f, Worker& w, Block& b) {
  Launch& launch = *w.launch;
  jit::WarpContext& c = f.context;
  if (f.launch != launch.serial) enter_launch(f, launch, w);
  if (f.block != &b || f.block_linear != b.linear) {
    f.block = &b;
    place_in_grid(f, b);
    c.shared = b.shared;
    c.late_loads = &b.late_loads;
    c.shared_shadow = b.shared_shadow;
    c.cluster_rank = b.cluster_rank;
  }
  const std::uint32_t index = launch.ordered ? warp_in_order(launch, b, b.started) : b.started;
  ++b.started;
  if (b.started == b.warps) w.starting = b.next_start;
  const jit::WarpShape& shape = launch.shapes[index];
  std::memcpy(c.tid_base, shape.tid_base, sizeof c.tid_base);  // std::copy() would call memmove
  c.warp = index;
  begin_at_start(f, b);
  if (launch.keeps_time) [[unlikely]]
    c.cycles = b.begin_cycles;
  c.initial_mask = shape.mask;
  c.local_top = 0;
  if (launch.kernel->shape == jit::LaneShape::general) std::memcpy(c.tid, launch.warp_threads[index].tid, sizeof c.tid);
  c.stop_flags = launch.stop_flags;
  c.stop_frame = nullptr;
  c.steps = 0;
  f.exited_counted = 0;
  f.apart_at = 0;
  f.products = 0;
  f.cluster_phase = 0;
  f.spinning = 0;
  f.owes_way = false;
  f.awaited = nullptr;
  f.waits_by_path = false;  // may be left over from a stopped launch
  if (f.parked) f.parked->in_use = 0;
  if (launch.shadow) [[unlikely]]
    forget_local(f);
  if (launch.fill) [[unlikely]]
    fill_local(launch, f);
  w.idle_turns = 0;
}

void end_warp(WarpFiber& f, Worker& w) {
  Block& b = *f.block;
  give_time(f);
  if (w.launch->work) note_warp(w, b);
  const auto left = static_cast<unsigned>(__builtin_popcount(f.context.initial_mask)) - f.exited_counted;
  if (b.cluster) cluster_exited(f, left, f.context.initial_mask);
  ++b.ended;
  ++w.warps_ended;
  w.threads_ended += static_cast<unsigned>(__builtin_popcount(f.context.initial_mask));
  w.idle_turns = 0;
  if (b.ended == b.warps) {
    retire_block(w, b);
    return;
  }
  b.exited += left;
  if (f.apart_at) [[unlikely]]
    end_parts(f);
  if (b.barriers_in_use != 0) release_if_complete(w, b);
}

void put_idle(Worker& w, WarpFiber& f) {
  f.state = WarpState::idle;
  f.next = w.idle;
  w.idle = &f;
}

}  // namespace warpgrind::device
