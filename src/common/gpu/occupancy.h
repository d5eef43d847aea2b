// Theoretical occupancy: the number of a kernel's blocks that fit on one SM, and the resource that limits it. The rules
// are those of CUDA's occupancy calculator; the GPU model holds the allocation units. Checked against an H200
// (tests/data/h200/occup.csv).
#pragma once

#include <cstdint>

#include "gpu/gpu_model.h"
#include "gpu/types.h"

namespace warpgrind {

enum class OccupancyLimiter : std::uint8_t { blocks, warps, registers, shared_memory, barriers, does_not_fit };
const char* name(OccupancyLimiter limiter);  // "blocks", "warps", "registers", "shared memory", "barriers"

struct BlockResources {
  std::uint32_t threads = 1;               // of a block
  std::uint32_t registers_per_thread = 0;  // 0: unknown, not limiting
  std::uint64_t static_shared = 0;         // bytes a block
  std::uint64_t dynamic_shared = 0;        // bytes a block
  // Bytes of shared memory that an SM provides (one of the carve-outs); 0: the driver chooses.
  std::uint64_t shared_carveout = 0;
};

struct Occupancy {
  // Blocks per SM by each limit alone.
  std::uint32_t limit_blocks = 0, limit_warps = 0, limit_registers = 0, limit_shared = 0, limit_barriers = 0;
  std::uint32_t blocks_per_sm = 0;  // the smallest limit; 0: the block cannot run
  std::uint32_t warps_per_block = 0, warps_per_sm = 0;
  double percent = 0;  // warps_per_sm as a share of the SM's maximum, 0 to 100
  OccupancyLimiter limiter = OccupancyLimiter::blocks;
  std::uint32_t registers_allocated_per_thread = 0;  // rounded up to the allocation unit
  std::uint64_t shared_allocated_per_block = 0;      // static + dynamic + the driver's own, rounded up
  std::uint64_t shared_config = 0;                   // bytes of shared memory of an SM in this launch (the carve-out)
  // Bytes of dynamic shared memory that a block may use without a change of blocks_per_sm, at the largest carve-out.
  std::uint64_t shared_unused = 0;
  bool operator==(const Occupancy&) const = default;
};

// Registers a thread of a launch whose kernel uses `registers` (0: unknown).
std::uint32_t launched_registers(const GpuModel& model, std::uint32_t registers);

// The carve-out (BlockResources::shared_carveout) for cudaFuncAttributePreferredSharedMemoryCarveout: the smallest that
// is at least `percent` of the SM's maximum of shared memory and holds one block. 0 if percent < 0 or the model has
// only one size.
std::uint64_t preferred_carveout(const GpuModel& model, int percent, const BlockResources& block);

Occupancy occupancy(const GpuModel& model, const BlockResources& block);

// Number of times that a launch of `blocks` blocks fills the GPU; 0 if the block does not fit.
double waves(const GpuModel& model, const Occupancy& occupancy, std::uint64_t blocks);

}  // namespace warpgrind
