// Declarations that nvcc provides without any include, for clang. The toolchain puts this header before every CUDA file
// (-include). It replaces clang's __clang_cuda_runtime_wrapper.h, which needs the headers of a CUDA toolkit. It keeps
// that header's order, since clang's parts (__clang_cuda_*.h, Apache-2.0) depend on each other and on macros they test.
#ifndef WARPGRIND_WRAPPER_H
#define WARPGRIND_WRAPPER_H

#if defined(__CUDA__) && defined(__clang__)
#include "letters_aside.h"

// Version macros of a CUDA 13.0 compiler. __NVCC__ stays undefined: programs and libraries (Eigen, Thrust, CUB) test
// __CUDACC__ for the language and __NVCC__ for nvcc's pragmas and bugs.
#ifndef CUDA_VERSION
#define CUDA_VERSION 13000
#endif
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define __CUDACC_VER_BUILD__ 88
#define __CUDACC_EXTENDED_LAMBDA__ 1
#define __CUDACC_RELAXED_CONSTEXPR__ 1
#ifdef __CLANG_RDC__
#define __CUDACC_RDC__ 1
#endif
#define WARPGRIND_CUDA 1
// libcu++ 1.8 (Debian's) enables its device atomics only for nvcc.
#define _LIBCUDACXX_HAS_CUDA_ATOMIC_IMPL

// Device overloads of the C library's math functions must be declared before <cmath> defines its templates.
#include <__clang_cuda_math_forward_declares.h>

#define __CUDACC__ 1
#include "../host_defines.h"

// Device versions of C library functions, which <new> and <assert.h> use.
extern "C" {
__device__ int vprintf(const char*, const char*);
__device__ void free(void*) __attribute__((nothrow));
__device__ void* malloc(__SIZE_TYPE__) __attribute__((nothrow)) __attribute__((malloc));
__device__ void __assertfail(const char* message, const char* file, unsigned line, const char* function,
                             __SIZE_TYPE__ char_size);
__device__ static inline void __assert_fail(const char* message, const char* file, unsigned line,
                                            const char* function) {
  __assertfail(message, file, line, function, sizeof(char));
}
__device__ int printf(const char*, ...);
}

// C headers that nvcc includes in every file.
#include <__clang_cuda_builtin_vars.h>
#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmath>
#include <cstdlib>
#include <new>
#include <utility>
#define __DEVICE_LAUNCH_PARAMETERS_H__

#include "../cuda_runtime.h"

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

// Include guards of headers whose content is defined here. helper_cuda.h and others test them.
#define __DEVICE_FUNCTIONS_H__
#define __DEVICE_FUNCTIONS_DECLS_H__
#define __MATH_FUNCTIONS_H__
#define __COMMON_FUNCTIONS_H__

typedef unsigned int cuuint32_t;
typedef unsigned long cuuint64_t;

// The order matters: each header uses those before it.
// clang-format off
#include <__clang_cuda_libdevice_declares.h>
#include <__clang_cuda_device_functions.h>
#include <__clang_cuda_math.h>

#include "device/address_space.h"
#include "device/atomics.h"
#include "device/nv_atomics.h"
#include "device/host_device_math.h"
#include "device/intrinsics.h"
#include "device/loads.h"

#include <__clang_cuda_cmath.h>

// clang 19 passes the arguments of these in the wrong order: its builtins take the value first. device/reduce.h defines
// them instead.
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
#include "device/reduce.h"

#include <__clang_cuda_complex_builtins.h>

#include "device/textures.h"
#include "device/surfaces.h"
#include "device/launches.h"
#include "managed.h"
// clang-format on

#include "letters_back.h"
#endif  // __CUDA__
#endif
