// Times of kernels that __maxnreg__ makes ptxas spill registers, and of kernels with local arrays. Prints a line for
// each kernel and grid: registers, local memory, resident blocks, and the time between events in microseconds. Runs on
// a real GPU as well: lab/results/h200/spills.csv was made by `spills 41` on an H200, from machine code of ptxas 13.0
// for sm_90.
//   spills [REPETITIONS [GRID...]]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "../cuda_check.h"

// rotate: each of N values is defined once and read three times in each iteration.
#define ROTATE(NAME, N, REGS)                                                                           \
  __global__ void __maxnreg__(REGS) NAME(const float* in, float* out, int m, int it) {                  \
    int i = blockIdx.x * blockDim.x + threadIdx.x;                                                      \
    float a[N];                                                                                         \
    for (int j = 0; j < N; j++) a[j] = in[(i + j * 64) % m];                                            \
    for (int t = 0; t < it; t++) {                                                                      \
      _Pragma("unroll") for (int j = 0; j < N; j++) a[j] = fmaf(a[j], a[(j + 7) % N], a[(j + 13) % N]); \
    }                                                                                                   \
    float s = 0;                                                                                        \
    for (int j = 0; j < N; j++) s += a[j];                                                              \
    out[i] = s;                                                                                         \
  }
// coefficients: N values that a loop only reads.
#define COEFF(NAME, N, REGS)                                                           \
  __global__ void __maxnreg__(REGS) NAME(const float* in, float* out, int m, int it) { \
    int i = blockIdx.x * blockDim.x + threadIdx.x;                                     \
    float c[N];                                                                        \
    for (int j = 0; j < N; j++) c[j] = in[(i * 3 + j * 96) & (m - 1)];                 \
    float x = in[i & (m - 1)], y = 0;                                                  \
    for (int t = 0; t < it; t++) {                                                     \
      _Pragma("unroll") for (int j = 0; j < N; j++) y = fmaf(y, x, c[j]);              \
      x = y * 0.5f;                                                                    \
    }                                                                                  \
    out[i] = y;                                                                        \
  }
// tile: R x R accumulators of a thread from shared memory.
#define TILE(NAME, R, REGS)                                                                                  \
  __global__ void __maxnreg__(REGS) NAME(const float* in, float* out, int m, int it) {                       \
    __shared__ float a[8][256], b[8][256];                                                                   \
    int t = threadIdx.x;                                                                                     \
    for (int k = 0; k < 8; k++)                                                                              \
      a[k][t] = in[(blockIdx.x * 256 + k * 256 + t) & (m - 1)], b[k][t] = in[(k * 64 + t) & (m - 1)];        \
    __syncthreads();                                                                                         \
    float s[R][R] = {};                                                                                      \
    for (int n = 0; n < it; n++) {                                                                           \
      int k = n & 7;                                                                                         \
      float u[R], v[R];                                                                                      \
      _Pragma("unroll") for (int j = 0; j < R; j++) u[j] = a[k][(t / 16 * R + j) & 255],                     \
                                                    v[j] = b[k][(t % 16 * R + j) & 255];                     \
      _Pragma("unroll") for (int y = 0; y < R; y++) _Pragma("unroll") for (int x = 0; x < R; x++) s[y][x] += \
          u[y] * v[x];                                                                                       \
    }                                                                                                        \
    float sum = 0;                                                                                           \
    _Pragma("unroll") for (int y = 0; y < R; y++) _Pragma("unroll") for (int x = 0; x < R; x++) sum =        \
        sum * 1.5f + s[y][x];                                                                                \
    out[blockIdx.x * blockDim.x + t] = sum;                                                                  \
  }
// doubles: N 64-bit values, each rewritten in each iteration.
#define DOUBLES(NAME, N, REGS)                                                          \
  __global__ void __maxnreg__(REGS) NAME(const float* in, float* out, int m, int it) {  \
    int i = blockIdx.x * blockDim.x + threadIdx.x;                                      \
    double a[N];                                                                        \
    for (int j = 0; j < N; j++) a[j] = in[(i + j * 64) & (m - 1)];                      \
    for (int t = 0; t < it; t++) {                                                      \
      _Pragma("unroll") for (int j = 0; j < N; j++) a[j] = a[j] * 0.5 + a[(j + 5) % N]; \
    }                                                                                   \
    double s = 0;                                                                       \
    for (int j = 0; j < N; j++) s += a[j];                                              \
    out[i] = (float)s;                                                                  \
  }
ROTATE(rotate128, 96, 128);
ROTATE(rotate96, 96, 96);
ROTATE(rotate80, 96, 80);
ROTATE(rotate64, 96, 64);
ROTATE(rotate40, 96, 40);
ROTATE(rotate32, 96, 32);
ROTATE(small64, 48, 64);
ROTATE(small48, 48, 48);
ROTATE(small40, 48, 40);
ROTATE(small32, 48, 32);
COEFF(coeff128, 80, 128);
COEFF(coeff80, 80, 80);
COEFF(coeff64, 80, 64);
COEFF(coeff40, 80, 40);
COEFF(coeff32, 80, 32);
TILE(tile128, 8, 128);
TILE(tile80, 8, 80);
TILE(tile64, 8, 64);
TILE(tile48, 8, 48);
TILE(tile32, 8, 32);
DOUBLES(doubles128, 40, 128);
DOUBLES(doubles80, 40, 80);
DOUBLES(doubles64, 40, 64);
DOUBLES(doubles40, 40, 40);

// Genuine local arrays of W words: loads and stores, or loads only, with an index known at run time only.
template <int W>
__global__ void both(const float* in, float* out, int m, int it) {
  float a[W];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int j = 0; j < W; j++) a[(j * m) & (W - 1)] = in[i & 1023] + j;
  float s = 0;
  int p = m;
  for (int t = 0; t < it; t++) {
    _Pragma("unroll") for (int k = 0; k < 8; k++) {
      p = (p + 5) & (W - 1);
      a[(p + 3) & (W - 1)] = s;
      s += a[p];
    }
  }
  out[i] = s + a[m & (W - 1)];
}
template <int W>
__global__ void loads(const float* in, float* out, int m, int it) {
  float a[W];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int j = 0; j < W; j++) a[(j * m) & (W - 1)] = in[i & 1023] + j;
  float s = 0, r = 0;
  int p = m;
  for (int t = 0; t < it; t++) {
    _Pragma("unroll") for (int k = 0; k < 8; k++) {
      p = (p + 5) & (W - 1);
      s += a[p];
      r += a[(p + 1) & (W - 1)];
    }
  }
  out[i] = s + r;
}
template <int W>
__global__ void stores(const float* in, float* out, int m, int it) {
  float a[W];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float s = in[i & 1023];
  int p = m;
  for (int t = 0; t < it; t++) {
    _Pragma("unroll") for (int k = 0; k < 16; k++) {
      p = (p + 5) & (W - 1);
      a[p] = s + k;
    }
    s += 1;
  }
  out[i] = a[m & (W - 1)] + a[(m + 1) & (W - 1)];
}
using Kernel = void (*)(const float*, float*, int, int);
struct Row {
  const char* name;
  Kernel kernel;
  int it;
};
#define R(k, it) \
  { #k, k, it }
Row rows[] = {R(rotate128, 20),
              R(rotate96, 20),
              R(rotate80, 20),
              R(rotate64, 20),
              R(rotate40, 20),
              R(rotate32, 20),
              R(small64, 40),
              R(small48, 40),
              R(small40, 40),
              R(small32, 40),
              R(coeff128, 40),
              R(coeff80, 40),
              R(coeff64, 40),
              R(coeff40, 40),
              R(coeff32, 40),
              R(tile128, 64),
              R(tile80, 64),
              R(tile64, 64),
              R(tile48, 64),
              R(tile32, 64),
              R(doubles128, 20),
              R(doubles80, 20),
              R(doubles64, 20),
              R(doubles40, 20),
              {"both_16", both<16>, 64},
              {"both_64", both<64>, 64},
              {"both_256", both<256>, 64},
              {"loads_16", loads<16>, 64},
              {"loads_64", loads<64>, 64},
              {"loads_256", loads<256>, 64},
              {"stores_16", stores<16>, 64},
              {"stores_64", stores<64>, 64},
              {"stores_256", stores<256>, 64}};
int main(int argc, char** argv) {
  int repeats = argc > 1 ? std::atoi(argv[1]) : 41, m = 1 << 14;
  std::vector<int> grids;
  for (int k = 2; k < argc; k++) grids.push_back(std::atoi(argv[k]));
  if (grids.empty()) grids = {64, 132, 264, 792, 2112};
  float *a, *b;
  CHECK(cudaMalloc(&a, 4 * m));
  CHECK(cudaMalloc(&b, 4 * 256 * 132 * 16));
  CHECK(cudaMemset(a, 0, 4 * m));
  cudaEvent_t s, e;
  CHECK(cudaEventCreate(&s));
  CHECK(cudaEventCreate(&e));
  printf("kernel,blocks,registers,local_bytes,blocks_per_sm,us\n");
  for (const Row& r : rows) {
    cudaFuncAttributes f;
    CHECK(cudaFuncGetAttributes(&f, r.kernel));
    int per_sm = 0;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, r.kernel, 256, 0));
    for (int blocks : grids) {
      std::vector<float> us;
      for (int k = 0; k < repeats; k++) {
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaEventRecord(s));
        r.kernel<<<blocks, 256>>>(a, b, m, r.it);
        CHECK(cudaEventRecord(e));
        CHECK(cudaDeviceSynchronize());
        float ms = 0;
        CHECK(cudaEventElapsedTime(&ms, s, e));
        if (k > 0 || repeats == 1) us.push_back(ms * 1e3f);
      }
      std::sort(us.begin(), us.end());
      printf("%s,%d,%d,%zu,%d,%.2f\n", r.name, blocks, f.numRegs, f.localSizeBytes, per_sm, us[us.size() / 2]);
    }
  }
  CHECK(cudaFree(a));
  CHECK(cudaFree(b));
}
