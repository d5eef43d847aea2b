// LLVM pass that delays the conversion of NaNs to the canonical NaN. Every f32 operation of the hardware returns the
// single NaN 0x7fffffff, so each lowering ends with a comparison and a select (canonical_nan()). In a loop that
// accumulates, these lengthen the dependent chain more than the addition itself. Further arithmetic and comparisons
// cannot see which NaN a value is. So the pass lets them work on the raw value, also through PHIs, selects and bit
// casts. It makes the NaN canonical only where the bits leave (stores, calls, integer operations).
#pragma once

#include <llvm/IR/PassManager.h>

namespace warpgrind::jit {

class SinkNanCanonicalization : public llvm::PassInfoMixin<SinkNanCanonicalization> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace warpgrind::jit
