// Device functions of acceptance.cu in a file of their own.
#pragma once

template <class T, int factor>
__device__ T scaled(T value) {
  T product = value * factor;
  return product;
}

__device__ __forceinline__ int cubed(int base) {
  int square = base * base;
  return square * base;
}

__device__ __forceinline__ int cubed_and_one(int start) {
  int cube = cubed(start);
  return cube + 1;
}

__device__ __noinline__ int depth_of(int level) {
  if (level == 0) return 0;
  int below = depth_of(level - 1);
  return below + 1;
}
