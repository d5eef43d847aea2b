// LLVM passes that keep where functions were inlined. clang 19 does not write `inlined_at` into PTX, so an access in a
// header's function (atomicAdd) had the header's line and nothing led to the user's.
#pragma once

#include <llvm/IR/PassManager.h>

// Before any optimisation: gives the debug information of functions their mangled names, which -gline-tables-only
// leaves out.
struct FunctionNames : llvm::PassInfoMixin<FunctionNames> {
  static bool isRequired() { return true; }
  static llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& analyses);
};

// After all optimisations: numbers the inlined places and gives each inlined instruction the line kFirst + number.
// Comments at the head of the PTX describe the numbers; toolchain/inlined_places.h makes .loc directives from them.
struct InlinedPlaces : llvm::PassInfoMixin<InlinedPlaces> {
  static constexpr unsigned kFirst = 1U << 30;  // no source has so many lines
  static bool isRequired() { return true; }     // at -O0 too
  static llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& analyses);
};
