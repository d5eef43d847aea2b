// What an instruction's text says of its memory access, for events::Site.
#pragma once

#include "events/site.h"
#include "ptx/ast.h"

namespace warpgrind::jit {

events::MemoryOrder memory_order(const ptx::Instruction& instruction);
events::MemoryScope memory_scope(const ptx::Instruction& instruction);
// atom, red: how ptxas does it on shared memory. no_return: nobody reads its result.
SharedAtomic shared_atomic(const ptx::Instruction& instruction, bool no_return);

}  // namespace warpgrind::jit
