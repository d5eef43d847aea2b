// Tensor copies, made when they are issued (PTX ISA, cp.async.bulk.tensor, cp.reduce.async.bulk.tensor). Each lane
// makes a copy of its own; usually one lane does. A copy reads its map, passes each run of bytes of the box and the
// box's bytes of shared memory through the access path, moves them, and completes the box's bytes on the mbarrier.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/sanitizers.h"
#include "device/access/access.h"
#include "device/access/access_log.h"
#include "device/access/count.h"
#include "device/access/watched.h"
#include "device/calls/bulk_reductions.h"
#include "device/calls/cluster_addresses.h"
#include "device/calls/mbarriers.h"
#include "device/calls/tensor_maps.h"
#include "device/fault.h"
#include "device/symbols.h"
#include "gpu/access_rules.h"
#include "jit/tensor_copy.h"

namespace warpgrind::device {

namespace {

using TensorOperation = jit::TensorCode::Operation;

// A raised fault does not unwind the stack, so the buffers belong to the worker.
std::vector<std::uint8_t>& bytes_buffer(jit::WarpContext& w, std::size_t bytes) {
  std::vector<std::uint8_t>& buffer = worker_of(w).tensor_bytes;
  if (buffer.size() < bytes) buffer.resize(bytes);
  return buffer;
}

// One lane's copy.
struct Box {
  jit::WarpContext& w;
  std::uint32_t site;
  unsigned lane;
  jit::TensorCode code;
  TensorMap map;
  TensorBox size;
  std::vector<TensorRun>& runs;  // after pass_memory(), `address` is the host's
  bool begun = false;            // an access of the copy was published
  std::uint64_t sectors = 0;     // a load: that the SM receives, also for what lies outside
};

// The access of a copy to one range. `addresses` and `sizes` have an entry for each lane.
Access range_access(Box& b, AccessType type, const std::uint32_t* sizes) {
  Access a = access_of(b.w, b.site);
  a.form.type = type;
  a.form.bytes = 1;
  a.element = a.vector = 1;
  a.path = events::AccessPath::tensor_copy;
  a.counted = false;  // count_box() does
  a.continues = b.begun;
  a.sizes = sizes;
  if (type == AccessType::reduction) {
    a.order = events::MemoryOrder::relaxed;
    a.scope = events::MemoryScope::gpu;
  }
  b.begun = true;
  return a;
}

// Bytes without the gaps that elements of 4 and 6 bits have in shared memory.
std::uint32_t memory_bytes(const Box& b, std::uint32_t shared_bytes) {
  const TensorGroup group = tensor_group(b.map);
  return shared_bytes / group.shared * group.memory;
}

// Passes all runs as one range, if nothing sees the difference.
bool pass_together(Box& b, AccessType type) {
  if (launch_of(b.w).shadow || is_watched(launch_of(b.w), b.site) || is_logging(b.w)) return false;
  std::uint64_t low = ~std::uint64_t{0}, high = 0;
  for (const TensorRun& run : b.runs) {
    if (!run.inside) continue;
    low = std::min(low, run.address);
    high = std::max(high, run.address + memory_bytes(b, run.bytes));
  }
  if (low >= high || high - low > ~std::uint32_t{0}) return false;
  std::uint64_t addresses[kWarpSize];
  std::uint32_t sizes[kWarpSize];
  addresses[b.lane] = low;
  sizes[b.lane] = static_cast<std::uint32_t>(high - low);
  Access a = range_access(b, type, sizes).at(Lanes<GlobalAddress>(addresses), LaneMask{1} << b.lane);
  const std::optional<Place> place = try_pass(a);
  if (!place) return false;
  const auto host = reinterpret_cast<std::uint64_t>(place->of(b.lane));
  for (TensorRun& run : b.runs)
    if (run.inside) run.address = host + (run.address - low);
  return true;
}

void pass_runs(Box& b, AccessType type) {
  std::uint64_t addresses[kWarpSize];
  std::uint32_t sizes[kWarpSize];
  for (TensorRun& run : b.runs) {
    if (!run.inside) continue;
    addresses[b.lane] = run.address;
    sizes[b.lane] = memory_bytes(b, run.bytes);
    Access a = range_access(b, type, sizes).at(Lanes<GlobalAddress>(addresses), LaneMask{1} << b.lane);
    const Place place = pass(a);
    run.inside = a.mask != 0;  // an invalid range that the launch survives counts as outside
    if (run.inside) run.address = reinterpret_cast<std::uint64_t>(place.of(b.lane));
  }
}

// Checks, counts and publishes the box's bytes in global memory.
void pass_memory(Box& b, AccessType type) {
  AccessCost cost;
  std::uint64_t outside = 0;
  for (const TensorRun& run : b.runs)
    if (run.inside)
      cost.add(stretch_cost(launch_of(b.w).rules, StateSpace::global, type, static_cast<std::int64_t>(run.address),
                            memory_bytes(b, run.bytes)));
    else
      outside += (memory_bytes(b, run.bytes) + kSectorBytes - 1) / kSectorBytes;
  if (type == AccessType::load) b.sectors = cost.sectors + outside;
  count_box(b.w, b.site, b.lane, StateSpace::global, cost);
  if (!pass_together(b, type)) pass_runs(b, type);
}

// The same of its bytes in shared memory. Null: the launch goes on without the copy.
std::uint8_t* pass_shared(Box& b, SharedOffset at, AccessType type) {
  std::uint64_t offsets[kWarpSize];
  std::uint32_t sizes[kWarpSize];
  offsets[b.lane] = raw(at);
  sizes[b.lane] = b.size.span;
  Access a = range_access(b, type, sizes).at(Lanes<SharedOffset>(offsets), LaneMask{1} << b.lane);
  a.swizzle = b.map.swizzle;
  const Place place = pass(a);
  if (a.mask == 0) return nullptr;
  AccessCost cost =
      stretch_cost(launch_of(b.w).rules, StateSpace::shared, type, static_cast<std::int64_t>(raw(at)), b.size.bytes);
  cost.sectors = b.sectors;
  count_box(b.w, b.site, b.lane, StateSpace::shared, cost);
  return place.of(b.lane);
}

constexpr std::uint32_t kChunk = 16;  // bytes that a swizzle keeps together

void copy_piece(std::uint8_t* to, const std::uint8_t* from, std::uint32_t bytes) {
  if (bytes == kChunk)
    std::memcpy(to, from, kChunk);  // two instructions
  else
    std::memcpy(to, from, bytes);
}

// Calls f(where, offset, bytes) for the pieces of a run that stay together in shared memory. `where`: the piece's place
// from the box's beginning; `offset`: from the run's.
template <class F>
void each_piece(const Box& b, std::uint64_t at, const TensorRun& run, F&& f) {
  if (b.map.swizzle == TensorSwizzle::none) return f(run.shared, 0, run.bytes);
  const std::uint32_t piece = b.map.swizzle == TensorSwizzle::b128_atom_32_flip_8 ? 8 : kChunk;
  for (std::uint32_t done = 0; done < run.bytes;) {
    const std::uint64_t address = at + run.shared + done;
    const auto inside = static_cast<std::uint32_t>(address & (piece - 1));
    const std::uint32_t bytes = std::min(piece - inside, run.bytes - done);
    f(static_cast<std::uint32_t>(swizzled(b.map.swizzle, address) - at), done, bytes);
    done += bytes;
  }
}

// Packed elements with gaps in shared memory: bytes as there, from those in global memory. The gaps become zero.
void spread(const Box& b, const std::uint8_t* from, std::uint8_t* to, std::uint32_t shared_bytes) {
  const TensorGroup group = tensor_group(b.map);
  for (std::uint32_t done = 0; done < shared_bytes; done += group.shared, from += group.memory) {
    std::memcpy(to + done, from, group.memory);
    std::memset(to + done + group.memory, 0, group.shared - group.memory);
  }
}
void collect(const Box& b, const std::uint8_t* from, std::uint8_t* to, std::uint32_t shared_bytes) {
  const TensorGroup group = tensor_group(b.map);
  for (std::uint32_t done = 0; done < shared_bytes; done += group.shared, to += group.memory)
    std::memcpy(to, from + done, group.memory);
}

// The run's bytes as shared memory gets them, in `buffer` or where they lie.
const std::uint8_t* loaded(const Box& b, const TensorRun& run, std::uint8_t* buffer) {
  const auto* from = reinterpret_cast<const std::uint8_t*>(run.address);
  const TensorGroup group = tensor_group(b.map);
  if (!run.inside) {
    fill_outside(b.map, buffer, run.bytes);
    return buffer;
  }
  if (group.memory != group.shared) {
    spread(b, from, buffer, run.bytes);
    return buffer;
  }
  if (!rounds_elements(b.map.element)) return from;
  std::memcpy(buffer, from, run.bytes);
  round_elements(buffer, run.bytes);
  return buffer;
}

void move_in(const Box& b, std::uint64_t at, std::uint8_t* shared) {
  std::uint8_t* const buffer = bytes_buffer(b.w, b.size.bytes).data();
  for (const TensorRun& run : b.runs) {
    const std::uint8_t* const from = loaded(b, run, buffer);
    each_piece(b, at, run, [&](std::uint32_t where, std::uint32_t offset, std::uint32_t bytes) {
      copy_piece(shared + where, from + offset, bytes);
    });
  }
}

// Calls f(run, bytes as in global memory) for each run inside of the tensor.
template <class F>
void move_out(const Box& b, std::uint64_t at, const std::uint8_t* shared, F&& f) {
  std::vector<std::uint8_t>& buffer = bytes_buffer(b.w, 2 * std::size_t{b.size.bytes});
  std::uint8_t* const packed = buffer.data() + b.size.bytes;
  const TensorGroup group = tensor_group(b.map);
  for (const TensorRun& run : b.runs) {
    if (!run.inside) continue;
    each_piece(b, at, run, [&](std::uint32_t where, std::uint32_t offset, std::uint32_t bytes) {
      copy_piece(buffer.data() + offset, shared + where, bytes);
    });
    if (group.memory != group.shared) collect(b, buffer.data(), packed, run.bytes);
    f(run, group.memory != group.shared ? packed : buffer.data());
  }
}

// ---- Where a copy goes in a cluster

void complete_on(const Box& b, GenericAddress barrier) {
  std::uint64_t barriers[kWarpSize];
  std::uint32_t bytes[kWarpSize];
  barriers[b.lane] = raw(barrier);
  bytes[b.lane] = memory_bytes(b, b.size.bytes);  // CUTLASS announces so many
  complete_bytes(b.w, b.site, barriers, bytes, LaneMask{1} << b.lane);
}

void load_to(Box& b, GenericAddress to) {
  const SharedOffset offset = shared_offset(b.w, to);
  if (std::uint8_t* const shared = pass_shared(b, offset, AccessType::store)) {
    const NotWatched guard;
    move_in(b, raw(offset) & (kBlockWindow - 1), shared);
  }
}

void load(Box& b, GenericAddress to, GenericAddress barrier, std::uint32_t blocks) {
  pass_memory(b, AccessType::load);
  count_copy_place(b.w, b.site, shared_offset(b.w, to));
  const auto rank_of = [](std::uint32_t m) { return static_cast<unsigned>(std::countr_zero(m)); };
  if (b.code.multicast)
    for (std::uint32_t m = blocks; m != 0; m &= m - 1) load_to(b, in_block(to, rank_of(m)));
  else
    load_to(b, to);
  // From here on other warps may run, whose copies use the same buffers of the worker.
  if (!b.code.multicast) return complete_on(b, barrier);
  for (std::uint32_t m = blocks; m != 0; m &= m - 1) {
    // Of a pair of blocks, the one signals whose rank is as odd or even as that of the mbarrier.
    const unsigned signalled = b.code.pair ? (rank_of(m) & ~1u) | (block_of(barrier) & 1u) : rank_of(m);
    complete_on(b, in_block(barrier, signalled));
  }
}

void store(Box& b, GenericAddress from) {
  const SharedOffset offset = shared_offset(b.w, from);
  const bool reduces = b.code.operation == TensorOperation::reduce;
  const std::uint8_t* const shared = pass_shared(b, offset, AccessType::load);
  pass_memory(b, reduces ? AccessType::reduction : AccessType::store);
  if (!shared) return;
  const NotWatched guard;
  const ptx::ScalarType type = reduction_type(b.map.element, b.code.reduction);
  move_out(b, raw(offset) & (kBlockWindow - 1), shared, [&](const TensorRun& run, const std::uint8_t* bytes) {
    auto* const to = reinterpret_cast<std::uint8_t*>(run.address);
    if (reduces)
      reduce_bytes(b.code.reduction, type, to, bytes, run.bytes, false, reduction_flushes(b.map.element));
    else
      std::memcpy(to, bytes, memory_bytes(b, run.bytes));
  });
}

// ---- Checks

constexpr std::uint64_t kBoxAlignment = 128;  // of the box in shared memory

void check_shared(const Box& b, GenericAddress address) {
  const std::uint64_t offset = raw(address) & (kBlockWindow - 1);
  if (offset % kBoxAlignment == 0) return;
  raise(b.w, b.site, b.lane, FaultKind::misaligned_address,
        fmt::format("tensor copy of {} bytes at offset {} of shared memory: the offset is not a multiple of {}",
                    b.size.bytes, offset, kBoxAlignment),
        "align the buffer: __shared__ alignas(128), and 1024 bytes for a swizzle of 128 bytes", raw(address),
        b.size.bytes);
}

void check_coordinates(const Box& b, const TensorCopy& copy) {
  const std::string problem = coordinate_problem(b.map, copy);
  if (problem.empty()) return;
  raise(b.w, b.site, b.lane, FaultKind::illegal_instruction, fmt::format("tensor copy: {}", problem),
        "a box may begin outside of the tensor only where it is loaded, and at any coordinate but the first");
}

void check_reduction(const Box& b) {
  if (b.code.operation != TensorOperation::reduce) return;
  if (reduction_type(b.map.element, b.code.reduction) != ptx::ScalarType::none) return;
  raise(b.w, b.site, b.lane, FaultKind::illegal_instruction,
        "tensor reduction whose operation does not exist for the element type of the tensor map",
        "PTX ISA, cp.reduce.async.bulk.tensor, lists the types of each operation");
}

// ---- The event

void publish_copy(const Box& b, const TensorCopy& copy, const std::uint64_t* shared, std::uint32_t blocks) {
  const Launch& launch = launch_of(b.w);
  if (!launch.wants.tensor_copies) return;
  using Operation = events::TensorCopyEvent::Operation;
  events::TensorCopyEvent event;
  static_cast<events::WarpEvent&>(event) = warp_event(b.w, b.site, LaneMask{1} << b.lane);
  switch (b.code.operation) {
    case TensorOperation::load:
      event.operation = Operation::load;
      break;
    case TensorOperation::store:
      event.operation = Operation::store;
      break;
    case TensorOperation::reduce:
      event.operation = Operation::reduce;
      break;
    case TensorOperation::prefetch:
      event.operation = Operation::prefetch;
      break;
  }
  event.map = &b.map;
  event.copy = &copy;
  if (b.code.operation != TensorOperation::prefetch)
    event.shared = raw(shared_offset(b.w, GenericAddress{shared[b.lane]}));
  event.blocks = b.code.multicast ? blocks : 0;
  events::publish_tensor_copy(*launch.observers, event, worker_of(b.w).number);
}

}  // namespace
}  // namespace warpgrind::device

using namespace warpgrind;
using namespace warpgrind::device;

extern "C" {

// planes: 32 lanes of each coordinate, offset and the mask of blocks (jit/tensor_copy.h). shared: destination or
// source; null for prefetches. barrier: for loads.
static void wg_tensor_copy(void* context, std::uint32_t site, std::uint32_t bits, const std::uint64_t* shared,
                           const std::uint64_t* maps, const std::uint32_t* planes, const std::uint64_t* barrier,
                           std::uint32_t mask) {
  if (mask == 0) return;
  jit::WarpContext& w = warp(context);
  const jit::TensorCode code = jit::TensorCode::of(bits);
  if (code.operation == TensorOperation::reduce) take_turns(fiber_of(w));
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(m));
    const auto plane = [&](unsigned k) { return planes[k * kWarpSize + lane]; };
    Box b{
        w, site, lane, code, read_tensor_map(w, site, lane, GenericAddress{maps[lane]}), {}, worker_of(w).tensor_runs};
    check_tensor_map(w, site, lane, GenericAddress{maps[lane]}, b.map, code.mode, code.rank);
    TensorCopy copy;
    copy.mode = code.mode;
    copy.stores = code.operation == TensorOperation::store || code.operation == TensorOperation::reduce;
    for (unsigned k = 0; k < kMaxTensorRank; ++k) copy.coordinates[k] = static_cast<std::int32_t>(plane(k));
    for (unsigned k = 0; k < 3; ++k) copy.offsets[k] = static_cast<std::uint16_t>(plane(jit::kTensorOffsets + k));
    b.size = tensor_box(b.map, copy);
    check_coordinates(b, copy);
    if (code.operation != TensorOperation::prefetch) {
      check_shared(b, GenericAddress{shared[lane]});
      check_reduction(b);
    }
    publish_copy(b, copy, shared, plane(jit::kTensorMask));
    if (code.operation == TensorOperation::prefetch) continue;
    tensor_runs(b.map, copy, b.runs);
    if (code.operation == TensorOperation::load)
      load(b, GenericAddress{shared[lane]}, GenericAddress{barrier[lane]}, plane(jit::kTensorMask));
    else
      store(b, GenericAddress{shared[lane]});
  }
}

}  // extern "C"

namespace warpgrind::device {

std::span<const jit::CallSymbol> tensor_copy_symbols() {
  static const jit::CallSymbol symbols[] = {{"wg_tensor_copy", reinterpret_cast<void*>(&wg_tensor_copy)}};
  return symbols;
}

}  // namespace warpgrind::device
