// Products of half precision and of mixed types: cublasHgemm, cublasGemmEx and their batches.
#include "libraries/blas/multiply.h"

namespace warpgrind::libraries::blas {
namespace {

struct Sizes {
  cublasOperation_t transa, transb;
  std::int64_t m, n, k, batch;
};
Product product_of(const Sizes& s, const BatchOperand& a, const BatchOperand& b, const BatchOperand& c,
                   cublasComputeType_t compute) {
  return {s.transa, s.transb, s.m, s.n, s.k, s.batch, a, b, c, compute};
}
BatchOperand one(cudaDataType type, const void* at, std::int64_t ld, std::int64_t stride = 0) {
  return {type, at, nullptr, ld, stride};
}
BatchOperand many(cudaDataType type, const void* const* addresses, std::int64_t ld) {
  return {type, nullptr, addresses, ld, 0};
}
bool is_algorithm(cublasGemmAlgo_t algo) {
  return (algo >= CUBLAS_GEMM_DFALT && algo <= CUBLAS_GEMM_ALGO23) ||
         (algo >= CUBLAS_GEMM_DEFAULT_TENSOR_OP && algo <= CUBLAS_GEMM_ALGO15_TENSOR_OP) ||
         algo == CUBLAS_GEMM_AUTOTUNE;
}

}  // namespace

}  // namespace warpgrind::libraries::blas

using namespace warpgrind::libraries;
using namespace warpgrind::libraries::blas;

extern "C" {
#define WG_ENTRIES "libraries/blas/gemm_ex_entries.inc"
#include "libraries/blas/both_widths.inc"
}
