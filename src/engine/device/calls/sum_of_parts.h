// Reduction of the values that multimem.ld_reduce loads, one for each GPU. A packed type (f16x2, e4m3x4) is reduced
// number by number.
#pragma once

#include <cstddef>
#include <cstdint>

#include "jit/multimem_operation.h"

namespace warpgrind::device {

class SumOfParts {
 public:
  explicit SumOfParts(const jit::MultimemCall& call);
  // The first value, of all numbers of an element. `at`: its offset in the warp's values, below 512.
  void begin(std::size_t at, const std::uint8_t* value);
  // Reduces `from` into `into`, whose first value was given to begin().
  void add(std::size_t at, std::uint8_t* into, const std::uint8_t* from);

 private:
  static constexpr std::size_t kMostNumbers = 512;

  void add_number(std::size_t index, std::uint8_t* into, const std::uint8_t* from);
  double number(const std::uint8_t* from) const;
  void put(std::uint8_t* to, double value) const;

  jit::MultimemCall call_;
  ptx::ScalarType type_;      // of one number
  std::size_t bytes_;         // of one number
  std::size_t element_;       // of an element
  float wide_[kMostNumbers];  // sums in the wider precision
};

}  // namespace warpgrind::device
