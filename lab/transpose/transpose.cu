// Transpose of a matrix of floats: out[x][y] = in[y][x]. No arithmetic at all: the copy of the same matrix is the
// bound.
//
//   transpose [ROWS [COLUMNS [TILE]]]      default 1024, square, tiles of 32 (or 16, the width for 16 banks)
#include "harness/harness.h"

// A block moves a kTile x kTile tile with kTile x kTile/4 threads: each thread moves 4 elements of one column.
#define FOR_TILE_ROWS(row) for (int row = threadIdx.y; row < kTile; row += kTile / 4)

// Claim: rows in, rows out: 4 sectors a request each way. Nothing that moves every element once can do better.
template <int kTile>
__global__ void copy(const float* in, float* out, int rows, int columns) {
  const int x = blockIdx.x * kTile + threadIdx.x;
  FOR_TILE_ROWS(row) {
    const int y = blockIdx.y * kTile + row;
    if (x < columns && y < rows) out[static_cast<long>(y) * columns + x] = in[static_cast<long>(y) * columns + x];
  }
}

// Claim: rows in, columns out: the stores of a warp fall into 32 different rows, 32 sectors a request for 128 bytes.
template <int kTile>
__global__ void transpose_naive(const float* in, float* out, int rows, int columns) {
  const int x = blockIdx.x * kTile + threadIdx.x;
  FOR_TILE_ROWS(row) {
    const int y = blockIdx.y * kTile + row;
    if (x < columns && y < rows) out[static_cast<long>(x) * rows + y] = in[static_cast<long>(y) * columns + x];
  }
}

// The turn happens in shared memory, kPitch floats a row, so that both global sides move rows.
template <int kTile, int kPitch>
__device__ void transpose_through_tile(float (&tile)[kTile][kPitch], const float* in, float* out, int rows,
                                       int columns) {
  const int x = blockIdx.x * kTile + threadIdx.x, y0 = blockIdx.y * kTile;
  FOR_TILE_ROWS(row) {
    if (x < columns && y0 + row < rows) tile[row][threadIdx.x] = in[static_cast<long>(y0 + row) * columns + x];
  }
  __syncthreads();
  const int out_x = y0 + threadIdx.x, out_y0 = blockIdx.x * kTile;
  FOR_TILE_ROWS(row) {
    if (out_x < rows && out_y0 + row < columns)
      out[static_cast<long>(out_y0 + row) * rows + out_x] = tile[threadIdx.x][row];
  }
}

// Claim: 4 sectors a request on both sides, but reading a column of the tile hits one bank with every lane.
template <int kTile>
__global__ void transpose_shared(const float* in, float* out, int rows, int columns) {
  __shared__ float tile[kTile][kTile];
  transpose_through_tile(tile, in, out, rows, columns);
}

// Claim: one unused float at the end of each row moves the column over all banks: no conflicts.
template <int kTile>
__global__ void transpose_padded(const float* in, float* out, int rows, int columns) {
  __shared__ float tile[kTile][kTile + 1];
  transpose_through_tile(tile, in, out, rows, columns);
}

namespace {

struct Problem {
  int rows, columns;
  std::vector<float> in;
  std::vector<double> same, turned;
};

Problem make_problem(int rows, int columns) {
  Problem p{rows, columns, lab::Random(3).floats(size_t(rows) * columns), {}, {}};
  p.same.assign(p.in.begin(), p.in.end());
  p.turned.resize(p.in.size());
  for (int y = 0; y < rows; ++y)
    for (int x = 0; x < columns; ++x) p.turned[size_t(x) * rows + y] = p.in[size_t(y) * columns + x];
  return p;
}

using Kernel = void (*)(const float*, float*, int, int);

void run(lab::Report& report, const char* name, Kernel kernel, int tile, const Problem& p,
         const std::vector<double>& expected) {
  lab::DeviceArray<float> in(p.in), out(p.in.size());
  out.poison();
  const dim3 grid(lab::blocks(p.columns, tile), lab::blocks(p.rows, tile)), block(tile, tile / 4);
  kernel<<<grid, block>>>(in.data(), out.data(), p.rows, p.columns);
  CHECK_KERNEL();
  report.compare(name, out.host(), expected, {0.0});
}

template <int kTile>
int run_all(const Problem& p) {
  lab::Report report;
  run(report, "copy (the bound)", copy<kTile>, kTile, p, p.same);
  run(report, "naive", transpose_naive<kTile>, kTile, p, p.turned);
  run(report, "through shared memory", transpose_shared<kTile>, kTile, p, p.turned);
  run(report, "padded", transpose_padded<kTile>, kTile, p, p.turned);
  return report.exit_code();
}

}  // namespace

int main(int argc, char** argv) {
  const int rows = lab::size_argument(argc, argv, 1, 1024, "the number of rows");
  const int columns = lab::size_argument(argc, argv, 2, rows, "the number of columns");
  const int tile = lab::size_argument(argc, argv, 3, 32, "the tile width");
  if (tile != 16 && tile != 32) {
    std::fprintf(stderr, "%s: the tile width is 16 or 32, not %d\n", argv[0], tile);
    return lab::kExitArguments;
  }
  lab::require_memory(argv[0], 36.0 * rows * columns);
  std::printf("transpose, %d x %d, tile %d x %d\n", rows, columns, tile, tile);
  const Problem problem = make_problem(rows, columns);
  return tile == 16 ? run_all<16>(problem) : run_all<32>(problem);
}
