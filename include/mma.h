// Warp matrix functions: nvcuda::wmma (CUDA C++ Programming Guide, "Warp Matrix Functions"): half, bfloat16, tf32,
// double and 8-bit integers in all documented shapes, on clang's builtins for the wmma instructions.
#ifndef __CUDA_MMA_H__
#define __CUDA_MMA_H__

#include "cuda_bf16.h"
#include "cuda_fp16.h"

#if defined(__cplusplus) && defined(__CUDACC__)

namespace nvcuda {
namespace wmma {

struct row_major {};
struct col_major {};
struct matrix_a {};
struct matrix_b {};
struct accumulator {};
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32 {};
struct u4 {};
struct s4 {};
struct b1 {};
}  // namespace precision

namespace experimental {
namespace precision {
using wmma::precision::b1;
using wmma::precision::s4;
using wmma::precision::u4;
}  // namespace precision
enum bmmaBitOp { bmmaBitOpXOR = 1, bmmaBitOpAND = 2 };
enum bmmaAccumulateOp { bmmaAccumulateOpPOPC = 1 };
}  // namespace experimental

#define WG_WMMA static __device__ __forceinline__

template <class T, int elements>
struct __frag_base {
  enum { num_elements = elements, num_storage_elements = elements };
  T x[elements];
};
template <class Use, int m, int n, int k, class T, class Layout = void>
class fragment;
#define WG_SUB_BYTE(type)                                                                              \
  template <class Use, int m, int n, int k, class Layout>                                              \
  class fragment<Use, m, n, k, type, Layout> {                                                         \
    static_assert(m == 0, "warpgrind has no wmma fragments of " #type " elements (less than 8 bits)"); \
  };
WG_SUB_BYTE(precision::u4)
WG_SUB_BYTE(precision::s4)
WG_SUB_BYTE(precision::b1)
#undef WG_SUB_BYTE

template <class T>
struct wg_storage {
  typedef T stored;
};
template <>
struct wg_storage<precision::tf32> {
  typedef float stored;
};
template <class Layout>
struct wg_is_column {
  static constexpr int value = 0;
};
template <>
struct wg_is_column<col_major> {
  static constexpr int value = 1;
};

template <class Use, int m, int n, int k, class T, class Layout, class V>
WG_WMMA void fill_fragment(fragment<Use, m, n, k, T, Layout>& f, const V& value) {
  for (int i = 0; i < f.num_elements; i++) f.x[i] = (typename wg_storage<T>::stored)value;
}

// Operands: element type, pointer type in memory, elements a thread holds of a and of b, builtins' names.
#define WG_OPERAND(use, M, N, K, type, memory, elements, builtin, as)                                            \
  template <class Layout>                                                                                        \
  class fragment<use, M, N, K, type, Layout> : public __frag_base<wg_storage<type>::stored, elements> {};        \
  template <class Layout>                                                                                        \
  WG_WMMA void load_matrix_sync(fragment<use, M, N, K, type, Layout>& f, const memory* p, unsigned int stride) { \
    builtin((as*)f.x, (const as*)p, stride, wg_is_column<Layout>::value);                                        \
  }
#define WG_ACCUMULATOR(M, N, K, type, elements, load, store, as)                                                    \
  template <>                                                                                                       \
  class fragment<accumulator, M, N, K, type, void> : public __frag_base<type, elements> {};                         \
  WG_WMMA void load_matrix_sync(fragment<accumulator, M, N, K, type, void>& f, const type* p, unsigned int stride,  \
                                layout_t layout) {                                                                  \
    if (layout == mem_row_major)                                                                                    \
      load((as*)f.x, (const as*)p, stride, 0);                                                                      \
    else                                                                                                            \
      load((as*)f.x, (const as*)p, stride, 1);                                                                      \
  }                                                                                                                 \
  WG_WMMA void store_matrix_sync(type* p, const fragment<accumulator, M, N, K, type, void>& f, unsigned int stride, \
                                 layout_t layout) {                                                                 \
    if (layout == mem_row_major)                                                                                    \
      store((as*)p, (const as*)f.x, stride, 0);                                                                     \
    else                                                                                                            \
      store((as*)p, (const as*)f.x, stride, 1);                                                                     \
  }
#define WG_MULTIPLY(M, N, K, type, to, from, builtin, as_operand, as_to, as_from)                                   \
  template <class A, class B>                                                                                       \
  WG_WMMA void mma_sync(fragment<accumulator, M, N, K, to, void>& d, const fragment<matrix_a, M, N, K, type, A>& a, \
                        const fragment<matrix_b, M, N, K, type, B>& b,                                              \
                        const fragment<accumulator, M, N, K, from, void>& c) {                                      \
    constexpr int layouts = wg_is_column<A>::value * 2 + wg_is_column<B>::value;                                    \
    builtin((as_to*)d.x, (const as_operand*)a.x, (const as_operand*)b.x, (const as_from*)c.x, layouts, 0);          \
  }

#define WG_HALF_SHAPE(M, N, K)                                                                                     \
  WG_OPERAND(matrix_a, M, N, K, __half, __half, 16, __hmma_m##M##n##N##k##K##_ld_a, int)                           \
  WG_OPERAND(matrix_b, M, N, K, __half, __half, 16, __hmma_m##M##n##N##k##K##_ld_b, int)                           \
  WG_ACCUMULATOR(M, N, K, float, 8, __hmma_m##M##n##N##k##K##_ld_c_f32, __hmma_m##M##n##N##k##K##_st_c_f32, float) \
  WG_ACCUMULATOR(M, N, K, __half, 8, __hmma_m##M##n##N##k##K##_ld_c_f16, __hmma_m##M##n##N##k##K##_st_c_f16, int)  \
  WG_ACCUMULATOR(M, N, K, int, 8, __imma_m##M##n##N##k##K##_ld_c, __imma_m##M##n##N##k##K##_st_c_i32, int)         \
  WG_MULTIPLY(M, N, K, __half, float, float, __hmma_m##M##n##N##k##K##_mma_f32f32, int, float, float)              \
  WG_MULTIPLY(M, N, K, __half, __half, __half, __hmma_m##M##n##N##k##K##_mma_f16f16, int, int, int)                \
  WG_MULTIPLY(M, N, K, __half, float, __half, __hmma_m##M##n##N##k##K##_mma_f32f16, int, float, int)               \
  WG_MULTIPLY(M, N, K, __half, __half, float, __hmma_m##M##n##N##k##K##_mma_f16f32, int, int, float)
WG_HALF_SHAPE(16, 16, 16)
WG_HALF_SHAPE(32, 8, 16)
WG_HALF_SHAPE(8, 32, 16)
#undef WG_HALF_SHAPE

#define WG_BYTE_SHAPE(M, N, K, type, suffix, a_elements, b_elements)                                                 \
  WG_OPERAND(matrix_a, M, N, K, type, type, a_elements, __imma_m##M##n##N##k##K##_ld_a_##suffix, int)                \
  WG_OPERAND(matrix_b, M, N, K, type, type, b_elements, __imma_m##M##n##N##k##K##_ld_b_##suffix, int)                \
  template <class A, class B>                                                                                        \
  WG_WMMA void mma_sync(fragment<accumulator, M, N, K, int, void>& d, const fragment<matrix_a, M, N, K, type, A>& a, \
                        const fragment<matrix_b, M, N, K, type, B>& b,                                               \
                        const fragment<accumulator, M, N, K, int, void>& c, bool saturate = false) {                 \
    constexpr int layouts = wg_is_column<A>::value * 2 + wg_is_column<B>::value;                                     \
    if (saturate)                                                                                                    \
      __imma_m##M##n##N##k##K##_mma_##suffix(d.x, (const int*)a.x, (const int*)b.x, c.x, layouts, 1);                \
    else                                                                                                             \
      __imma_m##M##n##N##k##K##_mma_##suffix(d.x, (const int*)a.x, (const int*)b.x, c.x, layouts, 0);                \
  }
WG_BYTE_SHAPE(16, 16, 16, signed char, s8, 8, 8)
WG_BYTE_SHAPE(16, 16, 16, unsigned char, u8, 8, 8)
WG_BYTE_SHAPE(32, 8, 16, signed char, s8, 16, 4)
WG_BYTE_SHAPE(32, 8, 16, unsigned char, u8, 16, 4)
WG_BYTE_SHAPE(8, 32, 16, signed char, s8, 4, 16)
WG_BYTE_SHAPE(8, 32, 16, unsigned char, u8, 4, 16)
#undef WG_BYTE_SHAPE

#define WG_BFLOAT_SHAPE(M, N, K, a_elements, b_elements)                                                           \
  WG_OPERAND(matrix_a, M, N, K, __nv_bfloat16, __nv_bfloat16, a_elements, __mma_bf16_m##M##n##N##k##K##_ld_a, int) \
  WG_OPERAND(matrix_b, M, N, K, __nv_bfloat16, __nv_bfloat16, b_elements, __mma_bf16_m##M##n##N##k##K##_ld_b, int) \
  WG_MULTIPLY(M, N, K, __nv_bfloat16, float, float, __mma_bf16_m##M##n##N##k##K##_mma_f32, int, float, float)
WG_BFLOAT_SHAPE(16, 16, 16, 8, 8)
WG_BFLOAT_SHAPE(32, 8, 16, 16, 4)
WG_BFLOAT_SHAPE(8, 32, 16, 4, 16)
#undef WG_BFLOAT_SHAPE

WG_OPERAND(matrix_a, 16, 16, 8, precision::tf32, float, 4, __mma_tf32_m16n16k8_ld_a, int)
WG_OPERAND(matrix_b, 16, 16, 8, precision::tf32, float, 4, __mma_tf32_m16n16k8_ld_b, int)
WG_ACCUMULATOR(16, 16, 8, float, 8, __mma_tf32_m16n16k8_ld_c, __mma_m16n16k8_st_c_f32, float)
WG_MULTIPLY(16, 16, 8, precision::tf32, float, float, __mma_tf32_m16n16k8_mma_f32, int, float, float)
WG_OPERAND(matrix_a, 8, 8, 4, double, double, 1, __dmma_m8n8k4_ld_a, double)
WG_OPERAND(matrix_b, 8, 8, 4, double, double, 1, __dmma_m8n8k4_ld_b, double)
WG_ACCUMULATOR(8, 8, 4, double, 2, __dmma_m8n8k4_ld_c, __dmma_m8n8k4_st_c_f64, double)
WG_MULTIPLY(8, 8, 4, double, double, double, __dmma_m8n8k4_mma_f64, double, double, double)

WG_WMMA float __float_to_tf32(float f) {
  unsigned int bits;
  __asm__("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(f));
  return __uint_as_float(bits);
}

#undef WG_MULTIPLY
#undef WG_ACCUMULATOR
#undef WG_OPERAND
#undef WG_WMMA

}  // namespace wmma
}  // namespace nvcuda

#endif

#endif
