// Syntax tree -> PTX text in one canonical form: what messages and reports quote, and what tests compare.
#pragma once

#include <string>

#include "ptx/ast.h"
#include "ptx/spelling.h"

namespace warpgrind::ptx {

// "@%p1 ld.global.f32 %f1, [%rd2+4];", without line end.
std::string print(const Instruction& instruction, const Function& function, const Module& module);
std::string print(const Operand& operand, const Function& function, const Module& module);

// The whole module as PTX that parses to the same tree. Nested scopes come out flat: names that would collide get a
// `$2`, `$3`.
std::string print(const Module& module);

}  // namespace warpgrind::ptx
