// Critical path of a warp: the time of its instructions if it is alone on the GPU. Each basic block of machine code
// (sass/code.h) is ordered as ptxas would: longest path first, loads early as far as registers allow. A warp issues
// one instruction per cycle in this order. Results that are not ready at a block's end are waited for in the next
// block. The walk follows the edges that most warps took, as often as they ran.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "gpu/gpu_model.h"
#include "sass/code.h"

namespace warpgrind::timing {

// Latencies of loads that miss L1, in cycles, for which the path is computed. It is nearly linear between them.
inline constexpr std::array<double, 5> kPathLatencies = {0, 40, 290, 700, 1000};

struct WarpPath {
  std::array<double, kPathLatencies.size()> cycles{};
  // Additional cycles of the slowest warp of a block, if some warps do more than others: estimated from the means.
  std::array<double, kPathLatencies.size()> slowest{};
  bool in_each_block = false;  // each block has such a warp
  // Cycles of what one block does after all others.
  std::array<double, kPathLatencies.size()> last{};
};

// What a walk asks about a site, by its index in KernelFacts::sites.
struct SiteFacts {
  // Part of the loads that wait for L2, 0 to 1; the others hit L1.
  std::function<double(std::uint32_t site)> waiting_part = [](std::uint32_t) { return 1.0; };
  // Passes of a load through L1, for one request.
  std::function<double(std::uint32_t site)> passes = [](std::uint32_t) { return 1.0; };
  // Rounds of an atomic on shared memory that is a loop around cas, as times shared_cas_latency_cycles; 0: no loop.
  std::function<double(std::uint32_t site)> loop_rounds = [](std::uint32_t) { return 0.0; };
};

// Blocks of a kernel in the predicted order, from its last walk. Finding the order takes half of the time of a walk,
// and it depends on little of what differs between launches.
class ScheduledBlocks {
 public:
  ScheduledBlocks();
  ~ScheduledBlocks();
  ScheduledBlocks(const ScheduledBlocks&) = delete;
  ScheduledBlocks& operator=(const ScheduledBlocks&) = delete;
  struct Block;
  Block& block(std::size_t number);

 private:
  std::vector<std::unique_ptr<Block>> blocks_;
};

struct PathShape {
  double warps = 1;  // of the launch
  double warps_per_block = 1;
  double registers = 32;  // 32-bit registers of a thread
};

// kept: of the same code, model and registers.
WarpPath warp_path(const GpuModel& model, const sass::Code& code, const sass::Flow& flow, const PathShape& shape,
                   const SiteFacts& sites, ScheduledBlocks& kept);
inline WarpPath warp_path(const GpuModel& model, const sass::Code& code, const sass::Flow& flow, const PathShape& shape,
                          const SiteFacts& sites) {
  ScheduledBlocks none;
  return warp_path(model, code, flow, shape, sites, none);
}

}  // namespace warpgrind::timing
