// The part of `warpgrind explain` that shows readers of boxes that tensor copies have put into shared memory.
#pragma once

#include <string>
#include <vector>

#include "gpu/gpu_model.h"
#include "report/terminal.h"
#include "results/profile.h"

namespace warpgrind::report {

// Row and column of the box for each lane, and the passes through the banks with and without a swizzle. `pattern` has a
// tile. kind: of the site, "load" or "store".
std::string tile_view(const results::AccessPattern& pattern, const std::string& kind,
                      const results::KernelProfile& kernel, const GpuModel& model);

// The same of matrices that wgmma reads.
std::string operand_view(const results::OperandProfile& operand, const results::KernelProfile& kernel,
                         const GpuModel& model);

// Matrices that the wgmma of one line read by descriptors. `sites`: not empty, each with operands.
std::string operands_view(const std::vector<const results::SiteProfile*>& sites, const results::KernelProfile& kernel,
                          const GpuModel& model, const TextOptions& options);

}  // namespace warpgrind::report
