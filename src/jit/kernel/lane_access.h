// ld and st whose lanes have addresses of their own, where the CPU has gathers and scatters with masks: checked by a
// comparison a lane, and moved in place (LaneRequests in jit/abi.h). What is anyhow is kept, to be counted with others.
// Mostly all lanes are side by side, or in steps, and it only cannot be told beforehand: an index that was divided, a
// loop whose turns nvcc has divided by four.
#pragma once

#include "jit/kernel/addresses.h"
#include "jit/kernel/counting.h"
#include "jit/kernel/sites.h"

namespace warpgrind::jit {

class LaneAccess {
 public:
  LaneAccess(FunctionContext& context, LaneMasks& masks, Sites& sites, Counting& counting)
      : f_(context), ir_(context.ir()), masks_(masks), sites_(sites), counting_(counting) {}
  // The current instruction, of `count` elements of `bytes` a lane.
  bool serves(const Address& a, StateSpace space, unsigned bytes, unsigned count) const;
  // Also where the lanes are anywhere.
  static bool gathers(StateSpace space, unsigned bytes, unsigned count, bool store);

  // Goes on where all lanes are good, else to `slow`. Returns their distances from the window's begin, <32 x i64>.
  llvm::Value* begin(llvm::Value* addresses, llvm::Value* state, unsigned bytes, llvm::BasicBlock* slow);
  struct Ways {
    llvm::BasicBlock *expected, *strided, *anyhow;  // all lanes in steps of so many bytes; of another number; else
  };
  // Side by side, or as far apart as flow/lane_steps.h has it; `bytes` are a lane's.
  std::int64_t expected_step(const Address& a, unsigned bytes) const;
  void branch(llvm::Value* addresses, llvm::Value* state, std::int64_t expected, const Ways& ways);
  Address expected(llvm::Value* addresses, std::int64_t step);
  Address strided(llvm::Value* addresses, llvm::Value* state);
  void count_regular(llvm::Value* addresses, llvm::Value* state);
  void keep(llvm::Value* distances, llvm::Value* state);
  llvm::Value* load(llvm::Value* addresses, StateSpace space, llvm::Type* element);
  void store(llvm::Value* addresses, StateSpace space, llvm::Value* value);

 private:
  struct Words {
    llvm::Value *pointers, *shift;  // of the 4-byte words that hold smaller elements; bits to the right, as <32 x i32>
  };
  llvm::Value* step(llvm::Value* state);
  Address in_steps(llvm::Value* addresses, llvm::Value* step);
  llvm::MDNode* weights(std::uint32_t first, std::uint32_t second) const;
  llvm::Type* vector(llvm::Type* element) const { return llvm::FixedVectorType::get(element, kWarpSize); }
  llvm::Value* gather(llvm::Value* pointers, llvm::Type* element, unsigned alignment);
  llvm::Value* lane_pointers(llvm::Value* addresses, StateSpace space);
  llvm::Value* local_words(llvm::Value* addresses, std::uint64_t next);
  Words words(llvm::Value* addresses, StateSpace space);
  void store_part_of_words(llvm::Value* addresses, llvm::Value* value, unsigned bits);

  FunctionContext& f_;
  llvm::IRBuilder<>& ir_;
  LaneMasks& masks_;
  Sites& sites_;
  Counting& counting_;
};

}  // namespace warpgrind::jit
