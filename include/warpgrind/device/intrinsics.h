// Part of wrapper.h: intrinsics that clang's headers lack: sleep, dot products of bytes, DPX, and others.
#pragma once

#define WG_DEVICE static __device__ __forceinline__

WG_DEVICE void __nanosleep(unsigned int ns) {
  __nvvm_nanosleep(ns);
}
// ---- Dot products (CUDA Math API, "Integer Intrinsics")
#define WG_DOT(name, result, a_type, b_type, ptx)                       \
  WG_DEVICE result name(a_type a, b_type b, result c) {                 \
    result d;                                                           \
    __asm__(ptx " %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); \
    return d;                                                           \
  }
WG_DOT(__dp4a, int, int, int, "dp4a.s32.s32")
WG_DOT(__dp4a, unsigned int, unsigned int, unsigned int, "dp4a.u32.u32")
WG_DOT(__dp2a_lo, int, int, int, "dp2a.lo.s32.s32")
WG_DOT(__dp2a_lo, unsigned int, unsigned int, unsigned int, "dp2a.lo.u32.u32")
WG_DOT(__dp2a_hi, int, int, int, "dp2a.hi.s32.s32")
WG_DOT(__dp2a_hi, unsigned int, unsigned int, unsigned int, "dp2a.hi.u32.u32")
#undef WG_DOT
#define WG_DOT_OF_VECTORS(name, result, a_vector, b_vector, a_word, b_word) \
  WG_DEVICE result name(a_vector a, b_vector b, result c) {                 \
    a_word x;                                                               \
    b_word y;                                                               \
    __builtin_memcpy(&x, &a, 4);                                            \
    __builtin_memcpy(&y, &b, 4);                                            \
    return name(x, y, c);                                                   \
  }
WG_DOT_OF_VECTORS(__dp4a, int, char4, char4, int, int)
WG_DOT_OF_VECTORS(__dp4a, unsigned int, uchar4, uchar4, unsigned int, unsigned int)
WG_DOT_OF_VECTORS(__dp2a_lo, int, short2, char4, int, int)
WG_DOT_OF_VECTORS(__dp2a_lo, unsigned int, ushort2, uchar4, unsigned int, unsigned int)
WG_DOT_OF_VECTORS(__dp2a_hi, int, short2, char4, int, int)
WG_DOT_OF_VECTORS(__dp2a_hi, unsigned int, ushort2, uchar4, unsigned int, unsigned int)
#undef WG_DOT_OF_VECTORS

// ---- DPX (CUDA C++ Programming Guide, "DPX"): minimum and maximum of two or three values or of sums, optionally
// clamped at 0 (_relu), of one 32-bit word or of its two halves.
#define WG_DPX static __host__ __device__ __forceinline__ __attribute__((unused))
template <class T>
static __host__ __device__ __forceinline__ T wg_larger(T a, T b) {
  return a < b ? b : a;
}
template <class T>
static __host__ __device__ __forceinline__ T wg_smaller(T a, T b) {
  return b < a ? b : a;
}
#define WG_DPX_WORD(op, pick, suffix, type)                    \
  WG_DPX type __vi##op##3_##suffix(type a, type b, type c) {   \
    return pick(pick(a, b), c);                                \
  }                                                            \
  WG_DPX type __viadd##op##_##suffix(type a, type b, type c) { \
    return pick((type)((unsigned int)a + (unsigned int)b), c); \
  }
#define WG_DPX_RELU(op, pick)                              \
  WG_DPX int __vi##op##_s32_relu(int a, int b) {           \
    return wg_larger(pick(a, b), 0);                       \
  }                                                        \
  WG_DPX int __vi##op##3_s32_relu(int a, int b, int c) {   \
    return wg_larger(__vi##op##3_s32(a, b, c), 0);         \
  }                                                        \
  WG_DPX int __viadd##op##_s32_relu(int a, int b, int c) { \
    return wg_larger(__viadd##op##_s32(a, b, c), 0);       \
  }
WG_DPX_WORD(max, wg_larger, s32, int)
WG_DPX_WORD(min, wg_smaller, s32, int)
WG_DPX_WORD(max, wg_larger, u32, unsigned int)
WG_DPX_WORD(min, wg_smaller, u32, unsigned int)
WG_DPX_RELU(max, wg_larger)
WG_DPX_RELU(min, wg_smaller)
#undef WG_DPX_WORD
#undef WG_DPX_RELU
#define WG_HALVES(expression)                                                                 \
  unsigned int result = 0;                                                                    \
  for (int i = 0; i < 32; i += 16) result |= (unsigned int)(unsigned short)(expression) << i; \
  return result;
#define WG_DPX_HALVES(op, pick, suffix, type)                                                                        \
  WG_DPX unsigned int __vi##op##3_##suffix(unsigned int a, unsigned int b, unsigned int c){WG_HALVES(pick(           \
      pick((type)(a >> i), (type)(b >> i)),                                                                          \
      (type)(c >> i)))} WG_DPX unsigned int __viadd##op##_##suffix(unsigned int a, unsigned int b, unsigned int c) { \
    WG_HALVES(pick((type)((type)(a >> i) + (type)(b >> i)), (type)(c >> i)))                                         \
  }
#define WG_DPX_HALVES_RELU(op, pick)                                                                               \
  WG_DPX unsigned int __vi##op##_s16x2_relu(unsigned int a, unsigned int b){WG_HALVES(wg_larger(                   \
      pick((short)(a >> i), (short)(b >> i)),                                                                      \
      (short)0))} WG_DPX unsigned int __vi##op##3_s16x2_relu(unsigned int a, unsigned int b, unsigned int c){      \
      WG_HALVES(wg_larger(pick(pick((short)(a >> i), (short)(b >> i)), (short)(c >> i)),                           \
                          (short)0))} WG_DPX unsigned int __viadd##op##_s16x2_relu(unsigned int a, unsigned int b, \
                                                                                   unsigned int c) {               \
    WG_HALVES(wg_larger(pick((short)((short)(a >> i) + (short)(b >> i)), (short)(c >> i)), (short)0))              \
  }
WG_DPX_HALVES(max, wg_larger, s16x2, short)
WG_DPX_HALVES(min, wg_smaller, s16x2, short)
WG_DPX_HALVES(max, wg_larger, u16x2, unsigned short)
WG_DPX_HALVES(min, wg_smaller, u16x2, unsigned short)
WG_DPX_HALVES_RELU(max, wg_larger)
WG_DPX_HALVES_RELU(min, wg_smaller)
#undef WG_DPX_HALVES
#undef WG_DPX_HALVES_RELU
#undef WG_HALVES
#define WG_DPX_PREDICATE(op, compare, suffix, type)              \
  WG_DPX type __vib##op##_##suffix(type a, type b, bool* pred) { \
    *pred = a compare b;                                         \
    return *pred ? a : b;                                        \
  }
WG_DPX_PREDICATE(max, >=, s32, int)
WG_DPX_PREDICATE(min, <=, s32, int)
WG_DPX_PREDICATE(max, >=, u32, unsigned int)
WG_DPX_PREDICATE(min, <=, u32, unsigned int)
#undef WG_DPX_PREDICATE
#define WG_DPX_PREDICATES(op, compare, suffix, type)                                                \
  WG_DPX unsigned int __vib##op##_##suffix(unsigned int a, unsigned int b, bool* high, bool* low) { \
    *high = (type)(a >> 16) compare(type)(b >> 16);                                                 \
    *low = (type)a compare(type) b;                                                                 \
    return ((*high ? a : b) & 0xffff0000u) | ((*low ? a : b) & 0xffffu);                            \
  }
WG_DPX_PREDICATES(max, >=, s16x2, short)
WG_DPX_PREDICATES(min, <=, s16x2, short)
WG_DPX_PREDICATES(max, >=, u16x2, unsigned short)
WG_DPX_PREDICATES(min, <=, u16x2, unsigned short)
#undef WG_DPX_PREDICATES
#undef WG_DPX
#undef WG_DEVICE
