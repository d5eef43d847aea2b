// C = alpha op(A) op(B) + beta C for every combination of element types that cuBLAS has, for one product or a batch.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "libraries/common/factor.h"
#include "libraries/products/operands.h"

namespace warpgrind::libraries::blas {

// One operand of a batch: matrices at equal distances, or a device array of their addresses.
struct BatchOperand {
  cudaDataType type = CUDA_R_32F;
  const void* at = nullptr;  // first matrix; null: `addresses` is used
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

// Checks operations, sizes and leading dimensions against the documentation.
cublasStatus_t check(const Product& p);
LibraryWork work_of(const Product& p);
std::string arguments_of(const Product& p);  // "512 x 512 x 512, 3 times"

struct Factors {
  DoubleComplex alpha = 1, beta = 0;
};
// Checks access to every operand, then multiplies. Called when the stream reaches the work.
void multiply_now(LibraryRun& run, const Product& p, const Factors& factors);
// One product. The caller has checked access to the matrices.
void multiply_matrices(LibraryRun& run, const Product& p, const Factors& factors, const void* a, const void* b,
                       void* c);
const void* matrix_of(const BatchOperand& o, std::int64_t i);

}  // namespace warpgrind::libraries::blas
