// The events of events.inc as values. What happens in a kernel is one event a WARP instruction: site, lanes on.
#pragma once

#include <cstdint>
#include <span>

#include "events/site.h"
#include "gpu/types.h"

namespace warpgrind::ptx {
struct Module;
}

namespace warpgrind::events {

struct Launch {
  std::uint64_t id = 0;  // 0, 1, 2 ... in issue order
  const KernelFacts* facts = nullptr;
  const ptx::Module* module = nullptr;  // the kernel's; it outlives the launch
  Dim3 grid, block;
  std::uint64_t dynamic_shared = 0;
  int device = 0;
  unsigned first_worker = 0, workers = ~0u;  // who runs it: numbers from first_worker on, of no other launch meanwhile
};

// By which way memory is accessed.
enum class AccessPath : std::uint8_t {
  instruction,  // ld, st, atom, red and what is made of them (wmma, ldmatrix)
  async_copy,   // cp.async: a load from global memory and a store to shared memory
  bulk_copy,    // cp.async.bulk: likewise, a stretch a lane
  texture,      // the addresses are those of texels; of several texels a lane, one event each
  surface,
  mbarrier,  // published as MBarrier
  call       // printf, memcpy and what else a kernel calls in the driver: a stretch of one lane
};

struct Access {
  const Launch* launch = nullptr;
  std::uint32_t site = 0;
  StateSpace space = StateSpace::global;  // resolved: global, constant, shared, local, texture
  Dim3 block;                             // ctaid
  std::uint32_t warp = 0;                 // index in the block
  LaneMask mask = 0;
  // global, constant: device addresses; shared, local: offsets; texture: host addresses of texels in arrays, device
  // addresses of those in linear memory.
  std::span<const std::uint64_t, kWarpSize> addresses;
  AccessType type = AccessType::load;
  AccessPath path = AccessPath::instruction;
  MemoryOrder order = MemoryOrder::weak;
  MemoryScope scope = MemoryScope::none;
  std::uint32_t bytes = 0;               // a lane
  const std::uint32_t* sizes = nullptr;  // 32: bytes of each lane, where they differ

  std::uint32_t bytes_of(unsigned lane) const { return sizes ? sizes[lane] : bytes; }
};

// What the events of a warp share.
struct WarpEvent {
  const Launch* launch = nullptr;
  std::uint32_t site = 0;
  Dim3 block;  // ctaid
  std::uint32_t warp = 0;
  LaneMask mask = 0;
};

// bar.sync, barrier, bar.red: the lanes arrive, and wait. bar.arrive: they do not wait.
struct Barrier : WarpEvent {
  std::uint32_t barrier = 0;
  std::uint32_t threads = 0;  // that it waits for; 0: all of the block
  bool waits = true;
};

// An operation at which the lanes of `members` meet: bar.warp.sync, and shfl, vote, match, redux with .sync.
struct WarpSync : WarpEvent {
  LaneMask members = 0;  // as the lanes of `mask` name them
};

struct Fence : WarpEvent {
  MemoryOrder order = MemoryOrder::sequential;
  MemoryScope scope = MemoryScope::none;
  bool proxy = false;  // fence.proxy: between ways of access
};

// How machine code, device and observers name an operation on an mbarrier.
enum class MBarrierOperation : std::uint8_t {
  init,
  invalidate,
  arrive,
  arrive_drop,
  expect,
  complete,
  test,
  test_parity,
  pending_count,
  copy_arrive,
  copy_arrive_noinc,
  try_wait,
  try_wait_parity
};
constexpr bool is_wait(MBarrierOperation o) {
  using enum MBarrierOperation;
  return o == test || o == test_parity || o == try_wait || o == try_wait_parity;
}

struct MBarrier : WarpEvent {
  MBarrierOperation operation = MBarrierOperation::init;
  const std::uint64_t* offsets = nullptr;  // 32: in shared memory
  const std::uint64_t* results = nullptr;  // 32; arrive: the state before; waits: 1 if the phase is over
};

// Groups of asynchronous copies. What they copy are accesses of paths async_copy and bulk_copy.
enum class AsyncGroupOperation : std::uint8_t { commit, wait, wait_all, bulk_commit, bulk_wait, bulk_wait_read };
struct AsyncGroup : WarpEvent {
  AsyncGroupOperation operation = AsyncGroupOperation::commit;
  std::uint32_t pending = 0;  // wait: groups that may still be under way
};

struct BlockEvent {
  const Launch* launch = nullptr;
  Dim3 block;  // ctaid
  std::uint64_t shared_bytes = 0;
};

struct Allocation {
  enum class Kind : std::uint8_t { device, managed, host, kernel_heap } kind = Kind::device;
  int device = 0;
  std::uint64_t address = 0, bytes = 0;
};

// Copies, fills: when they are carried out.
struct HostCopy {
  int device = 0;
  std::uint64_t stream = 0;
  std::uint64_t to = 0, from = 0, bytes = 0;  // a row
  std::uint64_t rows = 1, to_pitch = 0, from_pitch = 0;
};
struct HostFill {
  int device = 0;
  std::uint64_t stream = 0;
  std::uint64_t to = 0, bytes = 0;  // a row
  std::uint64_t rows = 1, pitch = 0;
  std::uint32_t value = 0, value_bytes = 1;
};

// `later` goes on only after what `earlier` has done so far: event waits, synchronisation (later: kHost).
struct StreamOrder {
  static constexpr std::uint64_t kHost = ~std::uint64_t{0};
  int device = 0;
  std::uint64_t earlier = 0, later = 0;
};

}  // namespace warpgrind::events
