// ld and st whose lanes have addresses of their own, where the CPU has gathers and scatters with masks: checked by a
// comparison a lane, kept to be counted with others, and moved in place (LaneRequests in jit/abi.h).
#pragma once

#include "jit/kernel/addresses.h"
#include "jit/kernel/sites.h"

namespace warpgrind::jit {

class LaneAccess {
 public:
  LaneAccess(FunctionContext& context, LaneMasks& masks, Sites& sites)
      : f_(context), ir_(context.ir()), masks_(masks), sites_(sites) {}
  // The current instruction, of one element a lane.
  bool serves(const Address& a, StateSpace space, unsigned bytes, bool store) const;

  // Goes on where all lanes are good, and the request is kept; else to `slow`.
  void begin(llvm::Value* addresses, llvm::Value* state, unsigned bytes, llvm::BasicBlock* slow);
  llvm::Value* load(llvm::Value* addresses, StateSpace space, llvm::Type* element);
  void store(llvm::Value* addresses, StateSpace space, llvm::Value* value);

 private:
  struct Words {
    llvm::Value *pointers, *shift;  // of the 4-byte words that hold smaller elements; bits to the right, as <32 x i32>
  };
  void keep(llvm::Value* distances, llvm::Value* state);
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
};

}  // namespace warpgrind::jit
