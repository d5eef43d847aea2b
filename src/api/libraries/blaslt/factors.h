// alpha and beta in the pointer modes of cuBLASLt: one number, or a vector with one number for each row of D.
#pragma once

#include <optional>
#include <vector>

#include "libraries/common/factor.h"

namespace warpgrind::libraries::blaslt {

class RowFactors {
 public:
  RowFactors() = default;  // zero
  static RowFactors one(cudaDataType type, const void* at, bool on_device) {
    RowFactors out;
    out.single_ = Factor(type, at, on_device);
    return out;
  }
  static RowFactors vector(cudaDataType type, const void* at, std::int64_t stride) {
    RowFactors out;
    out.type_ = type;
    out.at_ = at;
    out.stride_ = stride;
    return out;
  }
  // Factors of all rows, for matrix `i` of a batch.
  template <class T>
  bool get(LibraryRun& run, const char* name, std::int64_t rows, std::int64_t i, std::vector<T>& out) const {
    out.assign(static_cast<std::size_t>(rows), T{});
    if (at_) {
      const auto bytes = static_cast<std::int64_t>(element_bytes(type_));
      const char* const from = static_cast<const char*>(at_) + i * stride_ * bytes;
      if (!run.reads(name, from, static_cast<std::size_t>(rows * bytes))) return false;
      load(type_, from, std::max<std::int64_t>(1, rows), rows, 1, out.data());
    } else if (single_) {
      T value{};
      if (!single_->get(run, name, value)) return false;
      out.assign(static_cast<std::size_t>(rows), value);
    }
    return true;
  }

 private:
  std::optional<Factor> single_;
  cudaDataType type_ = CUDA_R_32F;
  const void* at_ = nullptr;
  std::int64_t stride_ = 0;
};

}  // namespace warpgrind::libraries::blaslt
