#include "gpu/launch_limits.h"

#include <fmt/format.h>

namespace warpgrind {

std::string shape_problem(const GpuModel& model, const Dim3& grid, const Dim3& block) {
  if (block.x == 0 || block.y == 0 || block.z == 0) return "a block without threads";
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return "a grid without blocks";
  // Where x times y is too much already, z could make the product wrap.
  const std::uint64_t plane = std::uint64_t{block.x} * block.y;
  const std::uint64_t all = plane > model.max_threads_per_block ? plane : block.count();
  const auto limit = [](std::uint64_t asked, const std::string& what, std::uint64_t most) {
    return asked <= most ? std::string() : fmt::format("{} {}, at most {}", asked, what, most);
  };
  std::string problem = limit(all, "threads a block", model.max_threads_per_block);
  const std::uint32_t blocks[] = {grid.x, grid.y, grid.z}, threads[] = {block.x, block.y, block.z};
  for (unsigned k = 0; k < 3 && problem.empty(); ++k) {
    const std::string in = fmt::format(" in {}", "xyz"[k]);
    problem = limit(threads[k], "threads a block" + in, model.max_block_dim[k]);
    if (problem.empty()) problem = limit(blocks[k], "blocks" + in, model.max_grid_dim[k]);
  }
  return problem;
}

}  // namespace warpgrind
