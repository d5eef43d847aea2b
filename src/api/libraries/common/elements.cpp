// Loads and stores of elements of all types, with rounding and saturation.
#include "libraries/common/elements.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "gpu/half.h"

namespace warpgrind::libraries {

float bf16_to_float(std::uint16_t bits) {
  const std::uint32_t wide = static_cast<std::uint32_t>(bits) << 16;
  float out;
  std::memcpy(&out, &wide, sizeof out);
  return out;
}
std::uint16_t float_to_bf16(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  if (std::isnan(value)) return 0x7fff;
  return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

namespace {

struct Half {
  std::uint16_t bits;
};
struct Bfloat {
  std::uint16_t bits;
};
double widen(Half v) {
  return half_to_float(v.bits);
}
double widen(Bfloat v) {
  return bf16_to_float(v.bits);
}
template <class T>
T widen(T v) {
  return v;
}

// Rounds to an integer, ties to even, with saturation. NaN gives 0.
template <class I>
I saturated(double v) {
  const double most = std::numeric_limits<I>::max(), least = std::numeric_limits<I>::min();
  return std::isnan(v) ? I{} : static_cast<I>(std::clamp(std::nearbyint(v), least, most));
}

template <class D, class S>
void load_as(const void* from, std::int64_t ld, std::int64_t rows, std::int64_t columns, D* to) {
  const S* const in = static_cast<const S*>(from);
  for (std::int64_t j = 0; j < columns; ++j)
    for (std::int64_t i = 0; i < rows; ++i) to[j * rows + i] = converted<D>(widen(in[j * ld + i]));
}
template <class D, class S, class Narrow>
void store_as(void* to, std::int64_t ld, std::int64_t rows, std::int64_t columns, const D* from, Narrow narrowed) {
  S* const out = static_cast<S*>(to);
  for (std::int64_t j = 0; j < columns; ++j)
    for (std::int64_t i = 0; i < rows; ++i) out[j * ld + i] = narrowed(from[j * rows + i]);
}

}  // namespace

std::size_t element_bytes(cudaDataType type) {
  switch (type) {
    case CUDA_R_8I:
      return 1;
    case CUDA_R_16F:
    case CUDA_R_16BF:
    case CUDA_C_8I:
      return 2;
    case CUDA_R_32F:
    case CUDA_R_32I:
      return 4;
    case CUDA_R_64F:
    case CUDA_C_32F:
      return 8;
    case CUDA_C_64F:
      return 16;
    default:
      return 0;
  }
}

template <class D>
void load(cudaDataType type, const void* from, std::int64_t ld, std::int64_t rows, std::int64_t columns, D* to) {
  switch (type) {
    case CUDA_R_8I:
      return load_as<D, std::int8_t>(from, ld, rows, columns, to);
    case CUDA_C_8I:
      return load_as<D, std::complex<std::int8_t>>(from, ld, rows, columns, to);
    case CUDA_R_16F:
      return load_as<D, Half>(from, ld, rows, columns, to);
    case CUDA_R_16BF:
      return load_as<D, Bfloat>(from, ld, rows, columns, to);
    case CUDA_R_32I:
      return load_as<D, std::int32_t>(from, ld, rows, columns, to);
    case CUDA_R_64F:
      return load_as<D, double>(from, ld, rows, columns, to);
    case CUDA_C_32F:
      return load_as<D, Complex>(from, ld, rows, columns, to);
    case CUDA_C_64F:
      return load_as<D, DoubleComplex>(from, ld, rows, columns, to);
    default:
      return load_as<D, float>(from, ld, rows, columns, to);
  }
}

template <class D>
void store(cudaDataType type, void* to, std::int64_t ld, std::int64_t rows, std::int64_t columns, const D* from) {
  const auto real = [](D v) { return converted<double>(v); };
  switch (type) {
    case CUDA_R_8I:
      return store_as<D, std::int8_t>(to, ld, rows, columns, from,
                                      [&](D v) { return saturated<std::int8_t>(real(v)); });
    case CUDA_R_16F:
      return store_as<D, std::uint16_t>(to, ld, rows, columns, from,
                                        [&](D v) { return float_to_half(static_cast<float>(real(v))); });
    case CUDA_R_16BF:
      return store_as<D, std::uint16_t>(to, ld, rows, columns, from,
                                        [&](D v) { return float_to_bf16(static_cast<float>(real(v))); });
    case CUDA_R_32I:
      return store_as<D, std::int32_t>(to, ld, rows, columns, from, [&](D v) {  // sums wrap around, as in registers
        return static_cast<std::int32_t>(static_cast<std::int64_t>(real(v)));
      });
    case CUDA_R_64F:
      return store_as<D, double>(to, ld, rows, columns, from, real);
    case CUDA_C_32F:
      return store_as<D, Complex>(to, ld, rows, columns, from, [](D v) { return converted<Complex>(v); });
    case CUDA_C_64F:
      return store_as<D, DoubleComplex>(to, ld, rows, columns, from, [](D v) { return converted<DoubleComplex>(v); });
    default:
      return store_as<D, float>(to, ld, rows, columns, from, [&](D v) { return static_cast<float>(real(v)); });
  }
}

#define WG_FOR_NUMBERS(D)                                                                         \
  template void load<D>(cudaDataType, const void*, std::int64_t, std::int64_t, std::int64_t, D*); \
  template void store<D>(cudaDataType, void*, std::int64_t, std::int64_t, std::int64_t, const D*);
WG_FOR_NUMBERS(float)
WG_FOR_NUMBERS(double)
WG_FOR_NUMBERS(Complex)
WG_FOR_NUMBERS(DoubleComplex)
#undef WG_FOR_NUMBERS

std::complex<double> read_factor(cudaDataType type, const void* at) {
  std::complex<double> value;
  load<std::complex<double>>(type, at, 1, 1, 1, &value);
  return value;
}

}  // namespace warpgrind::libraries
