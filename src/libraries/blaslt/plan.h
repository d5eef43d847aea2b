// What cublasLtMatmul is asked for, checked: the same for the product itself and for whoever asks about algorithms.
#pragma once

#include "libraries/blaslt/epilogues.h"
#include "libraries/blaslt/layouts.h"
#include "libraries/products/products.h"

namespace warpgrind::libraries::blaslt {

struct Plan {
  MatmulDesc desc;
  Layout a, b, c, d;
  blas::Product product;  // of column-major operands; without their addresses
  Epilogue epilogue;
};

// INVALID_VALUE: descriptors that do not go together. NOT_SUPPORTED: there is no such product.
cublasStatus_t make_plan(const cublasLtMatmulDescOpaque_t* desc, const cublasLtMatrixLayoutOpaque_t* a,
                         const cublasLtMatrixLayoutOpaque_t* b, const cublasLtMatrixLayoutOpaque_t* c,
                         const cublasLtMatrixLayoutOpaque_t* d, Plan& out);

// Whether there is a product of these types.
bool are_types(int compute, int scale, int a, int b, int c, int d);
// The bits of all epilogues of such products.
std::uint32_t epilogue_mask(cudaDataType input, cudaDataType output);
// An algorithm as a program may have configured it.
cublasStatus_t check_algorithm(const cublasLtMatmulAlgo_t* algorithm, const Plan& plan);

}  // namespace warpgrind::libraries::blaslt
