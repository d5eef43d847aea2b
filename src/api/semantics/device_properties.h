// Properties and attributes of a modelled GPU, as the runtime API reports them.
#pragma once

#include "gpu/gpu_model.h"
#include "semantics/types.h"

namespace warpgrind::semantics {

void fill_properties(const GpuModel& model, int device, cudaDeviceProp& out);
// False: there is no such attribute.
bool device_attribute(const GpuModel& model, int device, cudaDeviceAttr attribute, int& out);

}  // namespace warpgrind::semantics
