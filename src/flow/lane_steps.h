// How far apart the addresses of neighbouring lanes probably lie where their forms (flow/forms.h) do not tell: by the
// constants that an index is multiplied by, if the indexes of lanes follow each other. A guess, for code that compares:
// the second loop of a grid-stride copy of structures of 8 bytes, of which nvcc's unrolling hides that all lanes are
// equally far, has addresses 8 bytes apart.
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
  // Bytes, of a memory operand; 0: no guess.
  std::int64_t of(const ptx::Operand& address) const;

 private:
  std::int64_t of_register(ptx::RegId r) const;
  std::int64_t of_value(const ptx::Operand& operand) const;
  std::int64_t of_product(const ptx::Operand& a, const ptx::Operand& b) const;
  std::int64_t first_of(const ptx::Instruction& i, std::size_t first) const;
  std::int64_t result(const ptx::Instruction& i) const;

  const std::vector<Form>& forms_;
  std::vector<std::int64_t> steps_;  // by RegId: of varying ones, by the first definition that gives any
};

}  // namespace warpgrind::flow
