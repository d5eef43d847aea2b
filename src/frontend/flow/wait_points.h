// Points where some lanes of a warp may have to wait while others run: `.sync` operations and barriers that lanes can
// reach without the rest of their warp, and loops that wait for memory. Waiting lanes save their registers there
// (codegen/kernel/waiting.cpp). Everywhere else, a warp costs no more than one that never splits.
#pragma once

#include <cstdint>
#include <vector>

#include "flow/cfg.h"
#include "flow/forms.h"
#include "flow/liveness.h"
#include "ptx/ast.h"

namespace warpgrind::flow {

// True for a block that only ends the kernel. Lanes that wait there for others have nothing left to do.
bool only_leaves(const ptx::Function& function, const BasicBlock& block);
// True if only jumps lead from the block to such a block or to the function's end: the path of an early return in
// unoptimised code.
bool leads_only_out(const ptx::Function& function, const ControlFlow& cfg, std::uint32_t block);

class WaitPoints {
 public:
  WaitPoints(const ptx::Function& function, const ControlFlow& cfg, const FormAnalysis& analysis,
             const LaneLayout& layout);
  bool any() const { return any_; }
  bool at(std::uint32_t instruction) const { return at_[instruction]; }
  bool at_head(std::uint32_t block) const { return any_ && spins_[block]; }
  // True for a store to (or an atomic on) shared memory that could overwrite a value before other warps read it. Since
  // the last barrier the warp has read shared memory, and the read or the store is of one element for the whole warp
  // (`return s[0]`, `s[warp] = sum`). On a GPU the others have read long before; here warps run one after the other.
  // Tree reductions, where each lane stores what it has read itself, are not included: each of their barriers would
  // cost a switch of warps.
  bool overtakes(std::uint32_t instruction) const { return overtakes_[instruction]; }
  // Registers that lanes waiting before `instruction` need later.
  std::vector<ptx::RegId> live_before(std::uint32_t instruction) const;

 private:
  const ptx::Function& function_;
  const ControlFlow& cfg_;
  std::vector<bool> at_, spins_, overtakes_;
  bool any_ = false;
  LiveRegisters live_;
};

}  // namespace warpgrind::flow
