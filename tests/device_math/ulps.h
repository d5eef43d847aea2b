// Differences in ulps, counted as in NVIDIA's guide, and arguments as text.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace device_math {

template <class T>
double ulps_between(T a, T b) {  // as integers in the order of the floats; infinity follows the largest
  using Signed = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  const auto place = [](T x) {
    const Signed bits = std::bit_cast<Signed>(x);
    return static_cast<long double>(bits < 0 ? -(bits & std::numeric_limits<Signed>::max()) : bits);
  };
  return static_cast<double>(std::fabs(place(a) - place(b)));
}

template <class T>
std::string text(const std::vector<T>& arguments) {
  std::string result;
  char buffer[64];
  for (const T x : arguments) {
    std::snprintf(buffer, sizeof buffer, "%s%a", result.empty() ? "" : " ", static_cast<double>(x));
    result += buffer;
  }
  return result;
}

// The sign of a zero of a Bessel function is not documented.
inline bool is_bessel(std::string_view reference) {
  return reference[0] == 'j' || reference[0] == 'y';
}

}  // namespace device_math
