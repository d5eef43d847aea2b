// The special registers of PTX (%tid, %ctaid, %clock, ...), from the WarpContext.
#pragma once

#include "codegen/kernel/function_context.h"

namespace warpgrind::jit {

class SpecialRegisters {
 public:
  explicit SpecialRegisters(FunctionContext& context) : f_(context), ir_(context.ir()) {}
  // One value, or 32 lanes if they differ. `number`: the index of %envreg<number>.
  llvm::Value* read(ptx::SpecialRegister s, std::uint32_t number);

 private:
  llvm::Value* field(std::size_t offset, const char* name);
  llvm::Value* dimension(std::size_t base, ptx::SpecialRegister s, ptx::SpecialRegister first);
  llvm::Value* cluster_register(ptx::SpecialRegister s);

  FunctionContext& f_;
  llvm::IRBuilder<>& ir_;
};

}  // namespace warpgrind::jit
