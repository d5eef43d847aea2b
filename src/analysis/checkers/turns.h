// Reachability between two instructions of a function, also around a loop.
#pragma once

#include <cstdint>

#include "ptx/ast.h"

namespace warpgrind::checkers {

// Can a thread get from instruction `from` to `to` without a barrier of its block between them? The path may go around
// a loop. from == to: can it execute the instruction again?
bool reaches_without_barrier(const ptx::Function& function, std::uint32_t from, std::uint32_t to);

}  // namespace warpgrind::checkers
