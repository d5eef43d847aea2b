#include "debugger/scalar_text.h"

#include <algorithm>
#include <bit>

namespace warpgrind::debugger {

namespace {

// Digits of base 2^bits_per_digit.
std::string digits_of(unsigned __int128 value, unsigned bits_per_digit) {
  std::string digits;
  const unsigned mask = (1u << bits_per_digit) - 1;
  do {
    digits.push_back("0123456789abcdef"[static_cast<unsigned>(value) & mask]);
    value >>= bits_per_digit;
  } while (value != 0);
  std::ranges::reverse(digits);
  return digits;
}

std::string escaped_character(std::uint8_t c, char quote) {
  switch (c) {
    case '\n':
      return "\\n";
    case '\t':
      return "\\t";
    case '\r':
      return "\\r";
    case '\a':
      return "\\a";
    case '\b':
      return "\\b";
    case '\f':
      return "\\f";
    case '\v':
      return "\\v";
    case 27:
      return "\\033";
    case '\\':
      return "\\\\";
    default:
      break;
  }
  if (c == static_cast<std::uint8_t>(quote)) return std::string("\\") + quote;
  if (c >= ' ' && c < 127) return std::string(1, static_cast<char>(c));
  const std::string digits = digits_of(c, 3);
  return "\\" + std::string(3 - digits.size(), '0') + digits;
}

bool is_floating_format(NumberFormat format) {
  return format >= NumberFormat::floating;
}

std::string natural_number(const NumberLayout& layout, unsigned __int128 bits) {
  const Number number = decode_bits(layout, bits);
  if (number.is_floating()) return floating_text(layout, number, bits);
  if (layout.format == NumberFormat::boolean && (number.integer == 0 || number.integer == 1))
    return number.integer ? "true" : "false";
  if (layout.format == NumberFormat::character && layout.bits() == 8)
    return integer_text(number) + " " + character_text(static_cast<std::uint8_t>(bits));
  return integer_text(number);
}

// The bits as a floating number of that size; integers of other sizes as they are.
std::string as_floating(NumberLayout layout, unsigned __int128 bits) {
  if (!is_floating_format(layout.format) && (layout.bits() == 16 || layout.bits() == 32 || layout.bits() == 64))
    layout.format = layout.bits() == 16 ? NumberFormat::half : NumberFormat::floating;
  return natural_number(layout, bits);
}

}  // namespace

std::string hexadecimal_text(unsigned __int128 value) {
  return "0x" + digits_of(value, 4);
}

std::string character_text(std::uint8_t character) {
  return "'" + escaped_character(character, '\'') + "'";
}

std::string number_text(const NumberLayout& layout, unsigned __int128 bits, Format format) {
  const std::uint32_t width = layout.bits();
  if (width < 128) bits &= (static_cast<unsigned __int128>(1) << width) - 1;
  NumberLayout integer = layout;
  integer.format = NumberFormat::unsigned_integer;
  switch (format) {
    case Format::natural:
    case Format::string:
      return natural_number(layout, bits);
    case Format::hexadecimal:
    case Format::address:
      return hexadecimal_text(bits);
    case Format::octal:
      return bits == 0 ? "0" : "0" + digits_of(bits, 3);
    case Format::binary:
      return digits_of(bits, 1);
    case Format::decimal:
      integer.is_signed = true;
      break;
    case Format::unsigned_decimal:
      integer.is_signed = false;
      break;
    case Format::character:
      integer.is_signed = layout.is_signed;
      return integer_text(decode_bits(integer, bits)) + " " + character_text(static_cast<std::uint8_t>(bits));
    case Format::floating:
      return as_floating(layout, bits);
  }
  return integer_text(decode_bits(integer, bits));
}

std::string enumeration_text(const Type& type, const Number& number) {
  const std::string scope = type.is_scoped && !type.name.empty() ? type.name + "::" : "";
  for (const debuginfo::Enumerator& e : type.enumerators)
    if (static_cast<__int128>(e.value) == number.integer) return scope + e.name;
  // Flags: all enumerators are 0 or one bit each. Others print as numbers.
  std::uint64_t seen = 0, rest = static_cast<std::uint64_t>(number.integer);
  std::string text;
  for (const debuginfo::Enumerator& e : type.enumerators) {
    const auto bit = static_cast<std::uint64_t>(e.value);
    if (bit == 0) continue;
    if (std::popcount(bit) != 1 || e.value < 0) return integer_text(number);
    if (!(seen & bit) && (rest & bit)) {
      text += (text.empty() ? "" : " | ") + scope + e.name;
      rest &= ~bit;
    }
    seen |= bit;
  }
  if (seen == 0 || number.integer <= 0) return integer_text(number);
  if (rest != 0) text += (text.empty() ? "unknown: " : " | unknown: ") + hexadecimal_text(rest);
  return "(" + text + ")";
}

std::string string_text(std::span<const std::uint8_t> text, std::uint32_t repeats, bool is_cut) {
  std::string result, run;
  const auto end_run = [&] {
    if (run.empty()) return;
    result += (result.empty() ? "\"" : ", \"") + run + "\"";
    run.clear();
  };
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && text[end] == text[i]) ++end;
    if (end - i > repeats) {
      end_run();
      result +=
          (result.empty() ? "" : ", ") + character_text(text[i]) + " <repeats " + std::to_string(end - i) + " times>";
    } else {
      for (std::size_t j = i; j < end; ++j) run += escaped_character(text[i], '"');
    }
    i = end;
  }
  end_run();
  if (result.empty()) result = "\"\"";
  return is_cut ? result + "..." : result;
}

}  // namespace warpgrind::debugger
