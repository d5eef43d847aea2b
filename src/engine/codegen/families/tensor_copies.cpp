// Lowering of PTX ISA, "Data Movement and Conversion Instructions: Tensor copy", bulk reductions and tensormap
// instructions. Each is one call of the device, made when it is issued, as for other asynchronous copies.
#include <llvm/IR/Constants.h>

#include "codegen/families/families.h"
#include "jit/tensor_copy.h"

namespace warpgrind::jit {

namespace {

using llvm::Value;
using ptx::Modifier;
using ptx::Opcode;
using ptx::Operand;
using ptx::OperandKind;
using ptx::ScalarType;

Value* addresses_of(Lowering& l, const Operand& o) {
  return store_lanes(l, l.read_vector(o, ScalarType::b64));
}

// Addresses of shared memory, as generic ones.
Value* shared_addresses(Lowering& l, const Operand& o) {
  return store_lanes(l, l.ir().CreateAdd(l.read_vector(o, ScalarType::b64), l.splat(l.ir().getInt64(kSharedWindow))));
}

Value* no_lanes(Lowering& l) {
  return llvm::ConstantPointerNull::get(l.ir().getPtrTy());
}

TensorMode mode_of(const ptx::Instruction& i) {
  for (const Modifier m : i.modifiers) switch (m) {
      case Modifier::tile_gather4:
      case Modifier::tile_scatter4:
        return TensorMode::rows;
      case Modifier::im2col:
      case Modifier::im2col_no_offs:
        return TensorMode::im2col;
      case Modifier::im2col_w:
        return TensorMode::im2col_w;
      case Modifier::im2col_w_128:
        return TensorMode::im2col_w_128;
      default:
        break;
    }
  return TensorMode::tile;
}

std::uint8_t rank_of(const ptx::Instruction& i) {
  constexpr Modifier kRanks[] = {Modifier::d1, Modifier::d2, Modifier::d3, Modifier::d4, Modifier::d5};
  for (std::uint8_t rank = 1; rank <= kMaxTensorRank; ++rank)
    if (i.has(kRanks[rank - 1])) return rank;
  return 0;
}

TensorCode code_of(const ptx::Instruction& i) {
  using Operation = TensorCode::Operation;
  TensorCode code;
  code.operation = i.opcode == Opcode::cp_async_bulk_prefetch_tensor ? Operation::prefetch
                   : i.opcode == Opcode::cp_reduce_async_bulk_tensor ? Operation::reduce
                   : i.has(Modifier::bulk_group)                     ? Operation::store
                                                                     : Operation::load;
  code.mode = mode_of(i);
  code.rank = rank_of(i);
  if (code.operation == Operation::reduce) code.reduction = atomic_operation(i);
  code.multicast = i.has(Modifier::multicast_cluster);
  code.pair = i.has(Modifier::cta_group_2);
  return code;
}

// Coordinates, offsets and mask of CTAs as planes of 32 lanes.
Value* planes(Lowering& l, const Operand& map, const Operand* offsets, const Operand* mask) {
  llvm::IRBuilder<>& ir = l.ir();
  Value* area = l.scratch(ir.getInt32Ty(), kTensorPlanes);
  const auto put = [&](unsigned plane, Value* lanes) {
    Value* at = ir.CreateConstInBoundsGEP1_64(ir.getInt32Ty(), area, std::uint64_t{plane} * kWarpSize);
    ir.CreateAlignedStore(lanes, at, llvm::Align(64));
  };
  const auto widened = [&](const Operand& o) {
    return ir.CreateZExt(l.read_vector(o, ScalarType::b16), llvm::FixedVectorType::get(ir.getInt32Ty(), kWarpSize));
  };
  Value* zero = l.splat(ir.getInt32(0));
  for (unsigned k = 0; k < kMaxTensorRank; ++k)
    put(k, k < map.elements.size() ? l.read_vector(map.elements[k], ScalarType::b32) : zero);
  for (unsigned k = 0; k < 3; ++k) {
    const bool given = offsets && (offsets->kind == OperandKind::vector ? k < offsets->elements.size() : k == 0);
    put(kTensorOffsets + k,
        given ? widened(offsets->kind == OperandKind::vector ? offsets->elements[k] : *offsets) : zero);
  }
  put(kTensorMask, mask ? widened(*mask) : zero);
  return area;
}

}  // namespace

// load:     [dst], [map, {coordinates}], [mbar]{, {offsets}}{, ctaMask}{, policy}
// store:    [map, {coordinates}], [src]{, policy}; reductions too
// prefetch: [map, {coordinates}]{, {offsets}}{, policy}
void lower_tensor_copy(Lowering& l) {
  using Operation = TensorCode::Operation;
  const ptx::Instruction& i = l.instruction();
  const TensorCode code = code_of(i);
  const bool loads = code.operation == Operation::load;
  const std::size_t map = loads ? 1 : 0, after = loads ? 3 : 1;
  if (i.operands.size() < (loads ? 3u : code.operation == Operation::prefetch ? 1u : 2u))
    return l.unsupported("this form of the tensor copy");
  const std::size_t coordinates = code.mode == TensorMode::rows ? kMaxTensorRank : code.rank;
  if (i.operands[map].elements.size() != coordinates)
    return l.unsupported("a tensor copy with another number of coordinates than dimensions");
  const bool along_width = code.mode == TensorMode::im2col_w || code.mode == TensorMode::im2col_w_128;
  if (along_width && !loads && code.operation != Operation::prefetch)
    return l.unsupported("a store or reduction along W alone (im2col::w)");
  const bool has_offsets = (loads || code.operation == Operation::prefetch) &&
                           (along_width || code.mode == TensorMode::im2col) && i.operands.size() > after;
  if (along_width && (!has_offsets || i.operands[after].elements.size() != 2))
    return l.unsupported("im2col::w without {wHalo, wOffset}");
  const Operand* offsets = has_offsets ? &i.operands[after] : nullptr;
  const std::size_t mask = after + (has_offsets ? 1 : 0);
  if (code.multicast && i.operands.size() <= mask) return l.unsupported("a multicast without a mask of CTAs");
  Value* shared = loads                                   ? addresses_of(l, i.operands[0])
                  : code.operation == Operation::prefetch ? no_lanes(l)
                                                          : addresses_of(l, i.operands[1]);
  l.call("wg_tensor_copy", l.ir().getVoidTy(),
         {l.context_pointer(), l.site_number(), l.ir().getInt32(code.bits()), shared, addresses_of(l, i.operands[map]),
          planes(l, i.operands[map], offsets, code.multicast ? &i.operands[mask] : nullptr),
          loads ? addresses_of(l, i.operands[2]) : no_lanes(l), l.mask_bits()});
}

// [dst], [src], size, [mbar] or .bulk_group
void lower_bulk_reduction(Lowering& l) {
  const ptx::Instruction& i = l.instruction();
  const bool to_shared = i.has(Modifier::mbarrier_complete_tx_bytes);
  if (i.operands.size() < (to_shared ? 4u : 3u)) return l.unsupported("this form of the bulk reduction");
  l.call("wg_bulk_reduction", l.ir().getVoidTy(),
         {l.context_pointer(), l.site_number(), l.ir().getInt32(atomic_code(atomic_operation(i), i.type())),
          addresses_of(l, i.operands[0]), addresses_of(l, i.operands[1]),
          store_lanes(l, l.read_vector(i.operands[2], ScalarType::b32)),
          to_shared ? addresses_of(l, i.operands[3]) : no_lanes(l), l.mask_bits()});
}

// [map], {ordinal, }value
void lower_tensormap_replace(Lowering& l) {
  const ptx::Instruction& i = l.instruction();
  llvm::IRBuilder<>& ir = l.ir();
  constexpr std::pair<Modifier, TensorField> kFields[] = {{Modifier::global_address, TensorField::global_address},
                                                          {Modifier::rank, TensorField::rank},
                                                          {Modifier::box_dim, TensorField::box_dim},
                                                          {Modifier::global_dim, TensorField::global_dim},
                                                          {Modifier::global_stride, TensorField::global_stride},
                                                          {Modifier::element_stride, TensorField::element_stride},
                                                          {Modifier::elemtype, TensorField::elemtype},
                                                          {Modifier::interleave_layout, TensorField::interleave_layout},
                                                          {Modifier::swizzle_mode, TensorField::swizzle_mode},
                                                          {Modifier::swizzle_atomicity, TensorField::swizzle_atomicity},
                                                          {Modifier::fill_mode, TensorField::fill_mode}};
  for (const auto& [modifier, field] : kFields) {
    if (!i.has(modifier)) continue;
    const bool ordinal = i.operands.size() > 2;
    const Operand& value = i.operands.back();
    const bool wide = i.type(i.types.size() - 1) == ScalarType::b64;
    Value* lanes = wide ? l.read_vector(value, ScalarType::b64)
                        : ir.CreateZExt(l.read_vector(value, ScalarType::b32),
                                        llvm::FixedVectorType::get(ir.getInt64Ty(), kWarpSize));
    l.call("wg_tensormap_replace", ir.getVoidTy(),
           {l.context_pointer(), l.site_number(), ir.getInt32(static_cast<std::uint32_t>(field)),
            ir.getInt32(ordinal ? static_cast<std::uint32_t>(i.operands[1].bits) : 0),
            i.space == StateSpace::shared ? shared_addresses(l, i.operands[0]) : addresses_of(l, i.operands[0]),
            store_lanes(l, lanes), l.mask_bits()});
    return;
  }
  l.unsupported("this field of a tensor map");
}

// [global], [shared], 128: the warp copies one map. The fence has nothing to do: maps are read from memory.
void lower_tensormap_copy(Lowering& l) {
  const ptx::Instruction& i = l.instruction();
  l.meet_all();
  l.call("wg_tensormap_copy", l.ir().getVoidTy(),
         {l.context_pointer(), l.site_number(), addresses_of(l, i.operands[0]), shared_addresses(l, i.operands[1]),
          l.mask_bits()});
}

}  // namespace warpgrind::jit
