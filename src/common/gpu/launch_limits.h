// Limits of a launch's grid, for launches by the program and by kernels.
#pragma once

#include <cstdint>
#include <string>

#include "gpu/gpu_model.h"
#include "gpu/types.h"

namespace warpgrind {

// Local memory per thread in bytes (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability": from
// 2.0 on).
inline constexpr std::uint64_t kMostLocalBytes = 512 * 1024;
// Stack per thread in bytes (cudaLimitStackSize), until the program sets it.
inline constexpr std::uint64_t kDefaultStackBytes = 1024;
// Largest stack per thread that the program may set. The driver allocates it for all threads that the GPU holds at a
// time. An H100 of 80 GB refuses more than 313,456 bytes: 84.7 of its 85.0 GB.
std::uint64_t most_stack_bytes(const GpuModel& model);

// Size of the buffer for kernels' printf, until the program sets it: 64 KiB for each SM (an H200's cuCtxGetLimit); 1
// MiB before Volta.
std::uint64_t printf_fifo_bytes(const GpuModel& model);

// Reason why a launch of this shape is refused: "2048 threads a block, at most 1024"; empty: it is allowed.
std::string shape_problem(const GpuModel& model, const Dim3& grid, const Dim3& block);

}  // namespace warpgrind
