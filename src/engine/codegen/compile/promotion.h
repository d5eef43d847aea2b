// Promotion of a kernel's registers from stack slots to SSA values, within a budget of PHIs. SSA values dominate the
// cost of compiling: wherever a split warp may continue, every value that some lanes may still need gets a PHI of 32
// lanes. (A radix sort needs 56,000, for which the code generator spends minutes on register allocation.) This pass
// promotes as many slots as the budget allows, those with the most uses per PHI first. Registers of one basic block
// need no PHI. The rest stay in memory, read once per run of blocks without a join.
#pragma once

#include <llvm/IR/Function.h>

#include <cstdint>

namespace llvm {
class DominatorTree;
}

namespace warpgrind::jit {

struct Promotion {
  std::uint64_t slots = 0;      // slots of registers that could become values
  std::uint64_t in_memory = 0;  // of these, left in memory
  std::uint64_t phis = 0;       // made for the promoted ones
};

// Number of PHIs if every slot were promoted. Counting stops somewhere above `enough`.
std::uint64_t count_slot_phis(llvm::Function& function, llvm::DominatorTree& dominators, std::uint64_t enough);

// Promotes slots within the budget of PHIs.
Promotion promote_slots(llvm::Function& function, llvm::DominatorTree& dominators, std::uint64_t budget);

// Replaces loads of the remaining slots by their value where it is known.
void forward_slots(llvm::Function& function);

}  // namespace warpgrind::jit
