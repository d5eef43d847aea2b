// Reduction of values of several GPUs in the types of multimem.ld_reduce.
#include "device/calls/sum_of_parts.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/assert.h"
#include "gpu/half.h"
#include "jit/calls/conversion.h"

namespace warpgrind::device {

namespace {

using jit::Accumulation;
using jit::AtomicOperation;
using ptx::ScalarType;

ScalarType number_of(ScalarType type) {
  switch (type) {
    case ScalarType::f16x2:
      return ScalarType::f16;
    case ScalarType::bf16x2:
      return ScalarType::bf16;
    case ScalarType::e4m3x2:
    case ScalarType::e4m3x4:
      return ScalarType::e4m3;
    case ScalarType::e5m2x2:
    case ScalarType::e5m2x4:
      return ScalarType::e5m2;
    default:
      return type;
  }
}

template <class T>
T read(const std::uint8_t* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

// e4m3 has no infinity; 0x7f is NaN.
double from_e4m3(std::uint8_t bits) {
  const int exponent = bits >> 3 & 15, mantissa = bits & 7;
  if ((bits & 0x7f) == 0x7f) return std::numeric_limits<double>::quiet_NaN();
  const double size = exponent ? std::ldexp(8 + mantissa, exponent - 10) : std::ldexp(mantissa, -9);
  return bits >> 7 ? -size : size;
}

template <class U, class V>
U integer(AtomicOperation op, U a, U b) {
  const bool less = static_cast<V>(b) < static_cast<V>(a);
  switch (op) {
    case AtomicOperation::add:
      return static_cast<U>(a + b);
    case AtomicOperation::min:
      return less ? b : a;
    case AtomicOperation::max:
      return less ? a : b;
    case AtomicOperation::bit_and:
      return a & b;
    case AtomicOperation::bit_or:
      return a | b;
    case AtomicOperation::bit_xor:
      return a ^ b;
    case AtomicOperation::inc:
    case AtomicOperation::dec:
    case AtomicOperation::exchange:
    case AtomicOperation::compare_and_swap:
      break;
  }
  WG_ASSERT(!"an operation of the opcode's row");
  return a;
}

template <class U, class V>
void reduce_integer(AtomicOperation op, std::uint8_t* into, const std::uint8_t* from) {
  const U result = integer<U, V>(op, read<U>(into), read<U>(from));
  std::memcpy(into, &result, sizeof(U));
}

}  // namespace

SumOfParts::SumOfParts(const jit::MultimemCall& call)
    : call_(call), type_(number_of(call.type)), bytes_(ptx::bytes(type_)), element_(ptx::bytes(call.type)) {}

double SumOfParts::number(const std::uint8_t* from) const {
  switch (type_) {
    case ScalarType::f16:
      return static_cast<double>(half_to_float(read<std::uint16_t>(from)));
    case ScalarType::bf16:
      return static_cast<double>(std::bit_cast<float>(std::uint32_t{read<std::uint16_t>(from)} << 16));
    case ScalarType::e4m3:
      return from_e4m3(*from);
    case ScalarType::e5m2:  // the upper half of an f16
      return static_cast<double>(half_to_float(static_cast<std::uint16_t>(*from << 8)));
    case ScalarType::f32:
      return static_cast<double>(read<float>(from));
    default:
      return read<double>(from);
  }
}

void SumOfParts::put(std::uint8_t* to, double value) const {
  using jit::SmallFormat;
  switch (type_) {
    case ScalarType::f16: {
      const std::uint16_t bits = float_to_half(static_cast<float>(value));  // the sum of two f16 is exact enough in f32
      std::memcpy(to, &bits, sizeof bits);
      return;
    }
    case ScalarType::bf16: {
      const auto single = std::bit_cast<std::uint32_t>(static_cast<float>(value));
      const auto bits = std::isnan(value) ? std::uint16_t{0x7fff}
                                          : static_cast<std::uint16_t>((single + 0x7fff + (single >> 16 & 1)) >> 16);
      std::memcpy(to, &bits, sizeof bits);
      return;
    }
    case ScalarType::e4m3:
      *to = static_cast<std::uint8_t>(jit::round_to_format(value, SmallFormat::e4m3));
      return;
    case ScalarType::e5m2:
      *to = static_cast<std::uint8_t>(jit::round_to_format(value, SmallFormat::e5m2));
      return;
    case ScalarType::f32: {
      const std::uint32_t bits =
          std::isnan(value) ? 0x7fffffffu : std::bit_cast<std::uint32_t>(static_cast<float>(value));
      std::memcpy(to, &bits, sizeof bits);
      return;
    }
    default:
      std::memcpy(to, &value, sizeof value);
  }
}

void SumOfParts::begin(std::size_t at, const std::uint8_t* value) {
  if (call_.accumulation == Accumulation::same) return;
  WG_ASSERT(at % element_ == 0 && (at + element_) / bytes_ <= kMostNumbers);
  for (std::size_t k = 0; k < element_; k += bytes_) wide_[(at + k) / bytes_] = static_cast<float>(number(value + k));
}

void SumOfParts::add_number(std::size_t index, std::uint8_t* into, const std::uint8_t* from) {
  const double a = number(into), b = number(from);
  if (call_.operation != AtomicOperation::add) {  // a NaN loses against a number, and -0 is below +0
    const bool lower = std::isnan(a) || b < a || (b == a && std::signbit(b));
    const bool higher = std::isnan(a) || b > a || (b == a && !std::signbit(b));
    if (call_.operation == AtomicOperation::min ? lower : higher) std::memcpy(into, from, bytes_);
    return;
  }
  switch (call_.accumulation) {
    case Accumulation::same:
      return put(into, a + b);
    case Accumulation::f32:
      wide_[index] += static_cast<float>(b);
      return put(into, static_cast<double>(wide_[index]));
    case Accumulation::f16:
      wide_[index] = half_to_float(float_to_half(wide_[index] + static_cast<float>(b)));
      return put(into, static_cast<double>(wide_[index]));
  }
}

void SumOfParts::add(std::size_t at, std::uint8_t* into, const std::uint8_t* from) {
  if (ptx::is_float(type_)) {
    for (std::size_t k = 0; k < element_; k += bytes_) add_number((at + k) / bytes_, into + k, from + k);
    return;
  }
  const bool with_sign = type_ == ScalarType::s32 || type_ == ScalarType::s64;
  if (bytes_ == 4)
    return with_sign ? reduce_integer<std::uint32_t, std::int32_t>(call_.operation, into, from)
                     : reduce_integer<std::uint32_t, std::uint32_t>(call_.operation, into, from);
  return with_sign ? reduce_integer<std::uint64_t, std::int64_t>(call_.operation, into, from)
                   : reduce_integer<std::uint64_t, std::uint64_t>(call_.operation, into, from);
}

}  // namespace warpgrind::device
