#pragma once

#include "cudart/api_types.h"
#include "gpu/gpu_model.h"

namespace warpgrind::cudart {

void fill_properties(const GpuModel& model, int device, cudaDeviceProp& out);
// False: no such attribute.
bool device_attribute(const GpuModel& model, int device, cudaDeviceAttr attribute, int& out);

}  // namespace warpgrind::cudart
