// Matrix multiplication C = A B in float, row-major, A is m x k, B is k x n.
//
//   matmul [M [N [K]]]      default 256; one number: all three; any sizes, not only multiples of the tile
#include "harness/harness.h"

// Claim: each thread reads a row of A and a column of B from global memory: 2 loads for 2 operations, ratio 1, and the
// same elements are read again by every block in that row or column.
__global__ void matmul_naive(const float* a, const float* b, float* c, int m, int n, int k) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m || column >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += a[static_cast<long>(row) * k + i] * b[static_cast<long>(i) * n + column];
  c[static_cast<long>(row) * n + column] = sum;
}

// Claim: a block loads each tile once and every element is used kTile times from shared memory: global loads drop by
// kTile, the compute-to-memory ratio rises to kTile.
template <int kTile>
__global__ void matmul_tiled(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float tile_a[kTile][kTile], tile_b[kTile][kTile];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * kTile + ty, column = blockIdx.x * kTile + tx;
  float sum = 0;
  for (int first = 0; first < k; first += kTile) {
    tile_a[ty][tx] = row < m && first + tx < k ? a[static_cast<long>(row) * k + first + tx] : 0;
    tile_b[ty][tx] = first + ty < k && column < n ? b[static_cast<long>(first + ty) * n + column] : 0;
    __syncthreads();
    for (int i = 0; i < kTile; ++i) sum += tile_a[ty][i] * tile_b[i][tx];
    __syncthreads();
  }
  if (row < m && column < n) c[static_cast<long>(row) * n + column] = sum;
}

namespace {

struct Problem {
  int m, n, k;
  std::vector<float> a, b;
  std::vector<double> product, tolerance;
};

Problem make_problem(int m, int n, int k) {
  lab::Random random(2);
  Problem p{m, n, k, random.floats(size_t(m) * k), random.floats(size_t(k) * n), {}, {}};
  p.product.assign(size_t(m) * n, 0);
  p.tolerance.assign(size_t(m) * n, 0);
  for (int row = 0; row < m; ++row)
    for (int i = 0; i < k; ++i) {
      const double left = p.a[size_t(row) * k + i];
      const float* right = &p.b[size_t(i) * n];
      double* out = &p.product[size_t(row) * n];
      double* bound = &p.tolerance[size_t(row) * n];
      for (int column = 0; column < n; ++column) {
        const double term = left * right[column];
        out[column] += term;
        bound[column] += std::fabs(term);
      }
    }
  // The usual bound of a dot product: k roundings, each at most 2^-24 of the sum of the terms' sizes.
  for (double& bound : p.tolerance) bound *= (k + 1) * std::ldexp(1.0, -24);
  return p;
}

using Kernel = void (*)(const float*, const float*, float*, int, int, int);

void run(lab::Report& report, const char* name, Kernel kernel, int tile, const Problem& p) {
  lab::DeviceArray<float> a(p.a), b(p.b), c(p.product.size());
  c.poison();
  const dim3 grid(lab::blocks(p.n, tile), lab::blocks(p.m, tile)), block(tile, tile);
  kernel<<<grid, block>>>(a.data(), b.data(), c.data(), p.m, p.n, p.k);
  CHECK_KERNEL();
  report.compare(name, c.host(), p.product, p.tolerance);
}

}  // namespace

int main(int argc, char** argv) {
  const int m = lab::size_argument(argc, argv, 1, 256, "the rows of A");
  const int n = lab::size_argument(argc, argv, 2, m, "the columns of B");
  const int k = lab::size_argument(argc, argv, 3, m, "the columns of A");
  lab::require_memory(argv[0], 8.0 * (double(m) * k + double(k) * n) + 32.0 * double(m) * n);
  std::printf("matrix multiplication, %d x %d times %d x %d\n", m, k, k, n);
  const Problem problem = make_problem(m, n, k);
  lab::Report report;
  run(report, "naive", matmul_naive, 16, problem);
  run(report, "tiled, width 16", matmul_tiled<16>, 16, problem);
  run(report, "tiled, width 32", matmul_tiled<32>, 32, problem);
  return report.exit_code();
}
