// PTX ISA, "Video Instructions": the SIMD forms on four bytes or two halfwords of a 32-bit value.
#include <llvm/IR/Constants.h>

#include "jit/lower.h"

namespace warpgrind::jit {

namespace {

using llvm::Value;
using ptx::Modifier;
using ptx::Opcode;
using ptx::ScalarType;

bool is_four(Opcode o) {
  switch (o) {
    case Opcode::vadd4:
    case Opcode::vsub4:
    case Opcode::vavrg4:
    case Opcode::vabsdiff4:
    case Opcode::vmin4:
    case Opcode::vmax4:
      return true;
    default:
      return false;
  }
}

// d = each part of op(a, b), saturated if .sat, plus the parts of c (or, with .add, their sum).
void lower_simd(Lowering& l) {
  const ptx::Instruction& i = l.instruction();
  llvm::IRBuilder<>& ir = l.ir();
  const unsigned parts = is_four(i.opcode) ? 4 : 2, bits = 32 / parts;
  if (i.operands.size() < 4) return l.unsupported("this form");
  for (std::size_t k = 1; k < 3; ++k)
    if (i.operands[k].component != 0xff) return l.unsupported("byte selectors");
  for (Modifier m : i.modifiers)
    if (m != Modifier::sat && m != Modifier::add) return l.unsupported("this modifier");
  const bool sd = ptx::is_signed(i.type(0)), sa = ptx::is_signed(i.type(1)), sb = ptx::is_signed(i.type(2));
  Value* a = l.source(1, ScalarType::b32);
  Value* b = l.source(2, ScalarType::b32);
  Value* c = l.source(3, ScalarType::b32);
  const auto part = [&](Value* v, unsigned k, bool is_signed) {
    Value* up = ir.CreateShl(v, l.constant(ScalarType::b32, 32 - (k + 1) * bits));
    Value* down = l.constant(ScalarType::b32, 32 - bits);
    return is_signed ? ir.CreateAShr(up, down) : ir.CreateLShr(up, down);
  };
  const auto number = [&](std::int64_t v) { return l.constant(ScalarType::b32, static_cast<std::uint64_t>(v)); };
  Value* packed = number(0);
  Value* sum = c;
  for (unsigned k = 0; k < parts; ++k) {
    Value* x = part(a, k, sa);
    Value* y = part(b, k, sb);
    Value* r = nullptr;
    switch (i.opcode) {
      case Opcode::vadd2:
      case Opcode::vadd4:
        r = ir.CreateAdd(x, y);
        break;
      case Opcode::vsub2:
      case Opcode::vsub4:
        r = ir.CreateSub(x, y);
        break;
      case Opcode::vavrg2:
      case Opcode::vavrg4: {
        Value* s = ir.CreateAdd(x, y);  // halves round away from zero
        r = ir.CreateAShr(ir.CreateAdd(s, ir.CreateSelect(ir.CreateICmpSGE(s, number(0)), number(1), number(0))),
                          number(1));
        break;
      }
      case Opcode::vabsdiff2:
      case Opcode::vabsdiff4:
        r = ir.CreateBinaryIntrinsic(llvm::Intrinsic::abs, ir.CreateSub(x, y), ir.getInt1(false));
        break;
      case Opcode::vmin2:
      case Opcode::vmin4:
        r = ir.CreateBinaryIntrinsic(llvm::Intrinsic::smin, x, y);
        break;
      default:
        r = ir.CreateBinaryIntrinsic(llvm::Intrinsic::smax, x, y);
        break;
    }
    if (i.has(Modifier::sat)) {
      const std::int64_t low = sd ? -(std::int64_t{1} << (bits - 1)) : 0,
                         high = sd ? (std::int64_t{1} << (bits - 1)) - 1 : (std::int64_t{1} << bits) - 1;
      r = ir.CreateBinaryIntrinsic(llvm::Intrinsic::smin,
                                   ir.CreateBinaryIntrinsic(llvm::Intrinsic::smax, r, number(low)), number(high));
    }
    sum = ir.CreateAdd(sum, r);
    packed =
        ir.CreateOr(packed, ir.CreateShl(ir.CreateAnd(r, number((std::int64_t{1} << bits) - 1)), number(k * bits)));
  }
  if (i.has(Modifier::add)) return l.result(0, sum, ScalarType::b32);
  l.result(0, packed, ScalarType::b32);
}

}  // namespace

std::initializer_list<LoweringEntry> video_lowerings() {
  static const std::initializer_list<LoweringEntry> table = {
      {Opcode::vadd2, lower_simd},     {Opcode::vadd4, lower_simd},  {Opcode::vsub2, lower_simd},
      {Opcode::vsub4, lower_simd},     {Opcode::vavrg2, lower_simd}, {Opcode::vavrg4, lower_simd},
      {Opcode::vmin2, lower_simd},     {Opcode::vmin4, lower_simd},  {Opcode::vabsdiff2, lower_simd},
      {Opcode::vabsdiff4, lower_simd}, {Opcode::vmax2, lower_simd},  {Opcode::vmax4, lower_simd},
  };
  return table;
}

}  // namespace warpgrind::jit
