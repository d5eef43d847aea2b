// The pass pipeline: what pays for kernels of 32-lane vectors, and nothing more (compile time is part of a run).
#pragma once

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace warpgrind::jit {

void optimise(llvm::Module& module, llvm::TargetMachine& target);

// Options of LLVM's code generator that only its command line has; once, before the first target machine is used.
void tune_code_generation();

}  // namespace warpgrind::jit
