// Translation of a kernel and all functions it may call to one LLVM module, unoptimised.
#pragma once

#include <llvm/IR/Module.h>

#include <memory>

#include "base/result.h"
#include "codegen/kernel/kernel_unit.h"

namespace llvm {
class TargetMachine;
}

namespace warpgrind::jit {

// The entry becomes the function "kernel". Fills in the facts of `unit`.
Result<std::unique_ptr<llvm::Module>> emit(KernelUnit& unit, llvm::LLVMContext& context, std::uint32_t entry,
                                           const llvm::TargetMachine& target);

}  // namespace warpgrind::jit
