// The part of the CUDA language that is not built into clang, for `clang++ -x cuda` on a machine without the CUDA
// toolkit: attributes, vector types, and the device functions of plain kernels, on clang's own __nvvm_* builtins.
// Included before everything else (-include). What is missing here (transcendental functions, textures, cooperative
// groups, streams' finer API) needs nvcc: the compiler then names what it does not know.
#pragma once

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((managed))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __grid_constant__ __attribute__((grid_constant))
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define WARPGRIND_CUDA_MINI 1

// Device twins of what the C library declares for the host: they must be known before <new> and <cassert> are read.
extern "C" {
__device__ void* malloc(__SIZE_TYPE__ bytes);
__device__ void free(void* pointer);
__device__ int printf(const char* format, ...);
__device__ __attribute__((noreturn)) void __assertfail(const char* message, const char* file, unsigned line,
                                                       const char* function, __SIZE_TYPE__ char_size);
}
static inline __device__ __attribute__((noreturn)) void __assert_fail(const char* message, const char* file,
                                                                      unsigned line, const char* function) {
  __assertfail(message, file, line, function, 1);
}

// Vector types with CUDA's alignments (a vector of 2 or 4 aligns to its size up to 16 bytes, one of 3 like its
// element).
#define WG_VECTOR_TYPES(type, name, align2, align4)                                          \
  struct name##1 {                                                                           \
    type x;                                                                                  \
  };                                                                                         \
  struct __attribute__((aligned(align2))) name##2 {                                          \
    type x, y;                                                                               \
  };                                                                                         \
  struct name##3 {                                                                           \
    type x, y, z;                                                                            \
  };                                                                                         \
  struct __attribute__((aligned(align4))) name##4 {                                          \
    type x, y, z, w;                                                                         \
  };                                                                                         \
  static inline __host__ __device__ name##1 make_##name##1(type x) {                         \
    return {x};                                                                              \
  }                                                                                          \
  static inline __host__ __device__ name##2 make_##name##2(type x, type y) {                 \
    return {x, y};                                                                           \
  }                                                                                          \
  static inline __host__ __device__ name##3 make_##name##3(type x, type y, type z) {         \
    return {x, y, z};                                                                        \
  }                                                                                          \
  static inline __host__ __device__ name##4 make_##name##4(type x, type y, type z, type w) { \
    return {x, y, z, w};                                                                     \
  }

WG_VECTOR_TYPES(signed char, char, 2, 4)
WG_VECTOR_TYPES(unsigned char, uchar, 2, 4)
WG_VECTOR_TYPES(short, short, 4, 8)
WG_VECTOR_TYPES(unsigned short, ushort, 4, 8)
WG_VECTOR_TYPES(int, int, 8, 16)
WG_VECTOR_TYPES(unsigned, uint, 8, 16)
WG_VECTOR_TYPES(long, long, 16, 16)
WG_VECTOR_TYPES(unsigned long, ulong, 16, 16)
WG_VECTOR_TYPES(long long, longlong, 16, 16)
WG_VECTOR_TYPES(unsigned long long, ulonglong, 16, 16)
WG_VECTOR_TYPES(float, float, 8, 16)
WG_VECTOR_TYPES(double, double, 16, 16)
#undef WG_VECTOR_TYPES

struct dim3 {
  unsigned x, y, z;
  __host__ __device__ constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
  __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
};

#include <__clang_cuda_builtin_vars.h>  // threadIdx, blockIdx, blockDim, gridDim, warpSize: clang's own

#define WG_BUILTIN_VAR(name)                                            \
  inline __device__ __cuda_builtin_##name##_t::operator dim3() const {  \
    return dim3(x, y, z);                                               \
  }                                                                     \
  inline __device__ __cuda_builtin_##name##_t::operator uint3() const { \
    return {x, y, z};                                                   \
  }
WG_BUILTIN_VAR(threadIdx)
WG_BUILTIN_VAR(blockIdx)
WG_BUILTIN_VAR(blockDim)
WG_BUILTIN_VAR(gridDim)
#undef WG_BUILTIN_VAR

#define WG_DEVICE static __device__ __forceinline__

// Barriers and fences.
#define __syncthreads() __nvvm_bar_sync(0)
WG_DEVICE int __syncthreads_count(int p) {
  return __nvvm_bar0_popc(p);
}
WG_DEVICE int __syncthreads_and(int p) {
  return __nvvm_bar0_and(p);
}
WG_DEVICE int __syncthreads_or(int p) {
  return __nvvm_bar0_or(p);
}
WG_DEVICE void __threadfence() {
  __nvvm_membar_gl();
}
WG_DEVICE void __threadfence_block() {
  __nvvm_membar_cta();
}
WG_DEVICE void __threadfence_system() {
  __nvvm_membar_sys();
}
WG_DEVICE void __syncwarp(unsigned mask = 0xffffffffu) {
  __nvvm_bar_warp_sync(mask);
}
WG_DEVICE void __trap() {
  __builtin_trap();
}
WG_DEVICE long long clock64() {
  return __nvvm_read_ptx_sreg_clock64();
}
WG_DEVICE int clock() {
  return __nvvm_read_ptx_sreg_clock();
}

// Votes and shuffles.
WG_DEVICE unsigned __activemask() {
  return __nvvm_activemask();
}
WG_DEVICE int __all_sync(unsigned mask, int p) {
  return __nvvm_vote_all_sync(mask, p);
}
WG_DEVICE int __any_sync(unsigned mask, int p) {
  return __nvvm_vote_any_sync(mask, p);
}
WG_DEVICE unsigned __ballot_sync(unsigned mask, int p) {
  return __nvvm_vote_ballot_sync(mask, p);
}
#define WG_SHUFFLE(name, mode, clamp)                                                                \
  WG_DEVICE int __shfl##name##_sync(unsigned mask, int v, unsigned lane, int width = 32) {           \
    return __nvvm_shfl_sync_##mode##_i32(mask, v, lane, ((32 - width) << 8) | clamp);                \
  }                                                                                                  \
  WG_DEVICE unsigned __shfl##name##_sync(unsigned mask, unsigned v, unsigned lane, int width = 32) { \
    return __nvvm_shfl_sync_##mode##_i32(mask, v, lane, ((32 - width) << 8) | clamp);                \
  }                                                                                                  \
  WG_DEVICE float __shfl##name##_sync(unsigned mask, float v, unsigned lane, int width = 32) {       \
    return __nvvm_shfl_sync_##mode##_f32(mask, v, lane, ((32 - width) << 8) | clamp);                \
  }                                                                                                  \
  WG_DEVICE double __shfl##name##_sync(unsigned mask, double v, unsigned lane, int width = 32) {     \
    union {                                                                                          \
      double value;                                                                                  \
      int half[2];                                                                                   \
    } bits = {v};                                                                                    \
    bits.half[0] = __shfl##name##_sync(mask, bits.half[0], lane, width);                             \
    bits.half[1] = __shfl##name##_sync(mask, bits.half[1], lane, width);                             \
    return bits.value;                                                                               \
  }
WG_SHUFFLE(, idx, 0x1f)
WG_SHUFFLE(_up, up, 0)
WG_SHUFFLE(_down, down, 0x1f)
WG_SHUFFLE(_xor, bfly, 0x1f)
#undef WG_SHUFFLE

// Atomics, on global and shared memory alike.
#define WG_ATOMIC(function, operation, ...)                  \
  WG_DEVICE int function(int* p, int v) {                    \
    return __nvvm_atom_##operation##_gen_i(p, v);            \
  }                                                          \
  WG_DEVICE unsigned function(unsigned* p, unsigned v) {     \
    return __nvvm_atom_##operation##_gen_i((int*)p, (int)v); \
  }
WG_ATOMIC(atomicAdd, add)
WG_ATOMIC(atomicExch, xchg)
WG_ATOMIC(atomicAnd, and)
WG_ATOMIC(atomicOr, or)
WG_ATOMIC(atomicXor, xor)
#undef WG_ATOMIC
WG_DEVICE unsigned long long atomicAdd(unsigned long long* p, unsigned long long v) {
  return __nvvm_atom_add_gen_ll((long long*)p, (long long)v);
}
WG_DEVICE float atomicAdd(float* p, float v) {
  return __nvvm_atom_add_gen_f(p, v);
}
WG_DEVICE double atomicAdd(double* p, double v) {
  return __nvvm_atom_add_gen_d(p, v);
}
WG_DEVICE int atomicSub(int* p, int v) {
  return __nvvm_atom_add_gen_i(p, -v);
}
WG_DEVICE unsigned atomicSub(unsigned* p, unsigned v) {
  return __nvvm_atom_add_gen_i((int*)p, -(int)v);
}
WG_DEVICE int atomicMin(int* p, int v) {
  return __nvvm_atom_min_gen_i(p, v);
}
WG_DEVICE int atomicMax(int* p, int v) {
  return __nvvm_atom_max_gen_i(p, v);
}
WG_DEVICE unsigned atomicMin(unsigned* p, unsigned v) {
  return __nvvm_atom_min_gen_ui(p, v);
}
WG_DEVICE unsigned atomicMax(unsigned* p, unsigned v) {
  return __nvvm_atom_max_gen_ui(p, v);
}
WG_DEVICE unsigned atomicInc(unsigned* p, unsigned limit) {
  return __nvvm_atom_inc_gen_ui(p, limit);
}
WG_DEVICE unsigned atomicDec(unsigned* p, unsigned limit) {
  return __nvvm_atom_dec_gen_ui(p, limit);
}
WG_DEVICE int atomicCAS(int* p, int expected, int v) {
  return __nvvm_atom_cas_gen_i(p, expected, v);
}
WG_DEVICE unsigned atomicCAS(unsigned* p, unsigned expected, unsigned v) {
  return __nvvm_atom_cas_gen_i((int*)p, (int)expected, (int)v);
}
WG_DEVICE unsigned long long atomicCAS(unsigned long long* p, unsigned long long expected, unsigned long long v) {
  return __nvvm_atom_cas_gen_ll((long long*)p, (long long)expected, (long long)v);
}

// Arithmetic that is one instruction or a few; sqrt and division are the correctly rounded ones.
WG_DEVICE int min(int a, int b) {
  return b < a ? b : a;
}
WG_DEVICE int max(int a, int b) {
  return a < b ? b : a;
}
WG_DEVICE unsigned min(unsigned a, unsigned b) {
  return b < a ? b : a;
}
WG_DEVICE unsigned max(unsigned a, unsigned b) {
  return a < b ? b : a;
}
WG_DEVICE int __popc(unsigned v) {
  return __builtin_popcount(v);
}
WG_DEVICE int __popcll(unsigned long long v) {
  return __builtin_popcountll(v);
}
WG_DEVICE int __clz(int v) {
  return v ? __builtin_clz((unsigned)v) : 32;
}
WG_DEVICE int __ffs(int v) {
  return __builtin_ffs(v);
}
WG_DEVICE float __int_as_float(int v) {
  return __builtin_bit_cast(float, v);
}
WG_DEVICE int __float_as_int(float v) {
  return __builtin_bit_cast(int, v);
}
WG_DEVICE float __fmaf_rn(float a, float b, float c) {
  return __nvvm_fma_rn_f(a, b, c);
}
WG_DEVICE double __fma_rn(double a, double b, double c) {
  return __nvvm_fma_rn_d(a, b, c);
}
// Overloads of the C library's host functions.
WG_DEVICE float fmaf(float a, float b, float c) {
  return __nvvm_fma_rn_f(a, b, c);
}
WG_DEVICE double fma(double a, double b, double c) {
  return __nvvm_fma_rn_d(a, b, c);
}
template <class T>
WG_DEVICE T __ldg(const T* p) {
  return *p;  // the read-only path is a matter of caching, not of result
}

#undef WG_DEVICE

#include "cuda_runtime.h"
