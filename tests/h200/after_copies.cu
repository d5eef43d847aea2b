// Microbenchmark of memory that something else than a kernel has written before a kernel reads it: is it in L2?
// lab/results/h200/after_copies.csv has the times of an H200. Each case runs twice, and its label is printed in the
// order of the launches: how the memory was written, MiB.
#include <vector>

#include "cases.h"

namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20, kLargest = 64 * kMiB, kOther = 512 * kMiB;

__global__ void k_read(const unsigned* p, unsigned words, unsigned* out) {
  unsigned sum = 0;
  for (unsigned at = blockIdx.x * blockDim.x + threadIdx.x; at < words; at += gridDim.x * blockDim.x) sum += p[at];
  if (sum != 0) *out = sum;
}

__global__ void k_write(unsigned* p, unsigned words) {
  for (unsigned at = blockIdx.x * blockDim.x + threadIdx.x; at < words; at += gridDim.x * blockDim.x) p[at] = 0;
}

unsigned *g_in, *g_from, *g_other, *g_out, *g_pinned;
std::vector<unsigned> g_pageable(kLargest / 4);

// Replaces all that L2 holds.
void forget() {
  k_write<<<1320, 256>>>(g_other, kOther / 4);
  k_read<<<1320, 256>>>(g_other, kOther / 4, g_out);
}

template <class Write>
void after(const char* kind, std::size_t mib, const Write& write) {
  twice(label(kind, {mib}), [&] {
    forget();
    write(mib * kMiB);
    CHECK(cudaDeviceSynchronize());
    k_read<<<128, 256>>>(g_in, static_cast<unsigned>(mib * kMiB / 4), g_out);
  });
}

}  // namespace

int main() {
  for (unsigned** p : {&g_in, &g_from}) {
    CHECK(cudaMalloc(p, kLargest));
    CHECK(cudaMemset(*p, 0, kLargest));
  }
  CHECK(cudaMalloc(&g_other, kOther));
  CHECK(cudaMalloc(&g_out, 4));
  CHECK(cudaMallocHost(&g_pinned, kLargest));
  for (std::size_t k = 0; k < kLargest / 4; ++k) g_pinned[k] = 0;
  for (const std::size_t mib : {1, 4, 16, 24, 32, 64}) {
    after("nothing", mib, [](std::size_t) {});
    after("pageable", mib,
          [](std::size_t n) { CHECK(cudaMemcpy(g_in, g_pageable.data(), n, cudaMemcpyHostToDevice)); });
    after("pinned", mib, [](std::size_t n) { CHECK(cudaMemcpy(g_in, g_pinned, n, cudaMemcpyHostToDevice)); });
    after("device", mib, [](std::size_t n) { CHECK(cudaMemcpy(g_in, g_from, n, cudaMemcpyDeviceToDevice)); });
    after("to_host", mib, [](std::size_t n) { CHECK(cudaMemcpy(g_pinned, g_in, n, cudaMemcpyDeviceToHost)); });
    after("memset", mib, [](std::size_t n) { CHECK(cudaMemset(g_in, 0, n)); });
    after("kernel", mib, [](std::size_t n) { k_write<<<1320, 256>>>(g_in, static_cast<unsigned>(n / 4)); });
    after("read", mib, [](std::size_t n) { k_read<<<128, 256>>>(g_in, static_cast<unsigned>(n / 4), g_out); });
  }
}
