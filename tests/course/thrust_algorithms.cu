// Thrust: vectors, the algorithms a course begins with, and its iterators.
#include <thrust/copy.h>
#include <thrust/count.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/extrema.h>
#include <thrust/fill.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/tuple.h>
#include <thrust/unique.h>

#include <algorithm>
#include <vector>

#include "check.h"

struct Square {
  __host__ __device__ double operator()(float x) const { return double(x) * x; }
};
struct IsMultipleOf {
  int divisor;
  __host__ __device__ bool operator()(int x) const { return x % divisor == 0; }
};
struct Saxpy {
  float a;
  __host__ __device__ float operator()(float x, float y) const { return a * x + y; }
};
struct Distance {  // of a zipped pair
  template <class Pair>
  __host__ __device__ int operator()(const Pair& pair) const {
    const int d = thrust::get<0>(pair) - thrust::get<1>(pair);
    return d < 0 ? -d : d;
  }
};

__global__ void twice(int* values, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] *= 2;
}

int main() {
  const int n = 5003;
  thrust::host_vector<int> numbers(n);
  unsigned int state = 12345;
  for (int i = 0; i < n; i++) numbers[i] = int((state = state * 1664525u + 1013904223u) >> 16) % 1000;
  const std::vector<int> plain(numbers.begin(), numbers.end());
  thrust::device_vector<int> keys = numbers, places(n);

  // Stable: equal keys keep the order of their values.
  thrust::sequence(places.begin(), places.end());
  thrust::stable_sort_by_key(keys.begin(), keys.end(), places.begin());
  std::vector<int> order(n);
  for (int i = 0; i < n; i++) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return plain[a] < plain[b]; });
  const thrust::host_vector<int> sorted_keys = keys, sorted_places = places;
  for (int i = 0; i < n; i++) {
    expect_equal("key", i, sorted_keys[i], plain[order[i]]);
    expect_equal("place", i, sorted_places[i], order[i]);
  }
  long sum = 0;
  int multiples = 0;
  for (int v : plain) sum += v, multiples += v % 7 == 0;
  expect_equal("reduce", 0, double(thrust::reduce(keys.begin(), keys.end(), 0L, thrust::plus<long>())), double(sum));
  expect_equal("count_if", 0, double(thrust::count_if(keys.begin(), keys.end(), IsMultipleOf{7})), multiples);
  expect_equal("max_element", 0, *thrust::max_element(keys.begin(), keys.end()), plain[order[n - 1]]);

  // Squares of 0, 1, 2, ... that are never stored.
  const thrust::counting_iterator<int> count(0);
  const double squares = thrust::transform_reduce(count, count + 1000, Square(), 0.0, thrust::plus<double>());
  expect_equal("transform_reduce", 0, squares, 999.0 * 1000 * 1999 / 6);
  const auto doubles = thrust::make_transform_iterator(count, Square());
  expect_equal("transform_iterator", 0, thrust::reduce(doubles, doubles + 1000), squares);

  thrust::device_vector<int> input = numbers, running(n), before(n);
  thrust::inclusive_scan(input.begin(), input.end(), running.begin());
  thrust::exclusive_scan(input.begin(), input.end(), before.begin(), 100);
  const thrust::host_vector<int> inclusive = running, exclusive = before;
  int until = 0;
  for (int i = 0; i < n; i++) {
    expect_equal("exclusive_scan", i, exclusive[i], until + 100);
    expect_equal("inclusive_scan", i, inclusive[i], until += plain[i]);
  }

  thrust::device_vector<int> chosen(n);
  const auto end = thrust::copy_if(input.begin(), input.end(), chosen.begin(), IsMultipleOf{7});
  expect_equal("copy_if", 0, double(end - chosen.begin()), multiples);
  const thrust::host_vector<int> kept(chosen.begin(), end);
  for (int i = 0, k = 0; i < n; i++)
    if (plain[i] % 7 == 0) {
      expect_equal("kept", k, kept[k], plain[i]);
      k++;
    }

  // A histogram: runs of equal keys, each counted by adding ones.
  thrust::device_vector<int> values(1000), counts(1000);
  const auto ends = thrust::reduce_by_key(keys.begin(), keys.end(), thrust::constant_iterator<int>(1), values.begin(),
                                          counts.begin());
  const int runs = int(ends.first - values.begin());
  thrust::device_vector<int> distinct = keys;
  distinct.erase(thrust::unique(distinct.begin(), distinct.end()), distinct.end());
  expect_equal("unique", 0, double(distinct.size()), runs);
  for (int i = 0; i < runs; i += 31) {
    const int value = values[i];
    expect_equal("count", value, counts[i], double(std::count(plain.begin(), plain.end(), value)));
  }

  const auto pairs = thrust::make_zip_iterator(thrust::make_tuple(input.begin(), keys.begin()));
  long wanted = 0;
  for (int i = 0; i < n; i++) wanted += std::abs(plain[i] - plain[order[i]]);
  expect_equal("zip", 0, thrust::transform_reduce(pairs, pairs + n, Distance(), 0, thrust::plus<int>()),
               double(wanted));
  expect_equal("inner_product", 0, double(thrust::inner_product(input.begin(), input.end(), keys.begin(), 0LL)), [&] {
    long long product = 0;
    for (int i = 0; i < n; i++) product += (long long)plain[i] * plain[order[i]];
    return double(product);
  }());

  thrust::device_vector<float> x(n), y(n, 1.0f);
  thrust::sequence(x.begin(), x.end());
  thrust::transform(x.begin(), x.end(), y.begin(), y.begin(), Saxpy{0.5f});
  for (int i = 0; i < n; i += 101) expect_equal("saxpy", i, y[i], 0.5 * i + 1);

  // A vector's memory in a kernel of one's own, and memory of one's own in an algorithm.
  twice<<<(n + 255) / 256, 256>>>(thrust::raw_pointer_cast(input.data()), n);
  int* raw;
  CHECK(cudaMalloc(&raw, n * sizeof(int)));
  thrust::copy(input.begin(), input.end(), thrust::device_pointer_cast(raw));
  expect_equal("raw pointer", 0, thrust::reduce(thrust::device, raw, raw + n), double(2 * sum));
  CHECK(cudaFree(raw));
  std::printf("thrust_algorithms: right\n");
}
