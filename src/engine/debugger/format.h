// Values as text, as gdb prints them, and as trees.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "debugger/value.h"

namespace warpgrind::debugger {

// The letters behind `print /`.
enum class Format : std::uint8_t {
  natural,
  hexadecimal,       // x: of floating numbers too, the bits
  decimal,           // d
  unsigned_decimal,  // u
  octal,             // o
  binary,            // t
  character,         // c
  floating,          // f: the bits as a number of that size
  address,           // a
  string,            // s: characters up to a zero
};
std::optional<Format> format_of_letter(char letter);

struct TextOptions {
  Format format = Format::natural;
  std::uint32_t elements = 200;    // of all arrays and texts in the value together; then "..."
  std::uint32_t repeats = 10;      // so many equal elements are written once
  bool describes_pointers = true;  // says what a pointer points to
  bool types_pointers = true;      // "(int *) " before a pointer
};

// `{x = 1, y = {0 <repeats 15 times>, 1}}`. What cannot be read is `<error: ...>`, and ends with it.
std::string text_of(LaneContext context, const Value& value, const TextOptions& options = {});

// One row of a tree of variables.
struct Child {
  std::string name;   // "x", "[3]", "*p", "Base", or "" for an anonymous union
  Value value;        // not read yet
  std::string error;  // there is no value
  std::string path;   // expression for it, from the expression for the parent; empty: there is none
};

// Members and elements of a value; of a pointer those of what it points to, or its one target. Computed without
// reading.
std::uint64_t child_count(const TypeTable& types, const Value& value);
// Children first ... first+count-1. `path`: an expression for the value.
std::vector<Child> children(LaneContext context, const Value& value, std::string_view path, std::uint64_t first,
                            std::uint64_t count);

}  // namespace warpgrind::debugger
