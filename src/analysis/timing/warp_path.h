// How long one warp takes for its instructions when nobody else is on the GPU: its critical path. Machine code
// (machine/code.h) is put in order block by block as ptxas would: the longest path first, loads early as far as
// registers allow. A warp issues it in this order, one a cycle; what is not ready when a block ends is waited for in
// the next. Blocks follow each other on the way that most warps took, as often as they ran.
#pragma once

#include <array>
#include <functional>

#include "gpu/gpu_model.h"
#include "machine/code.h"

namespace warpgrind::timing {

// Latencies of a load from beyond L1 at which the path is asked for, in cycles; it is nearly linear between them.
inline constexpr std::array<double, 5> kPathLatencies = {0, 40, 290, 700, 1000};

struct WarpPath {
  std::array<double, kPathLatencies.size()> cycles{};
  // What the slowest warp of a block takes longer, where some warps do more than others.
  std::array<double, kPathLatencies.size()> slowest{};
};

// Of a site (index into KernelFacts::sites): the part of its loads that its warp has not had before, 0 to 1; the others
// hit L1.
using NewToWarp = std::function<double(std::uint32_t site)>;

WarpPath warp_path(const GpuModel& model, const machine::Code& code, const machine::Flow& flow, double warps,
                   double warps_per_block, const NewToWarp& new_to_warp);

}  // namespace warpgrind::timing
