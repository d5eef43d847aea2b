// Sort, reduction, scan and sort by key of Thrust, for bench/first_output.py: a line after the first algorithm, one at
// the end.
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>

#include <cstdio>

int main() {
  constexpr int kNumbers = 1 << 16;
  thrust::host_vector<int> numbers(kNumbers);
  unsigned state = 1;
  for (int& number : numbers) number = static_cast<int>((state = state * 1664525u + 1013904223u) >> 8);
  thrust::device_vector<int> sorted = numbers, sums(kNumbers), places(kNumbers), keys = numbers;
  thrust::sort(sorted.begin(), sorted.end());
  std::printf("least %d\n", static_cast<int>(sorted[0]));
  std::fflush(stdout);
  const long long sum = thrust::reduce(sorted.begin(), sorted.end(), 0LL);
  thrust::inclusive_scan(sorted.begin(), sorted.end(), sums.begin());
  thrust::sequence(places.begin(), places.end());
  thrust::sort_by_key(keys.begin(), keys.end(), places.begin());
  std::printf("sum %lld, last of the scan %d, place of key 5 %d\n", sum, static_cast<int>(sums[kNumbers - 1]),
              static_cast<int>(places[5]));
}
