// Sort, transform and reduction of Thrust, then scan, radix sort and sum of CUB, for bench/first_output.py: a line
// after the first algorithm.
#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>
#include <thrust/transform.h>

#include <cstdio>
#include <cstdlib>
#include <cub/cub.cuh>
struct Saxpy {
  float a;
  __host__ __device__ float operator()(float x, float y) const { return a * x + y; }
};
int main() {
  const int n = 1 << 16;
  thrust::host_vector<int> h(n);
  for (int& v : h) v = std::rand() % 1000;
  thrust::device_vector<int> d = h;
  thrust::sort(d.begin(), d.end());
  std::printf("least %d\n", (int)d[0]);
  std::fflush(stdout);
  thrust::device_vector<float> x(n, 1.0f), y(n, 2.0f);
  thrust::transform(x.begin(), x.end(), y.begin(), y.begin(), Saxpy{2.0f});
  std::printf("sum %f\n", thrust::reduce(y.begin(), y.end(), 0.0f, thrust::plus<float>()));
  thrust::device_vector<int> out(n), sum(1);
  thrust::device_vector<unsigned> keys(n, 3u), sorted(n);
  std::size_t bytes[3] = {};
  cub::DeviceScan::ExclusiveSum(nullptr, bytes[0], d.data().get(), out.data().get(), n);
  cub::DeviceRadixSort::SortKeys(nullptr, bytes[1], keys.data().get(), sorted.data().get(), n);
  cub::DeviceReduce::Sum(nullptr, bytes[2], d.data().get(), sum.data().get(), n);
  for (std::size_t b : bytes)
    if (b > bytes[0]) bytes[0] = b;
  thrust::device_vector<char> memory(bytes[0]);
  cub::DeviceScan::ExclusiveSum(memory.data().get(), bytes[0], d.data().get(), out.data().get(), n);
  cub::DeviceRadixSort::SortKeys(memory.data().get(), bytes[0], keys.data().get(), sorted.data().get(), n);
  cub::DeviceReduce::Sum(memory.data().get(), bytes[0], d.data().get(), sum.data().get(), n);
  std::printf("scan %d, key %u, sum %d\n", (int)out[n - 1], (unsigned)sorted[5], (int)sum[0]);
}
