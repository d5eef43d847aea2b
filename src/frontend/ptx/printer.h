// Printer of a syntax tree as PTX text in one canonical form. Messages and reports quote it, and tests compare it.
#pragma once

#include <string>

#include "ptx/ast.h"
#include "ptx/spelling.h"

namespace warpgrind::ptx {

// "@%p1 ld.global.f32 %f1, [%rd2+4];", without a line end.
std::string print(const Instruction& instruction, const Function& function, const Module& module);
std::string print(const Operand& operand, const Function& function, const Module& module);

// A function with its body, without line information. Labels are numbered: their names differ between modules that have
// the same function.
std::string print_code(const Function& function, const Module& module);
std::string print(const Variable& variable, const Module& module);  // declaration with its initial value

// The whole module as PTX that parses to the same tree. Nested scopes are flattened: colliding names get a suffix `$2`,
// `$3`.
std::string print(const Module& module);

}  // namespace warpgrind::ptx
