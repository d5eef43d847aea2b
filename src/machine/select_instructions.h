// How many machine instructions each instruction of PTX is left as where it stands: constants and parameters become
// operands, shifts and products join the sums that use them, logic becomes LOP3, offsets go into addresses, results
// that nobody reads are gone; and what PTX does not show is there: the stack pointer, the descriptor of global memory,
// the base of shared memory, reconvergence (BSSY, BSYNC). Read off the machine code that ptxas 13.0 made for sm_90.
#pragma once

#include <vector>

#include "flow/definitions.h"
#include "machine/code.h"
#include "ptx/ast.h"

namespace warpgrind::machine {

// Sets Instruction::issue; latencies and pipes stay. The last step but unroll_loops().
void select_instructions(Code& code, const ptx::Module& module, const std::vector<flow::Definitions>& bodies);

}  // namespace warpgrind::machine
