// Radix sorts of CUB, instantiated for docs/compile-times.md: never run, only compiled.
#include <cstdint>
#include <cub/cub.cuh>
template <class K>
void keys(K* a, K* b, int n) {
  size_t s = 0;
  cub::DeviceRadixSort::SortKeys(nullptr, s, a, b, n);
  cub::DeviceRadixSort::SortKeysDescending(nullptr, s, a, b, n);
}
template <class K, class V>
void pairs(K* a, K* b, V* c, V* d, int n) {
  size_t s = 0;
  cub::DeviceRadixSort::SortPairs(nullptr, s, a, b, c, d, n);
}
int main() {
  keys<uint8_t>(0, 0, 1);
  keys<uint32_t>(0, 0, 1);
  keys<uint64_t>(0, 0, 1);
  keys<float>(0, 0, 1);
  keys<double>(0, 0, 1);
  keys<uint16_t>(0, 0, 1);
  pairs<uint32_t, uint32_t>(0, 0, 0, 0, 1);
  pairs<uint64_t, uint64_t>(0, 0, 0, 0, 1);
  pairs<float, int>(0, 0, 0, 0, 1);
}
