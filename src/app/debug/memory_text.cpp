// Memory as text.
#include "debug/memory_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/printable.h"

namespace warpgrind::debug {

namespace {

template <class T>
T load(const std::uint8_t* bytes) {
  T out;
  std::memcpy(&out, bytes, sizeof out);
  return out;
}

std::uint64_t load_bits(const std::uint8_t* bytes, unsigned size) {
  std::uint64_t out = 0;
  std::memcpy(&out, bytes, size);
  return out;
}

std::int64_t load_signed(const std::uint8_t* bytes, unsigned size) {
  const unsigned unused = 64 - 8 * size;
  return static_cast<std::int64_t>(load_bits(bytes, size) << unused) >> unused;
}

double half_value(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const double fraction = bits & 1023;
  double out = exponent == 0    ? std::ldexp(fraction, -24)
               : exponent == 31 ? (fraction != 0 ? std::nan("") : HUGE_VAL)
                                : std::ldexp(1024 + fraction, exponent - 25);
  return (bits & 0x8000) != 0 ? -out : out;
}

std::string float_text(const std::uint8_t* bytes, unsigned size) {
  if (size == 8) return fmt::format("{}", load<double>(bytes));
  if (size == 4) return fmt::format("{}", load<float>(bytes));
  return fmt::format("{}", half_value(load<std::uint16_t>(bytes)));
}

std::string character_text(std::int64_t value) {
  constexpr std::array<std::pair<char, const char*>, 6> kEscapes = {
      {{'\n', "\\n"}, {'\t', "\\t"}, {'\r', "\\r"}, {'\0', "\\000"}, {'\'', "\\'"}, {'\\', "\\\\"}}};
  const char c = static_cast<char>(value);
  for (const auto& [character, text] : kEscapes)
    if (c == character) return fmt::format("{} '{}'", value, text);
  if (c >= ' ' && c < 127) return fmt::format("{} '{}'", value, c);
  return fmt::format("{} '\\{:03o}'", value, static_cast<unsigned char>(c));
}

std::string element_text(const std::uint8_t* bytes, const MemoryFormat& format) {
  const unsigned size = format.size;
  const std::uint64_t bits = load_bits(bytes, size);
  switch (format.letter) {
    case 'd':
      return fmt::format("{}", load_signed(bytes, size));
    case 'u':
      return fmt::format("{}", bits);
    case 'o':
      return bits == 0 ? "0" : fmt::format("0{:o}", bits);
    case 't':
      return fmt::format("{:0{}b}", bits, 8 * size);
    case 'c':
      return character_text(load_signed(bytes, size));
    case 'f':
      return float_text(bytes, size);
    case 'a':
      return fmt::format("{:#x}", bits);
    default:
      return fmt::format("0x{:0{}x}", bits, 2 * size);
  }
}

std::string text_lines(std::uint64_t address, const std::vector<std::uint8_t>& bytes) {
  const auto end = std::find(bytes.begin(), bytes.end(), 0);
  const std::string text(bytes.begin(), end);
  return fmt::format("{:#x}:\t\"{}\"{}\n", address, printable(text), end == bytes.end() ? "..." : "");
}

}  // namespace

Result<MemoryFormat> read_memory_format(std::string_view text, MemoryFormat before) {
  MemoryFormat out = before;
  out.count = 1;
  constexpr std::uint64_t kMost = 1 << 20;
  std::size_t at = 0;
  bool counted = false, sized = false;
  std::uint64_t count = 0;
  for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) {
    count = std::min(count * 10 + static_cast<std::uint64_t>(text[at] - '0'), kMost + 1);
    counted = true;
  }
  if (counted) out.count = count;
  if (out.count > kMost) return Error{ErrorKind::bad_input, fmt::format("at most {} elements", kMost), ""};
  for (; at < text.size(); ++at) {
    const std::string_view sizes = "bhwg";
    if (const auto size = sizes.find(text[at]); size != std::string_view::npos) {
      out.size = 1u << size;
      sized = true;
    } else if (std::string_view("xduotcfasi").find(text[at]) != std::string_view::npos) {
      out.letter = text[at];
    } else {
      return Error{ErrorKind::bad_input,
                   fmt::format("\"{}\" is no format: a count, one of x d u o t c f a s i, and one of b h w g", text),
                   ""};
    }
  }
  if (out.letter == 'c' && !sized) out.size = 1;
  if (out.letter == 'a') out.size = 8;
  if (out.letter == 'f' && out.size == 1 && !sized) out.size = 4;
  if (out.letter == 'f' && out.size == 1) return Error{ErrorKind::bad_input, "format f needs the size h, w or g", ""};
  return out;
}

std::optional<std::vector<std::uint8_t>> decode_base64(std::string_view text) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  while (!text.empty() && text.back() == '=') text.remove_suffix(1);
  std::vector<std::uint8_t> out;
  std::uint32_t bits = 0;
  unsigned known = 0;
  for (const char c : text) {
    const std::size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    known += 6;
    if (known < 8) continue;
    known -= 8;
    out.push_back(static_cast<std::uint8_t>(bits >> known));
  }
  return out;
}

std::string memory_lines(std::uint64_t address, const std::vector<std::uint8_t>& bytes, const MemoryFormat& format) {
  if (format.letter == 's') return text_lines(address, bytes);
  // As many in a line as gdb prints.
  const std::uint64_t in_line = format.letter == 't'   ? (format.size < 4 ? 8 / format.size : 16 / format.size / 2)
                                : format.letter == 'a' ? 2
                                : format.size == 8     ? 2
                                : format.size == 4     ? 4
                                                       : 8;
  std::string out;
  const std::uint64_t there = std::min<std::uint64_t>(format.count, bytes.size() / format.size);
  for (std::uint64_t i = 0; i < there; ++i) {
    if (i % in_line == 0) out += fmt::format("{}{:#x}:", i == 0 ? "" : "\n", address + i * format.size);
    out += "\t" + element_text(bytes.data() + i * format.size, format);
  }
  if (!out.empty()) out += "\n";
  if (there < format.count)
    out += fmt::format("Cannot access memory at address {:#x}\n", address + there * format.size);
  return out;
}

}  // namespace warpgrind::debug
