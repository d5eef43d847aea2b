// Parameters of graph nodes: what the driver API says, as host has it, and back.
#pragma once

#include "cuda/host_calls.h"
#include "host/operation.h"

namespace warpgrind::cuda {

// Arguments as pointers to each, or `extra`: all of them in one buffer, laid out as parameter memory is.
CUresult launch_of(const CUDA_KERNEL_NODE_PARAMS_v3& parameters, host::LaunchArguments& out);
CUDA_KERNEL_NODE_PARAMS_v3 parameters_of(host::GraphNode& node, host::KernelOperation& kernel);

// Null: there is no such copy.
CUresult copy_of(const CUDA_MEMCPY3D* parameters, cudaMemcpy3DParms& out);
CUDA_MEMCPY3D parameters_of(const cudaMemcpy3DParms& copy);

// The device of a context that a node is for; -1: the handle is null, and it is that of the launch.
CUresult device_of(CUcontext context, int& device);

}  // namespace warpgrind::cuda
