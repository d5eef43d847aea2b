// Asynchronous copies (done at once), mbarriers and fences. An mbarrier is one 64-bit word in shared memory. Only these
// functions read it, so its layout is ours: pending arrivals (16 bits), expected arrivals (16), phase (1), outstanding
// transaction bytes (31, signed).
#include <algorithm>
#include <bit>
#include <cstring>

#include "base/sanitizers.h"
#include "device/access/access.h"
#include "device/access/check.h"
#include "device/access/count.h"
#include "device/calls/bulk_ranges.h"
#include "device/calls/cluster_addresses.h"
#include "device/calls/mbarriers.h"
#include "device/calls/tensor_memory.h"
#include "device/fault.h"
#include "device/symbols.h"

namespace warpgrind::device {

namespace {

struct MBarrier {
  std::uint16_t pending, expected;
  std::uint32_t phase : 1;
  std::int32_t transactions : 31;
};
static_assert(sizeof(MBarrier) == 8);

void settle(MBarrier& b) {
  if (b.pending != 0 || b.transactions != 0) return;
  b.phase = b.phase + 1u;
  b.pending = b.expected;
}

using Operation = events::MBarrierOperation;

std::uint64_t apply(MBarrier& b, Operation op, std::uint64_t number, std::uint64_t expect) {
  const std::uint64_t state = b.phase | std::uint64_t{b.pending} << 1;
  switch (op) {
    case Operation::init:
      b = {static_cast<std::uint16_t>(number), static_cast<std::uint16_t>(number), 0, 0};
      break;
    case Operation::invalidate:
      b = {};
      break;
    case Operation::expect:
      b.transactions = b.transactions + static_cast<std::int32_t>(expect);
      break;
    case Operation::complete:
      b.transactions = b.transactions - static_cast<std::int32_t>(expect);
      settle(b);
      break;
    case Operation::arrive:
    case Operation::arrive_drop:
      b.transactions = b.transactions + static_cast<std::int32_t>(expect);
      b.pending = static_cast<std::uint16_t>(b.pending - number);
      if (op == Operation::arrive_drop) b.expected = static_cast<std::uint16_t>(b.expected - number);
      settle(b);
      break;
    case Operation::test:
    case Operation::try_wait:
    case Operation::test_parity:
    case Operation::try_wait_parity:
      return b.phase != (number & 1);
    case Operation::copy_arrive_noinc:
      --b.pending;
      settle(b);
      break;
    case Operation::copy_arrive:
      break;  // adds an expected arrival that arrives at once
    default:
      break;
  }
  return state;
}

MBarrier& mbarrier_at(const Place& place, unsigned lane) {
  return *reinterpret_cast<MBarrier*>(place.of(lane));
}

// Whether the operation would complete a phase. Several lanes may name one mbarrier, so it is done and undone.
bool completes_phase(const Place& place, Operation op, const std::uint64_t* number, const std::uint64_t* expect,
                     LaneMask mask) {
  MBarrier before[kWarpSize];
  bool completes = false;
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    const auto l = static_cast<unsigned>(std::countr_zero(m));
    MBarrier& b = mbarrier_at(place, l);
    before[l] = b;
    apply(b, op, number[l], expect[l]);
    completes |= b.phase != before[l].phase;
  }
  for (unsigned l = kWarpSize; l-- > 0;)
    if (mask >> l & 1) mbarrier_at(place, l) = before[l];
  return completes;
}

// The ends of copies take time, and so do arrivals at mbarriers of other blocks. `barriers`: in the shared window.
bool takes_time(const jit::WarpContext& w, Operation op, const std::uint64_t* barriers, LaneMask mask) {
  if (op == Operation::complete || op == Operation::copy_arrive_noinc) return true;
  if (op != Operation::arrive && op != Operation::arrive_drop) return false;
  for (LaneMask m = mask; m != 0; m &= m - 1)
    if (block_of(GenericAddress{barriers[std::countr_zero(m)]}) != w.cluster_rank) return true;
  return false;
}

void note_wait(WarpFiber& f, const MBarrier& barrier, std::uint64_t number, bool over) {
  f.awaited = over ? nullptr : &barrier;
  f.awaited_parity = (number & 1) != 0;
}

// Access to the mbarriers of the lanes. It is published as an MBarrier event, not as an access.
Access mbarrier_access(jit::WarpContext& w, std::uint32_t site) {
  Access a = access_of(w, site);
  a.form = {StateSpace::shared, AccessType::atomic, sizeof(MBarrier)};
  a.path = events::AccessPath::mbarrier;
  a.counted = a.published = false;
  return a;
}

// Whether one arrival would complete the phase. False for an invalid address.
bool arrival_completes(jit::WarpContext& w, std::uint32_t site, unsigned lane, GenericAddress barrier) {
  std::uint64_t offsets[kWarpSize];
  offsets[lane] = raw(shared_offset(w, barrier));
  Range range;
  const Access access = mbarrier_access(w, site).at(Lanes<SharedOffset>(offsets), LaneMask{1} << lane);
  if (problem_of(access, lane, range) != Problem::none) return false;
  MBarrier b;
  std::memcpy(&b, reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(w.shared) + offsets[lane]), sizeof b);
  const std::uint32_t before = b.phase;
  apply(b, Operation::arrive, 1, 0);
  return b.phase != before;
}

}  // namespace

void operate(jit::WarpContext& w, std::uint32_t site, Operation op, const std::uint64_t* barriers,
             const std::uint64_t* number, const std::uint64_t* expect, LaneMask mask, std::uint64_t* out,
             TimePasses before_ends) {
  if (mask == 0) return;
  WarpFiber& fiber = fiber_of(w);
  std::uint64_t offsets[kWarpSize];
  shared_offsets(w, Lanes<GenericAddress>(barriers), offsets);
  Access access = mbarrier_access(w, site).at(Lanes<SharedOffset>(offsets), mask);
  const Place place = pass(access);
  // A wait on an invalid mbarrier succeeds at once.
  for (LaneMask m = mask & ~access.mask; m != 0; m &= m - 1) out[std::countr_zero(m)] = 1;
  mask = access.mask;
  if (mask == 0) return;
  if (before_ends == TimePasses::as_on_a_gpu && takes_time(w, op, barriers, mask) &&
      completes_phase(place, op, number, expect, mask))
    let_time_pass(fiber);
  std::uint32_t phases[kWarpSize];
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    const auto l = static_cast<unsigned>(std::countr_zero(m));
    MBarrier& barrier = mbarrier_at(place, l);
    out[l] = apply(barrier, op, number[l], expect[l]);
    phases[l] = barrier.phase;
    if (events::is_wait(op)) note_wait(fiber, barrier, number[l], out[l] != 0);
  }
  if (events::is_wait(op)) note_tensor_waits(w, offsets, number, out, mask);
  const Launch& launch = launch_of(w);
  if (!launch.wants.mbarriers) return;
  events::MBarrier event;
  static_cast<events::WarpEvent&>(event) = warp_event(w, site, mask);
  event.operation = op;
  event.order = launch.kernel->sites[site].order;
  event.scope = launch.kernel->sites[site].scope;
  event.offsets = offsets;
  event.results = out;
  event.phases = phases;
  event.numbers = number;
  event.bytes = expect;
  events::publish_mbarrier(*launch.observers, event, worker_of(w).number);
}

void complete_bytes(jit::WarpContext& w, std::uint32_t site, const std::uint64_t* barriers, const std::uint32_t* bytes,
                    LaneMask mask) {
  std::uint64_t nothing[kWarpSize] = {}, expect[kWarpSize] = {}, out[kWarpSize];
  for (LaneMask m = mask; m != 0; m &= m - 1) expect[std::countr_zero(m)] = bytes[std::countr_zero(m)];
  operate(w, site, Operation::complete, barriers, nothing, expect, mask, out);
}

namespace {

struct BulkCopy {
  const std::uint64_t *to, *from;
  const std::uint32_t* bytes;
  const std::uint64_t* barrier;  // null: none
  const std::uint32_t* masks;    // null: all bytes
  bool to_shared, from_shared;
};

// Zeroes the addresses of lanes that take no part, which shared_offsets() would read.
void offsets_of(const jit::WarpContext& w, const std::uint64_t* addresses, LaneMask mask, std::uint64_t* offsets) {
  for (unsigned l = 0; l < kWarpSize; ++l)
    offsets[l] = mask >> l & 1 ? raw(shared_offset(w, GenericAddress{addresses[l]})) : 0;
}

// read_counts: the source is counted; a multicast reads it once.
void copy_bulk(jit::WarpContext& w, std::uint32_t site, const BulkCopy& c, LaneMask mask, bool read_counts) {
  Access copy = access_of(w, site);
  copy.path = events::AccessPath::bulk_copy;
  copy.sizes = c.bytes;
  const LaneMask moving = lanes_that_move(c.bytes, mask);
  if (moving) {
    std::uint64_t to_offsets[kWarpSize], from_offsets[kWarpSize];
    if (c.to_shared) offsets_of(w, c.to, mask, to_offsets);
    if (c.from_shared) offsets_of(w, c.from, mask, from_offsets);
    Access read = c.from_shared ? copy.at(Lanes<SharedOffset>(from_offsets), moving)
                                : copy.at(Lanes<GlobalAddress>(c.from), moving);
    Access write =
        c.to_shared ? copy.at(Lanes<SharedOffset>(to_offsets), moving) : copy.at(Lanes<GlobalAddress>(c.to), moving);
    read.form.type = AccessType::load;
    read.counted = read_counts;
    write.form.type = AccessType::store;
    const Place source = pass(read), target = pass(write);
    const NotWatched guard;
    for (LaneMask m = read.mask & write.mask; m != 0; m &= m - 1) {
      const auto l = static_cast<unsigned>(std::countr_zero(m));
      if (read_counts && c.to_shared) count_copy_place(w, site, SharedOffset{to_offsets[l]});
      move_range(target.of(l), source.of(l), c.bytes[l], c.masks ? c.masks[l] : kAllBytes);
    }
  }
  if (c.barrier) complete_bytes(w, site, c.barrier, c.bytes, mask);
}

}  // namespace

std::uint32_t arrive_later(jit::WarpContext& w, std::uint32_t site, unsigned lane,
                           std::span<const GenericAddress> barriers) {
  std::uint64_t address[kWarpSize], one[kWarpSize] = {}, nothing[kWarpSize] = {}, state[kWarpSize] = {};
  one[lane] = 1;
  for (const GenericAddress barrier : barriers)
    if (arrival_completes(w, site, lane, barrier)) {
      let_time_pass(fiber_of(w));  // once: until the caller has noted all arrivals, no other warp may see one
      break;
    }
  std::uint32_t phases = 0;
  for (std::size_t k = 0; k < barriers.size(); ++k) {
    std::fill(std::begin(address), std::end(address), raw(barriers[k]));
    operate(w, site, Operation::arrive, address, one, nothing, LaneMask{1} << lane, state, TimePasses::no);
    phases |= static_cast<std::uint32_t>(state[lane] & 1) << k;
  }
  return phases;
}

bool may_end_its_wait(const WarpFiber& f) {
  return f.awaited && static_cast<const MBarrier*>(f.awaited)->phase != std::uint32_t{f.awaited_parity};
}

}  // namespace warpgrind::device

using namespace warpgrind;
using namespace warpgrind::device;

extern "C" {

// bytes[l] come from memory; the rest of the site's size is zero.
static void wg_cp_async(void* context, std::uint32_t site, const std::uint64_t* to, const std::uint64_t* from,
                        const std::uint32_t* bytes, std::uint32_t mask) {
  if (mask == 0) return;
  jit::WarpContext& w = warp(context);
  Access copy = access_of(w, site);
  copy.path = events::AccessPath::async_copy;
  const unsigned whole = copy.bytes();
  std::uint32_t taken[kWarpSize] = {};
  LaneMask reading = 0;
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    const auto l = static_cast<unsigned>(std::countr_zero(m));
    taken[l] = std::min<std::uint32_t>(bytes[l], whole);
    if (taken[l] != 0) reading |= LaneMask{1} << l;
  }
  std::uint64_t offsets[kWarpSize];
  shared_offsets(w, Lanes<GenericAddress>(to), offsets);
  Access read = copy.at(Lanes<GlobalAddress>(from), reading), write = copy.at(Lanes<SharedOffset>(offsets), mask);
  read.form.type = AccessType::load;
  read.sizes = taken;
  write.form.type = AccessType::store;
  std::optional<Place> source;
  if (reading) source = pass(read);
  const Place target = pass(write);
  const NotWatched guard;
  for (LaneMask m = write.mask; m != 0; m &= m - 1) {
    const auto l = static_cast<unsigned>(std::countr_zero(m));
    if ((read.mask >> l & 1) == 0) taken[l] = 0;  // an invalid source gives zeroes
    if (taken[l]) std::memcpy(target.of(l), source->of(l), taken[l]);
    std::memset(target.of(l) + taken[l], 0, whole - taken[l]);
  }
}

// spaces: bit 0: to shared memory (with an mbarrier), bit 1: from shared memory. Of each lane: blocks: ranks of the
// blocks to which a multicast copies, else null. masks: bytes of each 16 that are copied (.cp_mask), else null.
static void wg_bulk_copy(void* context, std::uint32_t site, const std::uint64_t* to, const std::uint64_t* from,
                         const std::uint32_t* bytes, const std::uint64_t* barrier, const std::uint32_t* blocks,
                         const std::uint32_t* masks, std::uint32_t spaces, std::uint32_t mask) {
  jit::WarpContext& w = warp(context);
  BulkCopy copy{to, from, bytes, barrier, masks, (spaces & 1) != 0, (spaces & 2) != 0};
  if (!blocks) return copy_bulk(w, site, copy, mask, true);
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(m));
    for (std::uint32_t ranks = blocks[lane] & 0xffffu; ranks != 0; ranks &= ranks - 1) {
      const auto rank = static_cast<unsigned>(std::countr_zero(ranks));
      std::uint64_t targets[kWarpSize], barriers[kWarpSize];
      targets[lane] = raw(in_block(GenericAddress{to[lane]}, rank));
      barriers[lane] = raw(in_block(GenericAddress{barrier[lane]}, rank));
      copy.to = targets;
      copy.barrier = barriers;
      copy_bulk(w, site, copy, LaneMask{1} << lane, ranks == (blocks[lane] & 0xffffu));
    }
  }
}

static void wg_mbarrier(void* context, std::uint32_t site, std::uint32_t operation, const std::uint64_t* barrier,
                        const std::uint64_t* number, const std::uint64_t* expect, std::uint32_t mask,
                        std::uint64_t* out) {
  const auto op = static_cast<events::MBarrierOperation>(operation);
  using Operation = events::MBarrierOperation;
  if (op == Operation::init || op == Operation::invalidate) let_waiting_warps_look(fiber_of(warp(context)));
  operate(warp(context), site, op, barrier, number, expect, mask, out);
  bool waits = false;
  for (LaneMask m = mask; m != 0; m &= m - 1) waits |= out[std::countr_zero(m)] == 0;
  // Only the head of the loop around the wait can switch to other lanes, and it yields every fourth turn: if it asked
  // only then, the answer could always fall between (4 warps that wait for a lane of one of them).
  if (waits && (op == Operation::try_wait || op == Operation::try_wait_parity))
    fiber_of(warp(context)).owes_way = wg_yield(context, mask) != 0;
}

// Copies complete at issue, so groups never wait. Called only if observed.
static void wg_async_group(void* context, std::uint32_t site, std::uint32_t operation, std::uint32_t pending,
                           std::uint32_t mask) {
  jit::WarpContext& w = warp(context);
  const Launch& launch = launch_of(w);
  if (!launch.wants.async_groups || mask == 0) return;
  events::AsyncGroup event;
  static_cast<events::WarpEvent&>(event) = warp_event(w, site, mask);
  event.operation = static_cast<events::AsyncGroupOperation>(operation);
  event.pending = pending;
  events::publish_async_group(*launch.observers, event, worker_of(w).number);
}

// The fence itself is in machine code. Called only if observed.
static void wg_fence(void* context, std::uint32_t site, std::uint32_t proxy, std::uint32_t mask) {
  jit::WarpContext& w = warp(context);
  const Launch& launch = launch_of(w);
  if (!launch.wants.fences || mask == 0) return;
  events::Fence event;
  static_cast<events::WarpEvent&>(event) = warp_event(w, site, mask);
  const SiteFacts& facts = launch.kernel->sites[site];
  event.order = facts.order;
  event.scope = facts.scope;
  event.proxy = proxy != 0;
  events::publish_fence(*launch.observers, event, worker_of(w).number);
}

}  // extern "C"

namespace warpgrind::device {

std::span<const jit::CallSymbol> async_copy_symbols() {
  static const jit::CallSymbol symbols[] = {{"wg_cp_async", reinterpret_cast<void*>(&wg_cp_async)},
                                            {"wg_bulk_copy", reinterpret_cast<void*>(&wg_bulk_copy)},
                                            {"wg_mbarrier", reinterpret_cast<void*>(&wg_mbarrier)},
                                            {"wg_async_group", reinterpret_cast<void*>(&wg_async_group)},
                                            {"wg_fence", reinterpret_cast<void*>(&wg_fence)}};
  return symbols;
}

}  // namespace warpgrind::device
