// Regions: what a warp runs between two barriers of its block. At the border another warp goes on in its place, in the
// same function and on the same stack; what the warp needs behind the border is in its frame, a few registers mostly.
// Switching fibers instead took nearly half of a tree reduction: a return to another place than the last call's is
// never predicted. Only whole warps can end a region: everything else that waits (lanes apart from the rest, loops that
// wait for memory, barriers in called functions) keeps its stack. Where a warp ends, the block's next one goes on: in
// its own context if it may have a frame, else in that of the one that ends. (Through the device's loop in C++ it took
// a fifth of a vector addition, a transpose or a reduction.)
#pragma once

#include <map>
#include <vector>

#include "jit/kernel/path_stack.h"
#include "jit/kernel/registers.h"

namespace warpgrind::jit {

class Regions {
 public:
  Regions(FunctionContext& context, LaneMasks& masks, PathStack& stack, Registers& registers)
      : f_(context), ir_(context.ir()), masks_(masks), stack_(stack), registers_(registers) {}
  void create();                               // finds the borders
  void begin(llvm::BasicBlock* first);         // ends the block before the first one: a warp goes on where it is
  void end_block(std::uint32_t block);         // before its last instruction, if that ends it
  bool end_here() const;                       // the current instruction ends a region, if the whole warp is at it
  llvm::Value* undivided(llvm::Value* whole);  // i1: and nothing of the warp waits elsewhere

  // Registers go to the frame; `come` asks the device who goes on. Leaves the insertion point in the next region.
  // of_block: the site of a barrier that waits for all threads of the block, for which a warp may have a successor.
  void end(llvm::function_ref<llvm::Value*()> come, llvm::Value* of_block);
  void leave();  // the warp has ended: another one goes on in the same function, or it returns

 private:
  // Where one of a register's slots is in the frame; written: it may have another value than there.
  struct Kept {
    llvm::AllocaInst* slot = nullptr;
    std::uint64_t at = 0;
    bool written = false;
  };
  struct Border {
    std::uint32_t instruction = 0;
    std::vector<Kept> kept;
  };
  using RegisterSet = std::vector<std::uint64_t>;  // a bit each
  bool possible() const;
  void place(Border& border, const RegisterSet& live, const RegisterSet& written);
  const Border* border_here() const;
  std::vector<llvm::AllocaInst*> slots_of(ptx::RegId r) const;
  void keep_at_end(std::uint32_t block, const RegisterSet& registers);
  void keep(const std::vector<Kept>& registers);
  void take_back(const Border& border);
  void ask_device(llvm::function_ref<llvm::Value*()> come, llvm::BasicBlock* next);
  void hand_over_to_successor(llvm::Value* site);
  void hand_over_at_end(llvm::BasicBlock* nobody);
  void go_on_in_place(llvm::BasicBlock* nobody);
  void go_on_as(llvm::Value* warp);
  llvm::Value* tell_running(llvm::Value* warp);
  llvm::Value* in_context(std::size_t field);
  llvm::Value* in_frame(std::uint64_t at);

  FunctionContext& f_;
  llvm::IRBuilder<>& ir_;
  LaneMasks& masks_;
  PathStack& stack_;
  Registers& registers_;
  std::vector<Border> borders_;
  std::map<llvm::AllocaInst*, std::uint64_t> places_;  // one a slot: what is not touched between two borders stays
  std::map<std::uint32_t, std::vector<Kept>> before_loops_;  // by block: at its end
  llvm::SwitchInst* entries_ = nullptr;
};

}  // namespace warpgrind::jit
