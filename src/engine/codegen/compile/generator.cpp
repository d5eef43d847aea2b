// LLVM target setup, code generation, and the sizes that a compilation reports.
#include "codegen/compile/generator.h"

#include <fmt/format.h>
#include <llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/DataExtractor.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>

#include <functional>

#include "base/assert.h"
#include "base/file.h"
#include "codegen/compile/llvm_use.h"
#include "codegen/compile/optimise.h"
#include "codegen/compile/slow_notice.h"
#include "codegen/kernel/emit.h"
#include "flow/liveness.h"

namespace warpgrind::jit {

namespace {

std::string message_of(llvm::Error error) {
  return llvm::toString(std::move(error));
}

class LlvmGenerator final : public Generator {
 public:
  Result<std::string> generate(const ptx::Module& module, std::uint32_t entry, const CompileOptions& options,
                               CompiledKernel& kernel, events::KernelFacts& facts) override;
  std::vector<Error> refusals(const ptx::Module& module, std::uint32_t entry, const CompileOptions& options) override;

 private:
  Status prepare(const CompileOptions& options);
  Result<std::string> machine_code(llvm::Module& module, const CompileOptions& options, const KernelUnit& unit,
                                   CompiledKernel& kernel);

  std::unique_ptr<llvm::TargetMachine> target_;
};

Status LlvmGenerator::prepare(const CompileOptions& options) {
  if (target_) return Ok{};
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
  // f16 arithmetic uses f32 on every CPU. The half-precision instructions of newer CPUs (Sapphire Rapids) give other
  // bits than an H200 and all other CPUs.
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
  return Ok{};
}

Status dump(const std::string& path, const std::function<void(llvm::raw_ostream&)>& print) {
  if (path.empty()) return Ok{};
  std::string text;
  llvm::raw_string_ostream stream(text);
  print(stream);
  return write_whole(path, stream.str());
}

// Sum of the frame sizes in LLVM's section .stack_sizes, which holds each function's address and frame size (ULEB128).
std::uint64_t frame_bytes(const std::string& object) {
  auto file = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(object, "kernel"));
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

Result<std::string> LlvmGenerator::machine_code(llvm::Module& module, const CompileOptions& options,
                                                const KernelUnit& unit, CompiledKernel& kernel) {
  CompilationSize& size = kernel.size;
  if (Status s = dump(options.dump_ir, [&](llvm::raw_ostream& out) { module.print(out, nullptr); }); !s)
    return s.error();
  size.code = measure(module, !unit.quick_start);
  size.tier = options.tier.value_or(unit.by_table ? Tier::quick : choose_tier(size.code));
  kernel.better_seconds = 0;
  if (unit.quick_start) {
    CodeSize better = size.code;
    better.instructions += unit.left_out;
    kernel.better_seconds = better_code_seconds(better);
    size.tier = Tier::quick;
  }
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
  if (Status s = dump(options.dump_object, [&](llvm::raw_ostream& out) { out << code; }); !s) return s.error();
  return std::string(code.data(), code.size());
}

Result<std::string> LlvmGenerator::generate(const ptx::Module& module, std::uint32_t entry,
                                            const CompileOptions& options, CompiledKernel& kernel,
                                            events::KernelFacts& facts) {
  const LlvmUse use;
  if (!use.allowed()) return Error{ErrorKind::environment, "the process ends", ""};
  if (Status ready = prepare(options); !ready) return ready.error();
  WG_ASSERT(entry < module.functions.size());
  const KernelLayout layout = lay_out(module, entry);
  if (Status good = check_layout(module, entry, layout); !good) return good.error();
  KernelUnit unit;
  unit.module = &module;
  unit.options = options;
  unit.layout = &layout;
  unit.quick_start = options.quick_start && !layout.open_ended;
  unit.stop_places = stop_places(module, layout, options.stops);
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
  kernel.open_ended = layout.open_ended;
  auto object = machine_code(**emitted, options, unit, kernel);
  if (!object) return object.error();
  facts = std::move(unit.facts);
  kernel.frame_bytes = frame_bytes(*object);
  kernel.has_regions = unit.has_regions;
  kernel.region_bytes = unit.region_bytes;
  kernel.keeps_time = unit.keeps_time;
  kernel.local_bytes = layout.local_bytes;
  kernel.least_recursive_frame = layout.least_recursive_frame;
  kernel.static_shared_bytes = layout.static_shared;
  kernel.dynamic_shared_offset = layout.dynamic_offset;
  kernel.parameter_bytes = layout.parameter_bytes;
  kernel.register_estimate =
      flow::peak_live_registers(module.functions[entry], flow::build_control_flow(module.functions[entry]));
  return object;
}

std::vector<Error> LlvmGenerator::refusals(const ptx::Module& module, std::uint32_t entry,
                                           const CompileOptions& options) {
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

std::unique_ptr<Generator> make_llvm_generator() {
  return std::make_unique<LlvmGenerator>();
}

}  // namespace warpgrind::jit
