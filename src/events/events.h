// The events of events.inc as values. What happens in a kernel is one event a WARP instruction: site, lanes on.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/host_stack.h"
#include "events/late_loads.h"
#include "events/site.h"
#include "gpu/types.h"

namespace warpgrind::ptx {
struct Module;
}

namespace warpgrind::events {

struct Launch {
  std::uint64_t id = 0;  // 0, 1, 2 ... in the order in which grids begin
  const KernelFacts* facts = nullptr;
  const ptx::Module* module = nullptr;  // the kernel's; it outlives the launch
  Dim3 grid, block;
  std::uint64_t dynamic_shared = 0;
  int device = 0;
  unsigned first_worker = 0, workers = ~0u;  // who runs it: numbers from first_worker on, of no other launch meanwhile
  Dim3 cluster{1, 1, 1};                     // blocks
  bool cooperative = false;
  std::uint64_t work = 0;    // StreamWork::id that it belongs to: the same for the grids that its kernels launch
  std::string_view range{};  // the named ranges (NVTX) it was issued in, joined by "/"; of a child none
  // By site, 1: each thread touches bytes of global memory there that no other thread of the launch touches anywhere.
  // Empty: nobody has looked.
  std::span<const std::uint8_t> own{};
  bool is_own(std::uint32_t site) const { return site < own.size() && own[site] != 0; }
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
  StateSpace space = StateSpace::global;  // resolved: global, constant, param, shared, local, texture
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
  // Stores of registers: the bytes of element e of lane l begin at values + (e * 32 + l) * element_bytes; else null.
  const std::uint8_t* values = nullptr;
  std::uint32_t element_bytes = 0;
  // On this machine the bytes are at host + address, as they were before the access. Not of local memory.
  std::uint64_t host = 0;

  std::uint32_t bytes_of(unsigned lane) const { return sizes ? sizes[lane] : bytes; }
};

// A load or store of an instruction as machine code serves it itself: lane l is at base + kx * (l % row) + ky * (l /
// row), and the addresses of all 32 lanes, on or off, are good.
struct AffineAccess {
  const Launch* launch = nullptr;
  std::uint32_t site = 0;
  StateSpace space = StateSpace::global;  // global, constant, shared
  Dim3 block;                             // ctaid
  std::uint32_t warp = 0;                 // index in the block
  LaneMask mask = 0;
  std::uint64_t base = 0;  // as Access::addresses
  std::int64_t kx = 0, ky = 0;
  unsigned row = kWarpSize;
  AccessType type = AccessType::load;  // or store
  MemoryOrder order = MemoryOrder::weak;
  std::uint32_t bytes = 0;  // a lane

  std::uint64_t address(unsigned lane) const {
    return base + static_cast<std::uint64_t>(kx * static_cast<std::int64_t>(lane % row) +
                                             ky * static_cast<std::int64_t>(lane / row));
  }
};

// What the events of a warp share.
struct WarpEvent {
  const Launch* launch = nullptr;
  std::uint32_t site = 0;
  Dim3 block;  // ctaid
  std::uint32_t warp = 0;
  LaneMask mask = 0;
};

// Accesses that are not allowed, of the lanes `mask`, which all have the same problem with the same object. Where
// nobody wants these events, the first of them ends the launch. Else they do not happen: loads give zeroes, stores and
// atomics do nothing, the other lanes and the launch go on.
struct InvalidAccess : WarpEvent {
  // Of a launch: after more events, or at more sites, it ends.
  static constexpr std::uint64_t kMostAccesses = 10000, kMostSites = 100;
  enum class Problem : std::uint8_t {
    outside,    // of all memory that there is, or in freed memory
    neighbour,  // in memory, but not in what the address was made from: origins of the site. A GPU would go on
    misaligned,
    constant,     // a write
    wrong_space,  // of an operation that works on global and shared memory only: local
  } problem = Problem::outside;
  StateSpace space = StateSpace::global;  // as Access::space
  AccessType type = AccessType::load;
  AccessPath path = AccessPath::instruction;
  std::uint32_t bytes = 0;  // a lane
  const std::uint32_t* sizes = nullptr;
  std::span<const std::uint64_t, kWarpSize> addresses;
  // What it should have stayed in, or else lies in or nearest to; in addresses of the space.
  enum class Object : std::uint8_t {
    none,  // nothing is near: a null pointer, memory of the host, or any number
    allocation,
    freed,  // lately
    piece,  // of the heap of kernels, in use
    freed_piece,
    heap,       // malloc has given out nothing near
    shared,     // the block's shared memory, or a variable in it
    local,      // the thread's local memory, or a variable in it
    parameters  // the kernel's
  } object = Object::none;
  std::uint64_t low = 0, high = 0;
  const AddressOrigin* origin = nullptr;  // of the site: what the pointer came from, if that is sure
  std::uint64_t hit = 0;                  // neighbour in global memory: the first byte of the allocation it lies in

  std::uint32_t bytes_of(unsigned lane) const { return sizes ? sizes[lane] : bytes; }
};

// malloc or free in a kernel that did not do what it was asked for, of one lane. Where nobody wants these events, such
// a free ends the launch.
struct HeapProblem : WarpEvent {
  enum class Kind : std::uint8_t {
    no_room,       // malloc has returned null
    freed_before,  // free
    no_piece       // free of what malloc did not return
  } kind = Kind::no_room;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;  // asked for
};

// bar.sync, barrier, bar.red: the lanes arrive, and wait. bar.arrive: they do not wait.
struct Barrier : WarpEvent {
  std::uint32_t barrier = 0;
  std::uint32_t threads = 0;  // that it waits for; 0: all of the block
  bool waits = true;
  LaneMask live = 0;  // lanes of the warp that have not left the kernel
};
// All have arrived, or left the kernel: those that wait go on.
struct BarrierPassed {
  static constexpr std::uint32_t kEach = ~0u;
  const Launch* launch = nullptr;
  Dim3 block;  // ctaid
  std::uint32_t barrier = 0;
  // Wants::whole_blocks: all threads of the block have met at this site, and no Barrier came. kEach: each came as one.
  std::uint32_t site = kEach;
};

// An operation at which lanes meet: bar.warp.sync; shfl, vote, match, redux, elect with .sync; those on matrices (mma,
// wmma, ldmatrix, stmatrix, movmatrix), whose members are all lanes and which do not wait here: `together` are those
// that execute it. When they have met, and before any of them goes on: one event for lanes that name the same members
// at the same instruction; others of `together` come in the next events of the warp.
struct WarpSync : WarpEvent {
  SiteKind operation = SiteKind::warp_barrier;  // which orders memory; the others do not
  LaneMask members = 0;                         // as the lanes of `mask` name them
  LaneMask together = 0;                        // who met: without members that have left the kernel
  LaneMask live = 0;                            // lanes of the warp that have not
  LaneMask left = 0;  // members that left the kernel while others of `together` waited for them
};

// A shuffle, after its WarpSync: the lanes `mask` get the value of a lane that is in range, and takes no part.
struct AbsentLanes : WarpEvent {};

// Lanes leave the kernel: exit, or the end of the kernel's own code. Lanes that wait there for others of their warp
// leave with them; no barrier waits for them any more. Wants::whole_blocks: a warp that leaves as a whole is told
// before the next BarrierPassed of its block that is not of all threads at one site, if there is one; the site is that
// of the last warp that left.
struct Exit : WarpEvent {
  LaneMask live = 0;  // those that stay
};

// barrier.cluster. An arrival when it happens, a wait when it is over.
struct ClusterBarrier : WarpEvent {
  bool waits = false;
  MemoryOrder order = MemoryOrder::release;  // arrive: release or relaxed; wait: acquire
  std::uint32_t generation = 0;              // of the barrier: 1, 2, 3 ...
  std::uint32_t rank = 0;                    // of the block in its cluster
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
  MemoryOrder order = MemoryOrder::weak;  // arrive: release or relaxed; waits: acquire or relaxed
  MemoryScope scope = MemoryScope::none;
  const std::uint64_t* offsets = nullptr;  // 32: in shared memory
  const std::uint64_t* results = nullptr;  // 32; waits: 1 if the phase is over; else the state before
  const std::uint32_t* phases = nullptr;   // 32: the phase's parity after the operation of each lane
  const std::uint64_t* numbers = nullptr;  // 32; init, arrive: arrivals
  const std::uint64_t* bytes = nullptr;    // 32; of transactions: expected, or complete
};

// Groups of asynchronous copies. What they copy are accesses of paths async_copy and bulk_copy.
enum class AsyncGroupOperation : std::uint8_t { commit, wait, wait_all, bulk_commit, bulk_wait, bulk_wait_read };
struct AsyncGroup : WarpEvent {
  AsyncGroupOperation operation = AsyncGroupOperation::commit;
  std::uint32_t pending = 0;  // wait: groups that may still be under way
};

// Where bits that nobody has written come from, as far as the device can tell. The way they took since: the stores and
// copies that moved them, the first one first.
struct UndefinedOrigin {
  enum class Kind : std::uint8_t { unknown, memory, shared, local, register_ } kind = Kind::unknown;
  std::uint64_t address = 0;  // memory: of the device, of the first such byte; shared, local: offset
  std::string object;         // shared, local: the variable; register_: its name in PTX
  struct Step {
    std::string kernel;  // PTX (mangled) name; empty: a copy of the host
    std::string file;
    std::uint32_t line = 0, ptx_line = 0;
    std::uint64_t work = 0;  // StreamWork::id
    bool operator==(const Step&) const = default;
  };
  std::vector<Step> way;
};

// Undefined bits of some lanes decide what happens: the first lane that has them tells the origin. Afterwards they
// count as defined.
struct UndefinedUse : WarpEvent {
  enum class Use : std::uint8_t { branch, address, operand, update };
  Use use = Use::branch;  // operand: of a barrier, or the lane of a shuffle; update: the read half of an atomic
  // branch: the comparison whose outcome is undefined, by its place in the body of the site's function; else the
  // site's.
  std::uint32_t instruction = 0;
  UndefinedOrigin origin;
};

struct HostCopy;
// A copy takes bytes to the host that nobody has written. Before the bytes move.
struct UndefinedCopy {
  const HostCopy* copy = nullptr;
  std::uint64_t first = 0;    // address of the first such byte, at the source
  std::uint64_t last = 0;     // and of the last one
  std::uint64_t bytes = 0;    // that are undefined
  std::uint64_t longest = 0;  // stretch of them
  bool holes = false;         // all look like the holes of structures: short, at a fixed period
  UndefinedOrigin origin;     // of the longest stretch
};

struct BlockEvent {
  const Launch* launch = nullptr;
  Dim3 block;  // ctaid
  std::uint64_t shared_bytes = 0;
  LateLoads* late_loads = nullptr;  // the block's; null: there are none
  unsigned row = kWarpSize;         // of late loads: as AffineAccess::row
};

// What the host has a stream do: a grid, a copy, a fill, a host function, an event, memory that comes or goes in the
// order of a stream, a node or the beginning or end of a graph. When it is issued, from the thread that calls; it may
// run at once when this returns, which is the order that there is: `after`, and what HostWait says.
struct StreamWork {
  enum class Kind : std::uint8_t {
    grid,
    copy,
    fill,
    host_function,
    event_record,
    event_wait,
    allocation,
    deallocation,
    mark
  } kind = Kind::mark;
  static constexpr std::uint64_t kNoStream = ~std::uint64_t{0};  // a node of a graph
  std::uint64_t id = 0;                                          // 1, 2, 3 ... in the order of issue, on all devices
  int device = 0;
  std::uint64_t stream = kNoStream;
  std::span<const std::uint64_t> after{};  // ids: it begins only when these have ended
  std::uint64_t address = 0;               // allocation, deallocation: of the memory
  // A grid that may begin before the work before it in its stream has ended (programmatic launch).
  bool early = false;
  const HostStack* made = nullptr;  // a node of a graph: the call that made it; null: not known
};
// The calling thread goes on only after this work and what that was issued after: synchronisation, a call that blocks,
// or one that asked and was told that it is over.
struct HostWait {
  static constexpr std::uint64_t kAll = ~std::uint64_t{0};
  int device = 0;
  std::uint64_t work = kAll;  // StreamWork::id; kAll: all that was issued on the device
};

struct Allocation {
  enum class Kind : std::uint8_t {
    device,
    managed,
    host,         // pinned
    registered,   // memory of the program
    array,        // the address is the host's (Access::addresses)
    pool,         // cudaMallocAsync: there for what comes after the StreamWork that follows
    graph,        // of a node
    variable,     // of a module: __device__, __constant__, __managed__
    kernel_heap,  // malloc in kernels: `by`
  } kind = Kind::device;
  int device = 0;
  std::uint64_t address = 0, bytes = 0;
  std::string_view name{};        // of a variable
  const WarpEvent* by = nullptr;  // one lane
  // variable: __managed__, on pages of its own (not in the program's own data).
  bool managed = false;
};

// The host frees what is no allocation of the kind that the function frees; nothing is freed.
struct InvalidFree {
  int device = 0;
  std::uint64_t address = 0;
  const char* by = "";  // "cudaFree"
};

// The host asks for memory and gets none.
struct FailedAllocation {
  int device = 0;
  std::uint64_t bytes = 0;
};

// Where the bytes of one side of a copy are.
enum class CopyMemory : std::uint8_t { pageable, pinned, device, managed, array };
struct CopySide {
  std::uint64_t address = 0;  // of the first byte; arrays: the host's
  std::uint64_t pitch = 0, slice = 0;
  CopyMemory memory = CopyMemory::device;
  int device = 0;  // of device memory
};
// Copies, fills: when they are carried out, before the bytes move.
struct HostCopy {
  int device = 0;
  std::uint64_t work = 0;  // StreamWork::id; of copies that kernels ask for: that of the kernel
  CopySide to{}, from{};
  std::uint64_t bytes = 0;  // a row
  std::uint64_t rows = 1, slices = 1;
  bool staged = false;  // the source was read when the copy was issued
};
struct HostFill {
  int device = 0;
  std::uint64_t work = 0;
  std::uint64_t to = 0, bytes = 0;  // a row
  std::uint64_t rows = 1, pitch = 0, slices = 1, slice = 0;
  std::uint32_t value = 0, value_bytes = 1;
};

}  // namespace warpgrind::events
