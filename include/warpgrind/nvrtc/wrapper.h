// Declarations that NVRTC provides without any header, for clang. src/compiler/nvrtc puts this header before every
// program
// (-include), as warpgrind/wrapper.h is put before nvcc's programs. It includes no host header and declares no C++
// library (NVRTC's documentation, "Language"): programs bring their own <cstdint> and std::numeric_limits, if any.
#ifndef WARPGRIND_NVRTC_WRAPPER_H
#define WARPGRIND_NVRTC_WRAPPER_H

#pragma clang system_header
#include "../letters_aside.h"

// src/compiler/nvrtc defines the version macros of the library's release. CUDA_VERSION is for clang's headers, and is
// undefined at the end.
#define CUDA_VERSION 13000
#define __CUDACC__ 1
#define __CUDACC_RTC__ 1
#define WARPGRIND_CUDA 1

#include "../../host_defines.h"

typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef long clock_t;
#define NULL 0

extern "C" {
__device__ int vprintf(const char*, const char*);
__device__ int printf(const char*, ...);
__device__ void free(void*) __attribute__((nothrow));
__device__ void* malloc(size_t) __attribute__((nothrow)) __attribute__((malloc));
__device__ void __assertfail(const char* message, const char* file, unsigned line, const char* function,
                             size_t char_size);
__device__ static inline void __assert_fail(const char* message, const char* file, unsigned line,
                                            const char* function) {
  __assertfail(message, file, line, function, sizeof(char));
}
}
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
#define assert(condition) ((condition) ? (void)0 : __assert_fail(#condition, __FILE__, __LINE__, __PRETTY_FUNCTION__))
#endif

// clang-format off
#include <__clang_cuda_builtin_vars.h>
#include "../../driver_types.h"
#include "../../surface_types.h"
#include "../../texture_types.h"
#include "../../vector_functions.h"
#define CUDART_VERSION (__CUDACC_VER_MAJOR__ * 1000 + __CUDACC_VER_MINOR__ * 10)
#define __DEVICE_LAUNCH_PARAMETERS_H__
#define __DEVICE_FUNCTIONS_H__
#define __DEVICE_FUNCTIONS_DECLS_H__
#define __MATH_FUNCTIONS_H__
#define __COMMON_FUNCTIONS_H__

// dim3 and uint3 are complete only here, so the conversions to them can be defined now.
#define WG_BUILTIN_VAR(name)                                            \
  __device__ inline __cuda_builtin_##name##_t::operator dim3() const {  \
    return dim3(x, y, z);                                               \
  }                                                                     \
  __device__ inline __cuda_builtin_##name##_t::operator uint3() const { \
    return {x, y, z};                                                   \
  }
WG_BUILTIN_VAR(threadIdx)
WG_BUILTIN_VAR(blockIdx)
WG_BUILTIN_VAR(blockDim)
WG_BUILTIN_VAR(gridDim)
#undef WG_BUILTIN_VAR

typedef unsigned int cuuint32_t;
typedef unsigned long long cuuint64_t;

// Macros of <limits.h> and <math.h> that clang's headers need.
#define INT_MAX __INT_MAX__
#define INT_MIN (-__INT_MAX__ - 1)
#define HUGE_VAL __builtin_huge_val()
#define HUGE_VALF __builtin_huge_valf()
#include <__clang_cuda_libdevice_declares.h>
#include <__clang_cuda_device_functions.h>
#include <__clang_cuda_math.h>
#undef INT_MAX
#undef INT_MIN
#undef HUGE_VAL
#undef HUGE_VALF

#include "../device/address_space.h"
#include "../device/atomics.h"
#include "../device/nv_atomics.h"
#include "math.h"
#include "../device/host_device_math.h"
#include "../device/intrinsics.h"
#include "../device/loads.h"

// clang 19 passes the arguments of these in the wrong order (see ../wrapper.h).
#define __reduce_add_sync wg_clang_reduce_add_sync
#define __reduce_min_sync wg_clang_reduce_min_sync
#define __reduce_max_sync wg_clang_reduce_max_sync
#define __reduce_or_sync wg_clang_reduce_or_sync
#define __reduce_and_sync wg_clang_reduce_and_sync
#define __reduce_xor_sync wg_clang_reduce_xor_sync
#include <__clang_cuda_intrinsics.h>
#undef __reduce_add_sync
#undef __reduce_min_sync
#undef __reduce_max_sync
#undef __reduce_or_sync
#undef __reduce_and_sync
#undef __reduce_xor_sync
#include "../device/reduce.h"

#include "../device/textures.h"
#include "../device/surfaces.h"
#include "language.h"
// clang-format on

#undef CUDA_VERSION
#include "../letters_back.h"

// NVRTC 13.0 defines no macro of any compiler or system (tested with #ifdef). Portable headers test these macros first
// and would then use a host library (CCCL, which CuPy contains).
#undef __clang__
#undef __GNUC__
#undef __GNUG__
#undef __CUDA__
#undef _GNU_SOURCE
#undef __linux__
#undef __linux
#undef linux
#undef __gnu_linux__
#undef __unix__
#undef __unix
#undef unix
#endif
