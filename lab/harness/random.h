// Random numbers that are the same on every machine and with every compiler.
#pragma once

#include <cstddef>
#include <vector>

namespace lab {

class Random {
 public:
  explicit Random(unsigned long long seed) : state_(seed) {}
  // Returns 24 random bits: the high ones of a 64-bit linear congruential generator with the constants of Knuth's MMIX.
  unsigned bits() {
    state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<unsigned>(state_ >> 40);
  }
  unsigned below(unsigned bound) { return bits() % bound; }
  float symmetric() { return bits() * (2.0f / 16777216.0f) - 1.0f; }  // [-1, 1), exact in float
  template <class T>
  std::vector<T> values(size_t count) {  // each in [-1, 1)
    std::vector<T> out(count);
    for (T& v : out) v = static_cast<T>(symmetric());
    return out;
  }
  std::vector<float> floats(size_t count) { return values<float>(count); }

 private:
  unsigned long long state_;
};

}  // namespace lab
