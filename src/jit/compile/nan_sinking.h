// Every f32 operation of the hardware gives the one NaN 0x7fffffff, so each lowering ends with a comparison and a
// select (canonical_nan()), which in a loop that accumulates lengthens the dependent chain more than the addition
// itself. Which NaN a value is cannot be seen by further arithmetic and comparisons: this pass lets those work on the
// raw value, also through PHIs, selects and bit casts, and makes the NaN canonical only where the bits get out (stores,
// calls, integer operations).
#pragma once

#include <llvm/IR/PassManager.h>

namespace warpgrind::jit {

class SinkNanCanonicalization : public llvm::PassInfoMixin<SinkNanCanonicalization> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace warpgrind::jit
