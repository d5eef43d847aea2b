// Parameters and results of a device function that takes their address. PTX places them on the stack: the address is in
// local memory, and code that has it reads and writes there (PTX ISA, "Device Function Parameters").
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/ast.h"

namespace warpgrind::jit {

struct StackParameter {
  std::uint32_t variable = 0;     // index in the function
  std::uint32_t instruction = 0;  // first one that takes its address
};
std::vector<StackParameter> stack_parameters(const ptx::Function& function);

// Turns accesses to such parameters into local accesses: by name, and by any address in a register.
void access_on_stack(ptx::Function& function);

}  // namespace warpgrind::jit
