// Conversion of a count to double. Exact up to 2^53.
#pragma once

#include <cstdint>

namespace warpgrind {

inline double as_double(std::uint64_t n) {
  return static_cast<double>(n);
}

}  // namespace warpgrind
