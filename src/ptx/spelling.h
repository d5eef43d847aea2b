// The suffixes of an opcode: "ld.global.nc.v4.f32" taken apart into opcode, space, vector, types and modifiers, and put
// together.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ptx/ast.h"

namespace warpgrind::ptx {

// Instruction::suffix_order: a leading 1 bit, then two bits a suffix in the order written.
enum class SuffixKind : std::uint8_t { modifier, type, space, vector };

struct Spelling {
  Opcode opcode{};
  StateSpace space = StateSpace::none;
  std::uint8_t vector = 1;
  std::vector<ScalarType> types;
  std::vector<Modifier> modifiers;
  std::uint64_t suffix_order = 1;
};

// What could not be read: a part of the text and why. Empty `part`: the opcode itself is unknown.
struct SpellingError {
  std::string_view part;
  const char* why = "";
};

// False and `error` when `text` is no opcode with known suffixes.
bool decode(std::string_view text, Spelling& spelling, SpellingError& error);

// "ld.global.nc.v4.f32": in the order written, or in a usual order for instructions that were not parsed.
std::string opcode_spelling(const Instruction& instruction);

std::string_view space_text(StateSpace space);  // "const", "shared" ...; empty for none and generic

// Byte and halfword selectors of video instructions ("b0", "h10", "b3210"); 0 when the text is none.
std::uint32_t selector_from_text(std::string_view text);
std::string selector_text(std::uint32_t selector);

}  // namespace warpgrind::ptx
