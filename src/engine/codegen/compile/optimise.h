// Pass pipelines: only passes that pay for kernels of 32-lane vectors, since compile time is part of a run.
#pragma once

#include "codegen/compile/promotion.h"
#include "jit/compile/tier.h"

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace warpgrind::jit {

// Size of the module's code before optimisation. count_phis: false leaves CodeSize::phis 0.
CodeSize measure(llvm::Module& module, bool count_phis);

Promotion optimise(llvm::Module& module, llvm::TargetMachine& target, Tier tier);

// Sets options of LLVM's code generator that exist only on its command line. Call once, before the first target machine
// is used.
void tune_code_generation();

}  // namespace warpgrind::jit
