// Lowering of PTX ISA, "Data Movement and Conversion Instructions": mov, cvta, isspacep, mapa, getctarank (cvt is in
// conversion.cpp).
#include <llvm/IR/Constants.h>

#include "codegen/families/families.h"
#include "codegen/kernel/lower.h"
#include "jit/abi.h"

namespace warpgrind::jit {

namespace {

using llvm::Value;
using ptx::Modifier;
using ptx::Opcode;
using ptx::OperandKind;
using ptx::ScalarType;

// mov.b64 d, {a, b} and mov.b64 {a, b}, d: the first element is the least significant.
void move_vector(Lowering& l) {
  const ptx::Instruction& i = l.instruction();
  llvm::IRBuilder<>& ir = l.ir();
  const ScalarType t = i.type();
  const unsigned bits = ptx::bits(t);
  const auto part_type = [&](std::size_t n) {
    switch (bits / n) {
      case 8:
        return ScalarType::b8;
      case 16:
        return ScalarType::b16;
      case 32:
        return ScalarType::b32;
      default:
        return ScalarType::b64;
    }
  };
  llvm::Type* whole = l.value_type(ir.getIntNTy(bits));
  const ptx::Operand& d = i.operands[0];
  const ptx::Operand& s = i.operands[1];
  Value* v = nullptr;
  if (s.kind == OperandKind::vector) {
    const ScalarType part = part_type(s.elements.size());
    for (std::size_t k = 0; k < s.elements.size(); ++k) {
      Value* e = ir.CreateZExt(l.read(s.elements[k], part), whole);
      if (k) e = ir.CreateShl(e, llvm::ConstantInt::get(whole, k * ptx::bits(part)));
      v = v ? ir.CreateOr(v, e) : e;
    }
  } else {
    v = l.source(1, t);
  }
  if (d.kind != OperandKind::vector) return l.result(0, v, t);
  const ScalarType part = part_type(d.elements.size());
  for (std::size_t k = 0; k < d.elements.size(); ++k) {
    Value* e = k ? ir.CreateLShr(v, llvm::ConstantInt::get(whole, k * ptx::bits(part))) : v;
    l.write(d.elements[k], ir.CreateTrunc(e, l.value_type(part)), part);
  }
}

// mov.v4.u32 {a, b, c, d}, {d, c, b, a}: reads all sources before it writes.
void move_each(Lowering& l) {
  const ptx::Instruction& i = l.instruction();
  llvm::SmallVector<Value*, 8> values;
  for (const ptx::Operand& from : i.operands[1].elements) values.push_back(l.read(from, i.type()));
  for (std::size_t k = 0; k < values.size(); ++k) l.write(i.operands[0].elements[k], values[k], i.type());
}

}  // namespace

void lower_mov(Lowering& l) {
  const ptx::Instruction& i = l.instruction();
  if (i.vector > 1) return move_each(l);
  if (i.operands[0].kind == OperandKind::vector || i.operands[1].kind == OperandKind::vector) return move_vector(l);
  l.result(0, l.source(1, i.type()), i.type());
}

// Global, constant and kernel-parameter addresses are generic addresses already. Shared and local memory have windows.
void lower_cvta(Lowering& l) {
  const ptx::Instruction& i = l.instruction();
  Value* address = l.source(1, ScalarType::b64);
  const std::uint64_t window = i.space == StateSpace::shared  ? kSharedWindow
                               : i.space == StateSpace::local ? kLocalWindow
                                                              : 0;
  if (window) {
    Value* w = l.constant(ScalarType::b64, window);
    address = i.has(Modifier::to) ? l.ir().CreateSub(address, w) : l.ir().CreateAdd(address, w);
  }
  l.result(0, address, ScalarType::b64);
}

namespace {

// Above its offset, an address has the rank of a block of the cluster (gpu/types.h).
constexpr std::uint64_t kRanks = 0xffu;

}  // namespace

void lower_mapa(Lowering& l) {
  llvm::IRBuilder<>& ir = l.ir();
  const ScalarType type = l.instruction().type();
  const auto number = [&](std::uint64_t n) { return l.constant(type, n); };
  Value* address = l.source(1, type);
  Value* rank = ir.CreateZExt(l.source(2, ScalarType::u32), l.value_type(type));
  Value* offset = ir.CreateAnd(address, number(~(kRanks << kClusterShift)));
  l.result(0, ir.CreateOr(offset, ir.CreateShl(rank, number(kClusterShift))), type);
}

void lower_getctarank(Lowering& l) {
  llvm::IRBuilder<>& ir = l.ir();
  const ScalarType type = l.instruction().type();
  const auto number = [&](std::uint64_t n) { return l.constant(type, n); };
  Value* address = l.source(1, type);
  Value* rank = ir.CreateAnd(ir.CreateLShr(address, number(kClusterShift)), number(kRanks));
  l.result(0, ir.CreateTrunc(rank, l.value_type(ScalarType::u32)), ScalarType::u32);
}

void lower_isspacep(Lowering& l) {
  llvm::IRBuilder<>& ir = l.ir();
  Value* a = l.source(1, ScalarType::b64);
  const auto within = [&](std::uint64_t window) {
    return ir.CreateICmpULT(ir.CreateSub(a, l.constant(ScalarType::b64, window)),
                            l.constant(ScalarType::b64, kWindowSize));
  };
  const auto constant = [&] { return l.call_lanes("wg_is_constant", ir.getInt1Ty(), {a}, true); };
  Value* r = nullptr;
  switch (l.instruction().space) {
    case StateSpace::shared: {
      r = within(kSharedWindow);
      if (l.instruction().has(Modifier::shared_cluster)) break;
      // .shared and .shared::cta: of this block. Its own memory begins at the difference 0.
      Value* apart = l.in_own_memory(ir.CreateSub(a, l.constant(ScalarType::b64, kSharedWindow)));
      r = ir.CreateICmpULT(apart, l.constant(ScalarType::b64, std::uint64_t{1} << kClusterShift));
      break;
    }
    case StateSpace::local:
      r = within(kLocalWindow);
      break;
    case StateSpace::global:
      // Within the range of global memory, an H200 counts parameters as global, but not constants.
      r = ir.CreateNot(ir.CreateOr(ir.CreateOr(within(kSharedWindow), within(kLocalWindow)), constant()));
      break;
    case StateSpace::constant:
      r = constant();
      break;
    case StateSpace::param:
      r = l.call_lanes("wg_is_parameter", ir.getInt1Ty(), {a}, true);
      break;
    default:
      return l.unsupported("isspacep for this space");
  }
  l.result(0, r, ScalarType::pred);
}

}  // namespace warpgrind::jit
