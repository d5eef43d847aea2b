// LLVM module of a kernel: declares its functions, lowers each, and sets the scoreboard's constants.
#include "codegen/kernel/emit.h"

#include <llvm/IR/Verifier.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

#include <cstdio>

#include "base/assert.h"
#include "codegen/kernel/clock.h"
#include "codegen/kernel/function_lowering.h"
#include "codegen/kernel/verifier.h"

namespace warpgrind::jit {

namespace {

// Empty: none.
std::string problem_of(const llvm::Module& module, const KernelUnit& unit) {
  if (unit.options.verify) return find_broken_rule(module, unit);
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  return llvm::verifyModule(module, &stream) ? "kernel " + unit.facts.name + ": " + problem : std::string();
}

}  // namespace

Result<std::unique_ptr<llvm::Module>> emit(KernelUnit& unit, llvm::LLVMContext& context, std::uint32_t entry,
                                           const llvm::TargetMachine& target) {
  auto module = std::make_unique<llvm::Module>("kernel", context);
  module->setDataLayout(target.createDataLayout());
  module->setTargetTriple(target.getTargetTriple().str());
  unit.llvm = module.get();
  llvm::Type* pointer = llvm::PointerType::getUnqual(context);
  llvm::Type* i32 = llvm::Type::getInt32Ty(context);
  llvm::Type* i64 = llvm::Type::getInt64Ty(context);
  llvm::Type* nothing = llvm::Type::getVoidTy(context);
  const auto base = [&](const char* name) {
    new llvm::GlobalVariable(*module, i64, true, llvm::GlobalValue::InternalLinkage, llvm::ConstantInt::get(i64, 0),
                             name);
  };
  base("wg_guard_base");
  base("wg_branch_base");
  base("wg_edge_base");
  base("wg_slow_path_base");
  for (std::uint32_t f : unit.layout->functions) {
    const ptx::Function& function = unit.module->functions[f];
    if (!function.has_body) continue;
    unit.keeps_time |= reads_clock(function);
    const bool is_kernel = f == entry;
    llvm::FunctionType* type = is_kernel ? llvm::FunctionType::get(nothing, {pointer, pointer}, false)
                                         : llvm::FunctionType::get(nothing, {pointer, i32, pointer, pointer}, false);
    auto* made = llvm::Function::Create(
        type, is_kernel ? llvm::GlobalValue::ExternalLinkage : llvm::GlobalValue::InternalLinkage,
        is_kernel ? "kernel" : "func." + function.name, module.get());
    made->addFnAttr(llvm::Attribute::NoUnwind);
    // A frame may be larger than the guard page below a fiber's stack, so it must touch each page.
    made->addFnAttr("probe-stack", "inline-asm");
    made->addFnAttr("stack-probe-size", "4096");
    made->addFnAttr("prefer-vector-width", "512");
    if (target.getMCSubtargetInfo()->checkFeatures("+avx512f"))
      made->addFnAttr("warpgrind-avx512f");  // has instructions with a rounding mode
    made->addFnAttr("min-legal-vector-width", "512");
    made->addParamAttr(0, llvm::Attribute::NoAlias);
    if (is_kernel) made->addParamAttr(1, llvm::Attribute::NoAlias);
    unit.functions[f] = made;
  }
  for (const auto& [index, made] : unit.functions) {
    FunctionContext function(unit, index, index == entry);
    FunctionLowering(function).run();
    if (unit.error) return *unit.error;
  }
  if (unit.all_refusals) return module;  // a dry run: refused instructions left holes in the code
  const auto set = [&](const char* name, std::uint64_t value) {
    module->getGlobalVariable(name, true)->setInitializer(llvm::ConstantInt::get(i64, value));
  };
  set("wg_guard_base", 2 * unit.facts.blocks.size());
  set("wg_branch_base", 2 * unit.facts.blocks.size() + unit.facts.guards.size());
  const std::uint64_t edges = 2 * unit.facts.blocks.size() + unit.facts.guards.size() +
                              events::BranchFacts::kCounters * unit.facts.branches.size();
  set("wg_edge_base", edges);
  set("wg_slow_path_base", edges + 2 * unit.facts.edge_counters);
  if (const std::string problem = problem_of(*module, unit); !problem.empty()) {
    std::fprintf(stderr, "warpgrind: invalid code: %s\n", problem.c_str());
    WG_ASSERT(!"generated LLVM IR is valid");
  }
  if (unit.options.verify) remove_marks(*module);
  return module;
}

}  // namespace warpgrind::jit
