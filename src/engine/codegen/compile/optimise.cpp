// Pass pipelines of the three tiers, and options of LLVM's code generator.
#include "codegen/compile/optimise.h"

#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/ADCE.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/InstSimplifyPass.h>
#include <llvm/Transforms/Scalar/JumpThreading.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/SCCP.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

#include "base/assert.h"
#include "codegen/compile/nan_sinking.h"

namespace warpgrind::jit {

void tune_code_generation() {
  auto& options = llvm::cl::getRegisteredOptions();
  const auto disable = [&](const char* option) {
    const auto found = options.find(option);
    if (found != options.end()) static_cast<llvm::cl::opt<bool>*>(found->second)->setValue(true);
  };
  // Machine sinking moves the arithmetic of consecutive memory accesses behind the last access, since each access ends
  // a block (fast path, slow path). All loaded vectors then live at once and are spilled. Without machine sinking,
  // tiled multiplication is 19 % faster.
  disable("disable-machine-sink");
  // With AVX-512, this pass looks for scalar arithmetic that mask registers could do, and finds none. Its time grows
  // with the square of the PHIs (more than half of code generation at 3,300).
  disable("disable-x86-domain-reassignment");
}

CodeSize measure(llvm::Module& module, bool count_phis) {
  CodeSize size;
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    size.blocks += function.size();
    size.instructions += function.getInstructionCount();
  }
  if (!count_phis) return size;
  for (llvm::Function& function : module) {
    if (function.isDeclaration() || size.phis > phis_that_matter()) continue;
    llvm::DominatorTree dominators(function);
    size.phis += count_slot_phis(function, dominators, phis_that_matter());
  }
  return size;
}

namespace {

// Limit of instructions that jump threading may duplicate. Followers of a checked access (kernel/access_groups.h) test
// again whether the leader was good. With this limit, the good and the bad path separate for good: multiplication 512
// takes 4.96 instead of 5.69 ms, tiled 6.2 instead of 6.3. Limits of 60 and 120 gain no more.
constexpr int kThreadedInstructions = 20;

void add_full(llvm::FunctionPassManager& passes) {
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::PreserveCFG));
  passes.addPass(SinkNanCanonicalization());
  passes.addPass(llvm::EarlyCSEPass(true));
  passes.addPass(llvm::SCCPPass());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::JumpThreadingPass(kThreadedInstructions));
  llvm::LoopPassManager loop_passes;
  loop_passes.addPass(llvm::LICMPass(llvm::LICMOptions()));
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(loop_passes), /*UseMemorySSA=*/true));
  passes.addPass(llvm::EarlyCSEPass(true));
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::ADCEPass());
  passes.addPass(llvm::SimplifyCFGPass());
}

// Only passes whose time is proportional to the code. InstCombine is left out, because it follows values through PHIs.
void add_lean(llvm::FunctionPassManager& passes) {
  passes.addPass(SinkNanCanonicalization());
  passes.addPass(llvm::EarlyCSEPass(false));
  passes.addPass(llvm::InstSimplifyPass());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::EarlyCSEPass(false));
  passes.addPass(llvm::ADCEPass());
  passes.addPass(llvm::SimplifyCFGPass());
}

void add_quick(llvm::FunctionPassManager& passes) {
  passes.addPass(llvm::EarlyCSEPass(false));
  passes.addPass(llvm::ADCEPass());
}

}  // namespace

Promotion optimise(llvm::Module& module, llvm::TargetMachine& target, Tier tier) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&target);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);
  llvm::FunctionPassManager passes;
  switch (tier) {
    case Tier::full:
      add_full(passes);
      break;
    case Tier::lean:
      add_lean(passes);
      break;
    case Tier::quick:
      add_quick(passes);
  }
  Promotion sum;
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    if (tier != Tier::full) {
      llvm::DominatorTree dominators(function);
      WG_ASSERT(sum.phis <= phi_budget(tier));
      const Promotion done = promote_slots(function, dominators, phi_budget(tier) - sum.phis);
      sum.slots += done.slots;
      sum.in_memory += done.in_memory;
      sum.phis += done.phis;
      forward_slots(function);
    }
    passes.run(function, functions);
  }
  return sum;
}

}  // namespace warpgrind::jit
