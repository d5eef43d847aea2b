// Allocator that keeps the memory of freed arrays for the next ones. malloc() returns such memory to the system, at
// least in threads other than the main one, and new memory costs a page fault for each 4 KiB. Thread-safe.
#pragma once

#include <cstddef>
#include <new>

namespace warpgrind {

// Memory of at least so many bytes; 16 bytes aligned.
void* take_array(std::size_t bytes);
// bytes: as for take_array().
void give_array(void* array, std::size_t bytes);

template <class T>
struct RecyclingAllocator {
  static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
  using value_type = T;
  RecyclingAllocator() = default;
  template <class U>
  RecyclingAllocator(const RecyclingAllocator<U>&) {}  // NOLINT(google-explicit-constructor): as allocators do
  T* allocate(std::size_t n) { return static_cast<T*>(take_array(n * sizeof(T))); }
  void deallocate(T* array, std::size_t n) { give_array(array, n * sizeof(T)); }
  template <class U>
  bool operator==(const RecyclingAllocator<U>&) const {
    return true;
  }
};

}  // namespace warpgrind
