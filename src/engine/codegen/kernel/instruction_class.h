// Instruction-mix class and kind of floating-point operation of an instruction, by opcode and type.
#pragma once

#include "gpu/instruction_kinds.h"
#include "ptx/ast.h"

namespace warpgrind::jit {

InstructionClass instruction_class(const ptx::Instruction& instruction);
// 0 none; 1..9: fadd fmul ffma dadd dmul dfma hadd hmul hfma (events::GuardFacts).
std::uint8_t flop_kind(const ptx::Instruction& instruction);

}  // namespace warpgrind::jit
