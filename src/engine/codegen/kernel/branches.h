// Lowering of block ends (branches, exits, falling through), and of the points where a kernel can be interrupted.
#pragma once

#include <llvm/ADT/STLFunctionalExtras.h>

#include <vector>

#include "codegen/kernel/counting.h"
#include "codegen/kernel/divergence.h"

namespace warpgrind::jit {

class Branches {
 public:
  Branches(FunctionContext& context, LaneMasks& masks, PathStack& stack, Registers& registers, Sites& sites,
           Counting& counting, Waiting& waiting, Divergence& divergence)
      : f_(context),
        ir_(context.ir()),
        masks_(masks),
        stack_(stack),
        registers_(registers),
        sites_(sites),
        counting_(counting),
        waiting_(waiting),
        divergence_(divergence) {}
  void lower(std::uint32_t block);  // its last instruction
  // Polls for interrupts at loop heads and at the entries of functions that call. Every cycle of blocks passes a loop
  // head, and every cycle of calls passes such an entry, so any endless program can be stopped there. Loops that wait
  // for memory let other warps run.
  void begin_block(std::uint32_t block);

 private:
  // A block that counts the branch and jumps to `to`. `taken`: lanes that took the branch; null: none did.
  llvm::BasicBlock* counted(llvm::Value* counters, llvm::Value* taken, llvm::BasicBlock* to);
  void poll(std::uint32_t block);
  std::uint32_t block_at(std::uint32_t instruction) const;
  void lower_branch(std::uint32_t block, const ptx::Instruction& i);
  void lower_indexed_branch(std::uint32_t block, const ptx::Instruction& i);
  std::vector<llvm::Value*> sides_of(std::uint32_t block, const std::vector<std::uint32_t>& targets,
                                     llvm::function_ref<llvm::Value*(std::uint32_t)> lanes_of);
  void count_sides(std::uint32_t block, const std::vector<llvm::Value*>& sides);
  void jump_by_index(std::uint32_t block, llvm::Value* index, const std::vector<std::uint32_t>& targets);
  void split_by_index(std::uint32_t block, llvm::Value* index, const std::vector<std::uint32_t>& targets);
  void leave_table(llvm::Value* lanes);
  void arrive_at_once(std::uint32_t point, llvm::Value* lanes);
  llvm::Value* went_both_ways(llvm::Value* taken, llvm::Value* not_taken);
  void lower_exit(std::uint32_t block, const ptx::Instruction& i);
  void split(std::uint32_t block, llvm::Value* taken, llvm::Value* not_taken, std::uint32_t target,
             std::uint32_t fallthrough);

  FunctionContext& f_;
  llvm::IRBuilder<>& ir_;
  LaneMasks& masks_;
  PathStack& stack_;
  Registers& registers_;
  Sites& sites_;
  Counting& counting_;
  Waiting& waiting_;
  Divergence& divergence_;
};

}  // namespace warpgrind::jit
