// Do a call and its callee agree, and does ld.param or st.param stay inside of its parameter? Machine code trusts both:
// parameters are planes on the host's stack.
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
// The same number, sizes and places of parameters and results.
bool fits(const Signature& call, const Signature& callee);

// What is wrong with an instruction, in a sentence; empty: nothing. `name` is the callee as the message calls it.
std::string call_problem(const ptx::Function& caller, const ptx::Instruction& call, const Signature& callee,
                         const std::string& name);
// `bytes` moved to or from parameter operand `address`, in elements of `element_bytes`.
std::string parameter_problem(const ptx::Function& function, const ptx::Operand& address, unsigned bytes,
                              unsigned element_bytes);

// A type of the parameter's size for what has none: constants, addresses.
ptx::ScalarType plain_type(const ptx::Variable& parameter);

}  // namespace warpgrind::jit
