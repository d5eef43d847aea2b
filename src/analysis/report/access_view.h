// Output of `warpgrind explain`: the access patterns of the memory instructions on one source line.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "report/terminal.h"
#include "results/profile.h"

namespace warpgrind::report {

struct AccessQuery {
  std::string kernel;  // pattern; empty: the only kernel
  std::string file;    // name, or end of the path; empty: any
  std::uint32_t line = 0, ptx_line = 0;
};

// For each instruction: the count of each access pattern, and drawings of the typical, best and worst one. Instructions
// with equal patterns appear once. An error lists the available kernels or lines.
Result<std::string> access_view(const results::Profile& profile, const AccessQuery& query, const TextOptions& options);

}  // namespace warpgrind::report
