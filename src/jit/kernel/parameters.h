// Parameters and results of functions: planes of 32-bit words, word w of lane l at [w*32 + l]; a kernel's parameters:
// one buffer for the grid.
#pragma once

#include <vector>

#include "jit/kernel/registers.h"

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
  // Do `bytes` at this address (or those of the lanes that are on, of 32) lie within the kernel's parameters, aligned?
  llvm::Value* hold(llvm::Value* address, unsigned bytes);

  llvm::Value* planes(std::uint32_t variable);  // where a .param variable of the function is
  llvm::Value* load_words(llvm::Value* planes, std::uint64_t offset, llvm::Type* element);
  void store_words(llvm::Value* planes, std::uint64_t offset, llvm::Type* element, llvm::Value* vector, bool masked);
  void copy(llvm::Value* to, llvm::Value* from, std::uint64_t words);

  // Is the current instruction's access by name within the parameter? Says so if not.
  bool access_fits(const ptx::Operand& address);

 private:
  llvm::Value* shift_count(unsigned bits, unsigned count);

  FunctionContext& f_;
  llvm::IRBuilder<>& ir_;
  LaneMasks& masks_;
  Registers& registers_;
  std::vector<llvm::AllocaInst*> own_;  // made when they are first used
};

}  // namespace warpgrind::jit
