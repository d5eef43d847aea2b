// Which compute capability an instruction needs: the PTX ISA manual's "Target ISA Notes".
#pragma once

#include "ptx/ast.h"

namespace warpgrind::ptx {

// Compute capability times 10 (80: sm_80) that has this instruction in this form; 0: every one. What came with 2.0 or
// before is not told apart: every kernel of a compiler of today has some of it (cvta, fma.f32), so that the models of
// compute capability 1.x could run nothing. Nor are hints, which change no result (ld.nc, .L2::128B, cache policies).
unsigned needed_architecture(const Instruction& instruction);

}  // namespace warpgrind::ptx
