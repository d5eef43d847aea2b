// Lowering of PTX ISA, "Texture Instructions" and "Surface Instructions".
#include <llvm/IR/Constants.h>

#include <optional>

#include "codegen/families/families.h"
#include "codegen/families/floating_arithmetic.h"
#include "codegen/kernel/lower.h"
#include "jit/atomic_operation.h"
#include "jit/texture_operation.h"
#include "ptx/opaque_references.h"

namespace warpgrind::jit {

namespace {

using llvm::Value;
using ptx::Modifier;
using ptx::Opcode;
using ptx::Operand;
using ptx::OperandKind;
using ptx::ScalarType;

std::optional<TextureGeometry> geometry_of(const ptx::Instruction& i) {
  using G = TextureGeometry;
  for (Modifier m : i.modifiers) switch (m) {
      case Modifier::d1:
        return G::d1;
      case Modifier::d2:
        return G::d2;
      case Modifier::d3:
        return G::d3;
      case Modifier::a1d:
        return G::a1d;
      case Modifier::a2d:
        return G::a2d;
      case Modifier::cube:
        return G::cube;
      case Modifier::acube:
        return G::acube;
      default:
        break;
    }
  return std::nullopt;
}

unsigned coordinate_count(TextureGeometry g) {
  switch (g) {
    case TextureGeometry::d1:
      return 1;
    case TextureGeometry::d2:
    case TextureGeometry::a1d:
      return 2;
    case TextureGeometry::acube:
      return 4;
    default:
      return 3;
  }
}

void flatten(const Operand& o, std::vector<const Operand*>& out) {
  for (const Operand& e : o.elements) {
    if (e.kind == OperandKind::vector)
      flatten(e, out);
    else
      out.push_back(&e);
  }
}

// Writes the handles to memory. `*one`: all lanes use the same handle, and only one is written.
Value* handles(Lowering& l, const Operand& address, bool* one) {
  Operand base = address;
  base.elements.clear();
  Value* area = l.scratch(l.ir().getInt64Ty());
  if (one) *one = l.is_scalar(base);
  Value* handle = one && *one ? l.read_scalar(base, ScalarType::b64) : l.read_vector(base, ScalarType::b64);
  l.ir().CreateAlignedStore(handle, area, llvm::Align(8));
  return area;
}

Value* coordinates(Lowering& l, const std::vector<const Operand*>& list, unsigned count) {
  llvm::IRBuilder<>& ir = l.ir();
  Value* area = l.scratch(ir.getInt32Ty(), kTextureWords);
  for (unsigned k = 0; k < count && k < list.size(); ++k) {
    Value* at = ir.CreateConstInBoundsGEP1_64(ir.getInt32Ty(), area, std::uint64_t{k} * kWarpSize);
    ir.CreateAlignedStore(l.read_vector(*list[k], ScalarType::b32), at, llvm::Align(4));
  }
  return area;
}

// Destination type f16: one half per register; f16x2: two; all others: the words without conversion.
void write_texel(Lowering& l, Value* out) {
  const ptx::Instruction& i = l.instruction();
  llvm::IRBuilder<>& ir = l.ir();
  const Operand& d = i.operands[0];
  const auto lanes = [&](llvm::Type* e) { return llvm::FixedVectorType::get(e, kWarpSize); };
  const auto word = [&](std::size_t k, llvm::Type* e) {
    Value* at = ir.CreateConstInBoundsGEP1_64(ir.getInt32Ty(), out, k * kWarpSize);
    return ir.CreateAlignedLoad(lanes(e), at, llvm::Align(4));
  };
  const auto half = [&](std::size_t k) { return float_to_half(l, word(k, ir.getFloatTy()), false); };
  const std::size_t parts = d.kind == OperandKind::vector ? d.elements.size() : 1;
  for (std::size_t k = 0; k < parts; ++k) {
    const Operand& to = d.kind == OperandKind::vector ? d.elements[k] : d;
    if (to.kind == OperandKind::sink) continue;
    if (i.type(0) == ScalarType::f16) {
      l.write(to, half(k), ScalarType::b16);
    } else if (i.type(0) == ScalarType::f16x2) {
      Value* low = ir.CreateZExt(half(2 * k), lanes(ir.getInt32Ty()));
      Value* high = ir.CreateZExt(half(2 * k + 1), lanes(ir.getInt32Ty()));
      l.write(to, ir.CreateOr(low, ir.CreateShl(high, l.splat(ir.getInt32(16)))), ScalarType::b32);
    } else {
      l.write(to, word(k, ir.getInt32Ty()), ScalarType::b32);
    }
  }
}

SurfaceBoundary boundary_of(const ptx::Instruction& i) {
  return i.has(Modifier::clamp)  ? SurfaceBoundary::clamp
         : i.has(Modifier::zero) ? SurfaceBoundary::zero
                                 : SurfaceBoundary::trap;
}

// Appends the operands after the address that select the level to the coordinates. False: they are missing.
bool add_detail(const ptx::Instruction& i, std::size_t first, TextureCall& call, std::vector<const Operand*>& list) {
  call.detail = i.has(Modifier::level)  ? TextureDetail::level
                : i.has(Modifier::grad) ? TextureDetail::gradients
                                        : TextureDetail::base;
  if (call.detail == TextureDetail::base) return true;
  list.resize(call.coordinates);  // some forms have one more, which is not read
  const unsigned operands = call.detail == TextureDetail::level ? 1 : 2;
  const unsigned words = call.detail == TextureDetail::level ? 1 : step_size(call.geometry);
  for (std::size_t k = first; k < first + operands; ++k) {
    if (k >= i.operands.size()) return false;
    std::vector<const Operand*> step;
    if (i.operands[k].kind == OperandKind::vector)
      flatten(i.operands[k], step);
    else
      step.push_back(&i.operands[k]);
    if (step.size() < words) return false;
    list.insert(list.end(), step.begin(), step.begin() + words);
  }
  return true;
}

}  // namespace

// tex.geom.v4.dtype.ctype d{|p}, [t, {coordinates}]{, lod or gradients}
void lower_texture(Lowering& l) {
  const ptx::Instruction& i = l.instruction();
  llvm::IRBuilder<>& ir = l.ir();
  const auto geometry = geometry_of(i);
  const std::size_t first = i.has_second_destination ? 2 : 1;
  if (!geometry || i.operands.size() <= first || i.operands[first].kind != OperandKind::address)
    return l.unsupported("this form of a texture access");
  std::vector<const Operand*> list;
  flatten(i.operands[first], list);
  TextureCall call;
  call.geometry = *geometry;
  call.coordinates = static_cast<std::uint8_t>(coordinate_count(*geometry));
  call.integer_coordinates = i.type(1) == ScalarType::s32;
  call.gather = i.opcode == Opcode::tld4;
  if (call.gather) call.component = i.has(Modifier::g) ? 1 : i.has(Modifier::b) ? 2 : i.has(Modifier::a) ? 3 : 0;
  if (list.size() < call.coordinates) return l.unsupported("a texture that is passed with a separate sampler");
  if (!add_detail(i, first + 1, call, list)) return l.unsupported("this form of a level of detail");
  const auto words = static_cast<unsigned>(call.detail == TextureDetail::base ? call.coordinates : list.size());
  Value* out = l.scratch(ir.getInt32Ty(), 4);
  Value* from = handles(l, i.operands[first], &call.one_handle);
  l.call("wg_texture", ir.getVoidTy(),
         {l.context_pointer(), l.site_number(), ir.getInt32(call.encode()), from, coordinates(l, list, words),
          l.mask_bits(), out});
  write_texel(l, out);
  if (i.has_second_destination)
    l.result(1, llvm::ConstantInt::getTrue(llvm::FixedVectorType::get(ir.getInt1Ty(), kWarpSize)), ScalarType::pred);
}

void lower_surface(Lowering& l) {
  const ptx::Instruction& i = l.instruction();
  llvm::IRBuilder<>& ir = l.ir();
  const auto geometry = geometry_of(i);
  const bool store = i.opcode == Opcode::sust;
  const std::size_t at = store ? 0 : 1;
  if (!geometry || i.operands.size() < 2 || i.operands[at].kind != OperandKind::address || i.has(Modifier::p))
    return l.unsupported("this form of a surface access");
  std::vector<const Operand*> list;
  flatten(i.operands[at], list);
  TextureCall call;
  call.geometry = *geometry;
  call.coordinates = static_cast<std::uint8_t>(coordinate_count(*geometry));
  call.boundary = boundary_of(i);
  llvm::Type* e = l.element(i.type());
  Value* data = l.scratch(e, i.vector);
  const Operand& values = i.operands[store ? 1 : 0];
  const auto part = [&](unsigned k) -> const Operand& {
    return values.kind == OperandKind::vector ? values.elements[k] : values;
  };
  const auto place = [&](unsigned k) { return ir.CreateConstInBoundsGEP1_64(e, data, std::uint64_t{k} * kWarpSize); };
  const llvm::Align align(e->getPrimitiveSizeInBits() / 8);
  if (store)
    for (unsigned k = 0; k < i.vector; ++k) ir.CreateAlignedStore(l.read_vector(part(k), i.type()), place(k), align);
  Value* from = handles(l, i.operands[at], &call.one_handle);
  l.call("wg_surface", ir.getVoidTy(),
         {l.context_pointer(), l.site_number(), ir.getInt32(call.encode()), from,
          coordinates(l, list, call.coordinates), l.mask_bits(), ir.getInt32(store), data});
  if (store) return;
  for (unsigned k = 0; k < i.vector; ++k)
    l.write(part(k), ir.CreateAlignedLoad(llvm::FixedVectorType::get(e, kWarpSize), place(k), align), i.type());
}

// sured.fmt.op.geom.ctype.clamp [surface, {coordinates}], value
void lower_surface_reduction(Lowering& l) {
  const ptx::Instruction& i = l.instruction();
  llvm::IRBuilder<>& ir = l.ir();
  const auto geometry = geometry_of(i);
  if (!geometry || i.operands.size() < 2 || i.operands[0].kind != OperandKind::address)
    return l.unsupported("this form of a surface access");
  std::vector<const Operand*> list;
  flatten(i.operands[0], list);
  TextureCall call;
  call.geometry = *geometry;
  call.coordinates = static_cast<std::uint8_t>(coordinate_count(*geometry));
  call.boundary = boundary_of(i);
  call.in_values = i.has(Modifier::p);
  const bool wide = ptx::bits(i.type()) == 64;
  llvm::Type* e = wide ? ir.getInt64Ty() : ir.getInt32Ty();
  Value* data = l.scratch(e);
  ir.CreateAlignedStore(l.read_vector(i.operands[1], wide ? ScalarType::b64 : ScalarType::b32), data,
                        llvm::Align(wide ? 8 : 4));
  Value* from = handles(l, i.operands[0], &call.one_handle);
  l.call(
      "wg_surface_reduction", ir.getVoidTy(),
      {l.context_pointer(), l.site_number(), ir.getInt32(call.encode()), from, coordinates(l, list, call.coordinates),
       l.mask_bits(), ir.getInt32(atomic_code(atomic_operation(i), i.type())), data});
}

void lower_istypep(Lowering& l) {
  llvm::IRBuilder<>& ir = l.ir();
  Value* bit = l.constant(ScalarType::b64, ptx::reference_bit(l.instruction().type()));
  Value* zero = l.constant(ScalarType::b64, 0);
  l.result(0, ir.CreateICmpNE(ir.CreateAnd(l.source(1, ScalarType::b64), bit), zero), ScalarType::pred);
}

void lower_texture_query(Lowering& l) {
  const ptx::Instruction& i = l.instruction();
  llvm::IRBuilder<>& ir = l.ir();
  std::uint32_t what = kQueries;
  const std::pair<Modifier, std::uint32_t> queries[] = {{Modifier::width, kQueryWidth},
                                                        {Modifier::height, kQueryHeight},
                                                        {Modifier::depth, kQueryDepth},
                                                        {Modifier::array_size, kQueryArraySize},
                                                        {Modifier::num_mipmap_levels, kQueryMipmapLevels},
                                                        {Modifier::normalized_coords, kQueryNormalized}};
  for (const auto& [modifier, query] : queries)
    if (i.has(modifier)) what = query;
  if (what == kQueries) return l.unsupported("this query");
  Value* out = l.scratch(ir.getInt32Ty());
  // The queried level is passed in the memory that receives the answer.
  const bool level = i.has(Modifier::level) && i.operands.size() > 2;
  ir.CreateAlignedStore(level ? l.read_vector(i.operands[2], ScalarType::b32) : l.splat(ir.getInt32(0)), out,
                        llvm::Align(4));
  l.call("wg_texture_query", ir.getVoidTy(),
         {l.context_pointer(), l.site_number(), ir.getInt32(what), ir.getInt32(i.opcode == Opcode::suq),
          handles(l, i.operands[1], nullptr), l.mask_bits(), out});
  l.result(0, ir.CreateAlignedLoad(llvm::FixedVectorType::get(ir.getInt32Ty(), kWarpSize), out, llvm::Align(4)),
           ScalarType::b32);
}

}  // namespace warpgrind::jit
