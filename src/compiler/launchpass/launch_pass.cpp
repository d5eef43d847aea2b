// LLVM pass that clang loads for the device half of a program. It adds what clang 19 lacks for kernels. clang has no
// `<<<>>>` in device code; for each launch there, toolchain/device_launch.h writes
//   kernel<<<grid, block, shared, stream>>>(a, b)
// as
//   (__wg_configure_launch(grid, block, shared, stream), kernel(a, b), __wg_launch())
// and makes kernels callable functions (include/host_defines.h). Before any optimisation, this pass turns the call
// between the two markers into nvcc's form of a launch (CUDA C++ Programming Guide, "Device-side Launch from PTX"). It
// gets a buffer, stores the parameters there in the layout of the kernel's parameter space, and launches.
#include <llvm/ADT/StringExtras.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Passes/PassPlugin.h>
#include <llvm/Support/MD5.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include <vector>

#include "launchpass/inlined_places.h"
#include "launchpass/run_time_variables.h"
#include "launchpass/vector_copies.h"

namespace {

constexpr const char* kConfigure = "__wg_configure_launch";
constexpr const char* kLaunch = "__wg_launch";
constexpr const char* kUnit = "__wg_unit";

struct Site {
  llvm::CallInst *configuration, *call, *launch;
};

const llvm::Function* callee_of(const llvm::CallInst& call) {
  return llvm::dyn_cast<llvm::Function>(call.getCalledOperand()->stripPointerCasts());
}

// Code is still in the source's order here: the last call before the end of a launch is its kernel.
std::vector<Site> sites_in(llvm::Function& function) {
  std::vector<Site> out;
  std::vector<llvm::CallInst*> open;
  llvm::CallInst* last = nullptr;
  for (llvm::BasicBlock& block : function)
    for (llvm::Instruction& instruction : block) {
      auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      if (!call || llvm::isa<llvm::IntrinsicInst>(call)) continue;
      const llvm::Function* callee = callee_of(*call);
      const llvm::StringRef name = callee ? callee->getName() : "";
      if (name == kConfigure) open.push_back(call);
      if (name == kLaunch && last && !open.empty()) {
        out.push_back({open.back(), last, call});
        open.pop_back();
      }
      last = call;
    }
  return out;
}

class Launches {
 public:
  explicit Launches(llvm::Module& module) : module_(module), context_(module.getContext()) {}

  bool rewrite() {
    std::vector<Site> sites;
    for (llvm::Function& function : module_)
      for (const Site& site : sites_in(function)) sites.push_back(site);
    for (const Site& site : sites) rewrite(site);
    for (const char* name : {kConfigure, kLaunch})
      if (llvm::Function* f = module_.getFunction(name); f && f->use_empty()) f->eraseFromParent();
    return !sites.empty();
  }

 private:
  llvm::PointerType* pointer() { return llvm::PointerType::get(context_, 0); }
  llvm::IntegerType* i32() { return llvm::Type::getInt32Ty(context_); }

  // Copies a dim3 that is passed by value: the configuration's arguments may be gone when the kernel's are ready.
  llvm::Value* kept(llvm::CallInst* at, unsigned argument) {
    llvm::Function* function = at->getFunction();
    llvm::Type* type = at->getParamByValType(argument);
    llvm::IRBuilder<> entry(&function->getEntryBlock(), function->getEntryBlock().getFirstInsertionPt());
    llvm::AllocaInst* copy = entry.CreateAlloca(type);
    llvm::IRBuilder<> b(at);
    const auto size = module_.getDataLayout().getTypeAllocSize(type);
    b.CreateMemCpy(copy, copy->getAlign(), at->getArgOperand(argument), at->getParamAlign(argument), size);
    return copy;
  }

  void store_parameters(llvm::IRBuilder<>& b, const llvm::CallInst& call, llvm::Value* buffer) {
    const llvm::DataLayout& layout = module_.getDataLayout();
    std::uint64_t offset = 0;
    for (unsigned i = 0; i < call.arg_size(); i++) {
      llvm::Value* value = call.getArgOperand(i);
      llvm::Type* type = call.isByValArgument(i) ? call.getParamByValType(i) : value->getType();
      if (type->isIntegerTy(1)) {
        value = b.CreateZExt(value, llvm::Type::getInt8Ty(context_));
        type = value->getType();
      }
      llvm::Align align = layout.getABITypeAlign(type);
      if (call.isByValArgument(i)) align = call.getParamAlign(i).valueOrOne();
      offset = llvm::alignTo(offset, align);
      llvm::Value* place = b.CreateConstInBoundsGEP1_64(llvm::Type::getInt8Ty(context_), buffer, offset);
      const auto size = layout.getTypeAllocSize(type);
      if (call.isByValArgument(i)) {
        b.CreateMemCpy(place, align, value, align, size);
      } else {
        b.CreateAlignedStore(value, place, align);
      }
      offset += size;
    }
  }

  void rewrite(const Site& site) {
    llvm::CallInst& configuration = *site.configuration;
    llvm::Value *grid = kept(&configuration, 0), *block = kept(&configuration, 1);
    llvm::Value *shared = configuration.getArgOperand(2), *stream = configuration.getArgOperand(3);
    llvm::Type* dim3 = configuration.getParamByValType(0);

    llvm::IRBuilder<> b(site.call);
    llvm::FunctionCallee take =
        module_.getOrInsertFunction("cudaGetParameterBufferV2", pointer(), pointer(), pointer(), pointer(), i32());
    llvm::CallInst* buffer =
        b.CreateCall(take, {site.call->getCalledOperand(), grid, block, b.CreateTrunc(shared, i32())}, "launch.buffer");
    const llvm::Align align = configuration.getParamAlign(0).valueOrOne();
    auto* declared = llvm::dyn_cast<llvm::Function>(take.getCallee());
    for (const unsigned i : {1U, 2U}) {
      for (const llvm::Attribute a :
           {llvm::Attribute::getWithByValType(context_, dim3), llvm::Attribute::getWithAlignment(context_, align)}) {
        buffer->addParamAttr(i, a);
        if (declared && declared->isDeclaration()) declared->addParamAttr(i, a);
      }
    }
    // No buffer: there are too many launches. cudaGetLastError returns the error.
    llvm::Value* there = b.CreateIsNotNull(buffer);
    b.SetInsertPoint(llvm::SplitBlockAndInsertIfThen(there, site.call, false));
    store_parameters(b, *site.call, buffer);
    b.CreateCall(module_.getOrInsertFunction("cudaLaunchDeviceV2", i32(), pointer(), pointer()), {buffer, stream});
    site.call->eraseFromParent();
    site.launch->eraseFromParent();
    site.configuration->eraseFromParent();
  }

  llvm::Module& module_;
  llvm::LLVMContext& context_;
};

// Handles kernels as clang would: to clang they are plain functions here. Kernels of a template stay in every unit that
// uses them. Kernels local to one unit become visible to the host half, under a name of their own.
void make_visible(llvm::Module& module) {
  const llvm::NamedMDNode* annotations = module.getNamedMetadata("nvvm.annotations");
  if (!annotations) return;
  std::string postfix;
  if (llvm::GlobalVariable* unit = module.getGlobalVariable(kUnit, true); unit && unit->hasInitializer()) {
    if (const auto* text = llvm::dyn_cast<llvm::ConstantDataSequential>(unit->getInitializer()))
      postfix = "__intern__" + llvm::utohexstr(llvm::MD5Hash(text->getAsCString()), true);
    llvm::removeFromUsedLists(module, [unit](llvm::Constant* used) { return used == unit; });
    if (unit->use_empty()) unit->eraseFromParent();
  }
  for (const llvm::MDNode* note : annotations->operands()) {
    if (note->getNumOperands() < 2) continue;
    const auto* what = llvm::dyn_cast<llvm::MDString>(note->getOperand(1));
    auto* kernel = llvm::mdconst::dyn_extract_or_null<llvm::Function>(note->getOperand(0));
    if (!what || what->getString() != "kernel" || !kernel || kernel->isDeclaration()) continue;
    if (kernel->hasLinkOnceLinkage()) kernel->setLinkage(llvm::GlobalValue::WeakODRLinkage);
    if (!kernel->hasLocalLinkage()) continue;
    kernel->setName(kernel->getName() + postfix);
    kernel->setLinkage(llvm::GlobalValue::ExternalLinkage);
  }
}

// Writes the cluster dimensions into the PTX. __cluster_dims__(x, y, z) is an annotation (include/host_defines.h),
// because clang 19 has no directives for it. It becomes a comment at the head of the PTX;
// toolchain/cluster_dimensions.h makes the directives from that.
void write_cluster_dimensions(llvm::Module& module) {
  const llvm::GlobalVariable* annotations = module.getNamedGlobal("llvm.global.annotations");
  if (!annotations || !annotations->hasInitializer()) return;
  for (const llvm::Use& use : annotations->getInitializer()->operands()) {
    const auto* note = llvm::dyn_cast<llvm::ConstantStruct>(use.get());
    if (!note || note->getNumOperands() < 5) continue;
    const auto* kernel = llvm::dyn_cast<llvm::Function>(note->getOperand(0)->stripPointerCasts());
    const auto* text = llvm::dyn_cast<llvm::GlobalVariable>(note->getOperand(1)->stripPointerCasts());
    const auto* sizes = llvm::dyn_cast<llvm::GlobalVariable>(note->getOperand(4)->stripPointerCasts());
    if (!kernel || !text || !sizes || !text->hasInitializer() || !sizes->hasInitializer()) continue;
    const auto* name = llvm::dyn_cast<llvm::ConstantDataSequential>(text->getInitializer());
    if (!name || !name->isCString() || name->getAsCString() != "cluster_dims") continue;
    std::string line = "// cluster_dims " + kernel->getName().str();
    for (const llvm::Use& size : sizes->getInitializer()->operands())
      if (const auto* number = llvm::dyn_cast<llvm::ConstantInt>(size.get()))
        line += " " + std::to_string(number->getZExtValue());
    module.appendModuleInlineAsm(line);
  }
}

struct LaunchPass : llvm::PassInfoMixin<LaunchPass> {
  static bool isRequired() { return true; }  // at -O0 too
  static llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& /*analyses*/) {
    make_visible(module);
    Launches(module).rewrite();
    write_cluster_dimensions(module);
    return llvm::PreservedAnalyses::none();
  }
};

}  // namespace

extern "C" __attribute__((visibility("default"))) llvm::PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "warpgrind-launch", "1", [](llvm::PassBuilder& builder) {
            builder.registerPipelineStartEPCallback([](llvm::ModulePassManager& passes, llvm::OptimizationLevel level) {
              passes.addPass(LaunchPass());
              passes.addPass(RunTimeVariables());
              passes.addPass(FunctionNames());
              if (level != llvm::OptimizationLevel::O0)
                passes.addPass(llvm::createModuleToFunctionPassAdaptor(VectorCopies()));
            });
            builder.registerOptimizerLastEPCallback([](llvm::ModulePassManager& passes, llvm::OptimizationLevel level) {
              if (level != llvm::OptimizationLevel::O0)
                passes.addPass(llvm::createModuleToFunctionPassAdaptor(WideCopies()));
              passes.addPass(InlinedPlaces());
            });
          }};
}
