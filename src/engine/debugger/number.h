// Numbers as an expression computes with them, and their bits in each format of CUDA's headers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "debugger/type_table.h"

namespace warpgrind::debugger {

struct Number {
  enum class Kind : std::uint8_t { signed_integer, unsigned_integer, floating };
  Kind kind = Kind::signed_integer;
  __int128 integer = 0;  // the value; of unsigned __int128 its bits
  double floating = 0;   // exact for all formats up to double

  static Number from(std::int64_t value) { return {.kind = Kind::signed_integer, .integer = value}; }
  static Number from_unsigned(std::uint64_t value) { return {.kind = Kind::unsigned_integer, .integer = value}; }
  static Number from_double(double value) { return {.kind = Kind::floating, .floating = value}; }

  bool is_floating() const { return kind == Kind::floating; }
  bool is_zero() const { return is_floating() ? floating == 0 : integer == 0; }
  double as_double() const;
  // As a C cast; a floating number out of range saturates, and a NaN becomes 0.
  __int128 as_integer() const;
};

// How the number of a type lies in its bytes.
struct NumberLayout {
  NumberFormat format = NumberFormat::none;
  std::uint64_t bytes = 0;  // of all components
  std::uint32_t components = 1;
  bool is_signed = false;
  std::uint32_t bits() const { return components ? static_cast<std::uint32_t>(bytes * 8 / components) : 0; }
};

// Empty: the type is no number, or one that is not read here (more than 16 bytes; a `long double` of 16).
std::optional<NumberLayout> number_layout(const TypeTable& types, TypeId id);

// `bits`: those of one component, in the low bits.
Number decode_bits(const NumberLayout& layout, unsigned __int128 bits);
// Component `index` of the bytes of a type.
std::optional<Number> decode(const NumberLayout& layout, std::span<const std::uint8_t> bytes, std::uint32_t index = 0);
// The bits of the number converted to the format, as a C cast; floating formats round to nearest even.
unsigned __int128 encode_bits(const NumberLayout& layout, const Number& number);

unsigned __int128 bits_of(std::span<const std::uint8_t> bytes);  // little-endian, at most 16 bytes
void put_bits(unsigned __int128 bits, std::span<std::uint8_t> bytes);

// "1.5", "1e+20", "nan(0x400000)": the shortest text that reads back as the same number of that format.
std::string floating_text(const NumberLayout& layout, const Number& number, unsigned __int128 bits);
std::string integer_text(const Number& number);

}  // namespace warpgrind::debugger
