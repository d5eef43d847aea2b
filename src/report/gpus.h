// `warpgrind gpus [NAME]`.
#pragma once

#include <string>

#include "gpu/gpu_model.h"

namespace warpgrind::report {

std::string gpus_text();                      // one line a model
std::string gpu_text(const GpuModel& model);  // all figures, and how the theoretical bandwidth is computed

}  // namespace warpgrind::report
