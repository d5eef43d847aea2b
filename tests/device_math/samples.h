// Arguments for the tests of the math functions. They are a fixed sequence: a short run uses the beginning of a long
// one. They are the same on every machine, because only integer and IEEE-exact floating-point operations make them.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace device_math {

inline std::uint64_t scrambled(std::uint64_t x) {  // splitmix64
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

template <class T>
class Samples {
 public:
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

  Samples(const char* name, double low, double high) : low_(low), high_(high) {
    for (const char* c = name; *c != 0; ++c) seed_ = scrambled(seed_ ^ static_cast<unsigned char>(*c));
    using Limits = std::numeric_limits<T>;
    for (const T magnitude : {T{0}, Limits::denorm_min(), std::bit_cast<T>(std::bit_cast<Bits>(Limits::min()) - 1),
                              Limits::min(), T(0.5), T(1), std::nextafter(T(1), T(2)), std::nextafter(T(1), T(0)),
                              T(1.5), T(2), T(3), Limits::max(), Limits::infinity(), Limits::quiet_NaN()}) {
      special_.push_back(magnitude);
      special_.push_back(-magnitude);
    }
  }

  // Argument `position` of sample i. All pairs of special values come first.
  T argument(unsigned i, unsigned position) const {
    const unsigned specials = static_cast<unsigned>(special_.size());
    if (i < specials * specials) return special_[position % 2 == 0 ? i % specials : i / specials];
    const std::uint64_t random = scrambled(seed_ ^ scrambled(std::uint64_t{i} * 4 + position));
    switch (scrambled(seed_ + i) % 8) {
      case 0:  // any bits
        return std::bit_cast<T>(static_cast<Bits>(random));
      case 1: {  // any sign and exponent, few bits
        const T value = std::bit_cast<T>(static_cast<Bits>(random));
        return std::bit_cast<T>(
            static_cast<Bits>(std::bit_cast<Bits>(value) & ~Bits{0} << (std::numeric_limits<T>::digits - 4)));
      }
      case 2: {  // near 0, on a logarithmic scale
        const T value = unit(random);
        return value * std::bit_cast<T>(static_cast<Bits>(exponent_one() - (random & 31))
                                        << (std::numeric_limits<T>::digits - 1));
      }
      case 3: {  // close to a multiple of 1/4 or of pi/4
        const double step = random & 1 ? 0.25 : 0.78539816339744830962;
        const T near = static_cast<T>(step * std::floor(between(random) / step));
        return std::bit_cast<T>(static_cast<Bits>(std::bit_cast<Bits>(near) + (random >> 8 & 15) - 8));
      }
      case 4: {  // beyond the interval, on a logarithmic scale
        const T value = static_cast<T>(between(random));
        return value * static_cast<T>(std::uint64_t{1} << (random & 31));
      }
      default:
        return static_cast<T>(between(random));
    }
  }

 private:
  double low_;
  double high_;
  std::uint64_t seed_ = 0;
  std::vector<T> special_;

  static constexpr Bits exponent_one() { return std::bit_cast<Bits>(T{1}) >> (std::numeric_limits<T>::digits - 1); }
  static T unit(std::uint64_t random) {  // [-1, 1)
    return static_cast<T>(static_cast<std::int64_t>(random)) * static_cast<T>(0x1p-63);
  }
  double between(std::uint64_t random) const {
    return low_ + (high_ - low_) * (static_cast<double>(random >> 11) * 0x1p-53);
  }
};

}  // namespace device_math
