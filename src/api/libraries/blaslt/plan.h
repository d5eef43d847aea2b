// A checked request to cublasLtMatmul. The product itself and the queries about algorithms both use it.
#pragma once

#include "libraries/blaslt/epilogues.h"
#include "libraries/blaslt/layouts.h"
#include "libraries/products/products.h"

namespace warpgrind::libraries::blaslt {

struct Plan {
  MatmulDesc desc;
  Layout a, b, c, d;
  blas::Product product;  // in terms of column-major operands; without their addresses
  Epilogue epilogue;
};

// INVALID_VALUE: the descriptors do not match. NOT_SUPPORTED: there is no such product.
cublasStatus_t make_plan(const cublasLtMatmulDescOpaque_t* desc, const cublasLtMatrixLayoutOpaque_t* a,
                         const cublasLtMatrixLayoutOpaque_t* b, const cublasLtMatrixLayoutOpaque_t* c,
                         const cublasLtMatrixLayoutOpaque_t* d, Plan& out);

// True if a product of these types is supported.
bool are_types(int compute, int scale, int a, int b, int c, int d);
// Bits of all epilogues that products of these types support.
std::uint32_t epilogue_mask(cudaDataType input, cudaDataType output);
// Checks an algorithm, which the program may have configured itself.
cublasStatus_t check_algorithm(const cublasLtMatmulAlgo_t* algorithm, const Plan& plan);

}  // namespace warpgrind::libraries::blaslt
