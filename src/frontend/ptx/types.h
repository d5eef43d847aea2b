// PTX scalar types (PTX ISA, "Fundamental Types" and "Alternate Floating-Point Data Formats").
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace warpgrind::ptx {

enum class ScalarType : std::uint8_t {
  none,
  b8,
  b16,
  b32,
  b64,
  b128,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  f16,
  f16x2,
  bf16,
  bf16x2,
  tf32,
  f32,
  f32x2,
  f64,
  u16x2,
  s16x2,
  u8x4,
  s8x4,
  e4m3,
  e5m2,
  e4m3x2,
  e5m2x2,
  e4m3x4,
  e5m2x4,
  e2m1x2,
  e2m1x4,
  e2m3x2,
  e2m3x4,
  e3m2x2,
  e3m2x4,
  ue8m0,
  ue8m0x2,
  ue4m3,
  u4,
  s4,
  u2,
  s2,
  b1,
  e2m1,
  e2m3,
  e3m2,
  pred,
  texref,
  samplerref,
  surfref,
};

// Bits of a value of the type in memory. pred: 1; the opaque references: 64; none: 0.
unsigned bits(ScalarType type);
inline unsigned bytes(ScalarType type) {
  return (bits(type) + 7) / 8;
}
bool is_signed(ScalarType type);    // s8..s64 and packed signed
bool is_unsigned(ScalarType type);  // u8..u64 and packed unsigned
bool is_bits(ScalarType type);      // b8..b128
bool is_float(ScalarType type);     // f16, bf16, tf32, f32, f64 and the packed forms
inline bool is_integer(ScalarType type) {
  return is_signed(type) || is_unsigned(type) || is_bits(type);
}

std::string_view name(ScalarType type);  // "u32", without the dot
std::optional<ScalarType> scalar_type_from_name(std::string_view text);

}  // namespace warpgrind::ptx
