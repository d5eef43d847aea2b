// Programs compiled at run time (include/warpgrind/nvrtc/wrapper.h) have no host code from which clang learns that a
// static
// __constant__ or __device__ variable is set from outside, by its name: without this pass its initial value is what
// every read gives.
#pragma once

#include <llvm/IR/PassManager.h>

struct RunTimeVariables : llvm::PassInfoMixin<RunTimeVariables> {
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager&);
  static bool isRequired() { return true; }
};
