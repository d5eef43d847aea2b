// Compute capabilities of instruction forms, from the "Target ISA Notes" of the PTX ISA manual.
#include "ptx/architecture.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/assert.h"

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

// add, sub, mul, set, setp.
unsigned needed_by_arithmetic(const Instruction& i) {
  using T = ScalarType;
  const bool mixed = i.types.size() == 2 && i.type(0) == T::f32 && (i.type(1) == T::f16 || i.type(1) == T::bf16);
  if (mixed || any_type(i, {T::f32x2})) return 100;
  if (any_type(i, {T::bf16, T::bf16x2, T::u16x2, T::s16x2})) return 90;
  return any_type(i, {T::f16, T::f16x2}) ? 53 : 0;
}

unsigned needed_by_fma(const Instruction& i) {
  using T = ScalarType;
  if (i.types.size() == 2 || any_type(i, {T::f32x2})) return 100;  // two types: f32 of f16 or bf16
  if (any_type(i, {T::bf16, T::bf16x2}) || i.has(Modifier::relu)) return 80;
  return any_type(i, {T::f16, T::f16x2}) ? 53 : 0;
}

unsigned needed_by_sign(const Instruction& i) {
  using T = ScalarType;
  return any_type(i, {T::bf16, T::bf16x2}) ? 80 : any_type(i, {T::f16, T::f16x2}) ? 53 : 0;
}

unsigned needed_by_selection(const Instruction& i) {
  using M = Modifier;
  using T = ScalarType;
  if (i.operands.size() > 3) return 100;  // of three values
  if (any_type(i, {T::u16x2, T::s16x2}) || (i.has(M::relu) && any_type(i, {T::s32}))) return 90;
  if (i.has(M::xorsign)) return 86;
  return any_type(i, {T::f16, T::f16x2, T::bf16, T::bf16x2}) || i.has(M::NaN) ? 80 : 0;
}

unsigned needed_by_special(const Instruction& i) {
  using T = ScalarType;
  return any_type(i, {T::bf16, T::bf16x2}) ? 90 : any_type(i, {T::f16, T::f16x2}) ? 75 : 0;
}

unsigned needed_by_conversion(const Instruction& i) {
  using M = Modifier;
  using T = ScalarType;
  if (any_type(i, {T::e4m3x2, T::e5m2x2})) return 89;
  if (any_type(i, {T::tf32})) return i.has(M::rna) ? 80 : 90;
  if (any_type(i, {T::bf16})) {  // from f32, and to f32 without .ftz
    const bool to_single = i.type(0) == T::f32, from_single = i.type(1) == T::f32;
    return from_single || (to_single && !i.has(M::ftz)) ? 80 : 90;
  }
  return any_type(i, {T::f16x2, T::bf16x2}) || i.has(M::relu) ? 80 : 0;
}

unsigned needed_by_mbarrier(const Instruction& i) {
  using M = Modifier;
  if (any_modifier(i, {M::expect_tx, M::relaxed, M::cluster, M::shared_cluster})) return 90;
  const bool arrives = i.opcode == Opcode::mbarrier_arrive || i.opcode == Opcode::mbarrier_arrive_drop;
  const bool with_count = arrives && i.operands.size() > 2;
  return with_count && !i.has(M::noComplete) ? 90 : 0;
}

unsigned needed_by_proxy(const Instruction& i) {
  return i.has(Modifier::alias) ? 70 : 90;
}

unsigned needed_by_access(const Instruction& i) {
  const bool wide = !i.types.empty() && bits(i.type()) * i.vector == 256;
  if (wide || i.vector == 8) return 100;
  return std::max(needed_by_order(i), any_type(i, {ScalarType::b128}) ? 70u : 0u);
}

// Requirement of matrix shapes and element types that are newer than sm_70's m8n8k4 and 16 x 16 x 16 of f16.
unsigned needed_by_matrix(const Instruction& i) {
  using M = Modifier;
  using T = ScalarType;
  const bool fp64 = any_type(i, {T::f64});
  if (any_type(i, {T::e3m2, T::e2m3, T::e2m1}) || any_modifier(i, {M::block_scale, M::kind_f8f6f4})) return 120;
  if (any_type(i, {T::e4m3, T::e5m2})) return 89;
  if (fp64 && any_modifier(i, {M::m16n8k4, M::m16n8k8, M::m16n8k16})) return 90;
  if (fp64 || any_type(i, {T::bf16, T::tf32})) return 80;
  if (any_modifier(i, {M::m16n8k4, M::m16n8k16, M::m16n8k32, M::m16n8k64, M::m16n8k128, M::m16n8k256})) return 80;
  if (any_modifier(i, {M::m16n8k8, M::m8n8k16, M::m8n8k32, M::m8n8k128})) return 75;
  if (any_type(i, {T::s4, T::u4, T::b1})) return 75;
  return any_type(i, {T::s8, T::u8}) ? 72 : 0;
}

// Bulk and tensor copies, and the fields of tensor maps.
unsigned needed_by_bulk_copy(const Instruction& i) {
  using M = Modifier;
  const bool newer = any_modifier(i, {M::tile_gather4, M::tile_scatter4, M::im2col_w, M::im2col_w_128, M::cta_group_1,
                                      M::cta_group_2, M::cp_mask, M::swizzle_atomicity});
  return newer ? 100 : 0;
}

unsigned needed_by_multimem(const Instruction& i) {
  using T = ScalarType;
  const bool fp8 = any_type(i, {T::e4m3, T::e5m2, T::e4m3x2, T::e5m2x2, T::e4m3x4, T::e5m2x4});
  return fp8 || i.has(Modifier::cp_mask) ? 100 : 0;
}

// Matrices of elements of a byte or less.
bool has_byte_rows(const Instruction& i) {
  using M = Modifier;
  return any_modifier(i, {M::m8n16, M::m16n16, M::m16n8});
}

unsigned needed_by_registers(const Instruction& i) {
  const bool cluster = std::any_of(i.operands.begin(), i.operands.end(), [](const Operand& o) {
    return o.kind == OperandKind::sreg && o.sreg >= SpecialRegister::clusterid_x &&
           o.sreg <= SpecialRegister::is_explicit_cluster;
  });
  return cluster ? 90 : 0;
}

unsigned needed_by_form(const Instruction& i) {
  switch (FormNeeds{info(i.opcode).needs}) {
    case FormNeeds::row:
      return 0;
    case FormNeeds::multimem:
      return needed_by_multimem(i);
    case FormNeeds::order:
      return needed_by_order(i);
    case FormNeeds::access:
      return needed_by_access(i);
    case FormNeeds::atomic:
      return std::max(needed_by_order(i), needed_by_atomic(i));
    case FormNeeds::redux:
      return any_type(i, {ScalarType::f32}) ? 100 : 0;
    case FormNeeds::mbarrier:
      return needed_by_mbarrier(i);
    case FormNeeds::proxy:
      return needed_by_proxy(i);
    case FormNeeds::matrix:
      return needed_by_matrix(i);
    case FormNeeds::arithmetic:
      return needed_by_arithmetic(i);
    case FormNeeds::fma:
      return needed_by_fma(i);
    case FormNeeds::sign:
      return needed_by_sign(i);
    case FormNeeds::selection:
      return needed_by_selection(i);
    case FormNeeds::special:
      return needed_by_special(i);
    case FormNeeds::bulk_copy:
      return needed_by_bulk_copy(i);
    case FormNeeds::conversion:
      return needed_by_conversion(i);
    case FormNeeds::matrix_rows:
      return has_byte_rows(i) ? 100 : 0;
  }
  WG_ASSERT(false);
  return 0;
}

}  // namespace

unsigned needed_architecture(const Instruction& i) {
  return std::max({unsigned{info(i.opcode).architecture}, needed_by_form(i), needed_by_registers(i)});
}

PtxVersion needed_version(const Instruction& i) {
  using T = ScalarType;
  const PtxVersion row = info(i.opcode).since;
  if (FormNeeds{info(i.opcode).needs} == FormNeeds::matrix_rows && has_byte_rows(i)) return {8, 6};
  if (i.opcode != Opcode::cvt || i.types.size() != 2) return row;
  const auto narrow = [](T t) {
    return t == T::e2m1x2 || t == T::e2m3x2 || t == T::e3m2x2 || t == T::e4m3x2 || t == T::e5m2x2;
  };
  const T to = i.type(0), from = i.type(1);
  const bool from_halves = from == T::bf16x2 || (from == T::f16x2 && (to == T::e2m3x2 || to == T::e3m2x2));
  if (narrow(to) && from_halves) return std::max(row, PtxVersion{9, 1});
  return narrow(from) && to == T::bf16x2 ? std::max(row, PtxVersion{9, 2}) : row;
}

std::string outdated_form(const Instruction& i, const Module& m) {
  using M = Modifier;
  using T = ScalarType;
  constexpr unsigned kFermi = 20, kVolta = 70;
  constexpr PtxVersion kWithoutSync{6, 3}, kWithoutRounding{3, 1};  // the last ones
  const std::string_view text = info(i.opcode).text;
  const PtxVersion version{static_cast<std::uint8_t>(m.version_major), static_cast<std::uint8_t>(m.version_minor)};
  unsigned target = 0;
  for (const char c : m.target)
    if (c >= '0' && c <= '9') target = target * 10 + static_cast<unsigned>(c - '0');
  if ((text == "shfl" || text == "vote") && !i.has(M::sync) && target >= kVolta && version > kWithoutSync)
    return fmt::format("'{}' needs .sync for {} from PTX ISA .version 6.4 on", text, m.target);
  if (text == "mad" && any_type(i, {T::f32, T::f64}) && !any_modifier(i, {M::rn, M::rz, M::rm, M::rp}) &&
      target >= kFermi && version > kWithoutRounding)
    return fmt::format("'mad' of floating-point numbers needs a rounding mode for {}", m.target);
  return "";
}

unsigned last_architecture(const Instruction& i) {
  constexpr unsigned kWarpgroup = 90, kTensorMemory = 110;
  const std::string_view text = info(i.opcode).text;
  if (text.starts_with("wgmma.")) return kWarpgroup;
  return text.starts_with("tcgen05.") ? kTensorMemory : 0;
}

}  // namespace warpgrind::ptx
