// Regions: the code that a warp runs between two barriers of its block. At the border another warp continues in the
// same function and on the same stack. The values that a warp needs after the border are saved in its frame, mostly a
// few registers. Switching fibers instead took nearly half of a tree reduction: a return to a place other than the last
// call is never predicted. Only a whole warp can end a region. Everything else that waits keeps its stack: some lanes
// of a warp, loops that wait for memory, barriers in called functions. When a warp ends, the block's next warp
// continues: in its own context if warps have frames, else in the context of the one that ends. (The device's loop in
// C++ instead took a fifth of a vector addition, a transpose or a reduction.)
#pragma once

#include <map>
#include <vector>

#include "codegen/kernel/path_stack.h"
#include "codegen/kernel/registers.h"

namespace warpgrind::jit {

class Regions {
 public:
  Regions(FunctionContext& context, LaneMasks& masks, PathStack& stack, Registers& registers)
      : f_(context), ir_(context.ir()), masks_(masks), stack_(stack), registers_(registers) {}
  void create();                        // finds the borders
  void begin(llvm::BasicBlock* first);  // ends the prologue: a warp continues at its region
  void end_block(std::uint32_t block);  // call before its last instruction, if that ends the block
  bool end_here() const;                // the current instruction ends a region if the whole warp executes it
  // Whether a whole warp that is alone in its block goes on at a __syncthreads() at once (WarpContext::alone). Such a
  // kernel has no regions.
  bool passes_alone() const;
  llvm::Value* undivided(llvm::Value* whole);  // i1: `whole`, and no lane of the warp waits elsewhere

  // Saves registers to the frame; `come` asks the device for the next warp. Leaves the insertion point in the next
  // region. of_block: site of a barrier that waits for all threads of the block, so that a warp may have a successor;
  // else null.
  void end(llvm::function_ref<llvm::Value*()> come, llvm::Value* of_block);
  void leave();  // the warp has ended: another one continues in the function, or it returns

 private:
  // Place of one of a register's slots in the frame. `written`: the value may differ from that in the frame.
  struct Kept {
    llvm::AllocaInst* slot = nullptr;
    std::uint64_t at = 0;
    bool written = false;
  };
  struct Border {
    std::uint32_t instruction = 0;
    std::vector<Kept> kept;
  };
  using RegisterSet = std::vector<std::uint64_t>;  // one bit per register
  bool possible() const;
  void place(Border& border, const RegisterSet& live, const RegisterSet& written);
  const Border* border_here() const;
  std::vector<llvm::AllocaInst*> slots_of(ptx::RegId r) const;
  void keep_at_end(std::uint32_t block, const RegisterSet& registers);
  void keep(const std::vector<Kept>& registers);
  void take_back(const Border& border);
  void ask_device(llvm::function_ref<llvm::Value*()> come, llvm::BasicBlock* next);
  void hand_over_to_successor(llvm::Value* site);
  void hand_over_at_end(llvm::BasicBlock* no_warp);
  void go_on_in_place(llvm::BasicBlock* no_warp);
  void go_on_as(llvm::Value* warp);
  llvm::Value* store_running(llvm::Value* warp);
  llvm::Value* in_context(std::size_t field);
  llvm::Value* in_frame(std::uint64_t at);

  FunctionContext& f_;
  llvm::IRBuilder<>& ir_;
  LaneMasks& masks_;
  PathStack& stack_;
  Registers& registers_;
  std::vector<Border> borders_;
  std::map<llvm::AllocaInst*, std::uint64_t> places_;        // one per slot: untouched values stay in the frame
  std::map<std::uint32_t, std::vector<Kept>> before_loops_;  // saved at the end of a block
  llvm::SwitchInst* entries_ = nullptr;
};

}  // namespace warpgrind::jit
