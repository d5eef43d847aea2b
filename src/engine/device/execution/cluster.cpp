// Clusters: blocks that run at the same time on one worker, share a barrier and can access each other's shared memory.
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "base/assert.h"
#include "device/execution/meeting_events.h"
#include "device/execution/paths.h"
#include "device/execution/scheduler.h"
#include "device/fault.h"
#include "device/state.h"
#include "device/symbols.h"

namespace warpgrind::device {

namespace {

constexpr std::uint64_t kStride = std::uint64_t{1} << kClusterShift;
constexpr std::uint64_t kReserved = (kMaxClusterSize + 1) * kStride;

Cluster& take_cluster(Worker& w, std::uint32_t size) {
  Cluster* c = w.free_clusters;
  if (c) {
    w.free_clusters = c->next;
  } else {
    w.clusters.push_back(std::make_unique<Cluster>());
    c = w.clusters.back().get();
  }
  if (!c->memory && size > 1) {
    // The shadow of undefined bits follows.
    void* p = mmap(nullptr, 2 * kReserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) {
      Fault fault = describe(*w.launch, FaultKind::out_of_resources, ~0u);
      fault.message = "the host has no address space left for the shared memory of a cluster";
      record(*w.launch, std::move(fault), 0, 0);
      leave_launch(w);
    }
    c->memory = static_cast<std::uint8_t*>(p);
  }
  c->size = size;
  c->live = c->threads = c->arrived = c->exited = c->generation = 0;
  c->first = nullptr;
  c->parked = nullptr;
  for (Block*& b : c->blocks) b = nullptr;
  return *c;
}

void pass_if_complete(Worker& w, Cluster& c) {
  if (c.arrived == 0 || c.arrived < c.threads - c.exited) return;
  ++c.generation;
  c.arrived = 0;
  while (WarpFiber* f = c.first) {
    c.first = f->next;
    queue_ready(w, f);
  }
  for (ParkedPath* p = std::exchange(c.parked, nullptr); p; p = p->next) {
    publish_cluster_barrier(p->fiber->context, p->site, p->mask, true, c.generation);
    release_parked(w, *p, 0);
  }
  w.idle_turns = 0;
}

// The cluster of a warp's block. In a launch without clusters every block is its own cluster.
Cluster& cluster_of(WarpFiber& f) {
  Block& b = *f.block;
  leave_round(*f.worker, f);
  if (!b.cluster) {
    Cluster* own = nullptr;
    enter_cluster(*f.worker, b, own);
    b.cluster->exited = b.exited;
  }
  return *b.cluster;
}

}  // namespace

Cluster::~Cluster() {
  if (memory) munmap(memory, 2 * kReserved);
}

void enter_cluster(Worker& w, Block& b, Cluster*& cluster) {
  if (!cluster) cluster = &take_cluster(w, w.launch->cluster_size);
  b.cluster = cluster;
  b.cluster_rank = cluster->live++;
  cluster->blocks[b.cluster_rank] = &b;
  cluster->threads += w.launch->threads_per_block;
  if (cluster->size > 1) {
    b.shared = cluster->memory + (b.cluster_rank + 1) * kStride;
    b.shared_shadow = kReserved;
  }
}

void leave_cluster(Worker& w, Block& b) {
  Cluster& c = *b.cluster;
  c.blocks[b.cluster_rank] = nullptr;
  if (c.size > 1) b.shared = nullptr;
  b.cluster = nullptr;
  if (--c.live != 0) return;
  c.next = w.free_clusters;
  w.free_clusters = &c;
}

// The barrier waits for "all non-exited threads of the cluster" (PTX ISA, barrier.cluster). A thread that arrives and
// then leaves no longer counts, and its arrival does not replace another thread's.
void cluster_exited(WarpFiber& f, std::uint32_t threads, LaneMask lanes) {
  Cluster& c = *f.block->cluster;
  c.exited += threads;
  if (c.generation < f.cluster_phase) {
    c.arrived -= static_cast<std::uint32_t>(std::popcount(f.cluster_arrived & lanes));
    f.cluster_arrived &= ~lanes;
  }
  pass_if_complete(*f.worker, c);
}

LaneMask held_by_cluster(WarpFiber& f, LaneMask lanes) {
  return cluster_of(f).generation < f.cluster_phase ? lanes & f.cluster_arrived : 0;
}

void wait_for_cluster(WarpFiber& f, ParkedPath& path) {
  Cluster& c = cluster_of(f);
  path.waits_for = ParkedPath::For::cluster;
  if (held_by_cluster(f, path.mask)) {
    path.next = c.parked;
    c.parked = &path;
    return;
  }
  publish_cluster_barrier(f.context, path.site, path.mask, true, c.generation);
  path.released = true;
}

namespace {

// Whether the bytes lie in memory of a block of the cluster that runs, or has ended.
bool in_block_that(bool runs, const jit::WarpContext& c, std::uint64_t offset, std::uint64_t bytes) {
  const Block& b = *fiber_of(c).block;
  if (!b.cluster || b.cluster->size == 1) return false;
  const std::uint64_t in_window = offset + (std::uint64_t{b.cluster_rank} << kClusterShift);
  const std::uint64_t rank = in_window >> kClusterShift, at = in_window & (kStride - 1);
  return rank < b.cluster->size && (b.cluster->blocks[rank] != nullptr) == runs && at < c.shared_size &&
         bytes <= c.shared_size - at;
}

}  // namespace

bool in_cluster(const jit::WarpContext& c, std::uint64_t offset, std::uint64_t bytes) {
  if (offset >= 0 - kReservedSharedBytes) return bytes <= 0 - offset;  // memory of the driver
  return in_block_that(true, c, offset, bytes);
}

bool in_ended_block(const jit::WarpContext& c, std::uint64_t offset, std::uint64_t bytes) {
  return in_block_that(false, c, offset, bytes);
}

std::int64_t nearest_shared(const jit::WarpContext& context, std::int64_t offset) {
  auto& c = const_cast<jit::WarpContext&>(context);
  const Block& b = *fiber_of(c).block;
  if (!b.cluster || b.cluster->size == 1) return 0;
  constexpr auto kStep = static_cast<std::int64_t>(kStride);
  const std::int64_t own = b.cluster_rank, last = std::int64_t{b.cluster->size} - 1;
  const std::int64_t rank = own + ((offset + kStep / 2) >> kClusterShift);
  return (std::clamp<std::int64_t>(rank, 0, last) - own) * kStep;
}

}  // namespace warpgrind::device

using namespace warpgrind;
using namespace warpgrind::device;

extern "C" {

void wg_cluster_arrive(void* context, std::uint32_t site, std::uint32_t mask) {
  WarpFiber& f = fiber_of(warp(context));
  Cluster& c = cluster_of(f);
  count_exited(f);
  if (f.cluster_phase != c.generation + 1) f.cluster_arrived = 0;
  f.cluster_phase = c.generation + 1;
  f.cluster_arrived |= mask;
  publish_cluster_barrier(f.context, site, mask, false, f.cluster_phase);
  c.arrived += static_cast<std::uint32_t>(std::popcount(mask));
  pass_if_complete(*f.worker, c);
}

void wg_cluster_wait(void* context, std::uint32_t site, std::uint32_t mask) {
  WarpFiber& f = fiber_of(warp(context));
  Cluster& c = cluster_of(f);
  if (held_by_cluster(f, mask)) {
    f.state = WarpState::barrier;
    f.wait_site = site;
    f.next = c.first;
    c.first = &f;
    suspend(*f.worker, f);
  }
  publish_cluster_barrier(f.context, site, mask, true, c.generation);
}

}  // extern "C"
