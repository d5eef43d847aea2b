// Loops that may wait for other lanes, warps or blocks: machine code lets others run there (codegen/kernel/waiting.h).
#pragma once

#include <vector>

#include "flow/cfg.h"
#include "ptx/ast.h"

namespace warpgrind::flow {

// By block: true for the head of a loop whose exit depends on memory that others write, also by a branch that decides
// whether an iteration moves on. Such memory is read by volatile loads and the like, and by plain ones if the loop has
// a fence. Two kinds of loop read it and never wait, so they are not among them:
//   - a retry of a compare-and-swap with the value that the last one returned: it fails only if others progress
//   - a scan: each iteration reads another word, at an address that moves with a counter
std::vector<bool> find_spin_loops(const ptx::Function& function, const ControlFlow& cfg);

// Whether a block of the kernel may wait for what another block writes: a loop of the kernel may wait, and something in
// the kernel reads what others write outside of shared memory. A called function that reads so counts as a loop that
// waits, because a loop may call it.
bool may_wait_for_blocks(const ptx::Module& module, std::uint32_t kernel);

}  // namespace warpgrind::flow
