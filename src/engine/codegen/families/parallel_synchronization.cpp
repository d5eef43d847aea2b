// Lowering of PTX ISA, "Parallel Synchronization and Communication Instructions", within a warp: shfl, vote, match,
// redux, activemask, elect.
#include <llvm/IR/Constants.h>

#include <optional>

#include "codegen/kernel/lower.h"

namespace warpgrind::jit {

namespace {

using llvm::Value;
using ptx::Modifier;
using ptx::Opcode;
using ptx::Operand;
using ptx::OperandKind;
using ptx::ScalarType;

std::optional<std::uint32_t> literal(const Operand& o) {
  if (o.kind != OperandKind::immediate) return std::nullopt;
  return static_cast<std::uint32_t>(o.bits);
}

// Source lane of a lane, and whether it is in range (PTX ISA, shfl.sync).
struct Source {
  unsigned lane;
  bool in_range;
};
Source source_lane(const ptx::Instruction& i, unsigned lane, std::uint32_t b, std::uint32_t c) {
  const std::uint32_t value = b & 31, clamp = c & 31, segment = c >> 8 & 31;
  const std::uint32_t highest = (lane & segment) | (clamp & ~segment & 31), lowest = lane & segment;
  std::uint32_t j = lane;
  bool ok = true;
  if (i.has(Modifier::up)) {
    j = lane - value;
    ok = static_cast<std::int32_t>(j) >= static_cast<std::int32_t>(highest);
  } else if (i.has(Modifier::down)) {
    j = lane + value;
    ok = j <= highest;
  } else if (i.has(Modifier::bfly)) {
    j = lane ^ value;
    ok = j <= highest;
  } else {
    j = lowest | (value & ~segment);
    ok = j <= highest;
  }
  return {ok ? j : lane, ok};
}

// The same with run-time operands, as vectors.
std::pair<Value*, Value*> source_lanes(Lowering& l, Value* b, Value* c) {
  const ptx::Instruction& i = l.instruction();
  llvm::IRBuilder<>& ir = l.ir();
  llvm::SmallVector<llvm::Constant*, kWarpSize> numbers;
  for (unsigned k = 0; k < kWarpSize; ++k) numbers.push_back(ir.getInt32(k));
  Value* lane = llvm::ConstantVector::get(numbers);
  const auto n = [&](std::uint32_t v) { return l.splat(ir.getInt32(v)); };
  Value* value = ir.CreateAnd(b, n(31));
  Value* clamp = ir.CreateAnd(c, n(31));
  Value* segment = ir.CreateAnd(ir.CreateLShr(c, n(8)), n(31));
  Value* highest = ir.CreateOr(ir.CreateAnd(lane, segment), ir.CreateAnd(clamp, ir.CreateXor(segment, n(31))));
  Value* j = nullptr;
  Value* ok = nullptr;
  if (i.has(Modifier::up)) {
    j = ir.CreateSub(lane, value);
    ok = ir.CreateICmpSGE(j, highest);
  } else {
    if (i.has(Modifier::down))
      j = ir.CreateAdd(lane, value);
    else if (i.has(Modifier::bfly))
      j = ir.CreateXor(lane, value);
    else
      j = ir.CreateOr(ir.CreateAnd(lane, segment), ir.CreateAnd(value, ir.CreateXor(segment, n(31))));
    ok = ir.CreateICmpULE(j, highest);
  }
  return {ir.CreateSelect(ok, j, lane), ok};
}

// Whether the source lane `j` of each lane takes part.
Value* source_takes_part(Lowering& l, Value* participants, Value* j) {
  llvm::IRBuilder<>& ir = l.ir();
  Value* bit = ir.CreateAnd(ir.CreateLShr(l.splat(participants), j), l.splat(ir.getInt32(1)));
  return ir.CreateICmpNE(bit, l.splat(ir.getInt32(0)));
}

}  // namespace

// A lane that does not take part delivers 0 (measured on an H200: tests/data/h200/shuffles.csv).
void lower_shfl(Lowering& l) {
  const ptx::Instruction& i = l.instruction();
  llvm::IRBuilder<>& ir = l.ir();
  const std::size_t first = i.has_second_destination ? 2 : 1;
  const std::size_t members = first + 3;
  const bool sync = i.has(Modifier::sync) && members < i.operands.size();
  const Lowering::Meeting m =
      l.meet(sync ? &i.operands[members] : nullptr, l.read_vector(i.operands[first], ScalarType::b32));
  const auto b = literal(i.operands[first + 1]), c = literal(i.operands[first + 2]);
  Value* j = nullptr;
  Value* ok = nullptr;
  llvm::SmallVector<int, kWarpSize> from;
  if (b && c) {
    llvm::SmallVector<llvm::Constant*, kWarpSize> in_range, lanes;
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      const Source s = source_lane(i, lane, *b, *c);
      from.push_back(static_cast<int>(s.lane));
      in_range.push_back(ir.getInt1(s.in_range));
      lanes.push_back(ir.getInt32(s.lane));
    }
    j = llvm::ConstantVector::get(lanes);
    ok = llvm::ConstantVector::get(in_range);
  } else {
    std::tie(j, ok) = source_lanes(l, l.read_vector(i.operands[first + 1], ScalarType::b32),
                                   l.read_vector(i.operands[first + 2], ScalarType::b32));
  }
  const auto move = [&](Value* value) -> Value* {
    if (b && c) return ir.CreateShuffleVector(value, from);
    Value* area = l.scratch(ir.getInt32Ty());
    ir.CreateAlignedStore(value, area, llvm::Align(64));
    return ir.CreateMaskedGather(value->getType(), ir.CreateGEP(ir.getInt32Ty(), area, j), llvm::Align(4));
  };
  llvm::Function* function = ir.GetInsertBlock()->getParent();
  const auto block = [&](const char* name) { return llvm::BasicBlock::Create(l.context(), name, function); };
  // If all lanes of the warp take part, no source is absent.
  llvm::BasicBlock *all = block("all_lanes"), *some = block("some_lanes"), *absent = block("absent"),
                   *done = block("shuffled");
  Value* everybody = m.uniform ? ir.CreateICmpEQ(m.participants, ir.getInt32(~0u))
                               : ir.CreateAndReduce(ir.CreateICmpEQ(m.participants, l.splat(ir.getInt32(~0u))));
  ir.CreateCondBr(everybody, all, some);
  ir.SetInsertPoint(all);
  Value* moved = move(m.value);
  ir.CreateBr(done);
  ir.SetInsertPoint(some);
  Value* here = source_takes_part(l, m.participants, j);
  Value* partly = ir.CreateSelect(here, move(m.value), llvm::Constant::getNullValue(m.value->getType()));
  Value* readers = ir.CreateAnd(l.mask_bits(), l.lanes_to_bits(ir.CreateNot(here)));
  llvm::BasicBlock* from_some = ir.GetInsertBlock();
  ir.CreateCondBr(ir.CreateICmpEQ(readers, ir.getInt32(0)), done, absent);
  ir.SetInsertPoint(absent);
  l.call("wg_absent_lanes", ir.getVoidTy(), {l.context_pointer(), l.site_number(), readers});
  ir.CreateBr(done);
  ir.SetInsertPoint(done);
  llvm::PHINode* result = ir.CreatePHI(moved->getType(), 3);
  result->addIncoming(moved, all);
  result->addIncoming(partly, from_some);
  result->addIncoming(partly, absent);
  // Read before the result is written, which may be the same register.
  Value* bits = l.undefined(i.operands[first], ScalarType::b32);
  if (bits)
    bits = ir.CreateSelect(source_takes_part(l, m.participants, j), move(bits),
                           llvm::Constant::getNullValue(bits->getType()));
  l.undefined_result(0, bits, ScalarType::b32);
  if (i.has_second_destination) l.undefined_result(1, nullptr, ScalarType::pred);
  l.result(0, result, ScalarType::b32);
  if (i.has_second_destination) l.result(1, ok, ScalarType::pred);
}

namespace {

const Operand* members_operand(Lowering& l, std::size_t index) {
  const ptx::Instruction& i = l.instruction();
  return i.has(Modifier::sync) && index < i.operands.size() ? &i.operands[index] : nullptr;
}

}  // namespace

void lower_vote(Lowering& l) {
  const ptx::Instruction& i = l.instruction();
  llvm::IRBuilder<>& ir = l.ir();
  const Lowering::Meeting m = l.meet(members_operand(l, 2), l.read_vector(i.operands[1], ScalarType::pred));
  Value* bits = l.lanes_to_bits(m.value);
  Value* yes = ir.CreateAnd(m.uniform ? bits : l.splat(bits), m.participants);
  if (i.has(Modifier::ballot)) return l.result(0, yes, ScalarType::b32);
  Value* none = ir.CreateICmpEQ(yes, llvm::Constant::getNullValue(yes->getType()));
  Value* all = ir.CreateICmpEQ(yes, m.participants);
  Value* r = i.has(Modifier::all) ? all : i.has(Modifier::any) ? ir.CreateNot(none) : ir.CreateOr(all, none);
  l.result(0, r, ScalarType::pred);
}

void lower_activemask(Lowering& l) {
  l.result(0, l.mask_bits(), ScalarType::b32);
}

void lower_match(Lowering& l) {
  const ptx::Instruction& i = l.instruction();
  const std::size_t first = i.has_second_destination ? 2 : 1;
  llvm::IRBuilder<>& ir = l.ir();
  Value* a = l.read_vector(i.operands[first], ptx::bits(i.type()) == 64 ? ScalarType::b64 : ScalarType::b32);
  if (ptx::bits(i.type()) == 32) a = ir.CreateZExt(a, llvm::FixedVectorType::get(ir.getInt64Ty(), kWarpSize));
  const Lowering::Meeting m = l.meet(members_operand(l, first + 1), a);
  const char* name = i.has(Modifier::all) ? "wg_match_all" : "wg_match_any";
  Value* d = l.call_lanes(name, ir.getInt32Ty(), {m.value, l.splat(m.participants)});
  l.result(0, d, ScalarType::b32);
  if (i.has_second_destination)
    l.result(1, ir.CreateICmpNE(d, llvm::Constant::getNullValue(d->getType())), ScalarType::pred);
}

void lower_redux(Lowering& l) {
  const ptx::Instruction& i = l.instruction();
  llvm::IRBuilder<>& ir = l.ir();
  const bool s = ptx::is_signed(i.type());
  unsigned op = 0;  // operation as in wg_redux
  if (i.has(Modifier::min))
    op = s ? 1 : 2;
  else if (i.has(Modifier::max))
    op = s ? 3 : 4;
  else if (i.has(Modifier::and_))
    op = 5;
  else if (i.has(Modifier::or_))
    op = 6;
  else if (i.has(Modifier::xor_))
    op = 7;
  if (i.type() == ScalarType::f32)  // bits 0: max, 1: .abs, 2: .NaN
    op = 8 | (i.has(Modifier::max) ? 1u : 0u) | (i.has(Modifier::abs) ? 2u : 0u) | (i.has(Modifier::NaN) ? 4u : 0u);
  Value* which = l.splat(ir.getInt32(op));
  const Lowering::Meeting m = l.meet(members_operand(l, 2), l.read_vector(i.operands[1], ScalarType::b32));
  Value* r = l.call_lanes("wg_redux", ir.getInt32Ty(), {m.value, l.splat(m.participants), which}, false, true);
  l.result(0, r, ScalarType::b32);
}

// elect.sync d|p, membermask: the leader is the lowest lane.
void lower_elect(Lowering& l) {
  const ptx::Instruction& i = l.instruction();
  llvm::IRBuilder<>& ir = l.ir();
  const Lowering::Meeting m = l.meet(members_operand(l, i.operands.size() - 1), nullptr);
  Value* leader = ir.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, m.participants, ir.getInt1(false));
  if (i.operands[0].kind != OperandKind::sink) l.result(0, leader, ScalarType::b32);
  if (!i.has_second_destination) return;
  llvm::SmallVector<llvm::Constant*, kWarpSize> numbers;
  for (unsigned k = 0; k < kWarpSize; ++k) numbers.push_back(ir.getInt32(k));
  l.result(1, ir.CreateICmpEQ(l.splat(leader), llvm::ConstantVector::get(numbers)), ScalarType::pred);
}

}  // namespace warpgrind::jit
