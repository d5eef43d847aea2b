// Kernels of the kinds whose time the model missed, each in a few shapes. Every case is launched twice; its label is
// printed in the order of the launches. scripts/accuracy_kinds.py compares the times of Nsight Compute with the
// estimates. Each kernel of a case is named k_*; fill_* prepares memory.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "cases.h"

namespace {

__global__ void fill_floats(float* p, std::size_t n, float low, float step) {
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < n;
       i += std::size_t{gridDim.x} * blockDim.x)
    p[i] = low + step * static_cast<float>(i % 1021);
}
__global__ void fill_chain(unsigned* p, unsigned n, unsigned step) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) p[i] = (i + step) % n;
}

// ---- Terms
// Dependent loads; each lane follows its own chain of a table of n words.
__global__ void k_chain(const unsigned* p, unsigned n, int rounds, unsigned* out) {
  unsigned at = (blockIdx.x * blockDim.x + threadIdx.x) % n;
  for (int i = 0; i < rounds; ++i) at = p[at];
  out[blockIdx.x * blockDim.x + threadIdx.x] = at;
}
// A dependent load and a barrier a round.
__global__ void k_chain_barrier(const unsigned* p, unsigned n, int rounds, unsigned* out) {
  unsigned at = (blockIdx.x * blockDim.x + threadIdx.x) % n;
  for (int i = 0; i < rounds; ++i) {
    at = p[at];
    __syncthreads();
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = at;
}
__global__ void k_shared_barrier(int rounds, float* out) {
  __shared__ float s[1024];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  for (int i = 0; i < rounds; ++i) {
    const float v = s[(threadIdx.x + 33) % blockDim.x];
    __syncthreads();
    s[threadIdx.x] = v + 1;
    __syncthreads();
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = s[threadIdx.x];
}
// Reduction in shared memory, over and over: the tree of one block.
__global__ void k_tree(int rounds, float* out) {
  __shared__ float s[1024];
  float v = threadIdx.x;
  for (int i = 0; i < rounds; ++i) {
    s[threadIdx.x] = v;
    __syncthreads();
    for (int k = blockDim.x / 2; k > 0; k /= 2) {
      if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k];
      __syncthreads();
    }
    v += s[0];
    __syncthreads();
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = v;
}
// kInFlight independent loads a round, lanes `stride` words apart, warps and rounds one after the other in memory.
template <int kInFlight>
__global__ void k_flight(const float* p, std::size_t words, unsigned stride, int rounds, float* out) {
  const std::size_t lane = threadIdx.x % 32, warp = (blockIdx.x * std::size_t{blockDim.x} + threadIdx.x) / 32;
  const std::size_t warps = std::size_t{gridDim.x} * blockDim.x / 32, of_warp = std::size_t{32} * stride;
  float sum = 0;
  for (int r = 0; r < rounds; ++r) {
    float v[kInFlight];
#pragma unroll
    for (int k = 0; k < kInFlight; ++k)
      v[k] = __ldcg(p + ((r * std::size_t{kInFlight} + k) * warps + warp) * of_warp % words + lane * stride);
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) sum += v[k];
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
// Each warp reads 32 rows of one column group at once, then the next column: rows `pitch` words apart, no reuse in L1.
__global__ void k_columns_apart(const float* p, unsigned pitch, int rounds, float* out) {
  const unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int r = 0; r < rounds; ++r) sum += __ldcg(p + std::size_t{row} * pitch + r * 8);
  out[row] = sum;
}

// ---- Kinds
__device__ float block_sum(float v, float* s) {
  s[threadIdx.x] = v;
  __syncthreads();
  for (int k = blockDim.x / 2; k > 0; k /= 2) {
    if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k];
    __syncthreads();
  }
  const float sum = s[0];
  __syncthreads();
  return sum;
}
__device__ float block_max(float v, float* s) {
  s[threadIdx.x] = v;
  __syncthreads();
  for (int k = blockDim.x / 2; k > 0; k /= 2) {
    if (threadIdx.x < k) s[threadIdx.x] = fmaxf(s[threadIdx.x], s[threadIdx.x + k]);
    __syncthreads();
  }
  const float most = s[0];
  __syncthreads();
  return most;
}
__global__ void k_softmax_block(const float* in, float* out, int columns) {
  __shared__ float s[1024];
  const float* row = in + std::size_t{blockIdx.x} * columns;
  float* to = out + std::size_t{blockIdx.x} * columns;
  float most = -1e30f, sum = 0;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) most = fmaxf(most, row[c]);
  most = block_max(most, s);
  for (int c = threadIdx.x; c < columns; c += blockDim.x) sum += expf(row[c] - most);
  sum = block_sum(sum, s);
  for (int c = threadIdx.x; c < columns; c += blockDim.x) to[c] = expf(row[c] - most) / sum;
}
__global__ void k_softmax_thread(const float* in, float* out, int rows, int columns) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  const float* row = in + std::size_t{1} * r * columns;
  float* to = out + std::size_t{1} * r * columns;
  float most = -1e30f, sum = 0;
  for (int c = 0; c < columns; ++c) most = fmaxf(most, row[c]);
  for (int c = 0; c < columns; ++c) {
    to[c] = expf(row[c] - most);
    sum += to[c];
  }
  for (int c = 0; c < columns; ++c) to[c] /= sum;
}
__global__ void k_layer_norm_thread(const float* in, float* out, const float* weight, const float* bias, int rows,
                                    int columns) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  const float* row = in + std::size_t{1} * r * columns;
  float mean = 0, square = 0;
  for (int c = 0; c < columns; ++c) mean += row[c];
  mean /= columns;
  for (int c = 0; c < columns; ++c) square += (row[c] - mean) * (row[c] - mean);
  const float scale = 1 / sqrtf(square / columns + 1e-5f);
  for (int c = 0; c < columns; ++c)
    out[std::size_t{1} * r * columns + c] = (row[c] - mean) * scale * weight[c] + bias[c];
}
__global__ void k_normalise_first_thread(const float* weights, float* out, int n) {
  __shared__ float sum;
  const float* w = weights + std::size_t{blockIdx.x} * n;
  if (threadIdx.x == 0) {
    float all = 0;
    for (int i = 0; i < n; ++i) all += w[i];
    sum = all;
  }
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[std::size_t{blockIdx.x} * n + i] = w[i] / sum;
}
__global__ void k_column_mean(const float* in, float* mean, int rows, int columns) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= columns) return;
  float sum = 0;
  for (int r = 0; r < rows; ++r) sum += in[std::size_t{1} * r * columns + c];
  mean[c] = sum / rows;
}
__global__ void k_column_block(const float* in, float* mean, float* deviation, int rows, int columns) {
  __shared__ float s[1024];
  float sum = 0, square = 0;
  for (int r = threadIdx.x; r < rows; r += blockDim.x) sum += in[std::size_t{1} * r * columns + blockIdx.x];
  const float m = block_sum(sum, s) / rows;
  for (int r = threadIdx.x; r < rows; r += blockDim.x) {
    const float d = in[std::size_t{1} * r * columns + blockIdx.x] - m;
    square += d * d;
  }
  square = block_sum(square, s);
  if (threadIdx.x == 0) mean[blockIdx.x] = m, deviation[blockIdx.x] = sqrtf(square / rows);
}
__global__ void k_covariance(const float* in, float* out, int rows, int columns) {
  const int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= columns || j >= columns) return;
  float sum = 0;
  for (int r = 0; r < rows; ++r) sum += in[std::size_t{1} * r * columns + i] * in[std::size_t{1} * r * columns + j];
  out[std::size_t{1} * i * columns + j] = sum;
}
__global__ void k_product(const float* a, const float* b, float* c, int n) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n || column >= n) return;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}
__global__ void k_product_rows_in_lanes(const float* a, const float* b, float* c, int n) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x, column = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= n || column >= n) return;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}
__global__ void k_product_transposed(const float* a, const float* b, float* c, int n) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n || column >= n) return;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[column * n + k];
  c[row * n + column] = sum;
}
template <int kTile, int kEach>
__global__ void k_product_tile(const float* a, const float* b, float* c, int n) {
  constexpr int kThreads = kTile / kEach, kDeep = 8;
  __shared__ float as[kDeep][kTile], bs[kDeep][kTile];
  const int tx = threadIdx.x % kThreads, ty = threadIdx.x / kThreads;
  float sum[kEach][kEach] = {};
  for (int k0 = 0; k0 < n; k0 += kDeep) {
    for (int i = threadIdx.x; i < kTile * kDeep; i += kThreads * kThreads) {
      as[i % kDeep][i / kDeep] = a[(blockIdx.y * kTile + i / kDeep) * n + k0 + i % kDeep];
      bs[i / kTile][i % kTile] = b[(k0 + i / kTile) * n + blockIdx.x * kTile + i % kTile];
    }
    __syncthreads();
    for (int k = 0; k < kDeep; ++k)
      for (int i = 0; i < kEach; ++i)
        for (int j = 0; j < kEach; ++j) sum[i][j] += as[k][ty * kEach + i] * bs[k][tx * kEach + j];
    __syncthreads();
  }
  for (int i = 0; i < kEach; ++i)
    for (int j = 0; j < kEach; ++j)
      c[(blockIdx.y * kTile + ty * kEach + i) * n + blockIdx.x * kTile + tx * kEach + j] = sum[i][j];
}
__global__ void k_adam(float* p, const float* g, float* m, float* v, int n, int steps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  for (int t = 1; t <= steps; ++t) {
    const float gt = g[i];
    m[i] = 0.9f * m[i] + 0.1f * gt;
    v[i] = 0.999f * v[i] + 0.001f * gt * gt;
    const float mh = m[i] / (1 - powf(0.9f, t)), vh = v[i] / (1 - powf(0.999f, t));
    p[i] -= 1e-3f * mh / (sqrtf(vh) + 1e-8f);
  }
}
__device__ unsigned g_ticket = 0;
__global__ void k_fence_and_ticket(const float* in, float* part, float* out, int n) {
  __shared__ float s[1024];
  __shared__ bool last;
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
  sum = block_sum(sum, s);
  if (threadIdx.x == 0) {
    part[blockIdx.x] = sum;
    __threadfence();
    last = atomicInc(&g_ticket, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  sum = 0;
  for (int i = threadIdx.x; i < gridDim.x; i += blockDim.x) sum += *const_cast<volatile float*>(part + i);
  sum = block_sum(sum, s);
  if (threadIdx.x == 0) *out = sum;
}
__global__ void k_compare_and_swap(unsigned* p, unsigned places, int rounds) {
  unsigned* at = p + (blockIdx.x * blockDim.x + threadIdx.x) % places * 32;
  for (int i = 0; i < rounds; ++i) {
    unsigned old = *at, seen;
    do {
      seen = old;
      old = atomicCAS(at, seen, seen + 1);
    } while (old != seen);
  }
}
__global__ void k_shared_float_atomics(float* out, unsigned places, int rounds) {
  __shared__ float s[1024];
  s[threadIdx.x] = 0;
  __syncthreads();
  for (int i = 0; i < rounds; ++i) atomicAdd(&s[(threadIdx.x + i) % places], 1.5f);
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = s[threadIdx.x];
}
template <int kWhich>
__global__ void k_function(const float* in, float* out, int n, int rounds, float factor) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = in[i] * factor;
  for (int r = 0; r < rounds; ++r) {
    if (kWhich == 0) x = sinf(x) * factor + 1;
    if (kWhich == 1) x = powf(fabsf(x) + 1, 0.7f);
    if (kWhich == 2) {
      float a, b;
      sincosf(x, &a, &b);
      x = (a + b) * factor;
    }
    if (kWhich == 3) x = static_cast<float>(sin(static_cast<double>(x)) * factor + 1);
    if (kWhich == 4) x = expf(-x) + logf(fabsf(x) + 1);
  }
  out[i] = x;
}
// One element a thread from anywhere in a buffer.
__global__ void k_gather(const float* in, float* out, std::size_t words, int rounds) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  std::uint64_t at = i * 0x9e3779b97f4a7c15ull;
  float sum = 0;
  for (int r = 0; r < rounds; ++r) {
    at = at * 6364136223846793005ull + 1442695040888963407ull;
    sum += in[(at >> 24) % words];
  }
  out[i] = sum;
}

class Cases {
 public:
  void add(const std::string& label, const std::function<void()>& launch) {
    for (int time = 1; time <= 2; ++time) {
      std::printf("%s/%d\n", label.c_str(), time);
      launch();
      CHECK(cudaGetLastError());
    }
    CHECK(cudaDeviceSynchronize());
  }
};

std::string text(const char* name, std::initializer_list<long> numbers) {
  std::string out = name;
  for (const long n : numbers) out += " " + std::to_string(n);
  return out;
}

constexpr std::size_t kWords = std::size_t{1} << 26;  // 256 MiB
float *g_in, *g_out, *g_more;

void terms(Cases& c) {
  auto* chain = reinterpret_cast<unsigned*>(g_in);
  auto* out = reinterpret_cast<unsigned*>(g_out);
  for (const unsigned kib : {16u, 1024u, 131072u}) {
    const unsigned n = kib * 256;
    fill_chain<<<1056, 256>>>(chain, n, kib == 131072 ? 1048579 : 1031);
    for (const int blocks : {1, 132})
      for (const int threads : {32, 256, 1024})
        c.add(text("chain", {kib, blocks, threads}), [=] { k_chain<<<blocks, threads>>>(chain, n, 64, out); });
    for (const int threads : {32, 128, 256, 1024})
      c.add(text("chain_barrier", {kib, 1, threads}), [=] { k_chain_barrier<<<1, threads>>>(chain, n, 64, out); });
  }
  for (const int blocks : {1, 264})
    for (const int threads : {32, 64, 128, 256, 512, 1024}) {
      c.add(text("shared_barrier", {blocks, threads}), [=] { k_shared_barrier<<<blocks, threads>>>(100, g_out); });
      c.add(text("tree", {blocks, threads}), [=] { k_tree<<<blocks, threads>>>(20, g_out); });
    }
  fill_floats<<<1056, 256>>>(g_in, kWords, 0, 1);
  for (const long mib : {16, 256}) {
    const std::size_t words = static_cast<std::size_t>(mib) << 18;
    for (const int blocks : {1, 132})
      for (const int threads : {32, 256, 1024})
        for (const unsigned stride : {1u, 8u, 32u}) {
          const int rounds = blocks == 1 ? 32 : 4;
          c.add(text("flight1", {mib, blocks, threads, stride}),
                [=] { k_flight<1><<<blocks, threads>>>(g_in, words, stride, rounds * 8, g_out); });
          c.add(text("flight8", {mib, blocks, threads, stride}),
                [=] { k_flight<8><<<blocks, threads>>>(g_in, words, stride, rounds, g_out); });
        }
  }
  for (const unsigned pitch : {256u, 264u, 512u, 520u, 1024u, 1032u, 2048u, 2056u, 4096u, 4104u, 8192u, 8200u}) {
    const int rows = static_cast<int>(kWords / 8200 / 256 * 256);
    c.add(text("columns_apart", {pitch, rows}), [=] { k_columns_apart<<<rows / 64, 64>>>(g_in, pitch, 16, g_out); });
  }
}

void rows(Cases& c) {
  fill_floats<<<1056, 256>>>(g_in, kWords, -3, 0.005f);
  for (const int n : {8, 64, 256})
    for (const int columns : {4096, 32768, 131072})
      for (const int threads : {128, 256, 1024})
        if (static_cast<std::size_t>(n) * columns <= 8u << 20)
          c.add(text("softmax_block", {n, columns, threads}),
                [=] { k_softmax_block<<<n, threads>>>(g_in, g_out, columns); });
  for (const int n : {1024, 8192})
    for (const int columns : {64, 512}) {
      c.add(text("softmax_thread", {n, columns}), [=] { k_softmax_thread<<<n / 128, 128>>>(g_in, g_out, n, columns); });
      for (const int threads : {64, 256})
        c.add(text("layer_norm_thread", {n, columns, threads}),
              [=] { k_layer_norm_thread<<<n / threads, threads>>>(g_in, g_out, g_more, g_more + 8192, n, columns); });
    }
  for (const int n : {256, 2048})
    for (const int blocks : {1, 64, 1024})
      c.add(text("normalise_first_thread", {blocks, n}),
            [=] { k_normalise_first_thread<<<blocks, 256>>>(g_in, g_out, n); });
  for (const int rows : {512, 4096})
    for (const int columns : {256, 1024, 4096}) {
      c.add(text("column_mean", {rows, columns}),
            [=] { k_column_mean<<<columns / 256, 256>>>(g_in, g_out, rows, columns); });
      c.add(text("column_block", {rows, columns}),
            [=] { k_column_block<<<columns, 256>>>(g_in, g_out, g_more, rows, columns); });
    }
}

void products(Cases& c) {
  const float *a = g_in, *b = g_in + (1 << 20);
  struct Shape {
    int x, y;
  };
  for (const int n : {256, 512})
    for (const Shape s : {Shape{16, 16}, Shape{32, 32}, Shape{8, 8}, Shape{32, 8}, Shape{256, 1}, Shape{1, 256}}) {
      const dim3 threads(s.x, s.y), blocks(n / s.x, n / s.y);
      c.add(text("product", {n, s.x, s.y}), [=] { k_product<<<blocks, threads>>>(a, b, g_out, n); });
      if (n == 512 && s.x != 8) {
        c.add(text("product_rows_in_lanes", {n, s.x, s.y}),
              [=] { k_product_rows_in_lanes<<<blocks, threads>>>(a, b, g_out, n); });
        c.add(text("product_transposed", {n, s.x, s.y}),
              [=] { k_product_transposed<<<blocks, threads>>>(a, b, g_out, n); });
      }
    }
  for (const int n : {512, 1024}) {
    c.add(text("product_tile_4", {n}), [=] { k_product_tile<64, 4><<<dim3(n / 64, n / 64), 256>>>(a, b, g_out, n); });
    c.add(text("product_tile_8", {n}),
          [=] { k_product_tile<128, 8><<<dim3(n / 128, n / 128), 256>>>(a, b, g_out, n); });
    c.add(text("product_tile_8_of_64", {n}),
          [=] { k_product_tile<64, 8><<<dim3(n / 64, n / 64), 64>>>(a, b, g_out, n); });
  }
  for (const int n : {256, 512})
    c.add(text("covariance", {n, 512}), [=] { k_covariance<<<dim3(n / 32, n / 8), dim3(32, 8)>>>(a, g_out, 512, n); });
}

void others(Cases& c) {
  for (const int n : {10000, 1 << 20})
    for (const int steps : {1, 50})
      if (n * steps < 2000000)
        c.add(text("adam", {n, steps}),
              [=] { k_adam<<<(n + 255) / 256, 256>>>(g_out, g_in, g_more, g_more + (2 << 20), n, steps); });
  for (const int n : {1 << 16, 1 << 22})
    for (const int blocks : {64, 1024})
      c.add(text("fence_and_ticket", {n, blocks}),
            [=] { k_fence_and_ticket<<<blocks, 256>>>(g_in, g_more, g_out, n); });
  auto* words = reinterpret_cast<unsigned*>(g_more);
  for (const unsigned places : {1u, 64u, 8192u})
    c.add(text("compare_and_swap", {places}), [=] { k_compare_and_swap<<<32, 256>>>(words, places, 4); });
  for (const unsigned places : {1u, 32u, 256u})
    c.add(text("shared_float_atomics", {places}), [=] { k_shared_float_atomics<<<264, 256>>>(g_out, places, 64); });
  constexpr int kAll = 1 << 18;
  for (const float factor : {1.0f, 1e6f}) {
    const long f = static_cast<long>(factor);
    c.add(text("sin", {f}), [=] { k_function<0><<<kAll / 256, 256>>>(g_in, g_out, kAll, 16, factor); });
    c.add(text("sincos", {f}), [=] { k_function<2><<<kAll / 256, 256>>>(g_in, g_out, kAll, 16, factor); });
    c.add(text("sin_double", {f}), [=] { k_function<3><<<kAll / 256, 256>>>(g_in, g_out, kAll, 16, factor); });
  }
  c.add("pow", [=] { k_function<1><<<kAll / 256, 256>>>(g_in, g_out, kAll, 16, 1); });
  c.add("exp_log", [=] { k_function<4><<<kAll / 256, 256>>>(g_in, g_out, kAll, 16, 1); });
  for (const std::size_t words : {std::size_t{1} << 20, std::size_t{1} << 23, kWords})
    c.add(text("gather", {static_cast<long>(words)}), [=] { k_gather<<<1024, 256>>>(g_in, g_out, words, 16); });
}

}  // namespace

int main() {
  CHECK(cudaMalloc(&g_in, kWords * 4));
  CHECK(cudaMalloc(&g_out, kWords * 4));
  CHECK(cudaMalloc(&g_more, std::size_t{64} << 20));
  CHECK(cudaMemset(g_out, 0, kWords * 4));
  CHECK(cudaMemset(g_more, 0, std::size_t{64} << 20));
  Cases cases;
  terms(cases);
  rows(cases);
  products(cases);
  others(cases);
  return 0;
}
