// Waiting of divergent lanes for each other: `.sync` operations, barriers in divergent code, loops that wait for
// memory. If all required lanes run together (the usual case), one comparison is the only cost. Otherwise the lanes
// save their registers and the device chooses the lanes that run next (device/execution/paths.cpp). When it is their
// turn again, they restore their registers at the same place.
#pragma once

#include <llvm/ADT/STLFunctionalExtras.h>

#include <map>
#include <vector>

#include "codegen/kernel/meeting.h"
#include "codegen/kernel/path_stack.h"
#include "codegen/kernel/regions.h"
#include "codegen/kernel/registers.h"
#include "codegen/kernel/sites.h"

namespace warpgrind::jit {

class Waiting {
 public:
  Waiting(FunctionContext& context, LaneMasks& masks, PathStack& stack, Registers& registers, Sites& sites,
          Regions& regions)
      : f_(context),
        ir_(context.ir()),
        masks_(masks),
        stack_(stack),
        registers_(registers),
        sites_(sites),
        regions_(regions) {}
  llvm::Value* create();  // Call only if lanes can wait. Returns the address of the path-stack entries.

  Meeting meet(const ptx::Operand* members, llvm::Value* value);
  void meet_all();
  // A barrier: `whole_warp` emits it for a whole warp. If lanes can arrive without the rest of their warp, some lanes
  // may wait, too. Returns the reduction's result.
  llvm::Value* barrier(llvm::Value* id, llvm::Value* threads, llvm::function_ref<llvm::Value*()> whole_warp,
                       llvm::Value* predicate, std::uint32_t operation);
  void cluster_wait(llvm::function_ref<void()> whole_warp);  // waits for the cluster, likewise
  // In a loop that waits for memory: sometimes lets other warps run. Lets other lanes of this warp run if they can
  // continue, or if nothing else can (a lock holder may be among them).
  void spin_turn(std::uint32_t block);

  // For Divergence. next_path(): the device chooses among the entries. places(): where lanes stopped. go_on(): the
  // device's choice, a place or a block.
  void next_path(llvm::Value* depth);
  const std::vector<llvm::BasicBlock*>& places() const { return places_; }
  void write_saving();  // call when all blocks are lowered: emits the code that saves and restores registers
  llvm::Value* go_on();

 private:
  // A place where lanes stop, and the layout of their saved registers: scalars of 8 or 16 bytes each, then vectors.
  struct Saved {
    llvm::AllocaInst* slot = nullptr;
    std::uint64_t at = 0;
  };
  struct Stop {
    std::vector<Saved> registers;
    std::uint64_t scalar_bytes = 0, bytes = 0;
    llvm::Instruction* put_aside = nullptr;  // the code is inserted before these
    llvm::Instruction* take_back = nullptr;
  };
  Stop stop_before(std::uint32_t instruction) const;
  void wait(std::uint32_t instruction, llvm::function_ref<void(llvm::Value* place)> ask);
  // barrier(), for warps that are not alone in their block.
  llvm::Value* come_to_barrier(llvm::Value* id, llvm::Value* threads, llvm::function_ref<llvm::Value*()> whole_warp,
                               llvm::Value* predicate, std::uint32_t operation);
  // Branches on whether the whole warp is here. Code continues for the whole warp; returns the block for some of its
  // lanes.
  llvm::BasicBlock* unless_whole_warp();
  void restore(std::uint32_t place, Stop& stop);
  bool worth_a_table() const;
  void put_aside(const Stop& stop);
  void take_back(const Stop& stop);
  void save_by_table();
  void publish_meeting(llvm::Value* named, llvm::Value* mask);  // if an observer wants it
  void store_paths();
  llvm::Value* field(std::size_t offset);  // address in Paths

  FunctionContext& f_;
  llvm::IRBuilder<>& ir_;
  LaneMasks& masks_;
  PathStack& stack_;
  Registers& registers_;
  Sites& sites_;
  Regions& regions_;
  llvm::Value* paths_ = nullptr;
  llvm::AllocaInst* save_area_ = nullptr;
  llvm::BasicBlock* go_on_ = nullptr;  // continues with the lanes and target in Paths
  std::vector<llvm::BasicBlock*> places_;
  std::vector<Stop> stops_;  // one per place
};

}  // namespace warpgrind::jit
