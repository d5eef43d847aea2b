// Instructions that write or read a variable which the compiler keeps in registers (nvcc -G).
//
// Such a variable moves: `k` is in %r1 before its loop, in %r2 in the body, and in %r3 behind `++k`. A `mov` from one
// of its registers to another is no write of the variable, and no read.
#pragma once

#include <cstdint>
#include <vector>

#include "debuginfo/variable.h"
#include "ptx/ast.h"

namespace warpgrind::debugger {

struct RegisterUse {
  std::uint32_t instruction = 0;
  ptx::RegId reg = ptx::kNoId;  // holds the value behind a write, and before a read
};

struct RegisterUses {
  std::vector<RegisterUse> writes, reads;  // in the order of the instructions
};

// A register alone: all instructions that write or read it.
RegisterUses uses_of_register(const ptx::Function& function, ptx::RegId reg);
// Only where the variable is in the register: other variables may use it elsewhere.
RegisterUses uses_of_variable(const ptx::Function& function, const debuginfo::Variable& variable);

}  // namespace warpgrind::debugger
