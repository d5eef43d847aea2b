// Reads of the register file by each machine instruction. On an H200 a scheduler reads two 32-bit operands a cycle:
// FFMA of three different registers takes 1.5 cycles, DFMA 2.9, FADD 1.1 (lab/results/h200/mix.csv).
#pragma once

#include <vector>

#include "flow/definitions.h"
#include "sass/code.h"
#include "sass/uses.h"

namespace warpgrind::sass {

// Fills in Instruction::register_reads. Call after select_instructions().
void count_register_reads(Code& code, const std::vector<flow::Definitions>& bodies, const Uses& uses);

}  // namespace warpgrind::sass
