// Instruction selection: how many machine instructions remain of each PTX instruction at its place. Constants and
// parameters become operands. Shifts and products join the sums that use them, logic becomes LOP3, offsets go into
// addresses, and unused results disappear.
// Machine code also needs things that PTX does not show: the stack pointer, the descriptor of global memory, the base
// of shared memory, and reconvergence (BSSY, BSYNC). Source: machine code that ptxas 13.0 made for sm_90.
#pragma once

#include <vector>

#include "flow/definitions.h"
#include "ptx/ast.h"
#include "sass/code.h"

namespace warpgrind::sass {

// Sets Instruction::issue. Instructions of none have no latency, and sums that become IMAD.WIDE have its pipe and
// latency; all others keep theirs. Runs last, except for unroll_loops().
void select_instructions(Code& code, const ptx::Module& module, const std::vector<flow::Definitions>& bodies,
                         const TimingConstants& timing);

}  // namespace warpgrind::sass
