// Types for the kinds of device addresses; they do not convert to each other by accident. A host pointer is a C++
// pointer. Only src/engine/device/access turns these addresses into host pointers.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "gpu/types.h"

namespace warpgrind {

enum class GenericAddress : std::uint64_t {};  // a kernel's view: shared and local memory lie in their windows
enum class GlobalAddress : std::uint64_t {};   // global or constant memory; equal to the host address
// Bytes from the start of a block's shared memory; in a cluster maybe before it.
enum class SharedOffset : std::uint64_t {};
enum class LocalOffset : std::uint64_t {};      // bytes from the start of a thread's local memory
enum class ParameterOffset : std::uint64_t {};  // bytes from the start of the kernel's parameters

template <class A>
concept AnyAddress = std::same_as<A, GenericAddress> || std::same_as<A, GlobalAddress> ||
    std::same_as<A, SharedOffset> || std::same_as<A, LocalOffset> || std::same_as<A, ParameterOffset>;

template <AnyAddress A>
constexpr std::uint64_t raw(A a) {
  return static_cast<std::uint64_t>(a);
}
// No template: where the namespace is open before a library's header, clang 19 tries it on the library's own sums.
constexpr GenericAddress operator+(GenericAddress a, std::uint64_t bytes) {
  return GenericAddress{raw(a) + bytes};
}
constexpr GlobalAddress operator+(GlobalAddress a, std::uint64_t bytes) {
  return GlobalAddress{raw(a) + bytes};
}
constexpr SharedOffset operator+(SharedOffset a, std::uint64_t bytes) {
  return SharedOffset{raw(a) + bytes};
}
constexpr LocalOffset operator+(LocalOffset a, std::uint64_t bytes) {
  return LocalOffset{raw(a) + bytes};
}
constexpr ParameterOffset operator+(ParameterOffset a, std::uint64_t bytes) {
  return ParameterOffset{raw(a) + bytes};
}

constexpr bool in_window(std::uint64_t generic, std::uint64_t window) {
  return generic - window < kWindowSize;
}
// Whether a negative index from the window's beginning leads there.
constexpr bool before_window(std::uint64_t generic, std::uint64_t window) {
  return window - generic - 1 < kWindowSize;
}
constexpr bool in_shared(GenericAddress a) {
  return in_window(raw(a), kSharedWindow);
}
constexpr bool in_local(GenericAddress a) {
  return in_window(raw(a), kLocalWindow);
}
// Offset of an address in the window, or of one that PTX already writes as an offset (ld.local). Offsets wrap at 4 GiB.
constexpr LocalOffset local_offset(GenericAddress a) {
  return LocalOffset{raw(a) & (kWindowSize - 1)};
}

// One address for each lane, in memory that it does not own. Those of inactive lanes are never read.
template <AnyAddress A>
class Lanes {
 public:
  explicit constexpr Lanes(const std::uint64_t* of_lanes) : of_lanes_(of_lanes) {}
  constexpr A operator[](unsigned lane) const { return static_cast<A>(of_lanes_[lane]); }
  constexpr const std::uint64_t* data() const { return of_lanes_; }

 private:
  const std::uint64_t* of_lanes_;
};

}  // namespace warpgrind
