// The CUDA language's qualifiers, for clang (CUDA C++ Programming Guide, "C++ Language Extensions"). Without a CUDA
// compiler (a .cpp file that includes the runtime API) only those that mean something to a host compiler are left.
#ifndef __HOST_DEFINES_H__
#define __HOST_DEFINES_H__
#define __CRT_HOST_DEFINES_H__

#if defined(__CUDA__) && defined(__clang__)
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#if defined(WARPGRIND_DEVICE_LAUNCHES) && defined(__CUDA_ARCH__)
// Where device code launches kernels they are functions that it may call: warpgrind/device/launches.h.
#define __global__ __attribute__((host)) __attribute__((device)) __attribute__((nvptx_kernel)) __attribute__((used))
#define __grid_constant__
#else
#define __global__ __attribute__((global))
// clang 19 does not know the attribute and would warn. A parameter whose address is taken is then copied.
#if __has_attribute(grid_constant)
#define __grid_constant__ __attribute__((grid_constant))
#else
#define __grid_constant__
#endif
#endif
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
// One memory for both sides. The host's half of the variable lies in a section of its own, by which the runtime knows
// that the device has to use this very memory (warpgrind/managed.h).
#ifdef __CUDA_ARCH__
#define __managed__ __attribute__((device)) __attribute__((annotate("managed")))
#else
#define __managed__ __attribute__((device)) __attribute__((section("wg_managed"))) __attribute__((used))
#endif
// clang 19 has no directive for the shape of clusters: src/compiler/launchpass and toolchain/cluster_dimensions.h write
// it.
#ifdef __CUDA_ARCH__
#define __cluster_dims__(...) __attribute__((annotate("cluster_dims", __VA_ARGS__)))
#else
#define __cluster_dims__(...)
#endif
// Limits that show in machine code only.
#define __maxnreg__(n)
#define __block_size__(...)
#define __nv_pure__ __attribute__((pure))
#else
#ifndef __host__
#define __host__
#endif
#ifndef __device__
#define __device__
#endif
#endif

#define __forceinline__ __inline__ __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __device_builtin__
#define __device_builtin_texture_type__
#define __device_builtin_surface_type__
#define __cudart_builtin__
#define __location__(a) __attribute__((a))
#define __thread__ __thread
#define __annotate__(a) __attribute__((a))
#define __import__
#define __export__
#define __cdecl
#define __specialization_static
#define CUDARTAPI
#define CUDARTAPI_CDECL
#define CUDAAPI
#define CUDA_CB
#define CUDART_CB

#endif
