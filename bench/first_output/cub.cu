// Sum, radix sort, scan and selection of CUB, for bench/first_output.py: a line after the first algorithm, one at the
// end.
#include <algorithm>
#include <cstdio>
#include <cub/cub.cuh>
#include <vector>

struct IsOdd {
  __device__ bool operator()(unsigned number) const { return number & 1; }
};

template <class T>
T fetch(const T* from) {
  T value;
  cudaMemcpy(&value, from, sizeof value, cudaMemcpyDeviceToHost);
  return value;
}

int main() {
  constexpr int kNumbers = 1 << 16;
  std::vector<unsigned> numbers(kNumbers);
  unsigned state = 1;
  for (unsigned& number : numbers) number = (state = state * 1664525u + 1013904223u) >> 8;
  unsigned *in = nullptr, *out = nullptr, *sum = nullptr;
  int* count = nullptr;
  cudaMalloc(&in, kNumbers * 4);
  cudaMalloc(&out, kNumbers * 4);
  cudaMalloc(&sum, 4);
  cudaMalloc(&count, 4);
  cudaMemcpy(in, numbers.data(), kNumbers * 4, cudaMemcpyHostToDevice);
  std::size_t needs[4] = {};
  cub::DeviceReduce::Sum(nullptr, needs[0], in, sum, kNumbers);
  cub::DeviceRadixSort::SortKeys(nullptr, needs[1], in, out, kNumbers);
  cub::DeviceScan::InclusiveSum(nullptr, needs[2], in, out, kNumbers);
  cub::DeviceSelect::If(nullptr, needs[3], in, out, count, kNumbers, IsOdd());
  std::size_t bytes = *std::max_element(needs, needs + 4);
  void* memory = nullptr;
  cudaMalloc(&memory, bytes);
  cub::DeviceReduce::Sum(memory, bytes, in, sum, kNumbers);
  std::printf("sum %u\n", fetch(sum));
  std::fflush(stdout);
  cub::DeviceRadixSort::SortKeys(memory, bytes, in, out, kNumbers);
  std::printf("least %u, ", fetch(out));
  cub::DeviceScan::InclusiveSum(memory, bytes, in, out, kNumbers);
  std::printf("last of the scan %u, ", fetch(out + kNumbers - 1));
  cub::DeviceSelect::If(memory, bytes, in, out, count, kNumbers, IsOdd());
  std::printf("%d odd\n", fetch(count));
}
