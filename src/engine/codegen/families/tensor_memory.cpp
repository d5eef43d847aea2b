// Lowering of PTX ISA, "TensorCore 5th Generation Instructions": tcgen05. Calls of the device do the work at once, and
// keep track of what the program must wait for (device/memory/tensor_memory.h). Forms that ptxas refuses are refused.
#include "codegen/families/families.h"
#include "codegen/families/fragments.h"
#include "jit/calls/tensor_access.h"
#include "jit/calls/tensor_descriptor.h"
#include "jit/calls/tensor_memory_copy.h"

namespace warpgrind::jit {

namespace {

using llvm::Value;
using ptx::Instruction;
using ptx::Modifier;
using ptx::Opcode;
using ptx::Operand;
using ptx::OperandKind;
using ptx::ScalarType;

Value* is_pair(Lowering& l) {
  return l.ir().getInt32(l.instruction().has(Modifier::cta_group_2) ? 1 : 0);
}

Value* words(Lowering& l, const Operand& o) {
  return store_lanes(l, l.read_vector(o, ScalarType::b32));
}

Value* wide_words(Lowering& l, const Operand& o) {
  return store_lanes(l, l.read_vector(o, ScalarType::b64));
}

// The address of tensor memory in [taddr].
Value* tensor_addresses(Lowering& l, const Operand& o) {
  llvm::Type* narrow = llvm::FixedVectorType::get(l.ir().getInt32Ty(), kWarpSize);
  return store_lanes(l, l.ir().CreateTrunc(l.read_vector(o, ScalarType::b64), narrow));
}

}  // namespace

// tcgen05.alloc [dst], nCols; tcgen05.dealloc taddr, nCols;
void lower_tcgen05_alloc(Lowering& l) {
  const Instruction& i = l.instruction();
  l.meet_all();
  const bool frees = i.opcode == Opcode::tcgen05_dealloc;
  Value* first = frees ? words(l, i.operands[0]) : wide_words(l, i.operands[0]);
  l.call(frees ? "wg_tensor_dealloc" : "wg_tensor_alloc", l.ir().getVoidTy(),
         {l.context_pointer(), l.site_number(), is_pair(l), first, words(l, i.operands[1]), l.mask_bits()});
}

void lower_tcgen05_relinquish(Lowering& l) {
  l.meet_all();
  l.call("wg_tensor_relinquish", l.ir().getVoidTy(), {l.context_pointer(), l.site_number(), is_pair(l), l.mask_bits()});
}

namespace {

std::optional<TensorAccess> access_form(const Instruction& i) {
  static constexpr std::pair<Modifier, TensorShape> kShapes[] = {{Modifier::s16x64b, TensorShape::s16x64b},
                                                                 {Modifier::s16x128b, TensorShape::s16x128b},
                                                                 {Modifier::s16x256b, TensorShape::s16x256b},
                                                                 {Modifier::s32x32b, TensorShape::s32x32b},
                                                                 {Modifier::s16x32bx2, TensorShape::s16x32bx2}};
  static constexpr std::pair<Modifier, unsigned> kRepeats[] = {
      {Modifier::x1, 1},   {Modifier::x2, 2},   {Modifier::x4, 4},   {Modifier::x8, 8},
      {Modifier::x16, 16}, {Modifier::x32, 32}, {Modifier::x64, 64}, {Modifier::x128, 128}};
  TensorAccess form;
  form.repeat = 0;
  bool shaped = false;
  for (const auto& [modifier, shape] : kShapes)
    if (i.has(modifier)) form.shape = shape, shaped = true;
  for (const auto& [modifier, repeat] : kRepeats)
    if (i.has(modifier)) form.repeat = repeat;
  form.packs = i.has(Modifier::pack_16b) || i.has(Modifier::unpack_16b);
  constexpr unsigned kMostRegisters = 128;
  if (!shaped || form.repeat == 0 || form.registers() > kMostRegisters) return std::nullopt;
  return form;
}

// The offset of the second half of .16x32bx2, which other shapes do not have.
bool has_right_split(const TensorAccess& form, bool given) {
  return given == (form.shape == TensorShape::s16x32bx2);
}

}  // namespace

// tcgen05.ld r, [taddr]{, immHalfSplitoff}; tcgen05.ld.red r, redval, [taddr]{, immHalfSplitoff};
void lower_tcgen05_ld(Lowering& l) {
  const Instruction& i = l.instruction();
  llvm::IRBuilder<>& ir = l.ir();
  auto form = access_form(i);
  const bool reduces = i.opcode == Opcode::tcgen05_ld_red;
  const std::size_t address = reduces ? 2 : 1;
  const bool split = i.operands.size() > address + 1;
  if (!form || !has_right_split(*form, split)) return l.unsupported("this shape");
  if (split) form->split = static_cast<std::uint32_t>(i.operands[address + 1].bits);
  if (i.operands[0].kind != OperandKind::vector) return l.unsupported("a register without braces");
  if (registers_of(i.operands[0]).size() != form->registers())
    return l.unsupported("another number of registers than the shape has");
  l.meet_all();
  Value* planes = l.scratch(ir.getInt32Ty(), form->registers());
  l.call("wg_tensor_load", ir.getVoidTy(),
         {l.context_pointer(), l.site_number(), ir.getInt32(form->code()), ir.getInt32(form->split),
          tensor_addresses(l, i.operands[address]), planes, l.mask_bits()});
  reload(l, i.operands[0], ScalarType::b32, planes);
  if (!reduces) return;
  const ScalarType t = i.type();
  const TensorReduction how{t == ScalarType::f32   ? TensorReduction::Type::f32
                            : t == ScalarType::s32 ? TensorReduction::Type::s32
                                                   : TensorReduction::Type::u32,
                            i.has(Modifier::max), i.has(Modifier::abs), i.has(Modifier::NaN)};
  if (form->repeat < 2) return l.unsupported("a reduction of one column");
  if (t != ScalarType::f32 && (how.absolute || how.nan)) return l.unsupported(".abs or .NaN of integers");
  Value* out = l.scratch(ir.getInt32Ty());
  l.call("wg_tensor_reduce", ir.getVoidTy(), {out, planes, ir.getInt32(form->registers()), ir.getInt32(how.code())});
  llvm::Type* lanes = llvm::FixedVectorType::get(ir.getInt32Ty(), kWarpSize);
  l.write(i.operands[1], ir.CreateAlignedLoad(lanes, out, llvm::Align(64)), ScalarType::b32);
}

// tcgen05.st [taddr], {immHalfSplitoff, }r;
void lower_tcgen05_st(Lowering& l) {
  const Instruction& i = l.instruction();
  llvm::IRBuilder<>& ir = l.ir();
  auto form = access_form(i);
  const bool split = i.operands.size() > 2;
  if (!form || !has_right_split(*form, split)) return l.unsupported("this shape");
  if (split) form->split = static_cast<std::uint32_t>(i.operands[1].bits);
  const Operand& r = i.operands[split ? 2 : 1];
  if (r.kind != OperandKind::vector) return l.unsupported("a register without braces");
  if (registers_of(r).size() != form->registers())
    return l.unsupported("another number of registers than the shape has");
  l.meet_all();
  l.call("wg_tensor_store", ir.getVoidTy(),
         {l.context_pointer(), l.site_number(), ir.getInt32(form->code()), ir.getInt32(form->split),
          tensor_addresses(l, i.operands[0]), spill(l, r, ScalarType::b32), l.mask_bits()});
}

void lower_tcgen05_wait(Lowering& l) {
  l.meet_all();
  const bool stores = l.instruction().has(Modifier::wait_st);
  l.call("wg_tensor_wait", l.ir().getVoidTy(),
         {l.context_pointer(), l.site_number(), l.ir().getInt32(stores ? 1 : 0), l.mask_bits()});
}

// tcgen05.commit [mbar]{, ctaMask};
void lower_tcgen05_commit(Lowering& l) {
  const Instruction& i = l.instruction();
  const bool multicast = i.has(Modifier::multicast_cluster);
  if (multicast != (i.operands.size() > 1)) return l.unsupported("a mask of blocks without .multicast::cluster");
  Value* masks =
      multicast ? words(l, i.operands[1]) : static_cast<Value*>(llvm::ConstantPointerNull::get(l.ir().getPtrTy()));
  l.call("wg_tensor_commit", l.ir().getVoidTy(),
         {l.context_pointer(), l.site_number(), is_pair(l), wide_words(l, i.operands[0]), masks, l.mask_bits()});
}

namespace {

struct CopyShape {
  Modifier shape;
  std::uint8_t rows, pieces;
};

std::optional<TensorMemoryCopy> copy_form(const Instruction& i) {
  using M = Modifier;
  using Multicast = TensorMemoryCopy::Multicast;
  static constexpr CopyShape kShapes[] = {
      {M::s128x256b, 128, 2}, {M::s4x256b, 4, 2}, {M::s128x128b, 128, 1}, {M::s64x128b, 64, 1}, {M::s32x128b, 32, 1}};
  TensorMemoryCopy form;
  form.rows = 0;
  for (const CopyShape& s : kShapes)
    if (i.has(s.shape)) form.rows = s.rows, form.pieces = s.pieces;
  form.multicast = i.has(M::warpx2_02_13)   ? Multicast::warpx2_02_13
                   : i.has(M::warpx2_01_23) ? Multicast::warpx2_01_23
                   : i.has(M::warpx4)       ? Multicast::warpx4
                                            : Multicast::none;
  form.pair = i.has(M::cta_group_2);
  form.element_bits = i.has(M::b6x16_p32) ? 6 : i.has(M::b4x16_p64) ? 4 : 0;
  if ((form.element_bits != 0) != i.has(M::b8x16)) return std::nullopt;
  const bool two = form.multicast == Multicast::warpx2_02_13 || form.multicast == Multicast::warpx2_01_23;
  const bool fits = form.rows == 64   ? two
                    : form.rows == 32 ? form.multicast == Multicast::warpx4
                                      : form.rows != 0 && form.multicast == Multicast::none;
  return fits ? std::optional(form) : std::nullopt;
}

}  // namespace

// tcgen05.cp [taddr], s-desc;
void lower_tcgen05_cp(Lowering& l) {
  const Instruction& i = l.instruction();
  const auto form = copy_form(i);
  if (!form) return l.unsupported("this shape");
  l.call("wg_tensor_memory_copy", l.ir().getVoidTy(),
         {l.context_pointer(), l.site_number(), l.ir().getInt32(form->code()), tensor_addresses(l, i.operands[0]),
          wide_words(l, i.operands[1]), l.mask_bits()});
}

// tcgen05.shift.down [taddr];
void lower_tcgen05_shift(Lowering& l) {
  l.call("wg_tensor_shift", l.ir().getVoidTy(),
         {l.context_pointer(), l.site_number(), is_pair(l), tensor_addresses(l, l.instruction().operands[0]),
          l.mask_bits()});
}

namespace {

std::optional<TensorKind> kind_of(const Instruction& i) {
  static constexpr std::pair<Modifier, TensorKind> kKinds[] = {
      {Modifier::kind_f16, TensorKind::f16},           {Modifier::kind_tf32, TensorKind::tf32},
      {Modifier::kind_f8f6f4, TensorKind::f8f6f4},     {Modifier::kind_i8, TensorKind::i8},
      {Modifier::kind_mxf8f6f4, TensorKind::mxf8f6f4}, {Modifier::kind_mxf4, TensorKind::mxf4},
      {Modifier::kind_mxf4nvf4, TensorKind::mxf4nvf4}};
  for (const auto& [modifier, kind] : kKinds)
    if (i.has(modifier)) return kind;
  return std::nullopt;
}

// Scale factors per row; 0: the qualifiers do not fit the kind.
unsigned scale_blocks(const Instruction& i, TensorKind kind) {
  using M = Modifier;
  const bool any = i.has(M::scale_vec_1X) || i.has(M::scale_vec_2X) || i.has(M::scale_vec_4X) || i.has(M::block16) ||
                   i.has(M::block32);
  switch (kind) {
    case TensorKind::mxf8f6f4:
      return !any || i.has(M::scale_vec_1X) || i.has(M::block32) ? 1 : 0;
    case TensorKind::mxf4:
      return !any || i.has(M::scale_vec_2X) || i.has(M::block32) ? 2 : 0;
    case TensorKind::mxf4nvf4:
      return i.has(M::scale_vec_2X) || i.has(M::block32) ? 2 : i.has(M::scale_vec_4X) || i.has(M::block16) ? 4 : 0;
    case TensorKind::f16:
    case TensorKind::tf32:
    case TensorKind::f8f6f4:
    case TensorKind::i8:
      break;
  }
  return 0;
}

// Operands of tcgen05.mma by their meaning; null: not given.
struct MmaOperands {
  const Operand *d = nullptr, *a = nullptr, *b = nullptr, *descriptor = nullptr, *metadata = nullptr;
  const Operand *scale_a = nullptr, *scale_b = nullptr, *lanes = nullptr, *add = nullptr, *scale_d = nullptr,
                *columns = nullptr;
};

// The operands stand in one order; optional ones are known by their kind.
MmaOperands mma_operands(const Instruction& i, const TensorForm& form) {
  MmaOperands o;
  std::size_t next = 0;
  const auto take = [&] { return next < i.operands.size() ? &i.operands[next++] : nullptr; };
  o.d = take();
  o.a = take();
  o.b = take();
  if (form.sparse) o.metadata = take();
  o.descriptor = take();
  if (form.scale_blocks != 0) {
    o.scale_a = take();
    o.scale_b = take();
  } else if (next < i.operands.size() && i.operands[next].kind == OperandKind::vector) {
    o.lanes = take();
  }
  o.add = take();
  if (form.stationary)
    o.columns = take();
  else
    o.scale_d = take();
  return o;
}

const char* problem_of(const Instruction& i, const TensorForm& form, const MmaOperands& o) {
  using M = Modifier;
  const bool scaled = i.has(M::block_scale);
  const bool takes_scale =
      form.kind == TensorKind::mxf8f6f4 || form.kind == TensorKind::mxf4 || form.kind == TensorKind::mxf4nvf4;
  if (scaled != takes_scale) return "block scaling with this kind";
  if (scaled && form.scale_blocks == 0) return "this size of scale vectors with this kind";
  if (form.stationary && (form.pair || scaled)) return ".ws with .cta_group::2 or block scaling";
  if (!o.add) return "fewer operands than the form has";
  if (o.lanes && o.lanes->elements.size() != (form.pair ? 8 : 4)) return "another number of lane masks";
  if (o.lanes && form.stationary) return "lane masks with .ws";
  if (o.scale_d && form.kind != TensorKind::f16 && form.kind != TensorKind::tf32) return "scale-input-d of this kind";
  if (o.scale_d && (o.scale_d->kind != OperandKind::immediate || o.scale_d->bits > 15))
    return "a scale-input-d that is no number from 0 to 15";
  if (form.shifts_a && !form.a_in_tensor_memory) return ".ashift with A in shared memory";
  if (form.shifts_a && (i.has(M::collector_a_use) || i.has(M::collector_a_fill)))
    return ".ashift with .collector::a::use or .collector::a::fill";
  if (form.shifts_a && scaled) return ".ashift with block scaling";
  return nullptr;
}

}  // namespace

void lower_tcgen05_mma(Lowering& l) {
  const Instruction& i = l.instruction();
  llvm::IRBuilder<>& ir = l.ir();
  const auto kind = kind_of(i);
  if (!kind) return l.unsupported("an instruction without a kind");
  TensorForm form;
  form.kind = *kind;
  form.pair = i.has(Modifier::cta_group_2);
  form.sparse = i.opcode == Opcode::tcgen05_mma_sp || i.opcode == Opcode::tcgen05_mma_ws_sp;
  form.stationary = i.opcode == Opcode::tcgen05_mma_ws || i.opcode == Opcode::tcgen05_mma_ws_sp;
  form.a_in_tensor_memory = i.operands.size() > 1 && i.operands[1].kind == OperandKind::address;
  form.shifts_a = i.has(Modifier::ashift);
  form.scale_blocks = static_cast<std::uint8_t>(scale_blocks(i, *kind));
  const MmaOperands o = mma_operands(i, form);
  if (const char* problem = problem_of(i, form, o)) return l.unsupported(problem);
  form.masks_lanes = o.lanes != nullptr;
  form.masks_columns = o.columns != nullptr;
  if (o.scale_d) form.scale_d = static_cast<std::uint8_t>(o.scale_d->bits);
  constexpr unsigned kPlanes = 16;
  constexpr std::uint64_t kPlaneBytes = std::uint64_t{8} * kWarpSize;
  Value* planes = l.scratch(ir.getInt64Ty(), kPlanes);
  unsigned plane = 0;
  const auto put = [&](const Operand* operand) {
    if (operand)
      ir.CreateAlignedStore(l.read_vector(*operand, ScalarType::b64), l.at(planes, plane * kPlaneBytes),
                            llvm::Align(64));
    ++plane;
  };
  for (const Operand* operand : {o.d, o.a, o.b, o.descriptor, o.metadata, o.scale_a, o.scale_b, o.columns})
    put(operand);
  if (o.lanes)
    for (const Operand& word : o.lanes->elements) put(&word);
  Value* add = l.lanes_to_bits(l.read_vector(*o.add, ScalarType::pred));
  l.call("wg_tensor_mma", ir.getVoidTy(),
         {l.context_pointer(), l.site_number(), ir.getInt32(form.code()), planes, add, l.mask_bits()});
}

}  // namespace warpgrind::jit
