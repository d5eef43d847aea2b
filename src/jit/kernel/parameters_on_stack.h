// Parameters and results of a device function whose address it takes. PTX has them lie on the stack then: the address
// is one of local memory, and whoever has it reads and writes there (PTX ISA, "Device Function Parameters").
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/ast.h"

namespace warpgrind::jit {

struct StackParameter {
  std::uint32_t variable = 0;     // of the function
  std::uint32_t instruction = 0;  // the first that takes its address
};
std::vector<StackParameter> stack_parameters(const ptx::Function& function);

// Makes local accesses of those to parameters that lie on the stack: by name, and by any address in a register.
void access_on_stack(ptx::Function& function);

}  // namespace warpgrind::jit
