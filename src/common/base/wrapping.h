// 64-bit sums, products and negation that wrap on overflow, like registers. In C++, signed overflow is undefined.
#pragma once

#include <cstdint>

namespace warpgrind {

constexpr std::int64_t wrapping_add(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
constexpr std::int64_t wrapping_multiply(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

constexpr std::int64_t wrapping_negative(std::int64_t a) {
  return wrapping_multiply(a, -1);
}

}  // namespace warpgrind
