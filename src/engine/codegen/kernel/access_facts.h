// Static facts about the memory access of an instruction, for events::Site.
#pragma once

#include "events/site.h"
#include "ptx/ast.h"

namespace warpgrind::jit {

events::MemoryOrder memory_order(const ptx::Instruction& instruction);
events::MemoryScope memory_scope(const ptx::Instruction& instruction);
// Implementation that ptxas chooses for atom and red on shared memory. no_return: the result is never read.
SharedAtomic shared_atomic(const ptx::Instruction& instruction, bool no_return);

}  // namespace warpgrind::jit
