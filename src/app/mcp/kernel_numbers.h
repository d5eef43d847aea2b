// Numbers of a kernel that decide what to do next, for one launch on average.
#pragma once

#include <string>
#include <vector>

#include "gpu/gpu_model.h"
#include "mcp/json_rpc.h"
#include "mcp/short_text.h"
#include "results/profile.h"

namespace warpgrind::mcp {

// Estimated time of one launch, in ns; 0: unknown.
double time_ns(const results::KernelProfile& kernel);

// `model`: the GPU of the run; may be null.
Json kernel_json(const results::KernelProfile& kernel, const GpuModel* model, const Room& room);
// The same numbers in a few lines, from the object.
std::string kernel_lines(const Json& kernel);

// Extra counters by name, as given: "name: value unit (origin)".
Json metrics_json(const results::KernelProfile& kernel, const std::vector<std::string>& names);

}  // namespace warpgrind::mcp
