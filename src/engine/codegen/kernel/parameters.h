// Parameters and results. Those of functions are planes of 32-bit words, word w of lane l at [w*32 + l]. Those of a
// kernel are one buffer for the grid.
#pragma once

#include <vector>

#include "codegen/kernel/registers.h"

namespace warpgrind::jit {

inline constexpr std::uint64_t kPlaneBytes = 4 * kWarpSize;

class Parameters {
 public:
  Parameters(FunctionContext& context, LaneMasks& masks, Registers& registers)
      : f_(context),
        ir_(context.ir()),
        masks_(masks),
        registers_(registers),
        own_(context.function.variables.size(), nullptr) {}
  void load();   // ld.param, the current instruction
  void store();  // st.param
  // Whether `bytes` at this address lie within the kernel's parameters, aligned. `address` may be 32 addresses; then
  // only those of active lanes count.
  llvm::Value* hold(llvm::Value* address, unsigned bytes);

  llvm::Value* planes(std::uint32_t variable);  // location of a .param variable of the function
  llvm::Value* load_words(llvm::Value* planes, std::uint64_t offset, llvm::Type* element);
  void store_words(llvm::Value* planes, std::uint64_t offset, llvm::Type* element, llvm::Value* vector, bool masked);
  void copy(llvm::Value* to, llvm::Value* from, std::uint64_t words);

  // Whether the current instruction's access by name lies within the parameter. Reports an error if not.
  bool access_fits(const ptx::Operand& address);

 private:
  llvm::Value* shift_count(unsigned bits, unsigned count);

  FunctionContext& f_;
  llvm::IRBuilder<>& ir_;
  LaneMasks& masks_;
  Registers& registers_;
  std::vector<llvm::AllocaInst*> own_;  // made at first use
};

}  // namespace warpgrind::jit
