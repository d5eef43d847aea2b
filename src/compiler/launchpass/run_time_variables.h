// LLVM pass for programs compiled at run time (include/warpgrind/nvrtc/wrapper.h). They have no host code from which
// clang learns that a static __constant__ or __device__ variable is set from outside by its name. Without this pass
// every read would give the variable's initial value.
#pragma once

#include <llvm/IR/PassManager.h>

struct RunTimeVariables : llvm::PassInfoMixin<RunTimeVariables> {
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager&);
  static bool isRequired() { return true; }
};
