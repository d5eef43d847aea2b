// Output of `warpgrind gpus [NAME]`.
#pragma once

#include <string>

#include "gpu/gpu_model.h"

namespace warpgrind::report {

std::string gpus_text();                      // one line per model
std::string gpu_text(const GpuModel& model);  // all figures, and the formula of the theoretical bandwidth

}  // namespace warpgrind::report
