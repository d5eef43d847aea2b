// Time of cuSOLVER's dense factorisations beyond that of their operations. The columns of a panel depend on each other:
// each is a search for a pivot, or a reflection. So a small matrix takes the GPU much longer than its operations.
#pragma once

#include <cstdint>

#include "gpu/gpu_model.h"

namespace warpgrind::timing {

enum class Factorisation : std::uint8_t {
  none,
  lu,
  cholesky,
  qr,
  eigenvalues,     // of a symmetric matrix, with vectors (syevd)
  singular_values  // with vectors (gesvd)
};

struct FactoredMatrix {
  Factorisation kind = Factorisation::none;
  double rows = 0, columns = 0;
  double count = 1;  // matrices of a batch
};

// ns. Constants and their source: factorisation_estimate.cpp.
double estimate_columns(const GpuModel& model, const FactoredMatrix& matrix, bool doubles);

}  // namespace warpgrind::timing
