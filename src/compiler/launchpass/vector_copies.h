// LLVM passes that keep copies of CUDA's vector types whole. To clang `float4 v = in[i]` is a memcpy of 16 bytes. LLVM
// 19 splits it: into the used components (not always joined again later), or, from memory to memory, into two copies of
// 8 bytes. nvcc makes one access of it, which is why programs use float4.
#pragma once

#include <llvm/IR/PassManager.h>

// Runs before any optimisation: copies between memory and a local variable become a load and a store of a vector.
struct VectorCopies : llvm::PassInfoMixin<VectorCopies> {
  static llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

// Runs after the optimisations: handles the remaining copies from memory to memory that are aligned to 16 bytes.
struct WideCopies : llvm::PassInfoMixin<WideCopies> {
  static llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};
