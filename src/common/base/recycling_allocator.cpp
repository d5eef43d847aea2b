#include "base/recycling_allocator.h"

#include <array>
#include <bit>
#include <mutex>
#include <vector>

namespace warpgrind {

namespace {

// Arrays of 4 KiB to 4 MiB, in sizes of powers of two. malloc() serves smaller ones without page faults.
constexpr unsigned kLeastBits = 12, kMostBits = 22;
constexpr std::size_t kMostKeptBytes = std::size_t{8} << 20;

struct KeptArrays {
  std::mutex mutex;
  std::array<std::vector<void*>, kMostBits + 1> arrays;  // by the logarithm of their size
  std::size_t bytes = 0;
};

KeptArrays& kept_arrays() {
  static KeptArrays& all = *new KeptArrays;  // never destroyed: launches may end while the process exits
  return all;
}

// 0: such arrays are not kept.
unsigned size_class(std::size_t bytes) {
  const auto bits = static_cast<unsigned>(std::bit_width(bytes - 1));
  return bytes < 2 || bits < kLeastBits || bits > kMostBits ? 0 : bits;
}

}  // namespace

void* take_array(std::size_t bytes) {
  const unsigned size = size_class(bytes);
  if (size == 0) return ::operator new(bytes);
  {
    KeptArrays& all = kept_arrays();
    const std::lock_guard lock(all.mutex);
    if (!all.arrays[size].empty()) {
      void* const out = all.arrays[size].back();
      all.arrays[size].pop_back();
      all.bytes -= std::size_t{1} << size;
      return out;
    }
  }
  return ::operator new (std::size_t{1} << size);
}

void give_array(void* array, std::size_t bytes) {
  const unsigned size = size_class(bytes);
  if (size != 0) {
    KeptArrays& all = kept_arrays();
    const std::lock_guard lock(all.mutex);
    if (all.bytes + (std::size_t{1} << size) <= kMostKeptBytes) {
      all.arrays[size].push_back(array);
      all.bytes += std::size_t{1} << size;
      return;
    }
  }
  ::operator delete(array);
}

}  // namespace warpgrind
