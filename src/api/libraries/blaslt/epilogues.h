// Epilogues of cublasLtMatmul: operations on the product before it is stored (bias, activation, their gradients).
#pragma once

#include <cstdint>
#include <vector>

#include "libraries/blaslt/descriptors.h"
#include "libraries/products/operands.h"

namespace warpgrind::libraries::blaslt {

struct Epilogue {
  std::uint32_t kind = CUBLASLT_EPILOGUE_DEFAULT;
  std::int64_t rows = 0, columns = 0;  // of D
  cudaDataType bias_type = CUDA_R_32F, aux_type = CUDA_R_32F;
  void *bias = nullptr, *aux = nullptr;
  std::int64_t bias_stride = 0, aux_ld = 0, aux_stride = 0;

  bool has(cublasLtEpilogue_t part) const { return (kind & static_cast<std::uint32_t>(part)) != 0; }
};

const char* name_of_epilogue(std::uint32_t kind);  // "RELU_BIAS"; nullptr: no such epilogue
std::uint32_t every_epilogue();                    // union of the bits of all epilogues
bool uses_bias(std::uint32_t kind);
bool uses_aux(std::uint32_t kind);
// True if the leading dimension and the stride of the auxiliary matrix are valid.
bool aux_fits(const Epilogue& e);

// Applies the epilogue in place. values: the product, by columns; afterwards D. False: an operand is not in GPU memory.
template <class T>
bool apply(LibraryRun& run, const Epilogue& e, std::int64_t batch_index, std::vector<T>& values);
// Stores the gradient of the bias: the sum of each row of a matrix, or of each column if by_column is set.
template <class T>
bool store_bias_gradient(LibraryRun& run, const Epilogue& e, std::int64_t batch_index, const std::vector<T>& values,
                         std::int64_t rows, bool by_column);

}  // namespace warpgrind::libraries::blaslt
