// Where some lanes of a warp may have to wait while others run: the `.sync` operations and barriers that lanes can
// reach without the rest of their warp, and loops that wait for memory. Lanes that wait there keep their registers
// aside (jit/kernel/waiting.cpp), so that everywhere else a warp costs no more than one that never splits.
#pragma once

#include <cstdint>
#include <vector>

#include "flow/cfg.h"
#include "flow/forms.h"
#include "flow/liveness.h"
#include "ptx/ast.h"

namespace warpgrind::flow {

// A block that is nothing but the end of the kernel: lanes that wait there for others have nothing left to do.
bool only_leaves(const ptx::Function& function, const BasicBlock& block);
// Nothing but jumps from the block on until such a block, or the function's end: the way of an early return in code
// that is not optimised.
bool leads_only_out(const ptx::Function& function, const ControlFlow& cfg, std::uint32_t block);

class WaitPoints {
 public:
  WaitPoints(const ptx::Function& function, const ControlFlow& cfg, const FormAnalysis& analysis,
             const LaneLayout& layout);
  bool any() const { return any_; }
  bool at(std::uint32_t instruction) const { return at_[instruction]; }
  bool at_head(std::uint32_t block) const { return any_ && spins_[block]; }
  // A store to shared memory by which a warp could overwrite what the others are to read first: since the last barrier
  // shared memory has been read, and one of the two is an element for the whole warp (`return s[0]`, `s[warp] = sum`).
  // On a GPU the others have long read; here warps run one after the other. (Trees, where each lane stores what it has
  // read itself, are not among them: they would pay a switch of warps for every barrier.)
  bool overtakes(std::uint32_t instruction) const { return overtakes_[instruction]; }
  // Registers that lanes need which wait before `instruction`.
  std::vector<ptx::RegId> live_before(std::uint32_t instruction) const;

 private:
  const ptx::Function& function_;
  const ControlFlow& cfg_;
  std::vector<bool> at_, spins_, overtakes_;
  bool any_ = false;
  LiveRegisters live_;
};

}  // namespace warpgrind::flow
