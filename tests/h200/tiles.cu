// Microbenchmark of blocks that cover tiles of an array which only DRAM has: a block's rows are `width` bytes long, and
// lie in `rows` rows of each of `planes` planes. lab/results/h200/tiles.csv has the times of an H200. Each case runs
// twice, and its label is printed in the order of the launches: kind, bytes of the array's rows, width, rows, planes.
#include <algorithm>

#include "cases.h"

namespace {

constexpr unsigned kElements = 1u << 24;  // of 8 bytes: 128 MiB

struct Array {
  unsigned nx, ny;  // elements of a row, rows of a plane
  __device__ unsigned place() const {
    const unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    return x + nx * (y + ny * (blockIdx.z * blockDim.z + threadIdx.z));
  }
};

__global__ void k_copy(Array a, const double* in, double* out) {
  const unsigned at = a.place();
  out[at] = in[at];
}

// In place.
__global__ void k_scale(Array a, double* in, double* out) {
  const unsigned at = a.place();
  in[at] = 2 * in[at];
}

__global__ void k_swap(Array a, double* in, double* out) {
  const unsigned at = a.place();
  const double v = in[at];
  in[at] = out[at];
  out[at] = v;
}

__global__ void k_read(Array a, const double* in, double* out) {
  const double v = in[a.place()];
  if (v != 0) out[0] = v;
}

__global__ void k_write(Array a, const double* in, double* out) {
  out[a.place()] = 0;
}

double *g_in, *g_out;

void tiles(unsigned nx, unsigned ny, dim3 threads) {
  const Array array = {nx, ny};
  const dim3 grid(nx / threads.x, ny / threads.y, kElements / nx / ny / threads.z);
  const auto run = [&](const char* kind, auto* kernel) {
    twice(label(kind, {nx * 8, threads.x * 8, threads.y, threads.z}),
          [&] { kernel<<<grid, threads>>>(array, g_in, g_out); });
  };
  run("copy", k_copy);
  run("scale", k_scale);
  run("swap", k_swap);
  run("read", k_read);
  run("write", k_write);
}

}  // namespace

int main() {
  CHECK(cudaMalloc(&g_in, kElements * sizeof(double)));
  CHECK(cudaMalloc(&g_out, kElements * sizeof(double)));
  CHECK(cudaMemset(g_in, 0, kElements * sizeof(double)));
  for (const unsigned nx : {256u, 2048u, 16384u})
    for (const unsigned width : {4u, 8u, 16u, 32u, 64u, 256u})
      tiles(nx, std::min(kElements / nx, 32768u), dim3(width, 256 / width));
  for (const dim3 threads : {dim3(256), dim3(64, 4), dim3(32, 4, 2), dim3(16, 4, 4), dim3(8, 8, 4), dim3(4, 8, 8)})
    tiles(256, 256, threads);
  for (const dim3 threads : {dim3(128), dim3(256, 4), dim3(32, 32), dim3(16, 16, 4), dim3(8, 8, 1), dim3(16, 8, 1)})
    tiles(256, 256, threads);
}
