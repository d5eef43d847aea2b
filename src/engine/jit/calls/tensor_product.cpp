// Elements, layouts and sums of tcgen05.mma.
#include "jit/calls/tensor_product.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/assert.h"
#include "gpu/half.h"
#include "jit/calls/matrix_products.h"

namespace warpgrind::jit {

unsigned packed_element(const std::uint8_t* piece, unsigned i, unsigned bits) {
  const unsigned at = i * bits;
  const unsigned two = piece[at / 8] | unsigned{piece[std::min(at / 8 + 1, 15u)]} << 8;
  return two >> at % 8 & ((1u << bits) - 1);
}

namespace {

// A number of sign, `exponent` and `mantissa` bits without infinities, by its bits.
float small_float(unsigned bits, unsigned exponent, unsigned mantissa, int bias) {
  const unsigned m = bits & ((1u << mantissa) - 1), e = bits >> mantissa & ((1u << exponent) - 1);
  const auto fraction = static_cast<float>(m) / static_cast<float>(1u << mantissa);
  const float size = e == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, static_cast<int>(e) - bias);
  return bits >> (mantissa + exponent) & 1 ? -size : size;
}

float byte_float(unsigned bits, TensorElement type) {
  switch (type) {
    case TensorElement::e4m3:
      return (bits & 0x7f) == 0x7f ? std::nanf("") : small_float(bits, 4, 3, 7);
    case TensorElement::e5m2:
      return half_to_float(static_cast<std::uint16_t>(bits << 8));
    case TensorElement::e2m3:
      return small_float(bits & 63, 2, 3, 1);
    case TensorElement::e3m2:
      return small_float(bits & 63, 3, 2, 3);
    case TensorElement::e2m1:
      return small_float(bits & 15, 2, 1, 1);
    case TensorElement::f16:
    case TensorElement::bf16:
    case TensorElement::tf32:
    case TensorElement::u8:
    case TensorElement::s8:
    case TensorElement::f32:
    case TensorElement::s32:
      break;
  }
  WG_ASSERT(!"a type of at most 8 bits");
  return 0;
}

// All numbers of a type of at most 8 bits.
struct ByteNumbers {
  float of[256];
  explicit ByteNumbers(TensorElement type) {
    for (unsigned v = 0; v < 256; ++v) of[v] = byte_float(v, type);
  }
};

const float* byte_numbers(TensorElement type) {
  static const ByteNumbers e4m3(TensorElement::e4m3), e5m2(TensorElement::e5m2), e2m3(TensorElement::e2m3),
      e3m2(TensorElement::e3m2), e2m1(TensorElement::e2m1);
  switch (type) {
    case TensorElement::e4m3:
      return e4m3.of;
    case TensorElement::e5m2:
      return e5m2.of;
    case TensorElement::e2m3:
      return e2m3.of;
    case TensorElement::e3m2:
      return e3m2.of;
    default:
      return e2m1.of;
  }
}

// Bits in the type itself, without padding.
unsigned plain_bits(TensorElement type) {
  if (type == TensorElement::e2m1) return 4;
  return type == TensorElement::e2m3 || type == TensorElement::e3m2 ? 6 : 8;
}

// An element of 4 or 6 bits lies in the middle of its byte (seen on a B200: CUTLASS, cp_narrow_a_to_tmem_mma.py).
unsigned in_byte(unsigned bits, unsigned element_bits) {
  return bits << (8 - element_bits) / 2;
}

unsigned small_bits(const std::uint8_t* in, unsigned i, TensorElement type, bool two_in_byte, bool packed) {
  const unsigned bits = plain_bits(type);
  if (bits == 8) return in[i];
  if (two_in_byte) return in[i / 2] >> 4 * (i % 2) & 15;
  if (packed) return packed_element(in + i / 16 * 16, i % 16, bits);
  return in[i] >> (8 - bits) / 2 & ((1u << bits) - 1);
}

template <class Number>
void unpack_floats(Number* out, const std::uint8_t* in, unsigned count, TensorElement type, TensorKind kind,
                   bool packed) {
  const auto half = [&](unsigned i) {
    std::uint16_t h;
    std::memcpy(&h, in + 2 * std::size_t{i}, 2);
    return h;
  };
  switch (type) {
    case TensorElement::f16:
      for (unsigned i = 0; i < count; ++i) out[i] = static_cast<Number>(half_to_float(half(i)));
      return;
    case TensorElement::bf16:
      for (unsigned i = 0; i < count; ++i)
        out[i] = static_cast<Number>(std::bit_cast<float>(std::uint32_t{half(i)} << 16));
      return;
    case TensorElement::tf32:
      for (unsigned i = 0; i < count; ++i) {
        std::uint32_t w;
        std::memcpy(&w, in + 4 * std::size_t{i}, 4);
        out[i] = static_cast<Number>(std::bit_cast<float>(w & 0xffffe000u));
      }
      return;
    case TensorElement::e4m3:
    case TensorElement::e5m2:
    case TensorElement::e2m3:
    case TensorElement::e3m2:
    case TensorElement::e2m1: {
      const float* const number = byte_numbers(type);
      const bool two = tensor_element_bits(type, kind) == 4;
      for (unsigned i = 0; i < count; ++i) out[i] = static_cast<Number>(number[small_bits(in, i, type, two, packed)]);
      return;
    }
    case TensorElement::u8:
    case TensorElement::s8:
    case TensorElement::f32:
    case TensorElement::s32:
      break;
  }
  WG_ASSERT(!"a type of floating-point matrices");
}

}  // namespace

TensorLayout tensor_layout(const TensorForm& form, const TensorProduct& p) {
  TensorLayout l;
  l.rows = form.pair ? p.m / 2 : p.m;
  l.columns = p.n;
  const bool whole = l.rows == 128;                                   // layouts A and D
  const bool half = !form.stationary && (!form.pair || form.sparse);  // C and F; otherwise B, E and G
  if (!whole && half) l.half_quarters = true;
  if (!whole && !half) l.across = 128 / l.rows, l.lanes_apart = l.rows;
  return l;
}

void unpack_tensor(float* out, const std::uint8_t* in, unsigned count, TensorElement type, TensorKind kind,
                   bool packed) {
  unpack_floats(out, in, count, type, kind, packed);
}

void unpack_tensor(double* out, const std::uint8_t* in, unsigned count, TensorElement type, TensorKind kind,
                   bool packed) {
  unpack_floats(out, in, count, type, kind, packed);
}

void unpack_tensor(std::int32_t* out, const std::uint8_t* in, unsigned count, TensorElement type, TensorKind, bool) {
  if (type == TensorElement::s8)
    for (unsigned i = 0; i < count; ++i) out[i] = static_cast<std::int8_t>(in[i]);
  else
    for (unsigned i = 0; i < count; ++i) out[i] = in[i];
}

void spread_elements(std::uint8_t* out, const std::uint8_t* in, unsigned bits) {
  for (unsigned i = 0; i < 16; ++i) out[i] = static_cast<std::uint8_t>(in_byte(packed_element(in, i, bits), bits));
}

double scale_factor(std::uint8_t bits, ScaleElement type) {
  if (type == ScaleElement::ue8m0) return bits == 0xff ? std::nan("") : std::ldexp(1.0, int{bits} - 127);
  return bits >= 0x7f ? std::nan("") : static_cast<double>(small_float(bits, 4, 3, 7));
}

void multiply_tensor(TensorFactors<float>& m, unsigned rows, unsigned columns, unsigned depth) {
  add_products(m.sums, m.a, m.b, rows, columns, depth);
}

void multiply_tensor(TensorFactors<double>& m, unsigned rows, unsigned columns, unsigned depth) {
  add_products(m.sums, m.a, m.b, rows, columns, depth);
}

void multiply_tensor(TensorFactors<std::int32_t>& m, unsigned rows, unsigned columns, unsigned depth, bool saturate) {
  const std::size_t count = std::size_t{rows} * columns;
  std::copy_n(m.sums, count, m.linear);
  std::fill_n(m.sums, count, 0);
  add_products(m.sums, m.a, m.b, rows, columns, depth);
  add_integers(m.sums, m.linear, count, saturate);
}

float tensor_sum(std::uint32_t word, TensorElement type) {
  return type == TensorElement::f16 ? half_to_float(static_cast<std::uint16_t>(word)) : std::bit_cast<float>(word);
}

std::uint32_t tensor_word(float sum, TensorElement type) {
  if (type == TensorElement::f16) return float_to_half(sum);
  return std::isnan(sum) ? 0x7fffffffu : std::bit_cast<std::uint32_t>(sum);
}

}  // namespace warpgrind::jit
