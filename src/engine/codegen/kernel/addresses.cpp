// Lane addresses in uniform, affine or varying form, with wrap-around checks where 32-bit values are extended.
#include "codegen/kernel/addresses.h"

#include <llvm/IR/Constants.h>

#include "base/assert.h"
#include "base/wrapping.h"

namespace warpgrind::jit {

using flow::FormKind;
using llvm::Value;
using ptx::Operand;
using ptx::OperandKind;
using ptx::ScalarType;

namespace {

bool offsets_are_32_bit(StateSpace space) {
  return space == StateSpace::shared || space == StateSpace::local;
}

}  // namespace

// i1: no lane of b + kx*X + ky*Y leaves the 32-bit range that the extension to 64 bits assumes. Null: true at compile
// time.
Value* Addresses::no_wrap(const Affine& a) {
  WG_ASSERT(a.wide);
  const std::int64_t x = f_.layout.row_length - 1, y = std::int64_t{f_.layout.rows()} - 1;
  auto* ckx = llvm::dyn_cast<llvm::ConstantInt>(a.kx);
  auto* cky = llvm::dyn_cast<llvm::ConstantInt>(a.ky);
  if (ckx && cky && ckx->isZero() && (cky->isZero() || y == 0)) return nullptr;
  llvm::Type* i64 = ir_.getInt64Ty();
  Value* b = a.is_signed ? ir_.CreateSExt(a.b, i64) : ir_.CreateZExt(a.b, i64);
  Value* zero = ir_.getInt64(0);
  Value* low = b;
  Value* high = b;
  const auto add_term = [&](Value* k, std::int64_t extent) {
    if (extent == 0) return;
    Value* span = ir_.CreateMul(ir_.CreateSExt(k, i64), ir_.getInt64(static_cast<std::uint64_t>(extent)));
    low = ir_.CreateAdd(low, ir_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, span, zero));
    high = ir_.CreateAdd(high, ir_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, span, zero));
  };
  add_term(a.kx, x);
  add_term(a.ky, y);
  const std::int64_t minimum = a.is_signed ? INT32_MIN : 0, maximum = a.is_signed ? INT32_MAX : UINT32_MAX;
  return ir_.CreateAnd(ir_.CreateICmpSGE(low, ir_.getInt64(static_cast<std::uint64_t>(minimum))),
                       ir_.CreateICmpSLE(high, ir_.getInt64(static_cast<std::uint64_t>(maximum))));
}

Address Addresses::of(const Operand& o, StateSpace space) {
  Address out;
  out.operand = &o;
  const auto offset = ir_.getInt64(static_cast<std::uint64_t>(o.offset));
  llvm::Type* i64 = ir_.getInt64Ty();
  const bool short_space = offsets_are_32_bit(space);
  const auto in_space = [&](Value* v) {
    if (short_space) v = ir_.CreateAnd(v, ir_.getInt64(0xffffffffu));
    return space == StateSpace::shared ? f_.own_shared(v) : v;
  };
  out.space = space;
  if (o.base == OperandKind::none) {
    out.base = in_space(offset);
    return out;
  }
  if (o.base == OperandKind::variable) {
    out.base = space == StateSpace::shared ? in_space(variables_.address(o)) : variables_.address(o);
    return out;
  }
  const flow::Form f = registers_.form(o.index);
  if (f.kind == FormKind::uniform) {
    Value* v = registers_.load_scalar(o.index);
    out.base = in_space(ir_.CreateAdd(ir_.CreateZExtOrTrunc(v, i64), offset));
    return out;
  }
  if (f.kind == FormKind::varying) {
    out.kind = Address::Kind::varying;
    return out;
  }
  out.kind = Address::Kind::affine;
  Operand reg;
  reg.kind = OperandKind::reg;
  reg.index = o.index;
  const Affine a = registers_.read_affine(reg, f.kind == FormKind::wide ? 64 : 32);
  Value* b = nullptr;
  if (a.wide) {
    b = a.is_signed ? ir_.CreateSExt(a.b, i64) : ir_.CreateZExt(a.b, i64);
    if (a.scale != 1) b = ir_.CreateMul(b, ir_.getInt64(static_cast<std::uint64_t>(a.scale)));
    b = ir_.CreateAdd(b, a.base);
    out.exact = no_wrap(a);
  } else {
    b = ir_.CreateZExt(a.b, i64);  // shared and local offsets wrap at 2^32, as in the runtime
  }
  out.base = in_space(ir_.CreateAdd(b, offset));
  const auto coefficient = [&](Value* k, const std::optional<std::int64_t>& known,
                               std::optional<std::int64_t>& constant) -> Value* {
    if (known) {
      constant = wrapping_multiply(*known, a.scale);
      return ir_.getInt64(static_cast<std::uint64_t>(*constant));
    }
    Value* v = ir_.CreateSExt(k, i64);
    return a.scale == 1 ? v : ir_.CreateMul(v, ir_.getInt64(static_cast<std::uint64_t>(a.scale)));
  };
  out.kx = coefficient(a.kx, f.kx, out.constant_kx);
  out.ky = coefficient(a.ky, f.ky, out.constant_ky);
  if (f_.layout.rows() == 1) {
    out.constant_ky = 0;
    out.ky = ir_.getInt64(0);
  }
  if (f_.layout.row_length == 1) {
    out.constant_kx = 0;
    out.kx = ir_.getInt64(0);
  }
  if (out.constant_kx == 0 && out.constant_ky == 0) out.kind = Address::Kind::uniform;
  return out;
}

Value* Addresses::lanes(Address& a) {
  if (a.vector) return a.vector;
  WG_ASSERT(a.operand);
  Operand o = *a.operand;
  if (a.kind == Address::Kind::uniform) {
    a.vector = f_.splat(a.base);
    return a.vector;
  }
  a.vector = registers_.read_vector(o, ScalarType::b64);
  // A register may hold a negative distance from the offset.
  if (a.space == StateSpace::shared && a.kind == Address::Kind::affine)
    a.vector = ir_.CreateAnd(a.vector, f_.splat(ir_.getInt64(0xffffffffu)));
  if (a.space == StateSpace::shared) a.vector = f_.own_shared(a.vector);
  return a.vector;
}

Value* Addresses::area() {
  if (!area_) area_ = f_.entry_alloca(llvm::FixedVectorType::get(ir_.getInt64Ty(), kWarpSize), "addresses", 64);
  return area_;
}

}  // namespace warpgrind::jit
