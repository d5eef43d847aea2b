// Time estimate of a library call (cuBLAS, cuFFT, cuRAND, cuSOLVER, cuSPARSE, NCCL). The host executes the call, so
// nothing is counted. The estimate uses the least operations and bytes that the documented task needs, the GPU's peaks,
// and the share of the peaks that such a library reaches. Constants and their sources: library_estimate.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "gpu/gpu_model.h"
#include "timing/collective_estimate.h"
#include "timing/factorisation_estimate.h"

namespace warpgrind::timing {

enum class LibraryFamily : std::uint8_t {
  matrix_product,  // also built from products: triangular solves, factorisations
  dense,           // read and write vectors and matrices once: BLAS 1 and 2, geam, scaling
  transform,       // FFT
  random,          // generators
  sparse,
  collective  // between GPUs
};

enum class LibraryArithmetic : std::uint8_t { fp32, fp64, tf32, fp16, bf16, int8 };

struct LibraryWork {
  LibraryFamily family = LibraryFamily::dense;
  LibraryArithmetic arithmetic = LibraryArithmetic::fp32;
  double operations = 0;                // multiplications and additions
  double bytes = 0;                     // of all operands, each counted once
  double depth = 0;                     // length of the serial sums of a product
  FactoredMatrix factorisation;         // if it is one
  std::vector<Collective> collectives;  // if there are any, they are all of the work
};

struct LibraryEstimate {
  double ns = 0;
  double gpu_fraction = 0;  // part of the GPU that is busy, 0 to 1
};

LibraryEstimate estimate_library(const GpuModel& model, const LibraryWork& work);

}  // namespace warpgrind::timing
