// The work kernels in plain C++ with OpenMP, thread by thread in the kernels' own order: the floor without any GPU
// model.
//
//   native KERNEL SIZE REPETITIONS      threads: OMP_NUM_THREADS
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "measure.h"

#define NOINLINE __attribute__((noinline))

NOINLINE static void vecadd(const float* a, const float* b, float* c, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) c[i] = a[i] + b[i];
}

NOINLINE static void mm(const float* a, const float* b, float* c, int w) {
#pragma omp parallel for
  for (int y = 0; y < w; y++)
    for (int x = 0; x < w; x++) {
      float sum = 0;
      for (int k = 0; k < w; k++) sum += a[y * w + k] * b[k * w + x];
      c[y * w + x] = sum;
    }
}

NOINLINE static void mmt(const float* a, const float* b, float* c, int w) {
#pragma omp parallel for collapse(2)
  for (int by = 0; by < w / 16; by++)
    for (int bx = 0; bx < w / 16; bx++) {
      float ta[16][16], tb[16][16], tc[16][16];
      std::memset(tc, 0, sizeof tc);
      for (int m = 0; m < w / 16; m++) {
        for (int i = 0; i < 16; i++)
          for (int j = 0; j < 16; j++) {
            ta[i][j] = a[(by * 16 + i) * w + m * 16 + j];
            tb[i][j] = b[(m * 16 + i) * w + bx * 16 + j];
          }
        for (int i = 0; i < 16; i++)
          for (int k = 0; k < 16; k++)
            for (int j = 0; j < 16; j++) tc[i][j] += ta[i][k] * tb[k][j];
      }
      for (int i = 0; i < 16; i++)
        for (int j = 0; j < 16; j++) c[(by * 16 + i) * w + bx * 16 + j] = tc[i][j];
    }
}

NOINLINE static void transpose(const float* in, float* out, int w) {
#pragma omp parallel for collapse(2)
  for (int by = 0; by < w; by += 32)
    for (int bx = 0; bx < w; bx += 32)
      for (int y = by; y < by + 32; y++)
        for (int x = bx; x < bx + 32; x++) out[x * w + y] = in[y * w + x];
}

NOINLINE static void reduce(const float* in, float* out, int n) {
#pragma omp parallel for
  for (int g = 0; g < n / 512; g++) {
    float sums[256];
    for (int i = 0; i < 256; i++) sums[i] = in[g * 512 + i] + in[g * 512 + i + 256];
    for (int d = 128; d; d >>= 1)
      for (int i = 0; i < d; i++) sums[i] += sums[i + d];
    out[g] = sums[0];
  }
}

NOINLINE static void jacobi(const double* u, double* w, int n) {
#pragma omp parallel for
  for (int y = 1; y < n - 1; y++)
    for (int x = 1; x < n - 1; x++)
      w[y * n + x] = 0.25 * (u[y * n + x - 1] + u[y * n + x + 1] + u[(y - 1) * n + x] + u[(y + 1) * n + x]);
}

NOINLINE static void gather(const float* in, const int* index, float* out, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) out[i] = in[index[i]];
}

int main(int argc, char** argv) {
  using bench::Work;
  std::vector<float> a, b, out;
  std::vector<double> u, w;
  std::vector<int> index;
  const auto floats = [&](size_t count) {
    for (std::vector<float>* v : {&a, &b, &out}) v->resize(count);
    for (std::vector<float>* v : {&a, &b})
      for (float& x : *v) x = std::rand() / static_cast<float>(RAND_MAX);
    return double(count);
  };
  const auto square = [](int n) { return size_t(n) * n; };
  const bench::Works works = {{"vecadd",
                               [&](int n) {
                                 return Work{floats(n), [&, n] { vecadd(a.data(), b.data(), out.data(), n); }};
                               }},
                              {"mm",
                               [&](int n) {
                                 return Work{n * floats(square(n)), [&, n] { mm(a.data(), b.data(), out.data(), n); }};
                               }},
                              {"mmt",
                               [&](int n) {
                                 return Work{n * floats(square(n)), [&, n] { mmt(a.data(), b.data(), out.data(), n); }};
                               }},
                              {"transpose",
                               [&](int n) {
                                 return Work{floats(square(n)), [&, n] { transpose(a.data(), out.data(), n); }};
                               }},
                              {"reduce",
                               [&](int n) {
                                 return Work{floats(n), [&, n] { reduce(a.data(), out.data(), n); }};
                               }},
                              {"jacobi",
                               [&](int n) {
                                 for (std::vector<double>* v : {&u, &w}) v->resize(square(n));
                                 for (double& v : u) v = std::rand() / static_cast<double>(RAND_MAX);
                                 return Work{double(square(n)), [&, n] { jacobi(u.data(), w.data(), n); }};
                               }},
                              {"gather", [&](int n) {
                                 constexpr int kTable = 1 << 20;
                                 floats(std::max(n, kTable));
                                 index.resize(n);
                                 for (int& i : index) i = std::rand() & (kTable - 1);
                                 return Work{double(n), [&, n] { gather(a.data(), index.data(), out.data(), n); }};
                               }}};
  return bench::measure(argc, argv, works);
}
