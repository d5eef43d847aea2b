// Microbenchmarks of atomics on global memory, by type, pattern and number of words: 524,288 threads each add 1 to a
// word. lab/results/h200/atomics.csv has the times of an H200, with this program's launch latency of 5 us. Prints for
// each case the shortest of three launches after a first one; with an argument, each case is launched once.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

#include "cases.h"

namespace {

constexpr unsigned kBlocks = 2048, kThreads = 256;

__device__ unsigned mix(unsigned x) {
  x ^= x >> 16;
  x *= 0x7feb352d;
  x ^= x >> 15;
  x *= 0x846ca68b;
  return x ^ x >> 16;
}

// lane_sectors: the lanes are 32 bytes apart. row: side by side. pairs: two lanes on one word. half_hot: half of the
// threads want the first word.
enum Pattern { kRandom, kLaneSectors, kRow, kPairs, kHalfHot };
const char* const kNames[] = {"random", "lane_sectors", "row", "pairs", "half_hot"};

template <class T>
__device__ unsigned word_of(unsigned words, Pattern pattern, unsigned i) {
  const unsigned lane = i % 32, warp = i / 32;
  switch (pattern) {
    case kRandom:
      return mix(i) % words;
    case kLaneSectors:
      return (mix(warp) + lane * (32 / sizeof(T))) % words;
    case kRow:
      return (mix(warp) * 32 + lane) % words;
    case kPairs:
      return mix(i / 2) % words;
    default:
      return (mix(i) & 1) != 0 ? 0 : mix(i * 3 + 1) % words;
  }
}

template <class T>
__global__ void k_red(T* p, unsigned words, Pattern pattern) {
  atomicAdd(p + word_of<T>(words, pattern, blockIdx.x * blockDim.x + threadIdx.x), T(1));
}

// Two words side by side.
template <class T>
__global__ void k_neighbours(T* p, unsigned words) {
  const unsigned at = mix(blockIdx.x * blockDim.x + threadIdx.x) % (words - 1);
  atomicAdd(p + at, T(1));
  atomicAdd(p + at + 1, T(1));
}

template <class T>
__global__ void k_atom(T* p, unsigned words, T* out) {
  if (atomicAdd(p + mix(blockIdx.x * blockDim.x + threadIdx.x) % words, T(1)) == T(1e9)) out[0] = 1;
}

int launches = 4;
void* memory = nullptr;

template <class Launch>
void measure(const std::string& label, const Launch& launch) {
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  float best = 1e9F;
  for (int k = 0; k < launches; ++k) {
    CHECK(cudaEventRecord(begin));
    launch();
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    float ms = 0;
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    if (k > 0 || launches == 1) best = std::min(best, ms);
  }
  CHECK(cudaGetLastError());
  CHECK(cudaEventDestroy(begin));
  CHECK(cudaEventDestroy(end));
  std::printf("%s,%.0f\n", label.c_str(), best * 1e6);
}

template <class T>
void measure_type(const char* type) {
  T* const p = static_cast<T*>(memory);
  for (const std::size_t bytes : {32, 128, 512, 1024, 2048, 4096, 8192, 16384, 65536, 1 << 20, 16 << 20, 256 << 20}) {
    const auto words = static_cast<unsigned>(bytes / sizeof(T));
    const std::string name = std::string(type) + " " + std::to_string(bytes) + " ";
    CHECK(cudaMemset(memory, 0, bytes));
    for (const Pattern pattern : {kRandom, kLaneSectors, kRow, kPairs, kHalfHot})
      measure("red " + name + kNames[pattern], [&] { k_red<T><<<kBlocks, kThreads>>>(p, words, pattern); });
    measure("red " + name + "neighbours", [&] { k_neighbours<T><<<kBlocks, kThreads>>>(p, words); });
    measure("atom " + name + "random", [&] { k_atom<T><<<kBlocks, kThreads>>>(p, words, p); });
  }
}

}  // namespace

int main(int argc, char**) {
  if (argc > 1) launches = 1;
  CHECK(cudaMalloc(&memory, 256 << 20));
  measure_type<unsigned>("u32");
  measure_type<float>("f32");
  measure_type<double>("f64");
  measure_type<unsigned long long>("u64");
}
