// The estimated time of a call into a library (cuBLAS, cuFFT, cuRAND, cuSPARSE), which the host carries out: nothing of
// it is counted, so that all there is are the operations and bytes that the documented task needs at least, the model's
// peaks, and the share of them that such a library reaches. Constants and their sources: library_estimate.cpp.
#pragma once

#include <cstdint>

#include "gpu/gpu_model.h"

namespace warpgrind::timing {

enum class LibraryFamily : std::uint8_t {
  matrix_product,  // and what is made of products: triangular solves, factorisations
  dense,           // vectors and matrices read and written once: BLAS 1 and 2, geam, scaling
  transform,       // FFT
  random,          // generators
  sparse
};

enum class LibraryArithmetic : std::uint8_t { fp32, fp64, tf32, fp16, bf16, int8 };

struct LibraryWork {
  LibraryFamily family = LibraryFamily::dense;
  LibraryArithmetic arithmetic = LibraryArithmetic::fp32;
  double operations = 0;  // multiplications and additions
  double bytes = 0;       // of operands, each once
  double depth = 0;       // length of the sums that a product makes one after the other
};

struct LibraryEstimate {
  double ns = 0;
  double gpu_fraction = 0;  // the part of the GPU that it keeps busy
};

LibraryEstimate estimate_library(const GpuModel& model, const LibraryWork& work);

}  // namespace warpgrind::timing
