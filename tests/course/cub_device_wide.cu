// CUB's device-wide algorithms: asked for their scratch memory first, then run.
#include <algorithm>
#include <cub/cub.cuh>
#include <map>
#include <vector>

#include "check.h"

// Both calls that every algorithm needs.
template <class Algorithm>
void run(const Algorithm& algorithm) {
  size_t bytes = 0;
  void* scratch = nullptr;
  CHECK(algorithm(scratch, bytes));
  CHECK(cudaMalloc(&scratch, bytes));
  CHECK(algorithm(scratch, bytes));
  CHECK(cudaFree(scratch));
}
template <class T>
std::vector<T> fetch(const T* device, size_t n) {
  std::vector<T> out(n);
  CHECK(cudaMemcpy(out.data(), device, n * sizeof(T), cudaMemcpyDeviceToHost));
  return out;
}

struct Even {
  __host__ __device__ bool operator()(int x) const { return x % 2 == 0; }
};
struct Larger {
  template <class T>
  __host__ __device__ T operator()(const T& a, const T& b) const {
    return a > b ? a : b;
  }
};

int main() {
  const int n = 20011;
  std::vector<int> host(n), places(n);
  unsigned int state = 99;
  for (int i = 0; i < n; i++)
    host[i] = int((state = state * 1664525u + 1013904223u) >> 12) % 4096 - 2048, places[i] = i;
  int *in, *out, *index, *index_out, *few;
  for (int** p : {&in, &out, &index, &index_out, &few}) CHECK(cudaMalloc(p, n * sizeof(int)));
  CHECK(cudaMemcpy(in, host.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(index, places.data(), n * sizeof(int), cudaMemcpyHostToDevice));

  long sum = 0;
  for (int v : host) sum += v;
  run([&](void* scratch, size_t& bytes) { return cub::DeviceReduce::Sum(scratch, bytes, in, few, n); });
  expect_equal("Sum", 0, fetch(few, 1)[0], double(sum));
  run([&](void* scratch, size_t& bytes) {
    return cub::DeviceReduce::Reduce(scratch, bytes, in, few, n, Larger(), -9999);
  });
  expect_equal("Reduce", 0, fetch(few, 1)[0], *std::max_element(host.begin(), host.end()));

  run([&](void* scratch, size_t& bytes) { return cub::DeviceScan::ExclusiveSum(scratch, bytes, in, out, n); });
  std::vector<int> got = fetch(out, n);
  for (int i = 0, before = 0; i < n; before += host[i++]) expect_equal("ExclusiveSum", i, got[i], before);
  run([&](void* scratch, size_t& bytes) {
    return cub::DeviceScan::InclusiveScan(scratch, bytes, in, out, Larger(), n);
  });
  got = fetch(out, n);
  for (int i = 0, most = host[0]; i < n; i++) expect_equal("InclusiveScan", i, got[i], most = std::max(most, host[i]));

  run([&](void* scratch, size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(scratch, bytes, in, out, index, index_out, n);
  });
  std::vector<int> order = places;
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return host[a] < host[b]; });
  got = fetch(out, n);
  const std::vector<int> moved = fetch(index_out, n);
  for (int i = 0; i < n; i++) {
    expect_equal("SortPairs key", i, got[i], host[order[i]]);
    expect_equal("SortPairs value", i, moved[i], order[i]);
  }
  const std::vector<int> sorted = got;

  int* ends;
  CHECK(cudaMalloc(&ends, n * sizeof(int)));
  run([&](void* scratch, size_t& bytes) {
    return cub::DeviceRunLengthEncode::Encode(scratch, bytes, out, index, ends, few, n);
  });
  std::map<int, int> counted;
  for (int v : host) counted[v]++;
  const int runs = fetch(few, 1)[0];
  expect_equal("Encode", 0, runs, double(counted.size()));
  const std::vector<int> values = fetch(index, runs), lengths = fetch(ends, runs);
  for (int i = 0; i < runs; i++) expect_equal("run", values[i], lengths[i], counted[values[i]]);

  run([&](void* scratch, size_t& bytes) { return cub::DeviceSelect::If(scratch, bytes, in, out, few, n, Even()); });
  std::vector<int> even;
  std::copy_if(host.begin(), host.end(), std::back_inserter(even), Even());
  expect_equal("If", 0, fetch(few, 1)[0], double(even.size()));
  got = fetch(out, even.size());
  for (size_t i = 0; i < even.size(); i++) expect_equal("even", long(i), got[i], even[i]);

  const int bins = 16;
  run([&](void* scratch, size_t& bytes) {
    return cub::DeviceHistogram::HistogramEven(scratch, bytes, in, out, bins + 1, -2048, 2048, n);
  });
  got = fetch(out, bins);
  std::vector<int> wanted(bins);
  for (int v : host) wanted[(v + 2048) / 256]++;
  for (int i = 0; i < bins; i++) expect_equal("HistogramEven", i, got[i], wanted[i]);

  // Sums of 7 segments of different lengths, one of them empty.
  const std::vector<int> offsets = {0, 1, 1, 100, 4096, 10000, 19999, n};
  CHECK(cudaMemcpy(index, offsets.data(), offsets.size() * sizeof(int), cudaMemcpyHostToDevice));
  run([&](void* scratch, size_t& bytes) {
    return cub::DeviceSegmentedReduce::Sum(scratch, bytes, in, out, 7, index, index + 1);
  });
  got = fetch(out, 7);
  for (int s = 0; s < 7; s++) {
    int part = 0;
    for (int i = offsets[s]; i < offsets[s + 1]; i++) part += host[i];
    expect_equal("segment", s, got[s], part);
  }
  std::printf("cub_device_wide: right, last of %d keys %d\n", n, sorted[n - 1]);
}
