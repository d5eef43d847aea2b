// Copies of CUDA's vector types stay whole. `float4 v = in[i]` is a memcpy of 16 bytes for clang, which LLVM 19 takes
// apart: into the components that are used (then not always joined again), or, from memory to memory, into two copies
// of 8 bytes. nvcc makes one access of it, and that is what a program with float4 is written for.
#pragma once

#include <llvm/IR/PassManager.h>

// Before anything is optimised: copies between memory and a variable of the function become a load and a store of a
// vector.
struct VectorCopies : llvm::PassInfoMixin<VectorCopies> {
  static llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

// After it: what is left as copies from memory to memory, aligned to 16 bytes.
struct WideCopies : llvm::PassInfoMixin<WideCopies> {
  static llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};
