#include "jit/compile/compiler.h"

#include <fmt/format.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>

#include <chrono>
#include <cstdlib>
#include <mutex>

#include "flow/liveness.h"
#include "jit/calls/symbols.h"
#include "jit/compile/object_cache.h"
#include "jit/compile/optimise.h"
#include "jit/kernel/function_lowering.h"

namespace warpgrind::jit {

std::uint32_t CompiledKernel::guard_slot(std::uint32_t i) const {
  return static_cast<std::uint32_t>(2 * facts().blocks.size()) + i;
}
std::uint32_t CompiledKernel::branch_slot(std::uint32_t i) const {
  return static_cast<std::uint32_t>(2 * facts().blocks.size() + facts().guards.size()) + 3 * i;
}
std::uint32_t CompiledKernel::edge_slot(std::uint32_t i) const {
  return branch_slot(static_cast<std::uint32_t>(facts().branches.size())) + 2 * i;
}
std::uint32_t CompiledKernel::scoreboard_slots() const {
  return edge_slot(facts().edge_counters);
}

namespace {

std::string message_of(llvm::Error error) {
  return llvm::toString(std::move(error));
}

// Machine code lives in a JITDylib of its own; removing it frees the memory.
class Kernel final : public CompiledKernel {
 public:
  ~Kernel() override {
    if (library) llvm::consumeError(jit->getExecutionSession().removeJITDylib(*library));
  }
  WarpFunction entry() const override { return code; }
  const events::KernelFacts& facts() const override { return kernel_facts; }

  std::shared_ptr<llvm::orc::LLJIT> jit;
  llvm::orc::JITDylib* library = nullptr;
  WarpFunction code = nullptr;
  events::KernelFacts kernel_facts;
};

class LlvmCompiler final : public Compiler {
 public:
  Result<std::unique_ptr<CompiledKernel>> compile(const ptx::Module& module, std::uint32_t entry,
                                                  const CompileOptions& options) override;

 private:
  Status prepare(const CompileOptions& options);
  Result<std::unique_ptr<llvm::Module>> emit(KernelUnit& unit, llvm::LLVMContext& context, std::uint32_t entry);
  Result<std::unique_ptr<llvm::MemoryBuffer>> machine_code(llvm::Module& module, const CompileOptions& options,
                                                           bool* from_cache);
  Status link(Kernel& kernel, std::unique_ptr<llvm::MemoryBuffer> object);

  std::mutex mutex_;
  std::shared_ptr<llvm::orc::LLJIT> jit_;
  std::unique_ptr<llvm::TargetMachine> target_;
  std::uint64_t serial_ = 0;
};

Status LlvmCompiler::prepare(const CompileOptions& options) {
  if (jit_) return Ok{};
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  tune_code_generation();
  auto builder = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!builder)
    return Error{ErrorKind::environment, "the JIT cannot tell what CPU this is: " + message_of(builder.takeError()),
                 ""};
  if (!options.cpu.empty()) {
    builder->setCPU(options.cpu);
    builder->getFeatures() = llvm::SubtargetFeatures();
  }
  builder->setCodeGenOptLevel(llvm::CodeGenOptLevel::Default);
  builder->setRelocationModel(llvm::Reloc::PIC_);
  builder->setCodeModel(llvm::CodeModel::Small);
  builder->getOptions().AllowFPOpFusion = llvm::FPOpFusion::Strict;  // f32/f64 arithmetic is bit-exact
  auto machine = builder->createTargetMachine();
  if (!machine)
    return Error{ErrorKind::environment, "the JIT cannot make code for this CPU: " + message_of(machine.takeError()),
                 ""};
  target_ = std::move(*machine);
  auto jit = llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(*builder).create();
  if (!jit) return Error{ErrorKind::environment, "the JIT does not start: " + message_of(jit.takeError()), ""};
  jit_ = std::move(*jit);
  return Ok{};
}

// Kernel -> LLVM IR, with all functions it may call.
Result<std::unique_ptr<llvm::Module>> LlvmCompiler::emit(KernelUnit& unit, llvm::LLVMContext& context,
                                                         std::uint32_t entry) {
  auto module = std::make_unique<llvm::Module>("kernel", context);
  module->setDataLayout(target_->createDataLayout());
  module->setTargetTriple(target_->getTargetTriple().str());
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
  for (std::uint32_t f : unit.layout->functions) {
    const ptx::Function& function = unit.module->functions[f];
    if (!function.has_body) continue;
    const bool is_kernel = f == entry;
    llvm::FunctionType* type = is_kernel ? llvm::FunctionType::get(nothing, {pointer}, false)
                                         : llvm::FunctionType::get(nothing, {pointer, i32, pointer, pointer}, false);
    auto* made = llvm::Function::Create(
        type, is_kernel ? llvm::GlobalValue::ExternalLinkage : llvm::GlobalValue::InternalLinkage,
        is_kernel ? "kernel" : function.name, module.get());
    made->addFnAttr(llvm::Attribute::NoUnwind);
    made->addFnAttr("prefer-vector-width", "512");
    if (target_->getMCSubtargetInfo()->checkFeatures("+avx512f"))
      made->addFnAttr("warpgrind-avx512f");  // for instructions with a rounding mode
    made->addFnAttr("min-legal-vector-width", "512");
    made->addParamAttr(0, llvm::Attribute::NoAlias);
    unit.functions[f] = made;
  }
  for (const auto& [index, made] : unit.functions) {
    FunctionLowering(unit, index, index == entry).run();
    if (unit.error) return *unit.error;
  }
  const auto set = [&](const char* name, std::uint64_t value) {
    module->getGlobalVariable(name, true)->setInitializer(llvm::ConstantInt::get(i64, value));
  };
  set("wg_guard_base", 2 * unit.facts.blocks.size());
  set("wg_branch_base", 2 * unit.facts.blocks.size() + unit.facts.guards.size());
  set("wg_edge_base", 2 * unit.facts.blocks.size() + unit.facts.guards.size() + 3 * unit.facts.branches.size());
  if (std::getenv("WARPGRIND_DUMP_IR")) module->print(llvm::errs(), nullptr);
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  if (llvm::verifyModule(*module, &stream)) {
    std::fprintf(stderr, "warpgrind: invalid code for kernel %s: %s\n", unit.facts.name.c_str(), problem.c_str());
    WG_ASSERT(!"generated LLVM IR is valid");
  }
  return module;
}

Result<std::unique_ptr<llvm::MemoryBuffer>> LlvmCompiler::machine_code(llvm::Module& module,
                                                                       const CompileOptions& options,
                                                                       bool* from_cache) {
  const ObjectCache cache(options.cache_directory);
  std::string key;
  if (cache.enabled()) {
    llvm::SmallVector<char, 0> bitcode;
    llvm::raw_svector_ostream stream(bitcode);
    llvm::WriteBitcodeToFile(module, stream);
    key = cache.key({bitcode.data(), bitcode.size()},
                    target_->getTargetCPU().str() + target_->getTargetFeatureString().str());
    if (auto object = cache.find(key)) {
      *from_cache = true;
      return object;
    }
  }
  optimise(module, *target_);
  llvm::SmallVector<char, 0> code;
  llvm::raw_svector_ostream stream(code);
  llvm::legacy::PassManager passes;
  if (target_->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile, /*DisableVerify=*/true))
    return Error{ErrorKind::environment, "LLVM cannot write object code for this CPU", ""};
  passes.run(module);
  auto object = llvm::MemoryBuffer::getMemBufferCopy({code.data(), code.size()}, "kernel");
  if (cache.enabled()) cache.store(key, object->getBuffer());
  if (const char* path = std::getenv("WARPGRIND_DUMP_OBJECT")) {
    std::error_code problem;
    llvm::raw_fd_ostream file(path, problem);
    if (!problem) file << object->getBuffer();
  }
  return object;
}

Status LlvmCompiler::link(Kernel& kernel, std::unique_ptr<llvm::MemoryBuffer> object) {
  using namespace llvm::orc;
  auto library = jit_->createJITDylib(fmt::format("kernel{}", serial_++));
  if (!library)
    return Error{ErrorKind::environment, "the JIT cannot make room for a kernel: " + message_of(library.takeError()),
                 ""};
  kernel.jit = jit_;
  kernel.library = &*library;
  SymbolMap symbols;
  for_each_call_symbol([&](const char* name, void* address) {
    symbols[jit_->mangleAndIntern(name)] =
        ExecutorSymbolDef(ExecutorAddr::fromPtr(address), llvm::JITSymbolFlags::Exported);
  });
  if (auto problem = library->define(absoluteSymbols(std::move(symbols))))
    return Error{ErrorKind::environment, message_of(std::move(problem)), ""};
  library->addGenerator(llvm::cantFail(
      DynamicLibrarySearchGenerator::GetForCurrentProcess(jit_->getDataLayout().getGlobalPrefix())));  // memcpy, memset
  if (auto problem = jit_->addObjectFile(*library, std::move(object)))
    return Error{ErrorKind::environment, message_of(std::move(problem)), ""};
  auto address = jit_->lookup(*library, "kernel");
  if (!address)
    return Error{ErrorKind::environment, "the JIT cannot link a kernel: " + message_of(address.takeError()), ""};
  kernel.code = address->toPtr<WarpFunction>();
  return Ok{};
}

Result<std::unique_ptr<CompiledKernel>> LlvmCompiler::compile(const ptx::Module& module, std::uint32_t entry,
                                                              const CompileOptions& options) {
  const std::lock_guard lock(mutex_);
  const auto begin = std::chrono::steady_clock::now();
  if (Status ready = prepare(options); !ready) return ready.error();
  const KernelLayout layout = lay_out(module, entry);
  KernelUnit unit;
  unit.module = &module;
  unit.options = options;
  unit.layout = &layout;
  unit.facts.name = module.functions[entry].name;
  unit.facts.files = module.files;
  llvm::LLVMContext context;
  auto emitted = emit(unit, context, entry);
  if (!emitted) return emitted.error();
  auto kernel = std::make_unique<Kernel>();
  auto object = machine_code(**emitted, options, &kernel->from_cache);
  if (!object) return object.error();
  if (Status linked = link(*kernel, object.take()); !linked) return linked.error();
  kernel->kernel_facts = std::move(unit.facts);
  constexpr std::uint64_t kRecursionBytes = 16384;  // a thread's stack when the call depth is not known
  kernel->local_bytes = layout.local_bytes + (layout.recursive ? kRecursionBytes : 0);
  kernel->static_shared_bytes = layout.static_shared;
  kernel->dynamic_shared_offset = layout.dynamic_offset;
  const std::vector<ParameterLayout> parameters = parameter_layout(module.functions[entry]);
  kernel->parameter_bytes = parameters.empty() ? 0 : parameters.back().offset + parameters.back().size;
  kernel->register_estimate =
      flow::peak_live_registers(module.functions[entry], flow::build_control_flow(module.functions[entry]));
  kernel->compile_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return std::unique_ptr<CompiledKernel>(std::move(kernel));
}

}  // namespace

std::unique_ptr<Compiler> make_compiler() {
  register_core_symbols();
  register_integer_symbols();
  register_math_symbols();
  return std::make_unique<LlvmCompiler>();
}

}  // namespace warpgrind::jit
