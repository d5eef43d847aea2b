// Where the compiler put code of one function into another.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ptx/ast.h"

namespace warpgrind::ptx {

struct Caller {
  std::string file, function;  // function: demangled, that was inlined here
  std::uint32_t line = 0;
};
// The calls that were inlined around an instruction, from it outwards. Empty without line information.
std::vector<Caller> inlined_callers(const Module& module, const std::string& function, std::uint32_t instruction);

}  // namespace warpgrind::ptx
