// Sorts, scans and set operations of Thrust, segmented sorts of CUB, instantiated for docs/compile-times.md: never run,
// only compiled.
#include <thrust/device_vector.h>
#include <thrust/merge.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/set_operations.h>
#include <thrust/sort.h>
#include <thrust/unique.h>

#include <cub/cub.cuh>
struct less2 {
  template <class T>
  __host__ __device__ bool operator()(T a, T b) const {
    return a * 2 < b * 2;
  }
};
template <class T>
void all() {
  thrust::device_vector<T> a(100), b(100), c(200);
  thrust::device_vector<int> v(100);
  thrust::sort(a.begin(), a.end());
  thrust::stable_sort_by_key(a.begin(), a.end(), v.begin());
  thrust::sort(a.begin(), a.end(), less2());
  thrust::stable_sort_by_key(a.begin(), a.end(), v.begin(), less2());
  thrust::inclusive_scan_by_key(v.begin(), v.end(), a.begin(), b.begin());
  thrust::unique(a.begin(), a.end());
  thrust::reduce_by_key(v.begin(), v.end(), a.begin(), v.begin(), b.begin());
  thrust::set_union(a.begin(), a.end(), b.begin(), b.end(), c.begin());
  thrust::merge(a.begin(), a.end(), b.begin(), b.end(), c.begin());
  size_t s = 0;
  cub::DeviceSegmentedSort::SortKeys(nullptr, s, (T*)0, (T*)0, 100, 10, (int*)0, (int*)0);
  cub::DeviceSegmentedRadixSort::SortPairs(nullptr, s, (T*)0, (T*)0, (int*)0, (int*)0, 100, 10, (int*)0, (int*)0);
  cub::DeviceSegmentedReduce::Sum(nullptr, s, (T*)0, (T*)0, 10, (int*)0, (int*)0);
}
int main() {
  all<int>();
  all<float>();
  all<long long>();
  all<double>();
}
