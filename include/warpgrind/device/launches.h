// Launches in device code. The toolchain (src/toolchain/device_launch.h) rewrites them, because clang 19 refuses
// `<<<>>>` there, and defines this macro, a text that is another for each source, when it does.
#ifndef WARPGRIND_DEVICE_LAUNCHES_H
#define WARPGRIND_DEVICE_LAUNCHES_H
#ifdef WARPGRIND_DEVICE_LAUNCHES

#include "../../cuda_device_runtime_api.h"

#ifdef __CUDA_ARCH__
// The call between the two becomes a launch (src/launchpass).
extern "C" __host__ __device__ void __wg_configure_launch(dim3 grid, dim3 block, size_t shared = 0,
                                                          cudaStream_t stream = 0);
extern "C" __host__ __device__ void __wg_launch();
// For the names of kernels that this source keeps to itself.
static __device__ __attribute__((used)) const char wg_unit[] __asm__("__wg_unit") = WARPGRIND_DEVICE_LAUNCHES;
#else
// What is left of such a launch in the host's half, which never runs it.
template <class... Values>
__host__ __device__ inline void __wg_leave_launch(Values&&...) {}
#endif

#endif
#endif
