// Registers that hold values in each block of the modelled machine code: what ptxas has left to move loads early.
#pragma once

#include <vector>

#include "flow/definitions.h"
#include "sass/code.h"

namespace warpgrind::sass {

// Sets Instruction::needs, Block::entering_words, Block::leaving and Code::register_words. Runs after
// select_instructions().
void find_pressure(Code& code, const std::vector<flow::Definitions>& bodies);

}  // namespace warpgrind::sass
