// What cublasLtMatmul does to a product before it is stored.
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

const char* name_of_epilogue(std::uint32_t kind);  // "RELU_BIAS"; nullptr: there is none
std::uint32_t every_epilogue();                    // the bits of all
bool uses_bias(std::uint32_t kind);
bool uses_aux(std::uint32_t kind);
// The leading dimension of the auxiliary matrix is one.
bool aux_fits(const Epilogue& e);

// values: x by columns, and afterwards D. false: an operand is not in memory of the GPU.
template <class T>
bool apply(LibraryRun& run, const Epilogue& e, std::int64_t batch_index, std::vector<T>& values);
// Sums of the rows of a matrix, or with by_column of its columns, become the gradient of the bias.
template <class T>
bool store_bias_gradient(LibraryRun& run, const Epilogue& e, std::int64_t batch_index, const std::vector<T>& values,
                         std::int64_t rows, bool by_column);

}  // namespace warpgrind::libraries::blaslt
