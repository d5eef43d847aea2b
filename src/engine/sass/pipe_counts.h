// Instruction counts per SM pipe, as Nsight Compute reports them since Volta. The pipe of each machine instruction
// comes from an H200's counters of 322 launches without a branch, compared with their machine code. They fit exactly:
// FADD, FFMA, FMUL, IMAD and VIADD run on the FMA pipe; S2R of a thread index, like SHFL, on the load and store unit.
// If ptxas can choose between machine instructions for one PTX instruction, the model uses the average over the lab and
// the microbenchmark.
#pragma once

#include "sass/code.h"
#include "sass/uses.h"

namespace warpgrind::sass {

// Fills in Instruction::on_pipe. Call after select_instructions().
void count_pipes(Code& code, const Uses& uses);

}  // namespace warpgrind::sass
