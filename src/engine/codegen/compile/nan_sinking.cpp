// Pass that moves the conversion of NaNs to where the bits leave arithmetic.
#include "codegen/compile/nan_sinking.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PatternMatch.h>

namespace warpgrind::jit {

namespace {

using llvm::Use;
using llvm::Value;

constexpr std::uint32_t kCanonicalNan = 0x7fffffffu;

bool is_float(const Value* v) {
  return v->getType()->isFPOrFPVectorTy() && v->getType()->getScalarType()->isFloatTy();
}

// The raw value of `select(v is NaN, 0x7fffffff, v)`, or null.
Value* raw_of(const Value* v) {
  const auto* select = llvm::dyn_cast<llvm::SelectInst>(v);
  if (!select || !is_float(select)) return nullptr;
  const auto* test = llvm::dyn_cast<llvm::FCmpInst>(select->getCondition());
  if (!test || test->getPredicate() != llvm::CmpInst::FCMP_UNO || test->getOperand(0) != test->getOperand(1))
    return nullptr;
  if (select->getFalseValue() != test->getOperand(0)) return nullptr;
  const auto* constant = llvm::dyn_cast<llvm::Constant>(select->getTrueValue());
  if (constant && constant->getType()->isVectorTy()) constant = constant->getSplatValue();
  const auto* nan = llvm::dyn_cast_or_null<llvm::ConstantFP>(constant);
  return nan && nan->getValueAPF().bitcastToAPInt() == kCanonicalNan ? test->getOperand(0) : nullptr;
}

// A constant that the conversion of NaNs would not change.
bool is_plain_constant(const Value* v) {
  const auto* c = llvm::dyn_cast<llvm::Constant>(v);
  if (!c) return false;
  if (llvm::isa<llvm::UndefValue>(c) || c->isNullValue()) return true;
  if (c->getType()->isVectorTy()) c = c->getSplatValue();
  if (const auto* f = llvm::dyn_cast_or_null<llvm::ConstantFP>(c)) return !f->getValueAPF().isNaN();
  const auto* i = llvm::dyn_cast_or_null<llvm::ConstantInt>(c);
  return i && (i->getZExtValue() & kCanonicalNan) <= 0x7f800000u;
}

// PHIs, selects and bit casts of 32-bit elements, which pass their operands on unchanged.
bool is_copy(const llvm::Instruction* i) {
  if (i->getType()->getScalarSizeInBits() != 32 || raw_of(i)) return false;
  if (const auto* cast = llvm::dyn_cast<llvm::BitCastInst>(i)) return cast->getSrcTy()->getScalarSizeInBits() == 32;
  return llvm::isa<llvm::PHINode, llvm::SelectInst>(i);
}

llvm::SmallVector<Value*, 4> copied_operands(llvm::Instruction* i) {
  if (auto* select = llvm::dyn_cast<llvm::SelectInst>(i)) return {select->getTrueValue(), select->getFalseValue()};
  llvm::SmallVector<Value*, 4> operands;
  for (Use& use : i->operands()) operands.push_back(use.get());
  return operands;
}

// True if the user's result does not depend on which NaN it gets: arithmetic (its result is made canonical again) and
// comparisons.
bool absorbs(const Use& use) {
  const auto* user = llvm::cast<llvm::Instruction>(use.getUser());
  if (!is_float(use.get())) return false;
  if (llvm::isa<llvm::FCmpInst>(user)) return true;
  if (!is_float(user)) return false;
  switch (user->getOpcode()) {
    case llvm::Instruction::FAdd:
    case llvm::Instruction::FSub:
    case llvm::Instruction::FMul:
    case llvm::Instruction::FDiv:
    case llvm::Instruction::FNeg:
      return true;
    default:
      break;
  }
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(user);
  return call && (call->getIntrinsicID() == llvm::Intrinsic::fma || call->getIntrinsicID() == llvm::Intrinsic::sqrt);
}

// The largest set of copies whose sources are all canonical values, plain constants or copies of the set.
llvm::SmallSetVector<llvm::Instruction*, 32> pure_copies(llvm::Function& function) {
  llvm::SmallSetVector<llvm::Instruction*, 32> pure;
  for (llvm::Instruction& i : llvm::instructions(function))
    if (is_copy(&i)) pure.insert(&i);
  for (bool changed = true; changed;) {
    changed = pure.remove_if([&](llvm::Instruction* i) {
      for (Value* v : copied_operands(i)) {
        auto* source = llvm::dyn_cast<llvm::Instruction>(v);
        if (!is_plain_constant(v) && !raw_of(v) && !(source && pure.contains(source))) return true;
      }
      return false;
    });
  }
  // Copies that no canonical value reaches stay as they are (copies of constants).
  llvm::SmallSetVector<llvm::Instruction*, 32> reached;
  for (bool changed = true; changed;) {
    changed = false;
    for (llvm::Instruction* i : pure)
      for (Value* v : copied_operands(i))
        if (raw_of(v) || (llvm::isa<llvm::Instruction>(v) && reached.contains(llvm::cast<llvm::Instruction>(v))))
          changed |= reached.insert(i);
  }
  return reached;
}

Value* make_canonical(llvm::Instruction* copy) {
  llvm::IRBuilder<> ir(copy->getContext());
  if (llvm::isa<llvm::PHINode>(copy))
    ir.SetInsertPoint(copy->getParent(), copy->getParent()->getFirstInsertionPt());
  else
    ir.SetInsertPoint(copy->getNextNode());
  llvm::Type* type = copy->getType();
  Value* as_float = is_float(copy) ? copy : ir.CreateBitCast(copy, type->getWithNewType(ir.getFloatTy()));
  llvm::Constant* nan = llvm::ConstantInt::get(type->getWithNewType(ir.getInt32Ty()), kCanonicalNan);
  return ir.CreateSelect(ir.CreateFCmpUNO(as_float, as_float),
                         is_float(copy) ? llvm::ConstantExpr::getBitCast(nan, type) : nan, copy);
}

}  // namespace

llvm::PreservedAnalyses SinkNanCanonicalization::run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
  llvm::SmallSetVector<llvm::Instruction*, 32> canonical;
  for (llvm::Instruction& i : llvm::instructions(function))
    if (raw_of(&i)) canonical.insert(&i);
  if (canonical.empty()) return llvm::PreservedAnalyses::all();
  const auto pure = pure_copies(function);
  const auto stays_raw = [&](const Use& use) {
    auto* user = llvm::cast<llvm::Instruction>(use.getUser());
    // A user that makes NaNs canonical itself (e.g. a clamped value, which is a copy) needs no canonical source.
    if (absorbs(use) || canonical.contains(user)) return true;
    if (!pure.contains(user)) return false;
    return !llvm::isa<llvm::SelectInst>(user) || use.getOperandNo() != 0;
  };
  // First the copies, while their sources still are the canonical values. Then the canonical values themselves.
  for (llvm::Instruction* copy : pure) {
    llvm::SmallVector<Use*, 4> escaping;
    for (Use& use : copy->uses())
      if (!stays_raw(use)) escaping.push_back(&use);
    if (escaping.empty()) continue;
    Value* fixed = make_canonical(copy);
    for (Use* use : escaping) use->set(fixed);
  }
  for (llvm::Instruction* c : canonical) {
    Value* raw = raw_of(c);
    c->replaceUsesWithIf(raw, stays_raw);
    if (c->use_empty()) c->eraseFromParent();
  }
  llvm::PreservedAnalyses kept;
  kept.preserveSet<llvm::CFGAnalyses>();
  return kept;
}

}  // namespace warpgrind::jit
