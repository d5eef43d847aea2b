// Packed pixels: rows that begin at multiples of 16 bytes and end with whole words, and operations on several bytes of
// a register at once.
#pragma once

#include <cstdint>

#include "image/convolution.cuh"

namespace image {

// A plane of bytes whose rows begin at multiples of 16. At least kSpareBytes follow the last column; a kernel may read
// and write them.
struct Rows {
  unsigned char* data;
  int pitch;
};
constexpr int kSpareBytes = 144;

// Fills pixels beyond the last one with its value. `words` are kWords words of a row, read from column `first` on; the
// row has `columns` pixels. The first word has at least one pixel.
template <int kWords>
__device__ __forceinline__ void repeat_last(unsigned* words, int first, int columns) {
  constexpr unsigned kKeep[4] = {0x0000, 0x1110, 0x2210, 0x3210};
#pragma unroll
  for (int i = 0; i < kWords; ++i) {
    const int there = columns - first - 4 * i;
    if (there <= 0)
      words[i] = __byte_perm(words[i - (i > 0)], 0, 0x3333);
    else
      words[i] = __byte_perm(words[i], 0,
                             there >= 4   ? kKeep[3]
                             : there == 3 ? kKeep[2]
                             : there == 2 ? kKeep[1]
                                          : kKeep[0]);
  }
}

// Minimum and maximum of two 16-bit halves: one instruction since compute capability 9.0.
__device__ __forceinline__ unsigned lesser(unsigned a, unsigned b) {
#if __CUDA_ARCH__ >= 900
  unsigned c;
  asm("min.u16x2 %0, %1, %2;" : "=r"(c) : "r"(a), "r"(b));
  return c;
#else
  return __vminu2(a, b);
#endif
}
__device__ __forceinline__ unsigned greater(unsigned a, unsigned b) {
#if __CUDA_ARCH__ >= 900
  unsigned c;
  asm("max.u16x2 %0, %1, %2;" : "=r"(c) : "r"(a), "r"(b));
  return c;
#else
  return __vmaxu2(a, b);
#endif
}
// Two 16-bit integers, clamped to 0 to 255.
__device__ __forceinline__ unsigned clamped(unsigned both) {
#if __CUDA_ARCH__ >= 900
  unsigned c;
  asm("min.s16x2.relu %0, %1, %2;" : "=r"(c) : "r"(both), "r"(0x00ff00ff));
  return c;
#else
  return __vmins2(__vmaxs2(both, 0), 0x00ff00ff);
#endif
}

}  // namespace image
