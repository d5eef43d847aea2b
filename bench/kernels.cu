// The work kernels of the benchmark as an ordinary CUDA program; kernels.cl and native.cc hold the same algorithms.
//
//   kernels KERNEL SIZE REPETITIONS
//     SIZE    threads, or the width of the square (mm, mmt, transpose, jacobi)
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>
#include <vector>

#include "device.h"
#include "measure.h"

using bench::device_copy;
using bench::expect;
using bench::fetch;
using bench::Work;
using bench::wrong;

__global__ void vecadd(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

__global__ void mm(const float* a, const float* b, float* c, int width) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float sum = 0;
  for (int k = 0; k < width; k++) sum += a[y * width + k] * b[k * width + x];
  c[y * width + x] = sum;
}

__global__ void mmt(const float* a, const float* b, float* c, int width) {
  __shared__ float as[16][16], bs[16][16];
  int tx = threadIdx.x, ty = threadIdx.y;
  int x = blockIdx.x * 16 + tx, y = blockIdx.y * 16 + ty;
  float sum = 0;
  for (int m = 0; m < width / 16; m++) {
    as[ty][tx] = a[y * width + m * 16 + tx];
    bs[ty][tx] = b[(m * 16 + ty) * width + x];
    __syncthreads();
    for (int k = 0; k < 16; k++) sum += as[ty][k] * bs[k][tx];
    __syncthreads();
  }
  c[y * width + x] = sum;
}

__global__ void transpose(const float* in, float* out, int width) {
  __shared__ float tile[32][33];
  int tx = threadIdx.x, ty = threadIdx.y;
  int x = blockIdx.x * 32 + tx, y = blockIdx.y * 32 + ty;
  for (int j = 0; j < 32; j += 8) tile[ty + j][tx] = in[(y + j) * width + x];
  __syncthreads();
  x = blockIdx.y * 32 + tx;
  y = blockIdx.x * 32 + ty;
  for (int j = 0; j < 32; j += 8) out[(y + j) * width + x] = tile[tx][ty + j];
}

__global__ void reduce(const float* in, float* out, int n) {
  __shared__ float sums[256];
  int t = threadIdx.x, i = blockIdx.x * 512 + t;
  sums[t] = in[i] + in[i + 256];
  __syncthreads();
  for (int d = 128; d > 0; d >>= 1) {
    if (t < d) sums[t] += sums[t + d];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = sums[0];
}

__global__ void jacobi(const double* u, double* w, int width) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x > 0 && y > 0 && x < width - 1 && y < width - 1)
    w[y * width + x] =
        0.25 * (u[y * width + x - 1] + u[y * width + x + 1] + u[(y - 1) * width + x] + u[(y + 1) * width + x]);
}

__global__ void gather(const float* in, const int* index, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[index[i]];
}

// ---- Addresses that data decides. `kTurns` a thread where the table is in shared or local memory.
constexpr int kTurns = 32;
constexpr unsigned kTable = 2048, kBins = 256, kOwn = 32;

__host__ __device__ inline unsigned next_random(unsigned x) {
  return x * 1664525u + 1013904223u;
}

__global__ void gather_masked(const float* in, const int* index, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int at = index[i];
  float v = 1;
  if (at & 1) v = in[at];
  out[i] = v;
}

template <class T>
__global__ void gather_of(const T* in, const int* index, T* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[index[i]];
}

__global__ void scatter(const float* in, const int* index, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[index[i]] = in[i];
}

__global__ void shared_gather(const unsigned* seed, unsigned* out, int n) {
  __shared__ unsigned table[kTable];
  for (unsigned k = threadIdx.x; k < kTable; k += blockDim.x) table[k] = k * k;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned x = seed[i], sum = 0;
  for (int t = 0; t < kTurns; t++) {
    x = next_random(x);
    sum += table[x >> 21];
  }
  out[i] = sum;
}

__global__ void local_histogram(const unsigned* seed, unsigned* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned bins[kOwn] = {}, x = seed[i];
  for (int t = 0; t < kTurns; t++) {
    x = next_random(x);
    bins[x >> 27]++;
  }
  unsigned most = 0;
  for (unsigned b = 0; b < kOwn; b++) most = max(most, bins[b] * kOwn + b);
  out[i] = most;
}

// Insertion: each thread's own number of steps.
__global__ void local_sort(const unsigned* seed, unsigned* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned sorted[kOwn], x = seed[i];
  for (int t = 0; t < int(kOwn); t++) {
    x = next_random(x);
    int at = t;
    for (; at > 0 && sorted[at - 1] > x; at--) sorted[at] = sorted[at - 1];
    sorted[at] = x;
  }
  out[i] = sorted[kOwn / 2];
}

__global__ void shared_atomics(const unsigned* seed, unsigned* bins, int n) {
  __shared__ unsigned own[kBins];
  for (unsigned b = threadIdx.x; b < kBins; b += blockDim.x) own[b] = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned x = i < n ? seed[i] : 0;
  for (int t = 0; t < kTurns; t++) {
    x = next_random(x);
    if (i < n) atomicAdd(&own[x >> 24], x & 3);
  }
  __syncthreads();
  for (unsigned b = threadIdx.x; b < kBins; b += blockDim.x) atomicAdd(&bins[b], own[b]);
}

__global__ void global_atomics(const unsigned* seed, unsigned* bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned x = seed[i];
  for (int t = 0; t < kTurns; t++) {
    x = next_random(x);
    atomicAdd(&bins[x >> 12], 1);
  }
}

__global__ void empty() {}

template <class T>
static std::vector<T> random_values(size_t count) {
  std::vector<T> values(count);
  for (T& v : values) v = std::rand() / static_cast<T>(RAND_MAX);
  return values;
}

static Work vecadd_work(int n) {
  auto a = random_values<float>(n), b = random_values<float>(n);
  float *da = device_copy(a), *db = device_copy(b), *dc = device_copy(std::vector<float>(n, -1));
  return {double(n), [=] { vecadd<<<(n + 255) / 256, 256>>>(da, db, dc, n); },
          [=] {
            auto c = fetch(dc, n);
            for (int i = 0; i < n; i += 997) expect(c[i], a[i] + b[i]);
          }};
}

static Work mm_work(int n, bool tiled) {
  size_t count = size_t(n) * n;
  auto a = random_values<float>(count), b = random_values<float>(count);
  float *da = device_copy(a), *db = device_copy(b), *dc = device_copy(std::vector<float>(count, -1));
  dim3 grid(n / 16, n / 16), block(16, 16);
  return {double(n) * count,
          [=] {
            if (tiled)
              mmt<<<grid, block>>>(da, db, dc, n);
            else
              mm<<<grid, block>>>(da, db, dc, n);
          },
          [=] {
            auto c = fetch(dc, count);
            for (int y = 0; y < n; y += 13)
              for (int x = 0; x < n; x += 37) {
                double sum = 0;
                for (int k = 0; k < n; k++) sum += double(a[size_t(y) * n + k]) * b[size_t(k) * n + x];
                expect(c[size_t(y) * n + x], sum);
              }
          }};
}

static Work transpose_work(int n) {
  size_t count = size_t(n) * n;
  auto in = random_values<float>(count);
  float *din = device_copy(in), *dout = device_copy(std::vector<float>(count, -1));
  dim3 grid(n / 32, n / 32), block(32, 8);
  return {double(count), [=] { transpose<<<grid, block>>>(din, dout, n); },
          [=] {
            auto out = fetch(dout, count);
            for (int y = 0; y < n; y += 5)
              for (int x = 0; x < n; x += 3) expect(out[size_t(x) * n + y], in[size_t(y) * n + x]);
          }};
}

static Work reduce_work(int n) {
  auto in = random_values<float>(n);
  float *din = device_copy(in), *dout = device_copy(std::vector<float>(n / 512, -1));
  return {double(n), [=] { reduce<<<n / 512, 256>>>(din, dout, n); },
          [=] {
            auto out = fetch(dout, n / 512);
            for (int g = 0; g < n / 512; g += 7) {
              double sum = 0;
              for (int i = 0; i < 512; i++) sum += in[size_t(g) * 512 + i];
              expect(out[g], sum);
            }
          }};
}

static Work jacobi_work(int n) {
  size_t count = size_t(n) * n;
  auto u = random_values<double>(count);
  double *du = device_copy(u), *dw = device_copy(std::vector<double>(count, -1));
  dim3 grid(n / 32, n / 8), block(32, 8);
  return {double(count), [=] { jacobi<<<grid, block>>>(du, dw, n); },
          [=] {
            auto w = fetch(dw, count);
            for (size_t y = 1; y + 1 < size_t(n); y += 3)
              for (size_t x = 1; x + 1 < size_t(n); x += 5)
                expect(w[y * n + x],
                       0.25 * (u[y * n + x - 1] + u[y * n + x + 1] + u[(y - 1) * n + x] + u[(y + 1) * n + x]));
          }};
}

static std::vector<int> random_indexes(int n, unsigned below) {
  std::vector<int> index(n);
  unsigned x = 1;
  for (int& i : index) i = (x = next_random(x)) % below;
  return index;
}

template <class T>
using GatherKernel = void (*)(const T*, const int*, T*, int);

template <class T>
static Work gather_work(GatherKernel<T> kernel, int n, unsigned table, bool odd_only = false) {
  std::vector<T> in(table);
  for (unsigned k = 0; k < table; k++) in[k] = T(k % 251);
  const std::vector<int> index = random_indexes(n, table);
  T *din = device_copy(in), *dout = device_copy(std::vector<T>(n));
  int* dindex = device_copy(index);
  return {double(n), [=] { kernel<<<(n + 255) / 256, 256>>>(din, dindex, dout, n); },
          [=] {
            auto out = fetch(dout, n);
            for (int i = 0; i < n; i += 97)
              expect(double(out[i]), odd_only && index[i] % 2 == 0 ? 1 : double(in[index[i]]));
          }};
}

static Work scatter_work(int n) {
  auto in = random_values<float>(n);
  std::vector<int> index(n);
  for (int i = 0; i < n; i++) index[i] = int((unsigned(i) * 2654435761u) & unsigned(n - 1));  // n: a power of two
  float *din = device_copy(in), *dout = device_copy(std::vector<float>(n, -1));
  int* dindex = device_copy(index);
  return {double(n), [=] { scatter<<<(n + 255) / 256, 256>>>(din, dindex, dout, n); },
          [=] {
            auto out = fetch(dout, n);
            for (int i = 0; i < n; i += 97) expect(out[index[i]], in[i]);
          }};
}

// One result a thread, of `kTurns` random numbers of its own.
static Work turns_work(void (*kernel)(const unsigned*, unsigned*, int), int n,
                       std::function<unsigned(std::vector<unsigned>)> want) {
  std::vector<unsigned> seed(n);
  for (int i = 0; i < n; i++) seed[i] = next_random(i * 977u);
  unsigned *dseed = device_copy(seed), *dout = device_copy(std::vector<unsigned>(n));
  return {double(n) * kTurns, [=] { kernel<<<(n + 255) / 256, 256>>>(dseed, dout, n); },
          [=] {
            auto out = fetch(dout, n);
            for (int i = 0; i < n; i += 97) {
              std::vector<unsigned> random;
              for (unsigned x = seed[i]; random.size() < kTurns;) random.push_back(x = next_random(x));
              if (out[i] != want(random)) wrong = true;
            }
          }};
}

static unsigned sum_of_table(std::vector<unsigned> random) {
  unsigned sum = 0;
  for (unsigned x : random) sum += (x >> 21) * (x >> 21);
  return sum;
}

static unsigned fullest_bin(std::vector<unsigned> random) {
  unsigned bins[kOwn] = {}, most = 0;
  for (unsigned x : random) bins[x >> 27]++;
  for (unsigned b = 0; b < kOwn; b++) most = std::max(most, bins[b] * kOwn + b);
  return most;
}

static unsigned median_of(std::vector<unsigned> random) {
  std::sort(random.begin(), random.end());
  return random[kOwn / 2];
}

// The bins take up every launch; only their sum is checked, as a multiple of one launch's.
static Work histogram_work(void (*kernel)(const unsigned*, unsigned*, int), int n, unsigned bins, bool weighted) {
  std::vector<unsigned> seed(n);
  unsigned one_launch = 0;
  for (int i = 0; i < n; i++) {
    unsigned x = seed[i] = next_random(i * 977u);
    for (int t = 0; t < kTurns; t++) one_launch += weighted ? (x = next_random(x)) & 3 : 1;
  }
  unsigned *dseed = device_copy(seed), *dbins = device_copy(std::vector<unsigned>(bins));
  auto launches = std::make_shared<unsigned>(0);
  return {double(n) * kTurns,
          [=] {
            kernel<<<(n + 255) / 256, 256>>>(dseed, dbins, n);
            ++*launches;
          },
          [=] {
            unsigned sum = 0;
            for (unsigned b : fetch(dbins, bins)) sum += b;
            if (sum != one_launch * *launches) wrong = true;
          }};
}

int main(int argc, char** argv) {
  const unsigned near = 1 << 20, far = 1 << 24;  // elements of tables: 4 and 64 MiB of floats
  const bench::Works works = {
      {"vecadd", vecadd_work},
      {"mm", [](int n) { return mm_work(n, false); }},
      {"mmt", [](int n) { return mm_work(n, true); }},
      {"transpose", transpose_work},
      {"reduce", reduce_work},
      {"jacobi", jacobi_work},
      {"gather", [=](int n) { return gather_work<float>(gather, n, near); }},
      {"gather_far", [=](int n) { return gather_work<float>(gather, n, far); }},
      {"gather_masked", [=](int n) { return gather_work<float>(gather_masked, n, near, true); }},
      {"gather_bytes", [=](int n) { return gather_work<unsigned char>(gather_of<unsigned char>, n, near); }},
      {"gather_halves", [=](int n) { return gather_work<__half>(gather_of<__half>, n, near); }},
      {"scatter", scatter_work},
      {"shared_gather", [](int n) { return turns_work(shared_gather, n, sum_of_table); }},
      {"local_histogram", [](int n) { return turns_work(local_histogram, n, fullest_bin); }},
      {"local_sort", [](int n) { return turns_work(local_sort, n, median_of); }},
      {"shared_atomics", [](int n) { return histogram_work(shared_atomics, n, kBins, true); }},
      {"global_atomics", [=](int n) { return histogram_work(global_atomics, n, near, false); }},
      {"empty", [](int) {
         return Work{1, [] { empty<<<1, 32>>>(); }};
       }}};
  return bench::measure_launches(argc, argv, works);
}
