#include "codegen/kernel/instruction_class.h"

namespace warpgrind::jit {

InstructionClass instruction_class(const ptx::Instruction& i) {
  using C = InstructionClass;
  const InstructionClass table = ptx::info(i.opcode).op_class;
  if (table != C::integer && table != C::fp32 && table != C::fp64 && table != C::fp16) return table;
  const ptx::ScalarType t = i.type();
  if (t == ptx::ScalarType::f64) return C::fp64;
  if (t == ptx::ScalarType::f32 || t == ptx::ScalarType::f32x2) return C::fp32;
  if (ptx::is_float(t)) return C::fp16;
  return table == C::integer || ptx::is_integer(t) ? C::integer : table;
}

std::uint8_t flop_kind(const ptx::Instruction& i) {
  using O = ptx::Opcode;
  const ptx::ScalarType t = i.type();
  if (!ptx::is_float(t)) return 0;
  const std::uint8_t group = t == ptx::ScalarType::f32 || t == ptx::ScalarType::f32x2 ? 0
                             : t == ptx::ScalarType::f64                              ? 3
                                                                                      : 6;
  switch (i.opcode) {
    case O::add:
    case O::sub:
      return static_cast<std::uint8_t>(group + 1);
    case O::mul:
      return static_cast<std::uint8_t>(group + 2);
    case O::fma:
    case O::mad:
      return static_cast<std::uint8_t>(group + 3);
    default:
      return 0;
  }
}

}  // namespace warpgrind::jit
