// Compute capabilities of instruction forms, from the "Target ISA Notes" of the PTX ISA manual.
#include "ptx/architecture.h"

#include <algorithm>

namespace warpgrind::ptx {

namespace {

bool any_type(const Instruction& i, std::initializer_list<ScalarType> wanted) {
  return std::any_of(i.types.begin(), i.types.end(),
                     [&](ScalarType t) { return std::find(wanted.begin(), wanted.end(), t) != wanted.end(); });
}

bool any_modifier(const Instruction& i, std::initializer_list<Modifier> wanted) {
  return std::any_of(wanted.begin(), wanted.end(), [&](Modifier m) { return i.has(m); });
}

// Requirement of memory order, scope and state space, for instructions that access or order memory.
unsigned needed_by_order(const Instruction& i) {
  using M = Modifier;
  if (any_modifier(i, {M::cluster, M::shared_cluster})) return 90;
  if (any_modifier(i, {M::relaxed, M::acquire, M::release, M::acq_rel, M::mmio})) return 70;
  return 0;
}

unsigned needed_by_atomic(const Instruction& i) {
  using M = Modifier;
  using T = ScalarType;
  if (i.vector > 1 || any_type(i, {T::b128, T::bf16, T::bf16x2})) return 90;
  if (any_type(i, {T::f16, T::b16})) return 70;
  if (any_type(i, {T::f64, T::f16x2}) || any_modifier(i, {M::cta, M::sys})) return 60;
  const bool wide = any_type(i, {T::b64, T::u64, T::s64});
  return wide && any_modifier(i, {M::and_, M::or_, M::xor_, M::min, M::max}) ? 32 : 0;
}

unsigned needed_by_arithmetic(const Instruction& i) {
  using M = Modifier;
  using T = ScalarType;
  const bool half = any_type(i, {T::f16, T::f16x2}), bfloat = any_type(i, {T::bf16, T::bf16x2});
  switch (i.opcode) {
    case Opcode::add:
    case Opcode::sub:
    case Opcode::mul:
    case Opcode::set:
    case Opcode::setp:
      if (any_type(i, {T::f32x2})) return 100;
      if (bfloat || any_type(i, {T::u16x2, T::s16x2})) return 90;
      return half ? 53 : 0;
    case Opcode::fma:
      if (any_type(i, {T::f32x2})) return 100;
      return bfloat || i.has(M::relu) ? 80 : half ? 53 : 0;
    case Opcode::abs:
    case Opcode::neg:
      return bfloat ? 80 : half ? 53 : 0;
    case Opcode::min:
    case Opcode::max:
      if (any_type(i, {T::u16x2, T::s16x2}) || (i.has(M::relu) && any_type(i, {T::s32}))) return 90;
      if (i.has(M::xorsign)) return 86;
      return half || bfloat || i.has(M::nan) ? 80 : 0;
    case Opcode::ex2:
    case Opcode::tanh:
      return bfloat ? 90 : half ? 75 : 0;
    case Opcode::cvt:
      if (any_type(i, {T::e4m3x2, T::e5m2x2})) return 89;
      return bfloat || any_type(i, {T::tf32}) || i.has(M::relu) ? 80 : 0;
    default:
      return 0;
  }
}

// Requirement of matrix shapes and element types that are newer than sm_70's m8n8k4 and 16 x 16 x 16 of f16.
unsigned needed_by_matrix(const Instruction& i) {
  using M = Modifier;
  using T = ScalarType;
  const bool fp64 = any_type(i, {T::f64});
  if (any_type(i, {T::e4m3, T::e5m2})) return 89;
  if (fp64 && any_modifier(i, {M::m16n8k4, M::m16n8k8, M::m16n8k16})) return 90;
  if (fp64 || any_type(i, {T::bf16, T::tf32})) return 80;
  if (any_modifier(i, {M::m16n8k4, M::m16n8k16, M::m16n8k32, M::m16n8k64, M::m16n8k128, M::m16n8k256})) return 80;
  if (any_modifier(i, {M::m16n8k8, M::m8n8k16, M::m8n8k32, M::m8n8k128})) return 75;
  if (any_type(i, {T::s4, T::u4, T::b1})) return 75;
  return any_type(i, {T::s8, T::u8}) ? 72 : 0;
}

unsigned needed_by_registers(const Instruction& i) {
  const bool cluster = std::any_of(i.operands.begin(), i.operands.end(), [](const Operand& o) {
    return o.kind == OperandKind::sreg && o.sreg >= SpecialRegister::clusterid_x &&
           o.sreg <= SpecialRegister::is_explicit_cluster;
  });
  return cluster ? 90 : 0;
}

unsigned needed_by_form(const Instruction& i) {
  switch (i.opcode) {
    case Opcode::atom:
    case Opcode::red:
      return std::max(needed_by_order(i), needed_by_atomic(i));
    case Opcode::ld:
    case Opcode::st:
      if (i.vector == 8) return 100;
      return std::max(needed_by_order(i), any_type(i, {ScalarType::b128}) ? 70u : 0u);
    case Opcode::fence:
    case Opcode::cvta:
    case Opcode::isspacep:
      return needed_by_order(i);
    case Opcode::redux:
      return any_type(i, {ScalarType::f32}) ? 100 : 0;
    case Opcode::mbarrier_arrive:
    case Opcode::mbarrier_arrive_drop:
      return any_modifier(i, {Modifier::expect_tx, Modifier::cluster, Modifier::shared_cluster}) ? 90 : 0;
    case Opcode::wmma_load:
    case Opcode::wmma_store:
    case Opcode::wmma_mma:
    case Opcode::mma:
    case Opcode::mma_sp:
      return needed_by_matrix(i);
    default:
      return needed_by_arithmetic(i);
  }
}

}  // namespace

unsigned needed_architecture(const Instruction& i) {
  return std::max({unsigned{info(i.opcode).architecture}, needed_by_form(i), needed_by_registers(i)});
}

}  // namespace warpgrind::ptx
