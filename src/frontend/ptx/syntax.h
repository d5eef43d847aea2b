// Parsed syntax lines of opcodes.inc: the types that may follow an opcode, and the kinds of operands. The notation is
// explained at the head of opcodes.inc.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ptx/ast.h"

namespace warpgrind::ptx {

// Suffix that is a type: `.dtype` with the types that the line lists for it, or one fixed type.
struct TypeSlot {
  std::string_view name;          // "dtype"; "type" for a fixed type
  std::vector<ScalarType> types;  // empty: the line lists none, so any type fits
  bool optional = false;
};

// Position of an operand, and what it accepts.
struct OperandSlot {
  enum class Takes : std::uint8_t {
    value,     // a register, special register, number or address of a variable, of the slot's type
    parts,     // for mov: a value, or a vector of registers that together are as wide as it
    vector,    // .v2, .v4 or .v8 values of the type
    fragment,  // any number of registers, for a matrix
    number,    // a literal
    label,
    table,
    address,  // [a]
    anything
  };
  std::string_view name;
  Takes takes = Takes::value;
  bool optional = false;
  bool second = false;                 // follows '|'
  bool negatable = false;              // {!}, {-}
  bool has_parts = false;              // the address has coordinates
  bool selector = false;               // video instructions: %r1.b0
  bool needs_selector = false;         // d.dsel
  bool wider = false;                  // registers may be wider than the type
  bool no_number = false;              // no literal
  bool sink = false;                   // `_` stands for a result that is not wanted
  ScalarType type = ScalarType::none;  // a fixed type; none: the type of `type_slot`
  int type_slot = -1;
  unsigned times = 1;  // operand width as a multiple of the type's
  // A number: the least and the largest one, and their distance. All if `largest` is 0.
  std::uint16_t least = 0, largest = 0, apart = 1;
};

struct SyntaxForm {
  std::vector<TypeSlot> types;
  std::vector<OperandSlot> operands;
  std::vector<std::vector<Modifier>> required;  // one of each list
  std::uint8_t vector = 0;                      // required .v2 or .v4; 0: given by the operands
  std::vector<Modifier> excluded;               // modifiers that select another form of the opcode
  std::vector<std::vector<Modifier>> choices;   // at most one of each list, and no others; spaces are among them
  std::vector<std::pair<std::size_t, std::size_t>> together;  // choices of which both stand, or none
};

const std::vector<SyntaxForm>& syntax_forms(Opcode opcode);

// Number of operands and type suffixes over all forms of the syntax line.
struct Arity {
  std::uint16_t minimum = 0, maximum = 0;
  std::uint8_t minimum_types = 0;
  bool address = false;  // every form has a memory operand
};
const Arity& arity(Opcode opcode);

// Reason why the types behind the instruction's opcode fit no form; empty: they fit one.
std::string type_problem(const Instruction& instruction);

// First operand that fits no form allowed by the instruction's types, and the reason. nullopt: all fit.
struct OperandProblem {
  SourceRange range;
  std::string what;
};
std::optional<OperandProblem> operand_problem(const Instruction& instruction, const Function& function,
                                              const Module& module);

}  // namespace warpgrind::ptx
