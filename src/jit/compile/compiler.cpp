#include "jit/compile/compiler.h"

#include <fmt/format.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/DataExtractor.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>

#include <chrono>
#include <functional>
#include <mutex>

#include "flow/liveness.h"
#include "jit/calls/symbols.h"
#include "jit/compile/kernel_archive.h"
#include "jit/compile/kernel_cache.h"
#include "jit/compile/optimise.h"
#include "jit/compile/slow_notice.h"
#include "jit/kernel/emit.h"

namespace warpgrind::jit {

std::uint32_t CompiledKernel::guard_slot(std::uint32_t i) const {
  return static_cast<std::uint32_t>(2 * facts().blocks.size()) + i;
}
std::uint32_t CompiledKernel::branch_slot(std::uint32_t i) const {
  return static_cast<std::uint32_t>(2 * facts().blocks.size() + facts().guards.size()) +
         events::BranchFacts::kCounters * i;
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
  std::vector<Error> refusals(const ptx::Module& module, std::uint32_t entry, const CompileOptions& options) override;

 private:
  Status prepare(const CompileOptions& options);
  Result<std::unique_ptr<llvm::MemoryBuffer>> translate(Kernel& kernel, const ptx::Module& module, std::uint32_t entry,
                                                        const CompileOptions& options);
  Result<std::unique_ptr<llvm::MemoryBuffer>> machine_code(llvm::Module& module, const CompileOptions& options,
                                                           bool by_table, CompilationSize& size);
  Status link(Kernel& kernel, std::unique_ptr<llvm::MemoryBuffer> object);

  std::mutex mutex_;
  std::shared_ptr<llvm::orc::LLJIT> jit_;
  std::unique_ptr<llvm::TargetMachine> target_;
  std::uint64_t serial_ = 0;
  bool cache_refused_ = false;                                                  // and said so
  std::shared_ptr<std::string> linker_said_ = std::make_shared<std::string>();  // the last
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
  // Arithmetic of f16 by way of f32 everywhere: the half instructions of newer CPUs (Sapphire Rapids) give other bits
  // than an H200, and than all other CPUs.
  builder->getFeatures().AddFeature("avx512fp16", false);
  builder->setCodeGenOptLevel(llvm::CodeGenOptLevel::Default);
  builder->setRelocationModel(llvm::Reloc::PIC_);
  builder->setCodeModel(llvm::CodeModel::Small);
  builder->getOptions().EmitStackSizeSection = true;
  builder->getOptions().AllowFPOpFusion = llvm::FPOpFusion::Strict;  // f32/f64 arithmetic is bit-exact
  auto machine = builder->createTargetMachine();
  if (!machine)
    return Error{ErrorKind::environment, "the JIT cannot make code for this CPU: " + message_of(machine.takeError()),
                 ""};
  target_ = std::move(*machine);
  auto jit = llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(*builder).create();
  if (!jit) return Error{ErrorKind::environment, "the JIT does not start: " + message_of(jit.takeError()), ""};
  jit_ = std::move(*jit);
  // Why something cannot be linked is reported here, and not in the error that lookup() returns.
  jit_->getExecutionSession().setErrorReporter(
      [said = linker_said_](llvm::Error problem) { *said = message_of(std::move(problem)); });
  return Ok{};
}

void write_file(const std::string& path, const std::function<void(llvm::raw_ostream&)>& write) {
  if (path.empty()) return;
  std::error_code problem;
  llvm::raw_fd_ostream file(path, problem);
  if (!problem) write(file);
}

// The sum of what LLVM lists in the section .stack_sizes: for each function its address and, as ULEB128, its frame.
std::uint64_t frame_bytes(const llvm::MemoryBuffer& object) {
  auto file = llvm::object::ObjectFile::createObjectFile(object.getMemBufferRef());
  if (!file) return llvm::consumeError(file.takeError()), 0;
  std::uint64_t sum = 0;
  for (const llvm::object::SectionRef& section : (*file)->sections()) {
    auto name = section.getName();
    auto contents = section.getContents();
    if (!name || !contents) {
      llvm::consumeError(name.takeError());
      llvm::consumeError(contents.takeError());
      continue;
    }
    if (*name != ".stack_sizes") continue;
    const llvm::DataExtractor data(*contents, /*IsLittleEndian=*/true, sizeof(void*));
    for (std::uint64_t at = 0; data.isValidOffsetForAddress(at);) {
      data.getAddress(&at);
      sum += data.getULEB128(&at);
    }
  }
  return sum;
}

Result<std::unique_ptr<llvm::MemoryBuffer>> LlvmCompiler::machine_code(llvm::Module& module,
                                                                       const CompileOptions& options, bool by_table,
                                                                       CompilationSize& size) {
  write_file(options.dump_ir, [&](llvm::raw_ostream& file) { module.print(file, nullptr); });
  size.code = measure(module);
  size.tier = options.tier.value_or(by_table ? Tier::quick : choose_tier(size.code));
  const Promotion promotion = optimise(module, *target_, size.tier);
  size.phis = promotion.phis;
  size.in_memory = promotion.in_memory;
  target_->setOptLevel(size.tier == Tier::quick ? llvm::CodeGenOptLevel::None : llvm::CodeGenOptLevel::Default);
  llvm::SmallVector<char, 0> code;
  llvm::raw_svector_ostream stream(code);
  llvm::legacy::PassManager passes;
  if (target_->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile, /*DisableVerify=*/true))
    return Error{ErrorKind::environment, "LLVM cannot write object code for this CPU", ""};
  passes.run(module);
  auto object = llvm::MemoryBuffer::getMemBufferCopy({code.data(), code.size()}, "kernel");
  write_file(options.dump_object, [&](llvm::raw_ostream& file) { file << object->getBuffer(); });
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
  linker_said_->clear();
  auto address = jit_->lookup(*library, "kernel");
  if (!address) {
    const std::string result = message_of(address.takeError());
    return Error{ErrorKind::environment,
                 "the JIT cannot link a kernel: " + (linker_said_->empty() ? result : *linker_said_), ""};
  }
  kernel.code = address->toPtr<WarpFunction>();
  return Ok{};
}

// The kernel and its object code, made anew.
Result<std::unique_ptr<llvm::MemoryBuffer>> LlvmCompiler::translate(Kernel& kernel, const ptx::Module& module,
                                                                    std::uint32_t entry,
                                                                    const CompileOptions& options) {
  const KernelLayout layout = lay_out(module, entry);
  if (Status good = check_layout(module, entry, layout); !good) return good.error();
  KernelUnit unit;
  unit.module = &module;
  unit.options = options;
  unit.layout = &layout;
  unit.facts.name = module.functions[entry].name;
  unit.facts.files = module.files;
  kernel.size = {};
  for (std::uint32_t f : layout.functions) kernel.size.ptx_instructions += module.functions[f].body.size();
  std::function<void()> say;
  if (options.on_slow)
    say = [&options, slow = SlowCompilation{unit.facts.name, kernel.size.ptx_instructions}] { options.on_slow(slow); };
  const SlowNotice notice(options.slow_seconds, std::move(say));
  llvm::LLVMContext context;
  auto emitted = emit(unit, context, entry, *target_);
  if (!emitted) return emitted.error();
  auto object = machine_code(**emitted, options, unit.by_table, kernel.size);
  if (!object) return object.error();
  kernel.kernel_facts = std::move(unit.facts);
  kernel.frame_bytes = frame_bytes(**object);
  constexpr std::uint64_t kOpenEndedBytes = 16384;  // more of a stack whose depth is not known
  kernel.keeps_time = unit.keeps_time;
  kernel.local_bytes = layout.local_bytes + (layout.open_ended ? kOpenEndedBytes : 0);
  kernel.open_ended = layout.open_ended;
  kernel.static_shared_bytes = layout.static_shared;
  kernel.dynamic_shared_offset = layout.dynamic_offset;
  kernel.parameter_bytes = layout.parameter_bytes;
  kernel.register_estimate =
      flow::peak_live_registers(module.functions[entry], flow::build_control_flow(module.functions[entry]));
  return object;
}

Result<std::unique_ptr<CompiledKernel>> LlvmCompiler::compile(const ptx::Module& module, std::uint32_t entry,
                                                              const CompileOptions& options) {
  const std::lock_guard lock(mutex_);
  const auto begin = std::chrono::steady_clock::now();
  if (Status ready = prepare(options); !ready) return ready.error();
  auto kernel = std::make_unique<Kernel>();
  const KernelCache cache(options.bypasses_cache() ? std::string() : options.cache_directory);
  if (!cache.refusal().empty() && !cache_refused_) {
    cache_refused_ = true;
    if (options.on_cache_refused) options.on_cache_refused(cache.refusal());
  }
  std::string key;
  std::unique_ptr<llvm::MemoryBuffer> object;
  if (cache.enabled()) {
    key = cache_key(module, entry, options,
                    target_->getTargetCPU().str() + " " + target_->getTargetFeatureString().str());
    if (auto file = cache.find(key)) object = unpack(file->getBuffer(), *kernel, kernel->kernel_facts);
  }
  kernel->from_cache = object != nullptr;
  if (!object) {
    auto made = translate(*kernel, module, entry, options);
    if (!made) return made.error();
    object = made.take();
    if (cache.enabled()) cache.store(key, pack(*kernel, object->getBuffer()));
  }
  if (Status linked = link(*kernel, std::move(object)); !linked) return linked.error();
  kernel->compile_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return std::unique_ptr<CompiledKernel>(std::move(kernel));
}

std::vector<Error> LlvmCompiler::refusals(const ptx::Module& module, std::uint32_t entry,
                                          const CompileOptions& options) {
  const std::lock_guard lock(mutex_);
  if (Status ready = prepare(options); !ready) return {ready.error()};
  const KernelLayout layout = lay_out(module, entry);
  if (Status good = check_layout(module, entry, layout); !good) return {good.error()};
  std::vector<Error> all;
  KernelUnit unit;
  unit.module = &module;
  unit.options = options;
  unit.layout = &layout;
  unit.all_refusals = &all;
  llvm::LLVMContext context;
  (void)emit(unit, context, entry, *target_);
  return all;
}

}  // namespace

std::unique_ptr<Compiler> make_compiler() {
  register_integer_symbols();
  register_math_symbols();
  register_aside_symbols();
  return std::make_unique<LlvmCompiler>();
}

}  // namespace warpgrind::jit
