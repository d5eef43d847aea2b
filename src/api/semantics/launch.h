// Kernel launches: checks and issue.
#pragma once

#include "semantics/operation.h"

namespace warpgrind::semantics {

cudaError_t launch_kernel(const LaunchArguments& arguments, cudaStream_t stream);
LaunchArguments plain_launch(const void* function, dim3 grid, dim3 block, void** parameters, std::size_t shared);
// Reads `extra` of a launch: all arguments in one buffer with the layout of parameter memory, between the marks that
// both APIs document (CU_LAUNCH_PARAM_BUFFER_POINTER etc.).
cudaError_t take_packed(void** extra, LaunchArguments& out);
cudaError_t launch_host_function(cudaStream_t stream, cudaHostFn_t function, void* data);
cudaError_t launch_with_attributes(LaunchArguments arguments, cudaStream_t stream,
                                   const cudaLaunchAttribute* attributes, unsigned count);

}  // namespace warpgrind::semantics
