// C = alpha op(A) op(B) + beta C for every combination of element types that cuBLAS has, for one product or a batch.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "libraries/blas/context.h"
#include "libraries/common/elements.h"

namespace warpgrind::libraries::blas {

// One operand of a batch: matrices at equal distances, or an array of their addresses in device memory.
struct BatchOperand {
  cudaDataType type = CUDA_R_32F;
  const void* at = nullptr;  // the first; null: `addresses`
  const void* const* addresses = nullptr;
  std::int64_t ld = 1, stride = 0;  // in elements
};

struct Product {
  cublasOperation_t transa = CUBLAS_OP_N, transb = CUBLAS_OP_N;
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  BatchOperand a, b, c;
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
};

// The type of alpha and beta; nullopt: cuBLAS has no product of these types.
std::optional<cudaDataType> scale_type(const Product& p);

// Checks the arguments, and issues the product. alpha and beta: of scale_type().
cublasStatus_t multiply(const char* name, cublasHandle_t handle, const Product& p, const void* alpha, const void* beta);

// The same when a stream has come to it. addend: what beta is applied to, of the type of C (null: C itself).
struct Factors {
  double alpha[2] = {1, 0}, beta[2] = {0, 0};  // real and imaginary part
};
void multiply_now(LibraryRun& run, const Product& p, const Factors& factors);

template <class T>
constexpr cudaDataType kTypeOf = CUDA_R_32F;
template <>
inline constexpr cudaDataType kTypeOf<double> = CUDA_R_64F;
template <>
inline constexpr cudaDataType kTypeOf<Complex> = CUDA_C_32F;
template <>
inline constexpr cudaDataType kTypeOf<DoubleComplex> = CUDA_C_64F;

}  // namespace warpgrind::libraries::blas
