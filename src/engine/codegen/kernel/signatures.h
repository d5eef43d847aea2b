// Checks of calls (do call and callee agree?) and of ld.param and st.param (does the access stay inside its
// parameter?). Machine code relies on both, because parameters are planes on the host's stack.
#pragma once

#include <string>
#include <vector>

#include "ptx/ast.h"

namespace warpgrind::jit {

struct Signature {
  std::vector<ptx::Variable> parameters, results;
};

Signature signature_of(const ptx::Function& function);
Signature signature_of(const ptx::Table& prototype);
// True if number, sizes and places of parameters and results are equal.
bool fits(const Signature& call, const Signature& callee);

// Error message for an instruction, one sentence; empty: it is correct. `name`: the callee in the message.
std::string call_problem(const ptx::Function& caller, const ptx::Instruction& call, const Signature& callee,
                         const std::string& name);
// The same for an access of `bytes` at parameter operand `address`, in elements of `element_bytes`.
std::string parameter_problem(const ptx::Function& function, const ptx::Operand& address, unsigned bytes,
                              unsigned element_bytes);

// Type of the parameter's size, for values without a type: constants, addresses.
ptx::ScalarType plain_type(const ptx::Variable& parameter);

}  // namespace warpgrind::jit
