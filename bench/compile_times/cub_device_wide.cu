// Scan, reduce, select, partition, run-length encoding and histogram of CUB, instantiated for docs/compile-times.md:
// never run, only compiled.
#include <cstdint>
#include <cub/cub.cuh>
struct even2 {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a + b;
  }
};
struct even {
  template <class T>
  __device__ bool operator()(T x) const {
    return x > T(3);
  }
};
template <class T>
void all(T* a, T* b, int* o, int n) {
  size_t s = 0;
  cub::DeviceScan::InclusiveSum(nullptr, s, a, b, n);
  cub::DeviceScan::ExclusiveSum(nullptr, s, a, b, n);
  cub::DeviceReduce::Sum(nullptr, s, a, b, n);
  cub::DeviceReduce::ArgMin(nullptr, s, a, (cub::KeyValuePair<int, T>*)b, n);
  cub::DeviceReduce::ReduceByKey(nullptr, s, a, b, a, b, o, even2{}, n);
  cub::DeviceSelect::If(nullptr, s, a, b, o, n, even{});
  cub::DeviceSelect::Unique(nullptr, s, a, b, o, n);
  cub::DevicePartition::If(nullptr, s, a, b, o, n, even{});
  cub::DeviceRunLengthEncode::Encode(nullptr, s, a, b, o, o, n);
  cub::DeviceRunLengthEncode::NonTrivialRuns(nullptr, s, a, o, o, o, n);
}
int main() {
  all<uint8_t>(0, 0, 0, 1);
  all<uint32_t>(0, 0, 0, 1);
  all<uint64_t>(0, 0, 0, 1);
  all<float>(0, 0, 0, 1);
  all<double>(0, 0, 0, 1);
  size_t s = 0;
  cub::DeviceHistogram::HistogramEven(nullptr, s, (float*)0, (int*)0, 257, 0.f, 1.f, 1000);
  cub::DeviceHistogram::HistogramEven(nullptr, s, (uint8_t*)0, (int*)0, 257, 0, 256, 1000);
  cub::DeviceHistogram::MultiHistogramEven<4, 3>(nullptr, s, (uint8_t*)0, (int**)0, (int*)0, (int*)0, (int*)0, 1000);
}
