// Matrix products with the settings of a cublasHandle_t.
#pragma once

#include "libraries/blas/context.h"
#include "libraries/products/products.h"

namespace warpgrind::libraries::blas {

// Checks the arguments and issues the product. alpha and beta have the type scale_type().
cublasStatus_t multiply(const char* name, cublasHandle_t handle, const Product& p, const void* alpha, const void* beta);

// Array of the addresses of a batch's matrices.
template <class T>
const void* const* addresses_of(T* const* array) {
  return reinterpret_cast<const void* const*>(array);
}

}  // namespace warpgrind::libraries::blas
