#include "libraries/products/tensor_cores.h"

#include <algorithm>
#include <vector>

namespace warpgrind::libraries::blas {

using semantics::TensorCoreFactors;

std::optional<TensorCoreFactors> tensor_core_factors(const Product& p) {
  if (real(p.m) * real(p.n) * real(p.k) > kMostProducts) return std::nullopt;
  const bool is_float = p.a.type == CUDA_R_32F;
  switch (p.compute) {
    case CUBLAS_COMPUTE_32F:
      if (p.a.type == CUDA_R_16F) return TensorCoreFactors::f16;
      if (p.a.type == CUDA_R_16BF) return TensorCoreFactors::bf16;
      return std::nullopt;
    case CUBLAS_COMPUTE_32F_FAST_16F:
      return is_float ? std::optional(TensorCoreFactors::f16) : std::nullopt;
    case CUBLAS_COMPUTE_32F_FAST_16BF:
      return is_float ? std::optional(TensorCoreFactors::bf16) : std::nullopt;
    case CUBLAS_COMPUTE_32F_FAST_TF32:
      return is_float ? std::optional(TensorCoreFactors::tf32) : std::nullopt;
    default:
      return std::nullopt;
  }
}

bool multiply_on_tensor_cores(LibraryRun& run, const Product& p, TensorCoreFactors factors, FloatMatrix a,
                              FloatMatrix b, float* sums) {
  const auto whole = [](std::int64_t n) { return (n + 7) / 8 * 8; };
  // A column of C is a row here, as rows of sums lie side by side: C^T = op(B)^T op(A)^T.
  const std::int64_t rows = whole(p.n), columns = whole(p.m), step = LibraryRun::kDepthOfTensorCores;
  std::vector<float> all(static_cast<std::size_t>(rows * columns)), left(static_cast<std::size_t>(rows * step)),
      right(static_cast<std::size_t>(step * columns));
  for (std::int64_t first = 0; first < p.k; first += step) {
    const std::int64_t depth = std::min(step, p.k - first);
    for (std::int64_t j = 0; j < p.n; ++j)
      for (std::int64_t k = 0; k < depth; ++k)
        left[static_cast<std::size_t>(j * depth + k)] =
            b.at[is_transposed(p.transb) ? j + (first + k) * b.ld : first + k + j * b.ld];
    for (std::int64_t k = 0; k < depth; ++k)
      for (std::int64_t i = 0; i < p.m; ++i)
        right[static_cast<std::size_t>(k * columns + i)] =
            a.at[is_transposed(p.transa) ? first + k + i * a.ld : i + (first + k) * a.ld];
    if (!run.add_on_tensor_cores(all.data(), left.data(), right.data(), factors, static_cast<std::uint32_t>(rows),
                                 static_cast<std::uint32_t>(columns), static_cast<std::uint32_t>(depth)))
      return false;
  }
  for (std::int64_t j = 0; j < p.n; ++j) std::copy_n(all.data() + j * columns, p.m, sums + j * p.m);
  return true;
}

}  // namespace warpgrind::libraries::blas
