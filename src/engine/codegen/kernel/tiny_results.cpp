// Choice of the kernels that set bit FTZ, and of registers that never hold subnormals.
#include "codegen/kernel/tiny_results.h"

#include <llvm/IR/IntrinsicsX86.h>

#include <algorithm>

#include "flow/liveness.h"

namespace warpgrind::jit {

namespace {

using ptx::Instruction;
using ptx::Modifier;
using ptx::Opcode;
using ptx::ScalarType;

constexpr const char* kResults = "warpgrind-host-flushes";
constexpr const char* kSources = "warpgrind-host-flushes-sources";
// MXCSR: to nearest, no traps, bit FTZ; bit DAZ, for subnormal sources
constexpr std::uint32_t kFlushing = 0x9f80, kFlushingSources = 0x0040;

bool has_float(const Instruction& i) {
  return std::any_of(i.types.begin(), i.types.end(), ptx::is_float);
}

bool has_rounding(const Instruction& i) {
  return i.has(Modifier::rz) || i.has(Modifier::rm) || i.has(Modifier::rp);
}

bool is_f32_with_ftz(const Instruction& i) {
  return i.types.size() == 1 && i.type() == ScalarType::f32 && i.has(Modifier::ftz);
}

bool is_sum_or_product(const Instruction& i) {
  switch (i.opcode) {
    case Opcode::add:
    case Opcode::sub:
    case Opcode::mul:
    case Opcode::fma:
    case Opcode::mad:
      return true;
    default:
      return false;
  }
}

// f32 arithmetic whose results the CPU flushes as the GPU does.
bool is_flushed_arithmetic(const Instruction& i) {
  return is_sum_or_product(i) && is_f32_with_ftz(i) && !has_rounding(i);
}

// Operations on float values that have no tiny results: they move, compare or select bits, or convert integers.
bool keeps_bits(const Instruction& i) {
  switch (i.opcode) {
    case Opcode::cvt:
      return i.types.size() == 2 && i.type() == ScalarType::f32 && ptx::is_integer(i.type(1));
    case Opcode::ld:
    case Opcode::st:
    case Opcode::mov:
    case Opcode::selp:
    case Opcode::setp:
    case Opcode::min:
    case Opcode::max:
    case Opcode::neg:
    case Opcode::abs:
      return std::all_of(i.types.begin(), i.types.end(),
                         [](ScalarType t) { return t == ScalarType::f32 || !ptx::is_float(t); });
    default:
      return false;
  }
}

// Integer operations in machine code. Others may compute with floats in C++ (matrices, textures, calls).
bool is_plain(const Instruction& i) {
  switch (i.opcode) {
    case Opcode::ld:
    case Opcode::st:
    case Opcode::mov:
    case Opcode::selp:
    case Opcode::setp:
    case Opcode::add:
    case Opcode::sub:
    case Opcode::mul:
    case Opcode::mad:
    case Opcode::min:
    case Opcode::max:
    case Opcode::neg:
    case Opcode::abs:
    case Opcode::and_:
    case Opcode::or_:
    case Opcode::xor_:
    case Opcode::not_:
    case Opcode::shl:
    case Opcode::shr:
    case Opcode::shf:
    case Opcode::prmt:
    case Opcode::bfe:
    case Opcode::bfi:
    case Opcode::cvt:
    case Opcode::cvta:
    case Opcode::shfl:
    case Opcode::bar:
    case Opcode::barrier:
    case Opcode::bra:
    case Opcode::ret:
    case Opcode::exit:
      return true;
    default:
      return false;
  }
}

bool may_flush_on_host(const FunctionContext& f) {
  if (!f.is_kernel || f.unit.functions.size() != 1 || f.unit.options.stops != StopAt::nowhere) return false;
  bool any = false;
  for (const Instruction& i : f.function.body) {
    const bool flushes = is_flushed_arithmetic(i);
    any |= flushes;
    if (!flushes && !(has_float(i) ? keeps_bits(i) : is_plain(i))) return false;
  }
  return any;
}

// Bit DAZ would also change comparisons, minima and maxima without .ftz.
bool may_flush_sources(const Instruction& i) {
  const bool compares = i.opcode == Opcode::setp || i.opcode == Opcode::min || i.opcode == Opcode::max;
  return !compares || !has_float(i) || i.has(Modifier::ftz);
}

// .ftz applies to the results of all f32 operations that have it.
bool flushes_result(const Instruction& i) {
  if (!is_f32_with_ftz(i)) return false;
  switch (i.opcode) {
    case Opcode::div:
    case Opcode::rcp:
    case Opcode::sqrt:
    case Opcode::rsqrt:
    case Opcode::ex2:
      return true;
    default:
      return is_sum_or_product(i);
  }
}

}  // namespace

TinyResults::TinyResults(const FunctionContext& f) : flushed_(f.function.registers.size(), true) {
  std::vector<ptx::RegId> written;
  for (const Instruction& i : f.function.body) {
    if (flushes_result(i)) continue;
    flow::registers_written(i, written);
    for (const ptx::RegId r : written) flushed_[r] = false;
  }
  if (!may_flush_on_host(f)) return;
  f.llvm_function->addFnAttr(kResults);
  if (std::ranges::all_of(f.function.body, may_flush_sources)) f.llvm_function->addFnAttr(kSources);
}

void TinyResults::begin(FunctionContext& f) const {
  if (!host_flushes(*f.llvm_function)) return;
  // LLVM folds constants as the CPU computes.
  const bool sources = f.llvm_function->hasFnAttribute(kSources);
  f.llvm_function->addFnAttr("denormal-fp-math-f32", sources ? "preserve-sign,preserve-sign" : "preserve-sign,ieee");
  llvm::Type* word = llvm::Type::getInt32Ty(f.context());
  auto* value =
      new llvm::GlobalVariable(*f.unit.llvm, word, /*isConstant=*/true, llvm::GlobalValue::InternalLinkage,
                               llvm::ConstantInt::get(word, kFlushing | (sources ? kFlushingSources : 0)), "wg_mxcsr");
  llvm::IRBuilder<>(f.entry->getTerminator()).CreateIntrinsic(llvm::Intrinsic::x86_sse_ldmxcsr, {}, {value});
}

bool TinyResults::never_subnormal(const ptx::Operand& operand) const {
  return operand.kind == ptx::OperandKind::reg && flushed_[operand.index];
}

bool host_flushes(const llvm::Function& function) {
  return function.hasFnAttribute(kResults);
}

bool host_flushes_sources(const llvm::Function& function, const Instruction& i) {
  const bool fused = i.opcode == Opcode::fma || i.opcode == Opcode::mad;
  return fused && is_flushed_arithmetic(i) && function.hasFnAttribute(kSources);
}

}  // namespace warpgrind::jit
