// Decoder and printer of an opcode's suffixes: "ld.global.nc.v4.f32" <-> opcode, space, vector, types, modifiers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ptx/ast.h"

namespace warpgrind::ptx {

// Instruction::suffix_order is a leading 1 bit, then two bits for each suffix in the order written.
enum class SuffixKind : std::uint8_t { modifier, type, space, vector };

struct Spelling {
  Opcode opcode{};
  StateSpace space = StateSpace::none;
  std::uint8_t vector = 1;
  std::vector<ScalarType> types;
  std::vector<Modifier> modifiers;
  std::uint64_t suffix_order = 1;
};

// The unreadable part of the text, and the reason. Empty `part`: the opcode itself is unknown.
struct SpellingError {
  std::string_view part;
  const char* why = "";
};

// Returns false and sets `error` if `text` is not an opcode with known suffixes.
bool decode(std::string_view text, Spelling& spelling, SpellingError& error);

// "ld.global.nc.v4.f32": in the order written. Instructions that were not parsed get a usual order.
std::string opcode_spelling(const Instruction& instruction);

std::string_view space_text(StateSpace space);  // "const", "shared" ...; empty for none and generic

// Byte and halfword selectors of video instructions ("b0", "h10", "b3210"); 0: not a selector.
std::uint32_t selector_from_text(std::string_view text);
std::string selector_text(std::uint32_t selector);

}  // namespace warpgrind::ptx
