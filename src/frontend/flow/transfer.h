// Transfer functions of the form analysis: the form of an instruction's result from the forms of its operands. The
// lowering of affine arithmetic (codegen/kernel/affine_arithmetic.cpp) must be able to build every form that they
// return.
#pragma once

#include "flow/forms.h"

namespace warpgrind::flow {

inline Form varying_form() {
  Form f;
  f.kind = FormKind::varying;
  return f;
}
inline Form uniform_form(std::uint8_t zeros) {
  Form f;
  f.kind = FormKind::uniform;
  f.kx = f.ky = 0;
  f.zeros = zeros;
  return f;
}

// Form of result d of the instruction (WrittenRegister::place).
Form result_form(const ptx::Instruction& instruction, std::size_t d, const std::vector<Form>& forms,
                 const LaneLayout& layout, const ptx::Function& function);

// Value of a literal integer operand; nullopt for other operands.
std::optional<std::int64_t> literal(const ptx::Operand& operand);

// Special cases of affine bit operations, shared with the lowering. `and` with 2^k-1 keeps the whole lane part if the
// base has >= k zeros and the lane part is below 2^k.
// lane_part_limit: exclusive upper bound of kx*X + ky*Y; 0: unknown or negative.
std::uint64_t lane_part_limit(const Form& form, const LaneLayout& layout);
// True if `or` with the literal is an addition: the affine operand's low bits are zero where the literal has ones.
bool or_is_add(const Form& affine, std::int64_t literal);

}  // namespace warpgrind::flow
