// Kernel launches. launch.cpp has the steps of a launch in order; launch_arguments.cpp has the first one in detail.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "semantics/operation.h"

namespace warpgrind::semantics {

struct LaunchArguments {
  const void* function = nullptr;
  dim3 grid{1, 1, 1}, block{1, 1, 1};
  std::size_t shared = 0;
  void** parameters = nullptr;
  std::optional<std::span<const std::uint8_t>> packed;  // instead of `parameters`: with the layout of parameter memory
  bool cooperative = false;
  bool early = false;
  dim3 cluster{0, 0, 0};
  std::optional<int> carveout_percent;  // overrides that of the kernel
};
LaunchArguments plain_launch(const void* function, dim3 grid, dim3 block, void** parameters, std::size_t shared);
// Reads `extra` of a launch: all arguments in one buffer with the layout of parameter memory, between the marks that
// both APIs document (CU_LAUNCH_PARAM_BUFFER_POINTER etc.).
cudaError_t take_packed(void** extra, LaunchArguments& out);

cudaError_t launch_kernel(const LaunchArguments& arguments, cudaStream_t stream);
cudaError_t launch_with_attributes(LaunchArguments arguments, cudaStream_t stream,
                                   const cudaLaunchAttribute* attributes, unsigned count);

// ---- Single steps, for graphs and for queries of kernels.
// Step 1: checks and packs.
cudaError_t make_kernel(const LaunchArguments& arguments, KernelOperation& out);
// Step 3: charges host time for loading a kernel's code, at its first launch or attribute query, as a row of its own.
void charge_load(KernelHandle& kernel, int device);
// Host time for loading, of all threads together, in ns.
double loading_ns();
// Step 4, ahead of the launch. Compiling may take seconds, so compile() is called without locks. The shape has all
// parameters that determine the code of a launch.
struct KernelShape {
  KernelHandle* kernel = nullptr;
  const session::KernelEntry* entry = nullptr;
  device::LaunchConfig config;
  int carveout_percent = -1;
  int device = 0;
};
cudaError_t compile(const KernelShape& shape);

}  // namespace warpgrind::semantics
