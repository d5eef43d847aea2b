// Inlining chain of an instruction, from line information.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ptx/ast.h"

namespace warpgrind::ptx {

struct Caller {
  std::string file, function;  // function: demangled name of the inlined function
  std::uint32_t line = 0;
};
// The calls that were inlined around an instruction, innermost first. Empty without line information.
std::vector<Caller> inlined_callers(const Module& module, const std::string& function, std::uint32_t instruction);

}  // namespace warpgrind::ptx
