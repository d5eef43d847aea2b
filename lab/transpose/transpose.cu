// Transpose of a matrix of floats: out[x][y] = in[y][x]. No arithmetic at all: the copy of the same matrix is the
// bound.
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

const lab::Topic kTopic = {
    .name = "transpose",
    .title = "matrix transpose: coalescing on both sides, then banks",
    .document = "001 (Advanced CUDA)",
    .shows =
        "A transpose reads rows and writes columns. Turning in shared memory makes both global sides rows; one "
        "unused word a row then takes away the bank conflicts.",
    .size_names = "ROWSxCOLUMNS",
    .quick_sizes = "1024",
    .full_sizes = "1024,4096,8192,1000x1537",
    .types = "float",
    .rungs = {{"copy", "rows in, rows out: what no transpose can beat", lab::Role::bound},
              {"naive", "rows in, columns out: 32 sectors a store request"},
              {"shared", "turned in a 32 x 32 tile: rows on both sides, 32-way bank conflicts"},
              {"padded", "tile with 33 words a row: no conflicts"}},
};

template <int kTile>
dim3 grid(const lab::Size& size) {
  return dim3(lab::blocks(size[1], kTile), lab::blocks(size[0], kTile));
}

void run_size(lab::Program& program, const lab::Size& size) {
  constexpr int kTile = 32;
  const int rows = static_cast<int>(size[0]), columns = static_cast<int>(size[1]);
  const double bytes = 2.0 * sizeof(float) * rows * columns;
  if (!program.fits(size, bytes, 2 * bytes)) return;

  const std::vector<float> host = lab::Random(3).floats(size_t(rows) * columns);
  std::vector<float> turned(host.size());
  for (int y = 0; y < rows; ++y)
    for (int x = 0; x < columns; ++x) turned[size_t(x) * rows + y] = host[size_t(y) * columns + x];
  lab::DeviceArray<float> in(host), out(host.size());

  const dim3 block(kTile, kTile / 4);
  const auto run = [&](const char* rung, auto kernel, const std::vector<float>& expected) {
    program.run(
        {rung, size, "float", {bytes, 0}}, [&] { out.poison(); },
        [&] { kernel<<<grid<kTile>(size), block>>>(in.data(), out.data(), rows, columns); },
        [&] { return lab::compare(out.host(), expected); });
  };
  run("copy", copy<kTile>, host);
  run("naive", transpose_naive<kTile>, turned);
  run("shared", transpose_shared<kTile>, turned);
  run("padded", transpose_padded<kTile>, turned);
}

}  // namespace

int main(int argc, char** argv) {
  lab::Program program(argc, argv, kTopic);
  for (const lab::Size& size : program.sizes()) run_size(program, size);
  return program.finish();
}
