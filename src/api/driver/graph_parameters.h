// Conversion of graph node parameters between the driver API's and the host layer's structures.
#pragma once

#include "driver/host_calls.h"
#include "semantics/operation.h"

namespace warpgrind::driver {

// The arguments are either an array of pointers or `extra`: one buffer with the layout of parameter memory.
CUresult launch_of(const CUDA_KERNEL_NODE_PARAMS_v3& parameters, semantics::LaunchArguments& out);
CUDA_KERNEL_NODE_PARAMS_v3 parameters_of(semantics::GraphNode& node, semantics::KernelOperation& kernel);

// CUDA_ERROR_INVALID_VALUE if `parameters` is null or describes no valid copy.
CUresult copy_of(const CUDA_MEMCPY3D* parameters, cudaMemcpy3DParms& out);
CUDA_MEMCPY3D parameters_of(const cudaMemcpy3DParms& copy);

// Device of a node's context. -1 if the handle is null: the node then runs on the device of the launch.
CUresult device_of(CUcontext context, int& device);

}  // namespace warpgrind::driver
