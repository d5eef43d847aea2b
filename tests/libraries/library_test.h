// Common parts of the tests of the libraries: arrays for host and device, and numbers to fill them with.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <random>
#include <vector>

#include "libraries/common/numbers.h"

namespace warpgrind::test {

using libraries::Complex;
using libraries::conjugate;
using libraries::DoubleComplex;
using libraries::kIsComplex;
using libraries::Real;

// Managed memory. The host waits for the device before it reads.
template <class T>
class Array {
 public:
  explicit Array(std::size_t count, T value = T{}) : count_(count) {
    EXPECT_EQ(cudaMallocManaged(reinterpret_cast<void**>(&data_), count * sizeof(T), 1), cudaSuccess);
    for (std::size_t i = 0; i < count; ++i) data_[i] = value;
  }
  Array(std::initializer_list<T> values) : Array(values.size()) {
    std::size_t i = 0;
    for (T v : values) data_[i++] = v;
  }
  ~Array() { cudaFree(data_); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  T* data() const { return data_; }
  template <class U>
  U* as() const {
    return static_cast<U*>(static_cast<void*>(data_));
  }
  std::size_t size() const { return count_; }
  T& operator[](std::size_t i) const { return data_[i]; }
  std::vector<T> copy() const { return {data_, data_ + count_}; }

 private:
  T* data_ = nullptr;
  std::size_t count_ = 0;
};

// Multiples of 0.5 between -2 and 2: sums of a few products are exact.
template <class T>
T random_number(std::mt19937& random) {
  const auto part = [&] { return static_cast<Real<T>>(static_cast<int>(random() % 9) - 4) / 2; };
  if constexpr (kIsComplex<T>)
    return {part(), part()};
  else
    return part();
}
template <class T>
void fill(const Array<T>& a, unsigned seed) {
  std::mt19937 random(seed);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = random_number<T>(random);
}
template <class T>
void expect_near(const std::vector<T>& expected, const Array<T>& got, double tolerance) {
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  ASSERT_EQ(expected.size(), got.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    ASSERT_LE(std::abs(expected[i] - got[i]), tolerance * (1 + std::abs(expected[i]))) << "element " << i;
}

}  // namespace warpgrind::test
