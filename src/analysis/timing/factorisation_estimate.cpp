// Constants of cuSOLVER's factorisations, and the formula.
#include "timing/factorisation_estimate.h"

#include <algorithm>
#include <cmath>

namespace warpgrind::timing {
namespace {

struct FactorisationTimes {
  Factorisation kind;
  bool doubles;
  double start_ns;    // of the whole call
  double column_ns;   // of each column
  double element_ns;  // of each element of the matrix: a column takes longer the longer it is
};
// Fitted to cuSOLVER of CUDA 13.0 on one H200 (lab/results/h200/cusolver.csv: square matrices of 16 to 4096), beside
// the operations of LAPACK at the rate of a product: getrf, potrf, geqrf, syevd and gesvd. Median errors: 4 to 12 %. A
// column is a chain of launches and of waits for memory, so these times are assumed to be the same on other GPUs.
constexpr FactorisationTimes kFactorisationTimes[] = {
    {Factorisation::lu, false, 17900, 1360, 0.326},
    {Factorisation::lu, true, 17500, 1480, 0.430},
    {Factorisation::cholesky, false, 14900, 270, 0.0023},
    {Factorisation::cholesky, true, 17500, 321, 0.0141},
    {Factorisation::qr, false, 0, 2490, 0.763},
    {Factorisation::qr, true, 0, 2820, 0.769},
    {Factorisation::eigenvalues, false, 0, 7250, 3.16},
    {Factorisation::eigenvalues, true, 10800, 7910, 2.83},
    {Factorisation::singular_values, false, 0, 57100, 64.1},
    {Factorisation::singular_values, true, 0, 58100, 116},
};
constexpr double kShortestNs = 2000;  // a small kernel, from launch to end

}  // namespace

double estimate_columns(const GpuModel& model, const FactoredMatrix& matrix, bool doubles) {
  const FactorisationTimes* const row =
      std::find_if(std::begin(kFactorisationTimes), std::end(kFactorisationTimes),
                   [&](const FactorisationTimes& one) { return one.kind == matrix.kind && one.doubles == doubles; });
  if (row == std::end(kFactorisationTimes)) return kShortestNs;
  const double columns = std::min(matrix.rows, matrix.columns), elements = matrix.rows * matrix.columns;
  // Assumed: the matrices of a batch are factored side by side, one on each SM.
  const double rounds = std::ceil(std::max(1.0, matrix.count) / std::max(1, static_cast<int>(model.sm_count)));
  return std::max(kShortestNs, row->start_ns + rounds * (columns * row->column_ns + elements * row->element_ns));
}

}  // namespace warpgrind::timing
