// What a GPU takes as a grid, whoever launches it: the program or a kernel.
#pragma once

#include <cstdint>
#include <string>

#include "gpu/gpu_model.h"
#include "gpu/types.h"

namespace warpgrind {

// Of local memory a thread (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability": from 2.0
// on).
inline constexpr std::uint64_t kMostLocalBytes = 512 * 1024;
// Of a thread's stack (cudaLimitStackSize), until the program sets it.
inline constexpr std::uint64_t kDefaultStackBytes = 1024;
// The most that the program may set: the driver takes memory for all threads that the GPU holds at a time. An H100 of
// 80 GB refuses more than 313,456 bytes: 84.7 of its 85.0 GB.
std::uint64_t most_stack_bytes(const GpuModel& model);

// What keeps the text that kernels print, until the program sets it: 64 KiB for each SM (an H200's cuCtxGetLimit),
// before Volta 1 MiB.
std::uint64_t printf_fifo_bytes(const GpuModel& model);

// Why no kernel can be launched so: "2048 threads a block, at most 1024"; empty: it can.
std::string shape_problem(const GpuModel& model, const Dim3& grid, const Dim3& block);

}  // namespace warpgrind
