// Entry points of the runtime API for kernel launches, whose steps are in semantics/launch.cpp.
#include "semantics/launch.h"

#include <vector>

#include "base/per_thread.h"
#include "runtime/call.h"
#include "semantics/streams.h"

namespace warpgrind::runtime {

namespace {

struct PendingConfiguration {
  dim3 grid, block;
  std::size_t shared;
  cudaStream_t stream;
};

// Configurations of this thread's launches whose arguments are being computed. Those may launch kernels, too, to any
// depth.
std::vector<PendingConfiguration>& pending_configurations() {
  return per_thread<std::vector<PendingConfiguration>>();
}

}  // namespace

extern "C" {

WG_API unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared, cudaStream_t stream) {
  pending_configurations().push_back({grid, block, shared, stream});
  return 0;
}

WG_API cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared, void* stream) {
  std::vector<PendingConfiguration>& pending = pending_configurations();
  if (pending.empty()) return set_last_error(cudaErrorMissingConfiguration);
  const PendingConfiguration top = pending.back();
  pending.pop_back();
  *grid = top.grid;
  *block = top.block;
  *shared = top.shared;
  *static_cast<cudaStream_t*>(stream) = top.stream;
  return cudaSuccess;
}

WG_API cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** parameters, std::size_t shared,
                                    cudaStream_t stream) {
  return api([&] { return launch_kernel(plain_launch(function, grid, block, parameters, shared), stream); });
}
WG_API cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** parameters, std::size_t shared,
                                      cudaStream_t stream) {
  return api([&] { return launch_kernel(plain_launch(kernel, grid, block, parameters, shared), stream); });
}
WG_API cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function, void** parameters) {
  return api([&]() -> cudaError_t {
    if (!config) return cudaErrorInvalidValue;
    return launch_with_attributes(
        plain_launch(function, config->gridDim, config->blockDim, parameters, config->dynamicSmemBytes), config->stream,
        config->attrs, config->numAttrs);
  });
}
WG_API cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void** parameters,
                                               std::size_t shared, cudaStream_t stream) {
  LaunchArguments a = plain_launch(function, grid, block, parameters, shared);
  a.cooperative = true;
  return api([&] { return launch_kernel(a, stream); });
}
WG_API cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  return api([&] { return launch_host_function(stream, function, data); });
}

}  // extern "C"

}  // namespace warpgrind::runtime
