#include "gpu/launch_limits.h"

#include <fmt/format.h>

#include <algorithm>

namespace warpgrind {

std::uint64_t printf_fifo_bytes(const GpuModel& model) {
  constexpr std::uint64_t kOfSm = 64 << 10, kFixed = 1 << 20;
  return model.cc_major >= 7 ? kOfSm * model.sm_count : kFixed;
}

std::uint64_t most_stack_bytes(const GpuModel& model) {
  const std::uint64_t threads = std::uint64_t{model.sm_count} * model.max_threads_per_sm;
  return threads ? std::min(kMostLocalBytes, model.memory_bytes / threads / 16 * 16) : kMostLocalBytes;
}

std::string shape_problem(const GpuModel& model, const Dim3& grid, const Dim3& block) {
  if (block.x == 0 || block.y == 0 || block.z == 0) return "a block without threads";
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return "a grid without blocks";
  // If x times y is already too large, a product with z could wrap.
  const std::uint64_t plane = std::uint64_t{block.x} * block.y;
  const std::uint64_t all = plane > model.max_threads_per_block ? plane : block.count();
  // Every launch runs this check, so text is made only on an error.
  if (all > model.max_threads_per_block)
    return fmt::format("{} threads a block, at most {}", all, model.max_threads_per_block);
  const std::uint32_t blocks[] = {grid.x, grid.y, grid.z}, threads[] = {block.x, block.y, block.z};
  for (unsigned k = 0; k < 3; ++k) {
    if (threads[k] > model.max_block_dim[k])
      return fmt::format("{} threads a block in {}, at most {}", threads[k], "xyz"[k], model.max_block_dim[k]);
    if (blocks[k] > model.max_grid_dim[k])
      return fmt::format("{} blocks in {}, at most {}", blocks[k], "xyz"[k], model.max_grid_dim[k]);
  }
  return {};
}

}  // namespace warpgrind
