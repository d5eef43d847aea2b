// Numbers, characters, enumerators and pointers as text.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "debugger/format.h"
#include "debugger/number.h"

namespace warpgrind::debugger {

// `bits`: one component of a type with that layout.
std::string number_text(const NumberLayout& layout, unsigned __int128 bits, Format format);
// "green", "(read | write)", "7"
std::string enumeration_text(const Type& type, const Number& number);
// "'a'", "'\\000'"
std::string character_text(std::uint8_t character);
// "\"abc\", 'x' <repeats 20 times>, \"d\"". `is_cut`: there would be more.
std::string string_text(std::span<const std::uint8_t> text, std::uint32_t repeats, bool is_cut);
std::string hexadecimal_text(unsigned __int128 value);

}  // namespace warpgrind::debugger
