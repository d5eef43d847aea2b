// A plane on the GPU whose rows begin at multiples of 256 bytes, as with cudaMallocPitch. Each row ends with spare
// zeros.
#pragma once

#include <vector>

#include "harness/cuda.h"
#include "image/words.cuh"

namespace image {

template <class T>
class PitchedPlane {
 public:
  PitchedPlane(int rows, int columns)
      : rows_(rows),
        columns_(columns),
        pitch_(lab::blocks(columns * sizeof(T) + kSpareBytes, kRowBytes) * kRowBytes / static_cast<int>(sizeof(T))),
        data_(size_t(rows) * pitch_) {
    CHECK_CUDA(cudaMemset(data_.data(), 0, data_.bytes()));
  }
  PitchedPlane(int rows, int columns, const std::vector<T>& dense) : PitchedPlane(rows, columns) {
    const size_t row = columns * sizeof(T);
    CHECK_CUDA(cudaMemcpy2D(data_.data(), pitch_ * sizeof(T), dense.data(), row, row, rows, cudaMemcpyHostToDevice));
  }
  T* data() { return data_.data(); }
  int pitch() const { return pitch_; }  // elements
  Rows bytes() { return {data_.data(), pitch_}; }
  void poison() { data_.poison(); }
  std::vector<T> host() const {
    std::vector<T> dense(size_t(rows_) * columns_);
    const size_t row = columns_ * sizeof(T);
    CHECK_CUDA(cudaMemcpy2D(dense.data(), row, data_.data(), pitch_ * sizeof(T), row, rows_, cudaMemcpyDeviceToHost));
    return dense;
  }

 private:
  static constexpr int kRowBytes = 256;
  int rows_, columns_, pitch_;
  lab::DeviceArray<T> data_;
};

}  // namespace image
