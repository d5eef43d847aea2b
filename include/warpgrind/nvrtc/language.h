// Part of nvrtc/wrapper.h: the parts of the C++ library that NVRTC has built in: operator new and delete, std::move and
// std::forward (--builtin-move-forward), std::initializer_list (--builtin-initializer-list). Also the template that
// name expressions are looked up with (src/compiler/nvrtc/name_map.cpp).
#pragma once

#if __cplusplus >= 201103L
#define WG_NO_THROW noexcept
#else
#define WG_NO_THROW throw()
#endif
__device__ inline void* operator new(size_t bytes) {
  return ::malloc(bytes);
}
__device__ inline void* operator new[](size_t bytes) {
  return ::malloc(bytes);
}
__device__ inline void* operator new(size_t, void* place) WG_NO_THROW {
  return place;
}
__device__ inline void* operator new[](size_t, void* place) WG_NO_THROW {
  return place;
}
__device__ inline void operator delete(void* place) WG_NO_THROW {
  if (place) ::free(place);
}
__device__ inline void operator delete[](void* place) WG_NO_THROW {
  if (place) ::free(place);
}
__device__ inline void operator delete(void*, void*) WG_NO_THROW {}
__device__ inline void operator delete[](void*, void*) WG_NO_THROW {}
#if __cplusplus >= 201402L
__device__ inline void operator delete(void* place, size_t) WG_NO_THROW {
  if (place) ::free(place);
}
__device__ inline void operator delete[](void* place, size_t) WG_NO_THROW {
  if (place) ::free(place);
}
#endif
#undef WG_NO_THROW

#if __cplusplus >= 201103L
namespace wg_nvrtc {
template <class T>
struct value_of {
  typedef T type;
};
template <class T>
struct value_of<T&> {
  typedef T type;
};
template <class T>
struct value_of<T&&> {
  typedef T type;
};
}  // namespace wg_nvrtc
namespace std {
#ifndef WARPGRIND_NO_MOVE_FORWARD
template <class T>
__host__ __device__ constexpr typename wg_nvrtc::value_of<T>::type&& move(T&& value) noexcept {
  return static_cast<typename wg_nvrtc::value_of<T>::type&&>(value);
}
template <class T>
__host__ __device__ constexpr T&& forward(typename wg_nvrtc::value_of<T>::type& value) noexcept {
  return static_cast<T&&>(value);
}
template <class T>
__host__ __device__ constexpr T&& forward(typename wg_nvrtc::value_of<T>::type&& value) noexcept {
  return static_cast<T&&>(value);
}
#endif
#ifndef WARPGRIND_NO_INITIALIZER_LIST
template <class T>
class initializer_list {
 public:
  typedef T value_type;
  typedef const T& reference;
  typedef const T& const_reference;
  typedef size_t size_type;
  typedef const T* iterator;
  typedef const T* const_iterator;
  __host__ __device__ constexpr initializer_list() noexcept : first_(nullptr), size_(0) {}
  __host__ __device__ constexpr size_t size() const noexcept { return size_; }
  __host__ __device__ constexpr const T* begin() const noexcept { return first_; }
  __host__ __device__ constexpr const T* end() const noexcept { return first_ + size_; }

 private:
  // The compiler initialises these two members, in this order.
  const T* first_;
  size_t size_;
};
template <class T>
__host__ __device__ constexpr const T* begin(initializer_list<T> list) noexcept {
  return list.begin();
}
template <class T>
__host__ __device__ constexpr const T* end(initializer_list<T> list) noexcept {
  return list.end();
}
#endif
}  // namespace std
#endif

// Marker for src/compiler/launchpass: the program may set static variables from outside the module.
static __device__ __attribute__((used)) const char wg_run_time_unit __asm__("__wg_run_time_unit") = 0;

#if __cplusplus >= 201703L
namespace wg_nvrtc {
template <auto* value>
struct address {
  static constexpr auto* get = value;
};
}  // namespace wg_nvrtc
#endif
