// Registers of a kernel start as stack slots. Those that become SSA values are what compiling costs: wherever a split
// warp may go on, every value that some lanes may still need gets a PHI of 32 lanes (a radix sort: 56,000 of them, of
// which the code generator makes minutes of register allocation). This pass promotes as many slots as a number of PHIs
// allows, those first that are used most for a PHI; registers of one basic block need none. The rest stay in memory,
// read once per run of blocks without a join.
#pragma once

#include <llvm/IR/Function.h>

#include <cstdint>

namespace llvm {
class DominatorTree;
}

namespace warpgrind::jit {

struct Promotion {
  std::uint64_t slots = 0;      // registers' slots that could become values
  std::uint64_t in_memory = 0;  // of them, those that did not
  std::uint64_t phis = 0;       // made by promoting the others
};

// The PHIs that promoting every slot would make; counting stops somewhere above `enough`.
std::uint64_t count_slot_phis(llvm::Function& function, llvm::DominatorTree& dominators, std::uint64_t enough);

// Promotes what the budget of PHIs allows.
Promotion promote_slots(llvm::Function& function, llvm::DominatorTree& dominators, std::uint64_t budget);

// Replaces loads of the slots that are left by what is known to be in them.
void forward_slots(llvm::Function& function);

}  // namespace warpgrind::jit
