// A PTX function as basic blocks: successors, reverse post-order, immediate post-dominators (= reconvergence points),
// loop heads.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/ast.h"

namespace warpgrind::flow {

struct BasicBlock {
  std::uint32_t first = 0, end = 0;       // instructions [first, end)
  std::vector<std::uint32_t> successors;  // block numbers; ControlFlow::exit() for leaving. Taken target first.
  std::vector<std::uint32_t> predecessors;
  std::uint32_t post_dominator = 0;  // immediate; exit() at the end
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

// The blocks of the natural loop of `head`: what leads to an edge back to it that only `head` leads to. (Whatever else
// can come back, the body of a loop around it, does not belong to it.) In a cycle with several entries: the whole
// cycle.
std::vector<bool> loop_body(const ControlFlow& cfg, std::uint32_t head);

// Does the instruction end a basic block (bra, brx.idx, ret, exit, trap)?
bool ends_block(const ptx::Instruction& instruction);

}  // namespace warpgrind::flow
