// Estimate of the registers per thread that ptxas would give a kernel that exists only as PTX. It counts the values
// that are live at once in the modelled machine code, and the loads that ptxas moves early. If the binary has a cubin,
// use the cubin's exact count instead.
#pragma once

#include <cstdint>

#include "ptx/ast.h"

namespace warpgrind::sass {

struct RegisterNeed {
  std::uint32_t alive = 0;  // 32-bit registers, maximum live at one place
  std::uint32_t apart = 0;  // ... without loaded but unused values of the block: their loads could come later
  std::uint32_t loads = 0;  // ... filled by the loads of one block, including the iterations of an unrolled loop
};
RegisterNeed register_need(const ptx::Module& module, std::uint32_t function);

// Obeys .maxnreg, .maxntid and .minnctapersm. `cc`: compute capability times 10; it limits the registers per thread.
std::uint32_t estimate_registers(const ptx::Module& module, std::uint32_t function, std::uint32_t cc);

// Whether a value of this type is computed in two registers. f32x2 is not: it has its own instructions.
inline bool is_wide(ptx::ScalarType t) {
  return ptx::bits(t) == 64 && t != ptx::ScalarType::f32x2;
}

}  // namespace warpgrind::sass
