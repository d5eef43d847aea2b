// Event types of the table in events.inc. A kernel event describes one WARP instruction: its site and its active lanes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/host_stack.h"
#include "events/late_loads.h"
#include "events/site.h"
#include "gpu/tensor_box.h"
#include "gpu/tensor_map.h"
#include "gpu/types.h"

namespace warpgrind::ptx {
struct Module;
}

namespace warpgrind::events {

struct Launch {
  std::uint64_t id = 0;  // 0, 1, 2 ... in the order in which grids begin
  const KernelFacts* facts = nullptr;
  const ptx::Module* module = nullptr;  // of the kernel; outlives the launch
  Dim3 grid, block;
  std::uint64_t dynamic_shared = 0;
  int device = 0;
  unsigned first_worker = 0, workers = ~0u;  // numbered from first_worker on; concurrent launches share none
  Dim3 cluster{1, 1, 1};                     // blocks
  bool cooperative = false;
  std::uint64_t work = 0;    // StreamWork::id; grids that its kernels launch have the same
  std::string_view range{};  // open NVTX ranges at issue, joined by "/"; empty for a child grid
  // By site. 1: each thread touches bytes of global memory there that no other thread of the launch touches anywhere.
  // Empty: not analysed.
  std::span<const std::uint8_t> own{};
  bool is_own(std::uint32_t site) const { return site < own.size() && own[site] != 0; }
};

// Mechanism of a memory access.
enum class AccessPath : std::uint8_t {
  instruction,  // ld, st, atom, red and operations built on them (wmma, ldmatrix)
  async_copy,   // cp.async: a load from global memory and a store to shared memory
  bulk_copy,    // async proxy (cp.async.bulk, operands of wgmma): one contiguous range per lane
  tensor_copy,  // cp.async.bulk.tensor: one event for each contiguous range of the box, and one for it in shared memory
  texture,      // addresses are those of texels; several texels per lane: one event each
  surface,
  mbarrier,    // published as MBarrier
  call,        // printf, memcpy and other driver functions: a contiguous range of one lane
  bulk_store,  // st.bulk: one contiguous range per lane
  multimem     // one event for each GPU's memory; InvalidAccess: the multimem address
};

struct Access {
  const Launch* launch = nullptr;
  std::uint32_t site = 0;
  StateSpace space = StateSpace::global;  // resolved: global, constant, param, shared, local, texture
  Dim3 block;                             // ctaid
  std::uint32_t warp = 0;                 // index in the block
  LaneMask mask = 0;
  // Global, constant: device addresses. Shared, local: offsets. Texture: host addresses of texels in arrays, device
  // addresses of texels in linear memory.
  std::span<const std::uint64_t, kWarpSize> addresses;
  AccessType type = AccessType::load;
  AccessPath path = AccessPath::instruction;
  MemoryOrder order = MemoryOrder::weak;
  MemoryScope scope = MemoryScope::none;
  std::uint32_t bytes = 0;               // per lane
  const std::uint32_t* sizes = nullptr;  // 32 entries: bytes of each lane if they differ; else null
  // Stores of registers: the bytes of element e of lane l begin at values + (e * 32 + l) * element_bytes. Else null.
  const std::uint8_t* values = nullptr;
  std::uint32_t element_bytes = 0;
  // The host address of a byte is host + address; memory is as before the access. Not for local memory.
  std::uint64_t host = 0;
  bool continues = false;  // tensor_copy: part of the copy to which the warp's last access belongs
  // Layout of the bytes in shared memory: that of the tensor map, or of wgmma's matrix descriptor. Others have none.
  std::optional<TensorSwizzle> swizzle{};
  std::uint8_t swizzle_base = 0;  // base offset of the matrix descriptor, in lines of 128 bytes

  std::uint32_t bytes_of(unsigned lane) const { return sizes ? sizes[lane] : bytes; }
};

// A load or store that machine code performs itself. Lane l is at base + kx * (l % row) + ky * (l / row). The addresses
// of all 32 lanes, active or not, are valid.
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
  std::uint32_t bytes = 0;  // per lane

  std::uint64_t address(unsigned lane) const {
    return base + static_cast<std::uint64_t>(kx * static_cast<std::int64_t>(lane % row) +
                                             ky * static_cast<std::int64_t>(lane / row));
  }
};

// Fields common to the events of a warp.
struct WarpEvent {
  const Launch* launch = nullptr;
  std::uint32_t site = 0;
  Dim3 block;  // ctaid
  std::uint32_t warp = 0;
  LaneMask mask = 0;
};

// Invalid accesses of the lanes `mask`, which all have the same problem with the same object. If no observer wants
// these events, the first one ends the launch. Otherwise the access does not happen: loads give zeroes, stores and
// atomics do nothing. The other lanes and the launch go on.
struct InvalidAccess : WarpEvent {
  // Limits per launch: with more events, or at more sites, the launch ends.
  static constexpr std::uint64_t kMostAccesses = 10000, kMostSites = 100;
  enum class Problem : std::uint8_t {
    outside,    // outside all memory, or in freed memory
    neighbour,  // in valid memory, but outside the object of Site::origins; a GPU would go on
    misaligned,
    constant,          // a write
    wrong_space,       // local memory, for an operation that works only on global and shared
    multimem_address,  // a multimem address, in an instruction other than multimem.*
    no_multimem,       // multimem.*, at an address that is no multimem address or has no memory on each GPU
  } problem = Problem::outside;
  StateSpace space = StateSpace::global;  // as Access::space
  AccessType type = AccessType::load;
  AccessPath path = AccessPath::instruction;
  std::uint32_t bytes = 0;  // per lane
  const std::uint32_t* sizes = nullptr;
  std::span<const std::uint64_t, kWarpSize> addresses;
  // The object that the access should stay in; if unknown, the object that it hits or is nearest to. Addresses of the
  // space.
  enum class Object : std::uint8_t {
    none,  // no object is near: a null pointer, host memory, or any number
    allocation,
    freed,  // recently
    piece,  // of the device heap, in use
    freed_piece,
    heap,       // in the device heap, with no piece near
    shared,     // the block's shared memory, or a variable in it
    local,      // the thread's local memory, or a variable in it
    parameters  // the kernel's
  } object = Object::none;
  std::uint64_t low = 0, high = 0;
  const AddressOrigin* origin = nullptr;  // of the site: the source of the pointer, if known for certain
  std::uint64_t hit = 0;                  // neighbour in global memory: first byte of the allocation that was hit

  std::uint32_t bytes_of(unsigned lane) const { return sizes ? sizes[lane] : bytes; }
};

// A failed malloc or free of one lane in a kernel. If no observer wants these events, an invalid free ends the launch.
struct HeapProblem : WarpEvent {
  enum class Kind : std::uint8_t {
    no_room,       // malloc has returned null
    freed_before,  // free
    no_piece       // free of an address that malloc did not return
  } kind = Kind::no_room;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;  // requested
};

// Arrival at a block barrier. bar.sync, barrier, bar.red: the lanes also wait. bar.arrive: they do not wait.
struct Barrier : WarpEvent {
  std::uint32_t barrier = 0;
  std::uint32_t threads = 0;  // expected arrivals; 0: all threads of the block
  bool waits = true;
  LaneMask live = 0;  // lanes of the warp that have not left the kernel
};
// Completion of a block barrier: all threads have arrived or left the kernel, and the waiting ones go on.
struct BarrierPassed {
  static constexpr std::uint32_t kEach = ~0u;
  const Launch* launch = nullptr;
  Dim3 block;  // ctaid
  std::uint32_t barrier = 0;
  // Wants::whole_blocks: all threads of the block arrived at this site, without Barrier events. kEach: each arrival had
  // its own Barrier event.
  std::uint32_t site = kEach;
};

// Warp-level synchronising operation: bar.warp.sync; shfl, vote, match, redux, elect with .sync; matrix operations
// (mma, wmma, ldmatrix, stmatrix, movmatrix). Matrix operations name all lanes as members but do not wait here:
// `together` holds the lanes that execute them. Published when the lanes have met and before any of them goes on. Each
// event covers lanes that name the same members at the same instruction. Other lanes of `together` follow in the next
// events of the warp.
struct WarpSync : WarpEvent {
  SiteKind operation = SiteKind::warp_barrier;  // a warp_barrier orders memory; the others do not
  LaneMask members = 0;                         // named by the lanes of `mask`
  LaneMask together = 0;                        // lanes that met, without those that have left the kernel
  LaneMask live = 0;                            // lanes of the warp that have not left the kernel
  LaneMask left = 0;  // members that left the kernel while others of `together` waited for them
};

// Shuffle that reads absent lanes, after its WarpSync. The lanes `mask` read a lane that is in range but takes no part.
struct AbsentLanes : WarpEvent {};

// Lanes leave the kernel: exit, or the end of the kernel function. Lanes that wait there for others of their warp leave
// with them; no barrier waits for them any more.
// With Wants::whole_blocks, the exit of a whole warp may come late or never. It comes before the next BarrierPassed of
// its block that does not cover all threads at one site. Its site is that of the last warp that left.
struct Exit : WarpEvent {
  LaneMask live = 0;  // lanes that stay
};

// barrier.cluster. An arrival is published when it happens, a wait when it is over.
struct ClusterBarrier : WarpEvent {
  bool waits = false;
  MemoryOrder order = MemoryOrder::release;  // arrive: release or relaxed; wait: acquire
  std::uint32_t generation = 0;              // of the barrier: 1, 2, 3 ...
  std::uint32_t rank = 0;                    // of the block in its cluster
};

struct Fence : WarpEvent {
  MemoryOrder order = MemoryOrder::sequential;
  MemoryScope scope = MemoryScope::none;
  bool proxy = false;  // fence.proxy: between kinds of access
};

// Operations on an mbarrier, as machine code, device and observers name them.
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
  const std::uint64_t* offsets = nullptr;  // 32 entries, in shared memory
  const std::uint64_t* results = nullptr;  // 32; waits: 1 if the phase is over; others: the state before
  const std::uint32_t* phases = nullptr;   // 32: the phase's parity after the operation of each lane
  const std::uint64_t* numbers = nullptr;  // 32; init, arrive: number of arrivals
  const std::uint64_t* bytes = nullptr;    // 32; transaction bytes, expected or completed
};

// Operation on groups of asynchronous copies. The copies themselves are Access events with path async_copy, bulk_copy
// or tensor_copy.
enum class AsyncGroupOperation : std::uint8_t { commit, wait, wait_all, bulk_commit, bulk_wait, bulk_wait_read };
struct AsyncGroup : WarpEvent {
  AsyncGroupOperation operation = AsyncGroupOperation::commit;
  std::uint32_t pending = 0;  // wait: number of groups that may still be pending
};

// A tensor copy that a lane issues (cp.async.bulk.tensor and its relatives). Published before the accesses of the copy.
struct TensorCopyEvent : WarpEvent {
  enum class Operation : std::uint8_t { load, store, reduce, prefetch } operation = Operation::load;
  const TensorMap* map = nullptr;    // without a problem (gpu/tensor_box.h)
  const TensorCopy* copy = nullptr;  // the coordinates
  std::uint64_t shared = 0;          // offset of the box, as Access::addresses; a prefetch has none
  std::uint32_t blocks = 0;          // multicast: ranks of the blocks that receive the box; else 0
};

// Source of unwritten bits, as far as the device can tell. `way` lists the stores and copies that moved them, oldest
// first.
struct UndefinedOrigin {
  enum class Kind : std::uint8_t { unknown, memory, shared, local, register_ } kind = Kind::unknown;
  std::uint64_t address = 0;  // memory: device address of the first such byte; shared, local: offset
  std::string object;         // shared, local: the variable; register_: its name in PTX
  struct Step {
    std::string kernel;  // PTX (mangled) name; empty: a copy by the host
    std::string file;
    std::uint32_t line = 0, ptx_line = 0;
    std::uint64_t work = 0;  // StreamWork::id
    bool operator==(const Step&) const = default;
  };
  std::vector<Step> way;
};

// Undefined bits of some lanes affect the program's behaviour. `origin` is that of the first such lane. Afterwards the
// bits count as defined.
struct UndefinedUse : WarpEvent {
  enum class Use : std::uint8_t { branch, address, operand, update };
  Use use = Use::branch;  // operand: of a barrier, or the lane of a shuffle; update: the value that an atomic reads
  // branch: the comparison whose result is undefined, as an index into the body of the site's function. Else the site's
  // own instruction.
  std::uint32_t instruction = 0;
  UndefinedOrigin origin;
};

struct HostCopy;
// A copy to the host of bytes that were never written. Published before the bytes move.
struct UndefinedCopy {
  const HostCopy* copy = nullptr;
  std::uint64_t first = 0;    // address of the first such byte, at the source
  std::uint64_t last = 0;     // address of the last such byte
  std::uint64_t bytes = 0;    // undefined bytes
  std::uint64_t longest = 0;  // bytes of the longest undefined range
  bool holes = false;         // all look like padding of structures: short, at a fixed period
  UndefinedOrigin origin;     // of the longest range
};

struct BlockEvent {
  const Launch* launch = nullptr;
  Dim3 block;  // ctaid
  std::uint64_t shared_bytes = 0;
  LateLoads* late_loads = nullptr;  // of the block; null: none
  unsigned row = kWarpSize;         // for late loads, as AffineAccess::row
};

// Work that the host issues to a stream: a grid, copy, fill, host function, event, stream-ordered allocation, or a
// graph's node, beginning or end. Published at issue, from the calling thread. The work may start as soon as the
// callback returns. Only `after` and HostWait define an order.
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
  // A grid of a graph: ids of those grids of `after` that need not have ended when it begins (programmatic edges).
  std::span<const std::uint64_t> early_after{};
  const HostStack* made = nullptr;  // for a graph node: the call that created it; null: unknown
};
// The calling thread has waited for this work and all that `after` orders before it: by synchronisation, a blocking
// call, or a query that reported completion.
struct HostWait {
  static constexpr std::uint64_t kAll = ~std::uint64_t{0};
  int device = 0;
  std::uint64_t work = kAll;  // StreamWork::id; kAll: all work issued on the device
};

struct Allocation {
  enum class Kind : std::uint8_t {
    device,
    managed,
    host,         // pinned
    registered,   // the program's own memory
    array,        // the address is the host's (Access::addresses)
    pool,         // cudaMallocAsync: valid for work after the StreamWork event that follows
    graph,        // of a graph node
    variable,     // of a module: __device__, __constant__, __managed__
    kernel_heap,  // malloc in kernels; `by` is set
  } kind = Kind::device;
  int device = 0;
  std::uint64_t address = 0, bytes = 0;
  std::string_view name{};        // of a variable
  const WarpEvent* by = nullptr;  // of one lane
  // variable: __managed__, on pages of its own (not in the program's data).
  bool managed = false;
};

// The host frees an address that is no allocation of the kind that the function frees. Nothing is freed.
struct InvalidFree {
  int device = 0;
  std::uint64_t address = 0;
  const char* by = "";  // "cudaFree"
};

// An allocation by the host that fails.
struct FailedAllocation {
  int device = 0;
  std::uint64_t bytes = 0;
};

// Kind of memory on one side of a copy.
enum class CopyMemory : std::uint8_t { pageable, pinned, device, managed, array };
struct CopySide {
  std::uint64_t address = 0;  // of the first byte; arrays: host address
  std::uint64_t pitch = 0, slice = 0;
  CopyMemory memory = CopyMemory::device;
  int device = 0;  // of device memory
};
// Copies and fills, published when they run and before the bytes move.
struct HostCopy {
  int device = 0;
  std::uint64_t work = 0;  // StreamWork::id; for copies issued by a kernel: the kernel's
  CopySide to{}, from{};
  std::uint64_t bytes = 0;  // per row
  std::uint64_t rows = 1, slices = 1;
  bool staged = false;  // the source was already read at issue
};
struct HostFill {
  int device = 0;
  std::uint64_t work = 0;
  std::uint64_t to = 0, bytes = 0;  // per row
  std::uint64_t rows = 1, pitch = 0, slices = 1, slice = 0;
  std::uint32_t value = 0, value_bytes = 1;
};

}  // namespace warpgrind::events
