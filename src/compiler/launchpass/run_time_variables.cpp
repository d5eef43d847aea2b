#include "launchpass/run_time_variables.h"

#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

namespace {

constexpr const char* kMark = "__wg_run_time_unit";
constexpr unsigned kGlobal = 1, kConstant = 4;  // address spaces of NVPTX
constexpr const char* kOfFunction = "_ZZ";      // prefix of the names of static variables in functions

}  // namespace

llvm::PreservedAnalyses RunTimeVariables::run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
  llvm::GlobalVariable* const mark = module.getGlobalVariable(kMark, true);
  if (!mark) return llvm::PreservedAnalyses::all();
  llvm::removeFromUsedLists(module, [mark](llvm::Constant* c) { return c->stripPointerCasts() == mark; });
  if (mark->use_empty()) mark->eraseFromParent();
  for (llvm::GlobalVariable& variable : module.globals()) {
    const unsigned space = variable.getAddressSpace();
    if (variable.hasInternalLinkage() && !variable.isConstant() && (space == kGlobal || space == kConstant) &&
        !variable.getName().starts_with(kOfFunction))
      variable.setExternallyInitialized(true);
  }
  return llvm::PreservedAnalyses::none();
}
