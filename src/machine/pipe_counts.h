// What Nsight Compute counts of an instruction as executed on each pipe of an SM since Volta. Which machine instruction
// belongs to which pipe: from an H200's counters of 322 launches without a branch, beside their machine code, which
// they fit without a remainder (FADD, FFMA, FMUL, IMAD and VIADD are the FMA pipe's; S2R of a thread's index the load
// and store unit's, as SHFL). Which of several ptxas takes for one of PTX is an average over the lab and the
// microbenchmark.
#pragma once

#include <vector>

#include "flow/definitions.h"
#include "machine/code.h"

namespace warpgrind::machine {

// Fills in Instruction::on_pipe. After select_instructions().
void count_pipes(Code& code, const std::vector<flow::Definitions>& bodies);

}  // namespace warpgrind::machine
