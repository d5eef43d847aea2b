// Guessed distance in bytes between the addresses of neighbouring lanes, for addresses of unknown form (flow/forms.h).
// It multiplies the constants that scale an index, as if neighbouring lanes had consecutive indexes. Users must compare
// real addresses. Example: the second loop of a grid-stride copy of 8-byte structures has addresses 8 bytes apart, but
// nvcc's unrolling hides that the lanes are equally far apart.
#pragma once

#include <cstdint>
#include <vector>

#include "flow/cfg.h"
#include "flow/forms.h"
#include "ptx/ast.h"

namespace warpgrind::flow {

class LaneSteps {
 public:
  LaneSteps(const ptx::Function& function, const ControlFlow& cfg, const std::vector<Form>& forms);
  // Step of a memory operand in bytes; 0: no guess.
  std::int64_t of(const ptx::Operand& address) const;

 private:
  std::int64_t of_register(ptx::RegId r) const;
  std::int64_t of_value(const ptx::Operand& operand) const;
  std::int64_t of_product(const ptx::Operand& a, const ptx::Operand& b) const;
  std::int64_t first_of(const ptx::Instruction& i, std::size_t first) const;
  std::int64_t result(const ptx::Instruction& i) const;

  const std::vector<Form>& forms_;
  std::vector<std::int64_t> steps_;  // by RegId: of varying registers, from the first definition that has a step
};

}  // namespace warpgrind::flow
