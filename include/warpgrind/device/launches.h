// Launches in device code (dynamic parallelism). clang 19 refuses `<<<>>>` there, so the toolchain rewrites them
// (src/compiler/toolchain/device_launch.h). It then defines WARPGRIND_DEVICE_LAUNCHES as a text that is unique to the
// source.
#ifndef WARPGRIND_DEVICE_LAUNCHES_H
#define WARPGRIND_DEVICE_LAUNCHES_H
#ifdef WARPGRIND_DEVICE_LAUNCHES

#include "../../cuda_device_runtime_api.h"

#ifdef __CUDA_ARCH__
// src/compiler/launchpass turns the call between these two into a launch.
extern "C" __host__ __device__ void __wg_configure_launch(dim3 grid, dim3 block, size_t shared = 0,
                                                          cudaStream_t stream = 0);
extern "C" __host__ __device__ void __wg_launch();
// Makes the names of the source's internal kernels unique.
static __device__ __attribute__((used)) const char wg_unit[] __asm__("__wg_unit") = WARPGRIND_DEVICE_LAUNCHES;
#else
// Replaces such a launch in the host pass, which never runs it.
template <class... Values>
__host__ __device__ inline void __wg_leave_launch(Values&&...) {}
#endif

#endif
#endif
