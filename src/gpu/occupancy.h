// Theoretical occupancy: how many blocks of a kernel fit on one SM, and what limits them. The rules of CUDA's occupancy
// calculator, with the allocation units as data of the GPU model; checked against an H200 (tests/data/h200/occup.csv).
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
  // Bytes of shared memory an SM gives (one of the carve-outs); 0: as the driver would choose.
  std::uint64_t shared_carveout = 0;
};

struct Occupancy {
  // Blocks an SM by each limit alone.
  std::uint32_t limit_blocks = 0, limit_warps = 0, limit_registers = 0, limit_shared = 0, limit_barriers = 0;
  std::uint32_t blocks_per_sm = 0;  // the smallest of them; 0: the block cannot run
  std::uint32_t warps_per_block = 0, warps_per_sm = 0;
  double percent = 0;  // warps_per_sm of the SM's maximum, 0 to 100
  OccupancyLimiter limiter = OccupancyLimiter::blocks;
  std::uint32_t registers_allocated_per_thread = 0;  // rounded up to the allocation unit
  std::uint64_t shared_allocated_per_block = 0;      // static + dynamic + the driver's own, rounded up
  std::uint64_t shared_config = 0;                   // bytes of shared memory of an SM in this launch (the carve-out)
  std::uint64_t shared_unused =
      0;  // dynamic bytes a block could add and keep blocks_per_sm (driver's maximum carve-out)
  bool operator==(const Occupancy&) const = default;
};

// What a launch gets when the kernel uses `registers` (0: unknown).
std::uint32_t launched_registers(const GpuModel& model, std::uint32_t registers);

// The carve-out (BlockResources::shared_carveout) for cudaFuncAttributePreferredSharedMemoryCarveout: the next one that
// is as large as `percent` of the most shared memory an SM can give, and holds one block. percent < 0, or a model with
// one size only: 0.
std::uint64_t preferred_carveout(const GpuModel& model, int percent, const BlockResources& block);

Occupancy occupancy(const GpuModel& model, const BlockResources& block);

// Launches of `blocks` blocks: how many times the GPU is filled; 0 when the block does not fit.
double waves(const GpuModel& model, const Occupancy& occupancy, std::uint64_t blocks);

}  // namespace warpgrind
