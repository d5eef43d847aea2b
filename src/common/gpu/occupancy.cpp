// Occupancy rules by compute capability, and the driver's choice of a carve-out.
#include "gpu/occupancy.h"

#include <algorithm>

namespace warpgrind {
namespace {

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return unit == 0 ? value : (value + unit - 1) / unit * unit;
}

std::uint32_t registers_of_warp(const GpuModel& m, std::uint32_t registers) {
  return static_cast<std::uint32_t>(round_up(std::uint64_t{registers} * kWarpSize, m.register_allocation_unit));
}

std::uint32_t register_limit(const GpuModel& m, std::uint32_t registers, std::uint32_t warps) {
  if (registers == 0) return m.max_blocks_per_sm;
  if (registers > m.max_registers_per_thread) return 0;
  if (m.cc_major < 2) {  // 1.x allocates by block: warps rounded up to the granularity, then to the unit
    const std::uint64_t rounded = round_up(warps, m.warp_allocation_granularity);
    const std::uint64_t block = round_up(rounded * kWarpSize * registers, m.register_allocation_unit);
    return static_cast<std::uint32_t>(m.registers_per_sm / block);
  }
  const std::uint32_t warp = registers_of_warp(m, registers);
  std::uint32_t warps_per_sm = m.registers_per_sm / warp;
  warps_per_sm -= warps_per_sm % m.warp_allocation_granularity;
  const std::uint64_t block = std::uint64_t{warp} * round_up(warps, m.warp_allocation_granularity);
  if (block > m.registers_per_block) return 0;
  return warps_per_sm / warps;
}

std::uint64_t largest_carveout(const GpuModel& m) {
  return m.shared_carveouts.empty() ? m.shared_per_sm
                                    : *std::max_element(m.shared_carveouts.begin(), m.shared_carveouts.end());
}

// The carve-out that the driver takes when the program states no preference. Fitted on the launches of an H200. It
// holds twice the blocks that warps and registers allow (three blocks if they have more than 768 threads). Above 132 KB
// it holds only the blocks that fit. For a block without shared memory of its own, the driver asks for one block more
// than twice what the warps allow.
std::uint64_t chosen_carveout(const GpuModel& m, std::uint64_t allocated, std::uint32_t by_warps, std::uint32_t fit,
                              bool uses_shared, std::uint32_t threads) {
  if (m.shared_carveouts.empty()) return m.shared_per_sm;
  if (m.cc_major < 7) return largest_carveout(m);  // by default 48 KB are shared memory
  std::vector<std::uint64_t> sizes = m.shared_carveouts;
  std::sort(sizes.begin(), sizes.end());
  const std::uint64_t largest = sizes.back();
  if (allocated == 0) return largest;  // before cc 8 nothing is reserved: shared memory does not limit
  const auto smallest_for = [&](std::uint64_t blocks) {
    for (const std::uint64_t size : sizes)
      if (size > 0 && size / allocated >= blocks) return size;
    return largest;
  };
  const std::uint64_t blocks = uses_shared ? fit : by_warps;
  std::uint64_t wanted = threads > 768 ? 3 : std::min<std::uint64_t>(m.max_blocks_per_sm, 2 * blocks);
  if (!uses_shared) {
    wanted = fit <= 1 ? 1 : std::min<std::uint64_t>(m.max_blocks_per_sm, wanted + 1);
  }
  const std::uint64_t generous = smallest_for(wanted);
  constexpr std::uint64_t kKeepForL1Above = 132 * 1024;
  if (generous <= kKeepForL1Above) return generous;
  std::uint64_t best = 0;  // blocks that fit with the largest carve-out
  best = std::min<std::uint64_t>(fit, largest / allocated);
  std::uint64_t cap = 0;
  for (const std::uint64_t size : sizes)
    if (size <= kKeepForL1Above) cap = size;
  return std::max(cap, smallest_for(best));
}

}  // namespace

const char* name(OccupancyLimiter limiter) {
  switch (limiter) {
    case OccupancyLimiter::blocks:
      return "blocks";
    case OccupancyLimiter::warps:
      return "warps";
    case OccupancyLimiter::registers:
      return "registers";
    case OccupancyLimiter::shared_memory:
      return "shared memory";
    case OccupancyLimiter::barriers:
      return "barriers";
    case OccupancyLimiter::does_not_fit:
      return "does not fit";
  }
  return "unknown";
}

std::uint32_t launched_registers(const GpuModel& m, std::uint32_t registers) {
  return registers == 0 ? 0 : std::max(registers, m.min_registers_per_thread);
}

std::uint64_t preferred_carveout(const GpuModel& m, int percent, const BlockResources& block) {
  if (percent < 0 || m.shared_carveouts.empty()) return 0;
  const std::uint64_t of_block =
      round_up(block.static_shared + block.dynamic_shared + m.shared_reserved_per_block, m.shared_allocation_unit);
  const std::uint64_t asked = largest_carveout(m) * static_cast<std::uint64_t>(std::min(percent, 100)) / 100;
  const std::uint64_t least = std::max<std::uint64_t>({1, asked, of_block});
  std::uint64_t best = largest_carveout(m);
  for (const std::uint64_t size : m.shared_carveouts)
    if (size >= least) best = std::min(best, size);
  return best;
}

Occupancy occupancy(const GpuModel& m, const BlockResources& block) {
  Occupancy o;
  o.warps_per_block = std::max(1u, (block.threads + kWarpSize - 1) / kWarpSize);
  o.limit_blocks = m.max_blocks_per_sm;
  o.limit_barriers = m.max_blocks_per_sm;  // as Nsight reports it; no launch was seen to be limited by it
  o.limit_warps = m.max_warps_per_sm / o.warps_per_block;
  const std::uint32_t registers = launched_registers(m, block.registers_per_thread);
  o.limit_registers = register_limit(m, registers, o.warps_per_block);
  o.registers_allocated_per_thread = m.cc_major < 2 ? registers : registers_of_warp(m, registers) / kWarpSize;

  const std::uint64_t own = block.static_shared + block.dynamic_shared;
  const std::uint64_t maximum = std::max(m.shared_per_block, m.shared_per_block_optin);
  o.shared_allocated_per_block = round_up(own + m.shared_reserved_per_block, m.shared_allocation_unit);
  const std::uint32_t fit = std::min({o.limit_blocks, o.limit_warps, o.limit_registers});
  o.shared_config = block.shared_carveout != 0
                        ? block.shared_carveout
                        : chosen_carveout(m, o.shared_allocated_per_block, o.limit_warps, fit, own != 0, block.threads);
  if (own > maximum || block.threads > m.max_threads_per_block || block.threads == 0) {
    o.limit_shared = own > maximum ? 0 : o.limit_blocks;
    o.limiter = OccupancyLimiter::does_not_fit;
    return o;
  }
  o.limit_shared = o.shared_allocated_per_block == 0
                       ? o.limit_blocks
                       : static_cast<std::uint32_t>(o.shared_config / o.shared_allocated_per_block);

  o.blocks_per_sm = std::min({fit, o.limit_shared, o.limit_barriers});
  o.warps_per_sm = o.blocks_per_sm * o.warps_per_block;
  o.percent = 100.0 * o.warps_per_sm / m.max_warps_per_sm;
  if (o.blocks_per_sm == 0)
    o.limiter = OccupancyLimiter::does_not_fit;
  else if (o.blocks_per_sm == o.limit_warps)
    o.limiter = OccupancyLimiter::warps;
  else if (o.blocks_per_sm == o.limit_blocks)
    o.limiter = OccupancyLimiter::blocks;
  else if (o.blocks_per_sm == o.limit_registers)
    o.limiter = OccupancyLimiter::registers;
  else if (o.blocks_per_sm == o.limit_shared)
    o.limiter = OccupancyLimiter::shared_memory;
  else
    o.limiter = OccupancyLimiter::barriers;

  if (o.blocks_per_sm != 0) {
    std::uint64_t room = largest_carveout(m) / o.blocks_per_sm;
    if (m.shared_allocation_unit != 0) room -= room % m.shared_allocation_unit;
    room = room > m.shared_reserved_per_block ? room - m.shared_reserved_per_block : 0;
    room = std::min(room, maximum);
    o.shared_unused = room > block.static_shared ? room - block.static_shared : 0;
  }
  return o;
}

double waves(const GpuModel& model, const Occupancy& occupancy, std::uint64_t blocks) {
  if (occupancy.blocks_per_sm == 0 || model.sm_count == 0) return 0;
  return static_cast<double>(blocks) / (static_cast<double>(occupancy.blocks_per_sm) * model.sm_count);
}

}  // namespace warpgrind
