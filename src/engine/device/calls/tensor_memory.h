// Tensor memory of the running blocks: what the calls of tcgen05 share, and what other parts of the device report to
// it.
#pragma once

#include <cstdint>
#include <span>

#include "device/access/access.h"
#include "device/memory/tensor_memory.h"
#include "device/state.h"
#include "gpu/addresses.h"

namespace warpgrind::device {

// The instruction that runs, for messages: its lane and site.
struct TensorCall {
  jit::WarpContext* context;
  std::uint32_t site;
  unsigned lane;
  const char* name;  // "tcgen05.ld"

  Block& block() const { return *fiber_of(*context).block; }
  TensorMemory::Thread thread() const { return {context->cluster_rank, context->warp, lane}; }
  // A fault; does not return.
  [[noreturn]] void fail(FaultKind kind, std::string text, std::string advice = {}) const;
};

// The blocks whose tensor memory a call uses: its own, or both of the pair (the even one first).
struct TensorBlocks {
  Block* of[2] = {};
  unsigned count = 1;
};
// Raises a fault if the launch has no pairs of blocks.
void check_pair(const TensorCall& call, bool pair);
TensorBlocks tensor_blocks(const TensorCall& call, bool pair);

// Tensor memory of a block. Raises a fault if it has none (nothing was allocated), or if the kernel uses another
// .cta_group.
TensorMemory& tensor_memory(const TensorCall& call, Block& block, bool pair);

// Columns that tcgen05.shift and .ashift move: 32 bytes.
inline constexpr unsigned kShiftedColumns = 8;

// Raises a fault if the columns are not allocated.
void check_columns(const TensorCall& call, const TensorMemory& memory, unsigned first, unsigned columns);
// Text of a tcgen05.dealloc that frees no allocation.
std::string no_allocation_text(const TensorCall& call, const TensorMemory& memory, std::uint32_t address,
                               unsigned columns);
// "line 12" of another instruction, or its PTX line.
std::string other_place(const Launch& launch, std::uint32_t site);
// Warns if several threads of a warp issue an operation: each issues the whole one.
void warn_of_threads(const TensorCall& call, LaneMask mask);
// Warns if the resident blocks of an SM may all hold columns and wait for more. Called before an allocation.
void warn_of_waiting_blocks(const TensorCall& call, const TensorMemory& memory, unsigned columns);
// Warns of a missing wait.
void report_hazard(const TensorCall& call, const TensorMemory::Finding& found, bool reads);

// Lane and column of an address of tensor memory.
inline unsigned tensor_lane(std::uint32_t address) {
  return address >> 16;
}
inline unsigned tensor_column(std::uint32_t address) {
  return address & 0xffff;
}

// Distance of the shared memories of the blocks of a cluster.
inline constexpr std::uint64_t kBlockStride = std::uint64_t{1} << kClusterShift;

// An mbarrier at `offset` of a block's shared memory; the offset may be that of another block of the cluster.
struct BarrierPlace {
  std::uint32_t rank = 0;
  std::uint64_t offset = 0;
};
BarrierPlace barrier_place(const jit::WarpContext& context, std::uint64_t offset);

// Calls f(memory) for the tensor memory of each block of the cluster, or of the only block.
template <class F>
void each_tensor_memory(const jit::WarpContext& c, F&& f) {
  const Block& own = *fiber_of(c).block;
  if (!own.cluster) {
    if (own.uses_tensor) f(*own.tensor);
    return;
  }
  for (std::uint32_t r = 0; r < own.cluster->size; ++r)
    if (const Block* b = own.cluster->blocks[r]; b && b->uses_tensor) f(*b->tensor);
}

// Called after a wait for mbarriers: what completed phases track has completed.
void note_tensor_waits(const jit::WarpContext& context, const std::uint64_t* offsets, const std::uint64_t* parities,
                       const std::uint64_t* passed, LaneMask mask);
// Called when a block has ended: reports what it has not freed.
void end_tensor_memory(Worker& worker, Block& block);

// One arrival at each of the mbarriers, by work that takes time (async_copy.cpp). Other warps run before, but not
// between them. Returns the parities of the phases before, one bit each.
std::uint32_t arrive_later(jit::WarpContext& context, std::uint32_t site, unsigned lane,
                           std::span<const GenericAddress> barriers);

}  // namespace warpgrind::device
