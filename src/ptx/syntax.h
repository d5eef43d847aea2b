// The syntax line of an opcode's row, read: which types may stand behind the opcode and what each operand may be. What
// the notation means is said at the head of opcodes.inc.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/ast.h"

namespace warpgrind::ptx {

// A suffix that is a type: `.dtype`, with the types that the line lists for it, or one type written out.
struct TypeSlot {
  std::string_view name;          // "dtype"; of a type written out "type"
  std::vector<ScalarType> types;  // empty: the line says nothing
  bool optional = false;
};

// What may stand where an operand is named.
struct OperandSlot {
  enum class Takes : std::uint8_t {
    value,     // a register, special register, number or address of a variable, of the slot's type
    parts,     // of mov: a value, or a vector of registers that are as wide as it together
    vector,    // as many values of the type as .v2, .v4, .v8 say
    fragment,  // any number of registers, as matrices have them
    number,    // a literal
    label,
    table,
    address,  // [a]
    anything
  };
  std::string_view name;
  Takes takes = Takes::value;
  bool optional = false;
  bool second = false;                 // behind '|'
  bool negatable = false;              // {!}, {-}
  bool has_parts = false;              // an address with coordinates
  bool selector = false;               // of video instructions: %r1.b0
  bool needs_selector = false;         // d.dsel
  bool wider = false;                  // registers may be wider than the type
  ScalarType type = ScalarType::none;  // a type written out; none: that of `type_slot`
  int type_slot = -1;
  unsigned times = 1;  // so many times as wide as the type
};

struct SyntaxForm {
  std::vector<TypeSlot> types;
  std::vector<OperandSlot> operands;
  std::vector<std::vector<Modifier>> required;  // one of each
  std::uint8_t vector = 0;                      // .v2, .v4 that must stand there; 0: as the operands say
  std::vector<Modifier> excluded;               // what makes it one of the opcode's other forms
};

const std::vector<SyntaxForm>& syntax_forms(Opcode opcode);

// How many operands and type suffixes all forms of the syntax line allow.
struct Arity {
  std::uint16_t minimum = 0, maximum = 0;
  std::uint8_t minimum_types = 0;
  bool address = false;  // every form has a memory operand
};
const Arity& arity(Opcode opcode);

// Why the types of the instruction's opcode do not fit any form; empty: they do.
std::string type_problem(const Instruction& instruction);

// What is wrong with its operands, and where; nothing: they fit a form that its types fit.
struct OperandProblem {
  SourceRange range;
  std::string what;
};
std::optional<OperandProblem> operand_problem(const Instruction& instruction, const Function& function);

}  // namespace warpgrind::ptx
