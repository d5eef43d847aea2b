// CUB's usual instances, whose kernels a package has compiled (scripts/package_kernels.py). Nothing here runs.
#include <cub/cub.cuh>

template <class Key>
void sort_keys(Key* in, Key* out, int count) {
  std::size_t bytes = 0;
  cub::DeviceRadixSort::SortKeys(nullptr, bytes, in, out, count);
}

template <class Key, class Value>
void sort_pairs(Key* in, Key* out, Value* values, Value* sorted, int count) {
  std::size_t bytes = 0;
  cub::DeviceRadixSort::SortPairs(nullptr, bytes, in, out, values, sorted, count);
}

template <class T>
void scan_and_reduce(T* in, T* out, int count) {
  std::size_t bytes = 0;
  cub::DeviceScan::InclusiveSum(nullptr, bytes, in, out, count);
  cub::DeviceScan::ExclusiveSum(nullptr, bytes, in, out, count);
  cub::DeviceReduce::Sum(nullptr, bytes, in, out, count);
  cub::DeviceReduce::Max(nullptr, bytes, in, out, count);
  cub::DeviceReduce::Min(nullptr, bytes, in, out, count);
}

template <class T>
void select(T* in, char* flags, T* out, int* selected, int count) {
  std::size_t bytes = 0;
  cub::DeviceSelect::Flagged(nullptr, bytes, in, flags, out, selected, count);
  cub::DeviceSelect::Unique(nullptr, bytes, in, out, selected, count);
}

template void sort_keys(int*, int*, int);
template void sort_keys(unsigned*, unsigned*, int);
template void sort_keys(float*, float*, int);
template void sort_keys(unsigned long long*, unsigned long long*, int);
template void sort_pairs(int*, int*, int*, int*, int);
template void sort_pairs(unsigned*, unsigned*, unsigned*, unsigned*, int);
template void sort_pairs(float*, float*, int*, int*, int);
template void sort_pairs(unsigned long long*, unsigned long long*, unsigned*, unsigned*, int);
template void scan_and_reduce(int*, int*, int);
template void scan_and_reduce(unsigned*, unsigned*, int);
template void scan_and_reduce(float*, float*, int);
template void scan_and_reduce(double*, double*, int);
template void select(int*, char*, int*, int*, int);
template void select(float*, char*, float*, int*, int);
