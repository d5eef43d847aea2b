// The two 16-bit types of this topic. Sums are floats.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

// Two neighbouring elements of C as one word.
template <class T>
__device__ __forceinline__ uint32_t pack(float first, float second) {
  if constexpr (sizeof(T) == sizeof(__half) && std::is_same_v<T, __half>) {
    const __half2 two = __floats2half2_rn(first, second);
    return *reinterpret_cast<const uint32_t*>(&two);
  } else {
    const __nv_bfloat162 two = __floats2bfloat162_rn(first, second);
    return *reinterpret_cast<const uint32_t*>(&two);
  }
}
