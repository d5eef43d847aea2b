// Registers a thread that ptxas would give a kernel of which only PTX is there: the values that are alive at once in
// the machine code of the model, and loads that it puts before others need their registers. An estimate; where a cubin
// is in the binary its count is the truth.
#pragma once

#include <cstdint>

#include "ptx/ast.h"

namespace warpgrind::machine {

struct RegisterNeed {
  std::uint32_t alive = 0;  // 32-bit registers, the most at one place
  std::uint32_t apart = 0;  // ... without what loads of the block have read before it is used: they could come later
  std::uint32_t loads = 0;  // ... that the loads of one block fill, rounds of an unrolled loop included
};
RegisterNeed register_need(const ptx::Module& module, std::uint32_t function);

// Obeys .maxnreg, .maxntid and .minnctapersm. `cc`: the compute capability times 10, which limits a thread's registers.
std::uint32_t estimate_registers(const ptx::Module& module, std::uint32_t function, std::uint32_t cc);

// Whether a value of this type is computed in two registers. f32x2 has instructions of its own.
inline bool is_wide(ptx::ScalarType t) {
  return ptx::bits(t) == 64 && t != ptx::ScalarType::f32x2;
}

}  // namespace warpgrind::machine
