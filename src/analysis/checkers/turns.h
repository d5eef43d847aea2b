// Which of two instructions comes first, in the turns of a loop.
#pragma once

#include <cstdint>

#include "ptx/ast.h"

namespace warpgrind::checkers {

// A thread can come from one instruction to another, of the same function, without a barrier of its block on the way:
// by the loop around them too. from == to: once more.
bool reaches_without_barrier(const ptx::Function& function, std::uint32_t from, std::uint32_t to);

}  // namespace warpgrind::checkers
