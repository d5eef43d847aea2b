// The work kernels in plain C++ with OpenMP, thread by thread in the kernels' own order: the floor without any GPU
// model.
//
//   native KERNEL SIZE REPETITIONS      threads: OMP_NUM_THREADS
// Prints the same line as kernels.cu.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

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

static double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: native KERNEL SIZE REPETITIONS\n");
    return 2;
  }
  const std::string name = argv[1];
  const int n = std::atoi(argv[2]), repetitions = std::atoi(argv[3]);
  const bool line = name == "vecadd" || name == "reduce" || name == "gather";
  const size_t count = line ? size_t(n) : size_t(n) * n;
  std::vector<float> a(std::max<size_t>(count, 1 << 20)), b(count), out(count);
  std::vector<double> u(name == "jacobi" ? count : 0), w(u.size());
  std::vector<int> index(name == "gather" ? count : 0);
  for (float& v : a) v = std::rand() / static_cast<float>(RAND_MAX);
  for (float& v : b) v = std::rand() / static_cast<float>(RAND_MAX);
  for (double& v : u) v = std::rand() / static_cast<double>(RAND_MAX);
  for (int& i : index) i = std::rand() & ((1 << 20) - 1);
  const std::map<std::string, std::function<void()>> kernels = {
      {"vecadd", [&] { vecadd(a.data(), b.data(), out.data(), n); }},
      {"mm", [&] { mm(a.data(), b.data(), out.data(), n); }},
      {"mmt", [&] { mmt(a.data(), b.data(), out.data(), n); }},
      {"transpose", [&] { transpose(a.data(), out.data(), n); }},
      {"reduce", [&] { reduce(a.data(), out.data(), n); }},
      {"jacobi", [&] { jacobi(u.data(), w.data(), n); }},
      {"gather", [&] { gather(a.data(), index.data(), out.data(), n); }}};
  const auto found = kernels.find(name);
  if (found == kernels.end()) {
    std::fprintf(stderr, "native: no kernel %s\n", argv[1]);
    return 2;
  }
  std::vector<double> seconds;
  double first = 0;
  for (int i = 0; i <= repetitions; i++) {
    const double begin = now();
    found->second();
    (i == 0 ? first : seconds.emplace_back()) = now() - begin;
  }
  std::sort(seconds.begin(), seconds.end());
  const double median = seconds[seconds.size() / 2], work = double(count) * (name == "mm" || name == "mmt" ? n : 1);
  std::printf("%s,%d,%.6f,%.6f,%.6f,%.6f,%.0f,%.2f,ok\n", argv[1], n, first, median, seconds.front(), seconds.back(),
              work, work / median / 1e6);
}
