// Counters that the kernel's own code keeps in the scoreboard (jit/abi.h): how often blocks, guarded instructions,
// branches and edges ran, and with how many lanes. Their facts go into KernelFacts, in the same order.
#pragma once

#include <vector>

#include "codegen/kernel/lane_masks.h"

namespace warpgrind::jit {

class Counting {
 public:
  Counting(FunctionContext& context, LaneMasks& masks) : f_(context), ir_(context.ir()), masks_(masks) {}
  void number_blocks();

  void begin_block(std::uint32_t block);  // adds its facts
  void count_block();
  void count_guarded(llvm::Value* lanes);  // the current instruction runs with these lanes
  // Counts the current instruction. `split`, an i1: the branch diverged.
  void count_branch(llvm::Value* taken, llvm::Value* split);
  // The same, counted at the start of each side of the branch. begin_branch() returns the counters for count_way(),
  // null without counters. taken: null if no lane took the branch.
  llvm::Value* begin_branch();
  void count_way(llvm::Value* first, llvm::Value* taken, bool split);
  // The current instruction may take a slow path. Returns its counters, to be used in code of its own.
  llvm::Value* begin_slow_path(events::SlowPath kind);
  void record_edge(std::uint32_t block, std::uint32_t target);  // the block's only successor
  void count_edge(std::uint32_t block, std::uint32_t target, llvm::Value* lanes);
  void count_ways(std::uint32_t block, std::uint32_t target, llvm::Value* taken, std::uint32_t fallthrough,
                  llvm::Value* not_taken);
  void bump(llvm::Value* address, llvm::Value* amount);  // a 64-bit counter

 private:
  llvm::Value* slot(llvm::Value* index);
  void add_to(llvm::Value* first, unsigned field, llvm::Value* amount);
  llvm::Value* part(const char* name);  // start of a part of the scoreboard; known when all blocks are counted

  FunctionContext& f_;
  llvm::IRBuilder<>& ir_;
  LaneMasks& masks_;
  std::vector<std::uint32_t> block_numbers_;  // in KernelFacts::blocks
};

}  // namespace warpgrind::jit
