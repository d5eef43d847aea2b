// Compute capability and PTX version that an instruction needs (PTX ISA manual, "Target ISA Notes" and "PTX ISA
// Notes").
#pragma once

#include <string>

#include "ptx/ast.h"

namespace warpgrind::ptx {

// The first compute capability, times 10 (80: sm_80), that has this instruction in this form; 0: all have it. Features
// of 2.0 and earlier are all 0. Today's compilers use some of them in every kernel (cvta, fma.f32), so otherwise the
// models of compute capability 1.x could run nothing. Hints count as 0 too, since they change no result (ld.nc,
// .L2::128B, cache policies).
unsigned needed_architecture(const Instruction& instruction);

// The last compute capability, times 10, that has this instruction; 0: later ones have it, too. Instructions of
// sm_90a and of sm_100a are not among those of compute capability 12.x.
unsigned last_architecture(const Instruction& instruction);

// Why ptxas refuses a form for the module's target that it takes for older ones: shfl and vote without .sync, mad of
// floating-point numbers without a rounding mode. Empty: it takes the form.
std::string outdated_form(const Instruction& instruction, const Module& module);

// The first PTX ISA version that has this instruction. Forms of rows count as the row, but for those of 9.1 and later.
PtxVersion needed_version(const Instruction& instruction);

}  // namespace warpgrind::ptx
