// The pass pipelines: what pays for kernels of 32-lane vectors, and nothing more (compile time is part of a run).
#pragma once

#include "jit/compile/promotion.h"
#include "jit/compile/tier.h"

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace warpgrind::jit {

// How large the module's code is before optimisation.
CodeSize measure(llvm::Module& module);

Promotion optimise(llvm::Module& module, llvm::TargetMachine& target, Tier tier);

// Options of LLVM's code generator that only its command line has; once, before the first target machine is used.
void tune_code_generation();

}  // namespace warpgrind::jit
