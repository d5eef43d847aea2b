// Control flow graph of a PTX function: basic blocks with successors, reverse post-order, immediate post-dominators (=
// reconvergence points) and loop heads.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/ast.h"

namespace warpgrind::flow {

struct BasicBlock {
  std::uint32_t first = 0, end = 0;  // instructions [first, end)
  // Block numbers, taken target first; ControlFlow::exit(): the block leaves the function.
  std::vector<std::uint32_t> successors;
  std::vector<std::uint32_t> predecessors;
  std::uint32_t post_dominator = 0;  // the immediate one; ControlFlow::exit() if there is none
  bool loop_head = false;            // target of a retreating edge: every cycle has one
  bool reachable = false;
};

struct ControlFlow {
  std::vector<BasicBlock> blocks;
  std::vector<std::uint32_t> block_of;  // instruction -> block
  std::vector<std::uint32_t> order;     // reachable blocks in reverse post-order
  std::uint32_t exit() const { return static_cast<std::uint32_t>(blocks.size()); }
};

ControlFlow build_control_flow(const ptx::Function& function);

// Blocks of the natural loop of `head`: those that reach a back edge to `head` whose source is dominated by `head`. An
// edge from the body of an enclosing loop does not count. In a cycle with several entries: the whole cycle.
std::vector<bool> loop_body(const ControlFlow& cfg, std::uint32_t head);

// True if the instruction ends a basic block (bra, brx.idx, ret, exit, trap).
bool ends_block(const ptx::Instruction& instruction);

}  // namespace warpgrind::flow
