// Lanes of a warp that wait for each other while they are on different ways: `.sync` operations, barriers in divergent
// code, loops that wait for memory. When all who are needed run together (the usual case, one comparison) nothing else
// happens. Otherwise the lanes put their registers aside and the device says who goes on (device/execution/paths.cpp);
// when it is their turn again, they take their registers back at the same place.
#pragma once

#include <llvm/ADT/STLFunctionalExtras.h>

#include <map>
#include <vector>

#include "jit/kernel/meeting.h"
#include "jit/kernel/path_stack.h"
#include "jit/kernel/regions.h"
#include "jit/kernel/registers.h"
#include "jit/kernel/sites.h"

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
  llvm::Value* create();  // only where lanes can wait; where the entries of the path stack are then

  Meeting meet(const ptx::Operand* members, llvm::Value* value);
  void meet_all();
  // A barrier, by `whole_warp` or, where lanes may come without the rest of their warp, by some. The reduction's
  // result.
  llvm::Value* barrier(llvm::Value* id, llvm::Value* threads, llvm::function_ref<llvm::Value*()> whole_warp,
                       llvm::Value* predicate, std::uint32_t operation);
  void cluster_wait(llvm::function_ref<void()> whole_warp);  // for the cluster, likewise
  // A loop that waits for memory: now and then other warps get a turn, and other lanes of this warp when they can go on
  // or when nobody else can (a lock holder among them).
  void spin_turn(std::uint32_t block);

  // For Divergence: the device chooses among the entries; where lanes stopped; what it chose (a place or a block).
  void next_path(llvm::Value* depth);
  const std::vector<llvm::BasicBlock*>& places() const { return places_; }
  void write_saving();  // when all blocks are lowered: how the registers go aside and come back
  llvm::Value* go_on();

 private:
  // Where lanes stop, and what their registers look like aside: scalars, 8 or 16 bytes each, then vectors.
  struct Saved {
    llvm::AllocaInst* slot = nullptr;
    std::uint64_t at = 0;
  };
  struct Stop {
    std::vector<Saved> registers;
    std::uint64_t scalar_bytes = 0, bytes = 0;
    llvm::Instruction* put_aside = nullptr;  // the code goes before these
    llvm::Instruction* take_back = nullptr;
  };
  Stop stop_before(std::uint32_t instruction) const;
  void wait(std::uint32_t instruction, llvm::function_ref<void(llvm::Value* place)> ask);
  // Two ways from here: of the whole warp, where code goes on, and of some of its lanes.
  llvm::BasicBlock* unless_whole_warp();
  void restore(std::uint32_t place, Stop& stop);
  bool worth_a_table() const;
  void put_aside(const Stop& stop);
  void take_back(const Stop& stop);
  void save_by_table();
  void publish_meeting(llvm::Value* named, llvm::Value* mask);  // where somebody observes it
  void tell_paths();
  llvm::Value* field(std::size_t offset);  // of Paths

  FunctionContext& f_;
  llvm::IRBuilder<>& ir_;
  LaneMasks& masks_;
  PathStack& stack_;
  Registers& registers_;
  Sites& sites_;
  Regions& regions_;
  llvm::Value* paths_ = nullptr;
  llvm::AllocaInst* save_area_ = nullptr;
  llvm::BasicBlock* go_on_ = nullptr;  // Paths say who runs and where
  std::vector<llvm::BasicBlock*> places_;
  std::vector<Stop> stops_;  // of each place
};

}  // namespace warpgrind::jit
