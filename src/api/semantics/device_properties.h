// Properties and attributes of a modelled GPU, as both APIs report them.
#pragma once

#include "gpu/gpu_model.h"
#include "semantics/types.h"

namespace warpgrind::semantics {

void fill_properties(const GpuModel& model, int device, cudaDeviceProp& out);
// `attribute`: a cudaDeviceAttr or CUdevice_attribute, whose numbers are the same. As on hardware, each API also
// returns the attributes that only the other one has a name for. False: there is no such attribute.
bool device_attribute(const GpuModel& model, int device, int attribute, int& out);

}  // namespace warpgrind::semantics
