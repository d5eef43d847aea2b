#include "debugger/number.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

#include "gpu/half.h"
#include "jit/calls/conversion.h"

namespace warpgrind::debugger {

namespace {

// A binary format with a sign bit above `exponent` and `mantissa` bits.
struct FloatShape {
  int exponent, mantissa, bias;
  enum class Top : std::uint8_t {
    ieee,     // the largest exponent is infinity and NaN
    one_nan,  // only all ones are NaN, and there is no infinity: E4M3
    finite,   // neither: fp6, fp4
  } top;
};

std::optional<FloatShape> shape_of(NumberFormat format) {
  switch (format) {
    case NumberFormat::half:
      return FloatShape{5, 10, 15, FloatShape::Top::ieee};
    case NumberFormat::bfloat16:
      return FloatShape{8, 7, 127, FloatShape::Top::ieee};
    case NumberFormat::fp8_e4m3:
      return FloatShape{4, 3, 7, FloatShape::Top::one_nan};
    case NumberFormat::fp8_e5m2:
      return FloatShape{5, 2, 15, FloatShape::Top::ieee};
    case NumberFormat::fp6_e2m3:
      return FloatShape{2, 3, 1, FloatShape::Top::finite};
    case NumberFormat::fp6_e3m2:
      return FloatShape{3, 2, 3, FloatShape::Top::finite};
    case NumberFormat::fp4_e2m1:
      return FloatShape{2, 1, 1, FloatShape::Top::finite};
    case NumberFormat::none:
    case NumberFormat::boolean:
    case NumberFormat::character:
    case NumberFormat::signed_integer:
    case NumberFormat::unsigned_integer:
    case NumberFormat::floating:
    case NumberFormat::fp8_e8m0:
      return std::nullopt;
  }
  return std::nullopt;
}

double decode_small(const FloatShape& shape, std::uint32_t bits) {
  const std::uint32_t mantissa_mask = (1u << shape.mantissa) - 1, exponent_mask = (1u << shape.exponent) - 1;
  const std::uint32_t mantissa = bits & mantissa_mask, exponent = bits >> shape.mantissa & exponent_mask;
  const double sign = bits >> (shape.mantissa + shape.exponent) & 1 ? -1.0 : 1.0;
  const bool is_top = exponent == exponent_mask;
  if (is_top && shape.top == FloatShape::Top::ieee)
    return std::copysign(mantissa ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity(),
                         sign);
  if (is_top && shape.top == FloatShape::Top::one_nan && mantissa == mantissa_mask)
    return std::copysign(std::numeric_limits<double>::quiet_NaN(), sign);
  const int power = (exponent ? static_cast<int>(exponent) : 1) - shape.bias - shape.mantissa;
  return sign * std::ldexp(static_cast<double>(mantissa + (exponent ? mantissa_mask + 1 : 0)), power);
}

std::optional<jit::SmallFormat> small_format(NumberFormat format) {
  switch (format) {
    case NumberFormat::half:
      return jit::SmallFormat::f16;
    case NumberFormat::bfloat16:
      return jit::SmallFormat::bf16;
    case NumberFormat::fp8_e4m3:
      return jit::SmallFormat::e4m3;
    case NumberFormat::fp8_e5m2:
      return jit::SmallFormat::e5m2;
    case NumberFormat::fp6_e2m3:
      return jit::SmallFormat::e2m3;
    case NumberFormat::fp6_e3m2:
      return jit::SmallFormat::e3m2;
    case NumberFormat::fp4_e2m1:
      return jit::SmallFormat::e2m1;
    case NumberFormat::none:
    case NumberFormat::boolean:
    case NumberFormat::character:
    case NumberFormat::signed_integer:
    case NumberFormat::unsigned_integer:
    case NumberFormat::floating:
    case NumberFormat::fp8_e8m0:
      return std::nullopt;
  }
  return std::nullopt;
}

// E8M0: 2^(bits - 127), 255 is NaN. Between two powers the nearer one is taken, the upper one in the middle.
std::uint32_t encode_e8m0(double value) {
  if (std::isnan(value)) return 0xff;
  value = std::fabs(value);
  if (value == 0) return 0;
  if (std::isinf(value)) return 0xfe;
  int power = 0;
  const double part = std::frexp(value, &power);  // 0.5 ... 1
  return static_cast<std::uint32_t>(std::clamp(power - 1 + (part >= 0.75) + 127, 0, 0xfe));
}

// The C cast of a double: infinite where the number is out of the range of the format. round_to_format() saturates.
std::uint32_t encode_small(NumberFormat format, const FloatShape& shape, double value) {
  const std::uint32_t rounded = jit::round_to_format(value, *small_format(format));
  if (shape.top != FloatShape::Top::ieee || std::isnan(value)) return rounded;
  const double limit = decode_small(shape, rounded);
  const double half_step =
      std::ldexp(1.0, static_cast<int>((1u << shape.exponent) - 2) - shape.bias - shape.mantissa - 1);
  const std::uint32_t infinity = ((1u << shape.exponent) - 1) << shape.mantissa;
  const bool is_largest = (rounded & (infinity | ((1u << shape.mantissa) - 1))) == infinity - 1;
  const bool fp8 = format == NumberFormat::fp8_e5m2;  // its conversions of cuda_fp8.h saturate
  if (!fp8 && is_largest && std::fabs(value) >= std::fabs(limit) + half_step) return rounded + 1;
  return rounded;
}

template <class Float>
std::string shortest(Float value) {
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, value);
  return {text, end.ptr};
}

std::string hex_text(unsigned __int128 value) {
  std::string digits;
  do {
    digits.insert(digits.begin(), "0123456789abcdef"[static_cast<unsigned>(value & 15)]);
    value >>= 4;
  } while (value != 0);
  return "0x" + digits;
}

// Decimal digits that distinguish the numbers of a format: 1.1 of half is 1.09960938, and "1.1" reads back as it.
std::string shortest_small(const NumberLayout& layout, double value, unsigned __int128 bits) {
  char text[64];
  // Rounding to a format without infinities makes its largest number of all beyond it.
  const bool is_largest = value != 0 && encode_bits(layout, Number::from_double(2 * value)) == bits;
  for (int digits = 1; digits <= 17; ++digits) {
    const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::general, digits);
    double back = 0;
    std::from_chars(text, end.ptr, back);
    if (is_largest && std::fabs(back) > std::fabs(value)) continue;
    if (encode_bits(layout, Number::from_double(back)) == bits) {
      // Small whole numbers are written out: 448 and not 4e+02.
      if (std::fabs(value) < 1e6 && value == std::floor(value)) return shortest(value);
      return {text, end.ptr};
    }
  }
  return shortest(value);
}

}  // namespace

double Number::as_double() const {
  if (is_floating()) return floating;
  return kind == Kind::unsigned_integer ? static_cast<double>(static_cast<unsigned __int128>(integer))
                                        : static_cast<double>(integer);
}

__int128 Number::as_integer() const {
  if (!is_floating()) return integer;
  if (std::isnan(floating)) return 0;
  constexpr double limit = 9223372036854775808.0;  // 2^63
  if (floating >= 2 * limit) return std::numeric_limits<std::uint64_t>::max();
  if (floating < -limit) return std::numeric_limits<std::int64_t>::min();
  return static_cast<__int128>(floating);
}

std::optional<NumberLayout> number_layout(const TypeTable& types, TypeId id) {
  const Type* t = &types.stripped(id);
  NumberLayout layout{t->format, t->size, t->components, t->format == NumberFormat::signed_integer};
  if (t->kind == TypeKind::enumeration) {
    layout.format = NumberFormat::unsigned_integer;
    for (const debuginfo::Enumerator& e : t->enumerators) layout.is_signed |= e.value < 0;
    if (t->target != kVoidType) {
      const Type& underlying = types.stripped(t->target);
      layout.is_signed = underlying.format == NumberFormat::signed_integer;
      if (layout.bytes == 0) layout.bytes = underlying.size;
      if (underlying.format == NumberFormat::boolean) layout.format = NumberFormat::boolean;
    }
    if (layout.is_signed) layout.format = NumberFormat::signed_integer;
    layout.components = 1;
  } else if (types.is_pointer(id)) {
    layout = {NumberFormat::unsigned_integer, t->size ? t->size : 8, 1, false};
  }
  // Characters of 16 and 32 bits are unsigned, and char is signed, as on the device.
  if (layout.format == NumberFormat::character)
    layout.is_signed = t->size == 1 && !t->name.starts_with("unsigned") && t->name != "char8_t";
  if (layout.format == NumberFormat::none || layout.bytes == 0 || layout.bytes > 16 || layout.components == 0 ||
      layout.components > 16 || layout.bytes * 8 / layout.components < 4)
    return std::nullopt;
  const std::uint32_t bits = layout.bits();
  switch (layout.format) {
    case NumberFormat::floating:
      if (bits != 16 && bits != 32 && bits != 64) return std::nullopt;
      break;
    case NumberFormat::half:
    case NumberFormat::bfloat16:
      if (bits != 16) return std::nullopt;
      break;
    case NumberFormat::fp8_e4m3:
    case NumberFormat::fp8_e5m2:
    case NumberFormat::fp8_e8m0:
      if (bits != 8) return std::nullopt;
      break;
    case NumberFormat::fp6_e2m3:
    case NumberFormat::fp6_e3m2:
      if (bits < 6 || bits > 8) return std::nullopt;
      break;
    case NumberFormat::fp4_e2m1:
      if (bits > 8) return std::nullopt;
      break;
    case NumberFormat::none:
    case NumberFormat::boolean:
    case NumberFormat::character:
    case NumberFormat::signed_integer:
    case NumberFormat::unsigned_integer:
      break;
  }
  return layout;
}

unsigned __int128 bits_of(std::span<const std::uint8_t> bytes) {
  unsigned __int128 bits = 0;
  for (std::size_t i = std::min<std::size_t>(bytes.size(), 16); i > 0; --i) bits = bits << 8 | bytes[i - 1];
  return bits;
}

void put_bits(unsigned __int128 bits, std::span<std::uint8_t> bytes) {
  for (std::uint8_t& byte : bytes) {
    byte = static_cast<std::uint8_t>(bits & 0xff);
    bits >>= 8;
  }
}

Number decode_bits(const NumberLayout& layout, unsigned __int128 bits) {
  const std::uint32_t width = layout.bits();
  const auto low = static_cast<std::uint64_t>(bits);
  if (layout.format == NumberFormat::floating) {
    if (width == 32) return Number::from_double(std::bit_cast<float>(static_cast<std::uint32_t>(low)));
    if (width == 64) return Number::from_double(std::bit_cast<double>(low));
    return Number::from_double(half_to_float(static_cast<std::uint16_t>(low)));
  }
  if (layout.format == NumberFormat::fp8_e8m0)
    return Number::from_double((low & 0xff) == 0xff ? std::numeric_limits<double>::quiet_NaN()
                                                    : std::ldexp(1.0, static_cast<int>(low & 0xff) - 127));
  if (const auto shape = shape_of(layout.format))
    return Number::from_double(decode_small(*shape, static_cast<std::uint32_t>(low)));
  if (width < 128) bits &= (static_cast<unsigned __int128>(1) << width) - 1;
  if (layout.is_signed) {
    const auto up = static_cast<__int128>(bits << (128 - width));
    return {.kind = Number::Kind::signed_integer, .integer = up >> (128 - width)};
  }
  return {.kind = Number::Kind::unsigned_integer, .integer = static_cast<__int128>(bits)};
}

std::optional<Number> decode(const NumberLayout& layout, std::span<const std::uint8_t> bytes, std::uint32_t index) {
  if (bytes.size() < layout.bytes || index >= layout.components) return std::nullopt;
  return decode_bits(layout, bits_of(bytes.first(layout.bytes)) >> (index * layout.bits()));
}

unsigned __int128 encode_bits(const NumberLayout& layout, const Number& number) {
  const std::uint32_t width = layout.bits();
  if (layout.format == NumberFormat::floating) {
    const double value = number.as_double();
    if (width == 64) return std::bit_cast<std::uint64_t>(value);
    if (width == 32) return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    return encode_small(NumberFormat::half, *shape_of(NumberFormat::half), value);
  }
  if (layout.format == NumberFormat::fp8_e8m0) return encode_e8m0(number.as_double());
  if (const auto shape = shape_of(layout.format)) return encode_small(layout.format, *shape, number.as_double());
  if (layout.format == NumberFormat::boolean) return number.is_zero() ? 0 : 1;
  const auto bits = static_cast<unsigned __int128>(number.as_integer());
  return width < 128 ? bits & ((static_cast<unsigned __int128>(1) << width) - 1) : bits;
}

std::string floating_text(const NumberLayout& layout, const Number& number, unsigned __int128 bits) {
  const double value = number.floating;
  const std::string sign = std::signbit(value) ? "-" : "";
  if (std::isinf(value)) return sign + "inf";
  if (layout.format == NumberFormat::floating && layout.bits() >= 32) {
    if (std::isnan(value))
      return sign + "nan(" + hex_text(bits & (layout.bits() == 32 ? 0x7f'ffff : 0xf'ffff'ffff'ffff)) + ")";
    return layout.bits() == 32 ? shortest(static_cast<float>(value)) : shortest(value);
  }
  if (std::isnan(value)) return "nan";
  const std::uint32_t used = layout.format == NumberFormat::fp4_e2m1 ? 4
                             : layout.format == NumberFormat::fp6_e2m3 || layout.format == NumberFormat::fp6_e3m2
                                 ? 6
                                 : layout.bits();
  // There are few numbers of up to 8 bits: "1.2" would read back as 1.25, but is not what one computes with.
  if (used <= 8) return shortest(static_cast<float>(value));
  return shortest_small(layout, value, bits & ((static_cast<unsigned __int128>(1) << used) - 1));
}

std::string integer_text(const Number& number) {
  auto value = static_cast<unsigned __int128>(number.integer);
  const bool negative = number.kind == Number::Kind::signed_integer && number.integer < 0;
  if (negative) value = 0 - value;
  std::string digits;
  do {
    digits.insert(digits.begin(), static_cast<char>('0' + static_cast<unsigned>(value % 10)));
    value /= 10;
  } while (value != 0);
  return negative ? "-" + digits : digits;
}

}  // namespace warpgrind::debugger
