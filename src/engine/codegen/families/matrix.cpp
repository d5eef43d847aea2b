// Lowering of PTX ISA, "Warp-Level Matrix Instructions": wmma, mma, ldmatrix, stmatrix, movmatrix. Calls of the device
// read and write memory; jit/calls/matrix.cpp does the arithmetic. wmma fragments and their requests are the hardware's
// (ptx/wmma.h), though programs cannot see the layout.
#include "codegen/families/matrix.h"

#include "codegen/families/families.h"
#include "codegen/families/fragments.h"
#include "jit/calls/matrix.h"
#include "jit/calls/matrix_bytes.h"
#include "jit/calls/matrix_elements.h"
#include "jit/calls/sparse_matrix.h"

namespace warpgrind::jit {

namespace {

using llvm::Value;
using ptx::Instruction;
using ptx::Modifier;
using ptx::Opcode;
using ptx::Operand;
using ptx::ScalarType;
using ptx::WmmaMove;

ScalarType word_type(ScalarType type) {
  return type == ScalarType::f64 ? ScalarType::b64 : ScalarType::b32;
}

// Registers per lane for this number of elements of the warp. (Some wmma fragments hold elements twice.)
unsigned fragment_registers(unsigned elements, ScalarType type) {
  const unsigned word = kWarpSize * (word_type(type) == ScalarType::b64 ? 64 : 32);
  return (elements * matrix_element_bits(type) + word - 1) / word;
}

// Integer products are summed in s32, f64 products in f64, all others in f32 or f16.
bool agree(ScalarType a, ScalarType b, ScalarType c, ScalarType d) {
  enum class Kind { integers, doubles, floats };
  const auto factor = [](ScalarType t) {
    if (t == ScalarType::f64) return Kind::doubles;
    return ptx::is_integer(t) || t == ScalarType::u4 || t == ScalarType::s4 || t == ScalarType::b1 ? Kind::integers
                                                                                                   : Kind::floats;
  };
  const auto sum = [](ScalarType t) -> std::optional<Kind> {
    if (t == ScalarType::f64) return Kind::doubles;
    if (t == ScalarType::s32) return Kind::integers;
    if (t == ScalarType::f32 || t == ScalarType::f16) return Kind::floats;
    return std::nullopt;
  };
  return sum(d) && sum(d) == sum(c) && *sum(d) == factor(a) && factor(a) == factor(b);
}

}  // namespace

Value* spill(Lowering& l, const Operand& o, ScalarType word) {
  const auto registers = registers_of(o);
  Value* planes = l.scratch(l.element(word), static_cast<unsigned>(registers.size()));
  llvm::Type* type = llvm::FixedVectorType::get(l.element(word), kWarpSize);
  for (unsigned r = 0; r < registers.size(); ++r)
    l.ir().CreateStore(l.read_vector(registers[r], word), l.ir().CreateConstInBoundsGEP1_64(type, planes, r));
  return planes;
}

void reload(Lowering& l, const Operand& o, ScalarType word, Value* planes) {
  const auto registers = registers_of(o);
  llvm::Type* type = llvm::FixedVectorType::get(l.element(word), kWarpSize);
  for (unsigned r = 0; r < registers.size(); ++r)
    l.write(registers[r], l.ir().CreateLoad(type, l.ir().CreateConstInBoundsGEP1_64(type, planes, r)), word);
}

void lower_mma(Lowering& l) {
  const Instruction& i = l.instruction();
  const auto shape = ptx::matrix_shape(i);
  if (!shape) return l.unsupported("this shape");
  if (i.has(Modifier::block_scale)) return lower_block_scaled_mma(l, *shape);
  // wmma on f16 gives only the types of d and c.
  const bool four = i.types.size() >= 4;
  const ScalarType d = i.type(0), a = four ? i.type(1) : ScalarType::f16, b = four ? i.type(2) : ScalarType::f16,
                   c = i.type(four ? 3 : 1);
  for (ScalarType t : {a, b})
    if (t != ScalarType::f64 && t != ScalarType::tf32 && (matrix_element_bits(t) == 32 || matrix_element_bits(t) == 64))
      return l.unsupported("this type");
  if (!agree(a, b, c, d)) return l.unsupported("these types together");
  for (ScalarType t : {a, b})
    if ((t == ScalarType::e3m2 || t == ScalarType::e2m3 || t == ScalarType::e2m1) && !i.has(Modifier::kind_f8f6f4))
      return l.unsupported("this type without .kind::f8f6f4");
  const unsigned products = i.opcode == Opcode::mma && shape->m == 8 && shape->k == 4 && a == ScalarType::f16 ? 4 : 1;
  const auto holds = [&](const Operand& o, unsigned rows, unsigned columns, ScalarType t) {
    return registers_of(o).size() >= fragment_registers(products * rows * columns, t);
  };
  const bool sparse = i.opcode == Opcode::mma_sp;
  if (!holds(i.operands[0], shape->m, shape->n, d) ||
      !holds(i.operands[1], shape->m, sparse ? shape->k / 2u : shape->k, a) ||
      !holds(i.operands[2], shape->k, shape->n, b) || !holds(i.operands[3], shape->m, shape->n, c))
    return l.unsupported("a fragment of fewer registers than the shape needs");
  const bool is_mma = i.opcode != Opcode::wmma_mma;
  if (!is_mma && shape->k * matrix_element_bits(a) % 128 != 0 && a != ScalarType::f64)
    return l.unsupported("this shape");
  if (sparse && registers_of(i.operands[4]).size() != 1) return l.unsupported("metadata of more than one register");
  if (sparse && static_cast<std::uint64_t>(i.operands[5].bits) >= sparsity_selectors(a, shape->k / 2u))
    return l.unsupported("a sparsity selector that this shape does not have");
  std::uint32_t flags = 0;
  if (ptx::is_column_major(i, 0)) flags |= kMatrixAColumn;
  if (ptx::is_column_major(i, 1)) flags |= kMatrixBColumn;
  if (is_mma) flags |= kMatrixMmaLayout;
  if (i.has(Modifier::satfinite)) flags |= kMatrixSaturate;
  if (i.has(Modifier::and_)) flags |= kMatrixAndPopc;
  const auto code = [](ScalarType t) { return static_cast<std::uint32_t>(t); };
  llvm::IRBuilder<>& ir = l.ir();
  Value* a_planes = spill(l, i.operands[1], word_type(a));
  Value* b_planes = spill(l, i.operands[2], word_type(b));
  Value* c_planes = spill(l, i.operands[3], word_type(c));
  Value* d_planes = l.scratch(l.element(word_type(d)), static_cast<unsigned>(registers_of(i.operands[0]).size()));
  llvm::SmallVector<Value*, 10> arguments = {ir.getInt32(shape->code()),
                                             ir.getInt32(code(d) | code(a) << 8 | code(b) << 16 | code(c) << 24),
                                             ir.getInt32(flags), l.context_pointer()};
  if (sparse) arguments.push_back(ir.getInt32(static_cast<std::uint32_t>(i.operands[5].bits)));
  arguments.append({d_planes, a_planes, b_planes, c_planes});
  if (sparse) arguments.push_back(store_lanes(l, l.read_vector(registers_of(i.operands[4]).front(), ScalarType::b32)));
  l.meet_all();
  l.call(sparse ? "wg_mma_sparse" : "wg_mma", ir.getVoidTy(), arguments);
  reload(l, i.operands[0], word_type(d), d_planes);
}

namespace {

// Byte addresses of request `r`. `base`: the lanes' pointers, which are equal. `stride`: in elements. Both are 32 x
// i64.
Value* request_addresses(Lowering& l, const WmmaMove& w, unsigned r, Value* base, Value* stride) {
  llvm::IRBuilder<>& ir = l.ir();
  llvm::SmallVector<llvm::Constant*, kWarpSize> line, place;
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    const WmmaMove::Place at = w.place(r, lane);
    line.push_back(ir.getInt64(at.line));
    place.push_back(ir.getInt64(at.place));
  }
  Value* element =
      ir.CreateAdd(ir.CreateMul(stride, llvm::ConstantVector::get(line)), llvm::ConstantVector::get(place));
  Value* bytes = w.element_bits >= 8 ? ir.CreateMul(element, l.splat(ir.getInt64(w.element_bits / 8)))
                                     : ir.CreateLShr(element, l.splat(ir.getInt64(w.element_bits == 4 ? 1 : 3)));
  return ir.CreateAdd(base, bytes);
}

Value* stride_of(Lowering& l, std::size_t operand, const WmmaMove& w) {
  llvm::IRBuilder<>& ir = l.ir();
  if (operand >= l.instruction().operands.size()) return l.splat(ir.getInt64(w.dense_stride()));
  Value* stride = l.read_vector(l.instruction().operands[operand], ScalarType::b32);
  return ir.CreateZExt(stride, llvm::FixedVectorType::get(ir.getInt64Ty(), kWarpSize));
}

// One request, made by the device. Reads or writes `data`.
void request(Lowering& l, bool load, Value* addresses, Value* mask, Value* data) {
  llvm::IRBuilder<>& ir = l.ir();
  Value* area = l.scratch(ir.getInt64Ty());
  ir.CreateStore(l.in_own_memory(addresses), area);
  l.call(load ? "wg_load" : "wg_store", ir.getVoidTy(), {l.context_pointer(), l.site_number(), area, mask, data});
}

}  // namespace

namespace {

// All requests of a fragment whose planes of `word` are in memory.
class WmmaRequests {
 public:
  WmmaRequests(Lowering& l, const WmmaMove& w, bool load, ScalarType word)
      : l_(l), w_(w), load_(load), plane_(llvm::FixedVectorType::get(l.element(word), kWarpSize)) {
    l.meet_all();
    base_ = l.read_vector(l.instruction().operands[load ? 1 : 0], ScalarType::b64);
    stride_ = stride_of(l, 2, w);
    planes_each_ = std::max(1u, w.registers() / w.requests);
  }

  void make(Value* planes) {
    for (unsigned r = 0; r < w_.requests; ++r) make(r, plane(planes, r * planes_each_));
  }
  // LDSM: a lane's 16 bytes are four words of the line, which belong to four lanes.
  void make_rows(Value* planes) {
    llvm::IRBuilder<>& ir = l_.ir();
    Value* rows = l_.scratch(ir.getInt32Ty(), 4);
    for (unsigned r = 0; r < w_.requests; ++r) {
      make(r, rows);
      l_.call("wg_matrix_rows", ir.getVoidTy(),
              {ir.getInt32(w_.request_tiles), ir.getInt32(w_.is_turned()), ir.getInt32(0), rows,
               plane(planes, r * planes_each_)});
    }
  }
  // A byte a lane and request: four requests fill a word.
  void make_bytes(Value* planes) {
    llvm::IRBuilder<>& ir = l_.ir();
    llvm::Type* bytes = llvm::FixedVectorType::get(ir.getInt8Ty(), kWarpSize);
    Value* area = l_.scratch(ir.getInt32Ty());
    Value* word = nullptr;
    for (unsigned r = 0; r < w_.requests; ++r) {
      make(r, area);
      Value* next = ir.CreateZExt(ir.CreateLoad(bytes, area), plane_);
      const unsigned part = r % w_.width;
      word = part == 0 ? next : ir.CreateOr(word, ir.CreateShl(next, 8 * part));
      if (part + 1u == w_.width) ir.CreateStore(word, plane(planes, r / w_.width));
    }
  }

 private:
  Value* plane(Value* planes, unsigned number) { return l_.ir().CreateConstInBoundsGEP1_64(plane_, planes, number); }
  void make(unsigned r, Value* data) {
    llvm::IRBuilder<>& ir = l_.ir();
    const LaneMask used = w_.request_lanes == kWarpSize ? kFullMask : (LaneMask{1} << w_.request_lanes) - 1;
    request(l_, load_, request_addresses(l_, w_, r, base_, stride_), ir.CreateAnd(l_.mask_bits(), ir.getInt32(used)),
            data);
  }

  Lowering& l_;
  const WmmaMove& w_;
  bool load_;
  llvm::Type* plane_;
  Value* base_ = nullptr;
  Value* stride_ = nullptr;
  unsigned planes_each_ = 1;
};

void transpose(Lowering& l, unsigned count, Value* planes) {
  l.call("wg_transpose_matrices", l.ir().getVoidTy(), {l.ir().getInt32(count), planes});
}

}  // namespace

void lower_wmma_load(Lowering& l) {
  const auto w = ptx::wmma_move(l.instruction());
  if (!w) return l.unsupported("this shape");
  llvm::IRBuilder<>& ir = l.ir();
  const auto registers = registers_of(l.instruction().operands[0]);
  const ScalarType word = word_type(l.instruction().type());
  const unsigned count = w->registers();
  Value* planes = l.scratch(l.element(word), count);
  WmmaRequests requests(l, *w, true, word);
  if (w->request_tiles > 1 || w->way == WmmaMove::Way::rows || w->way == WmmaMove::Way::turned_rows)
    requests.make_rows(planes);
  else if (w->way == WmmaMove::Way::elements && w->element_bits == 8)
    requests.make_bytes(planes);
  else
    requests.make(planes);
  if (w->way == WmmaMove::Way::turned) transpose(l, count, planes);
  llvm::Type* type = llvm::FixedVectorType::get(l.element(word), kWarpSize);
  llvm::SmallVector<Value*, 16> values;
  for (unsigned r = 0; r < count; ++r)
    values.push_back(ir.CreateLoad(type, ir.CreateConstInBoundsGEP1_64(type, planes, r)));
  // f16 fragments of A and B have more registers than they need.
  for (std::size_t r = 0; r < registers.size(); ++r) l.write(registers[r], values[r % count], word);
}

void lower_wmma_store(Lowering& l) {
  const auto w = ptx::wmma_move(l.instruction());
  if (!w) return l.unsupported("this shape");
  const Operand& fragment = l.instruction().operands[1];
  const ScalarType word = word_type(l.instruction().type());
  if (registers_of(fragment).size() < w->registers())
    return l.unsupported("a fragment of fewer registers than the shape needs");
  Value* planes = spill(l, fragment, word);
  WmmaRequests requests(l, *w, false, word);
  if (w->way == WmmaMove::Way::turned) transpose(l, w->registers(), planes);
  requests.make(planes);
}

namespace {

unsigned matrices_of(const Instruction& i) {
  return i.has(Modifier::x4) ? 4 : i.has(Modifier::x2) ? 2 : 1;
}

// Elements of a byte or less; nullopt for a form that does not exist.
std::optional<ByteMatrices> byte_matrices_of(const Instruction& i, bool load) {
  using M = Modifier;
  using Shape = ByteMatrices::Shape;
  ByteMatrices form;
  form.count = static_cast<std::uint8_t>(matrices_of(i));
  form.element_bits = i.has(M::b6x16_p32) ? 6 : i.has(M::b4x16_p64) ? 4 : 8;
  if (form.element_bits == 8 && (i.types.empty() || ptx::bits(i.type()) != 8)) return std::nullopt;
  if (!load) {
    form.shape = Shape::m16n8;
    return i.has(M::m16n8) && i.has(M::trans) ? std::optional(form) : std::nullopt;
  }
  form.shape = i.has(M::m16n16) ? Shape::m16n16 : Shape::m8n16;
  const bool fits = form.shape == Shape::m16n16 ? i.has(M::trans) && form.count <= 2
                                                : i.has(M::m8n16) && !i.has(M::trans) && form.element_bits != 8;
  return fits ? std::optional(form) : std::nullopt;
}

// Lane rows*j + r holds the address of row r of matrix j.
void lower_byte_matrices(Lowering& l, bool load) {
  const Instruction& i = l.instruction();
  const auto form = byte_matrices_of(i, load);
  if (!form) return l.unsupported("this shape");
  llvm::IRBuilder<>& ir = l.ir();
  const Operand& fragment = i.operands[load ? 0 : 1];
  if (registers_of(fragment).size() != form->registers())
    return l.unsupported("another number of registers than the shape has");
  Value* addresses = l.read_vector(i.operands[load ? 1 : 0], ScalarType::b64);
  const unsigned lanes = form->rows() * form->count;
  const LaneMask used = lanes == kWarpSize ? kFullMask : (LaneMask{1} << lanes) - 1;
  Value* mask = ir.CreateAnd(l.mask_bits(), ir.getInt32(used));
  Value* rows = l.scratch(ir.getInt32Ty(), 4);
  l.meet_all();
  Value* registers = load ? l.scratch(ir.getInt32Ty(), form->registers()) : spill(l, fragment, ScalarType::b32);
  if (load) request(l, true, addresses, mask, rows);
  l.call("wg_matrix_bytes", ir.getVoidTy(), {ir.getInt32(form->code()), rows, registers});
  if (load)
    reload(l, fragment, ScalarType::b32, registers);
  else
    request(l, false, addresses, mask, rows);
}

// ldmatrix and stmatrix: lane 8*j + r holds the address of row r of matrix j.
void lower_matrix_rows(Lowering& l, bool load) {
  const Instruction& i = l.instruction();
  if (!i.has(Modifier::m8n8)) return lower_byte_matrices(l, load);
  if (ptx::bits(i.type()) != 16) return l.unsupported("this shape");
  llvm::IRBuilder<>& ir = l.ir();
  const unsigned matrices = matrices_of(i);
  const Operand& fragment = i.operands[load ? 0 : 1];
  if (registers_of(fragment).size() != matrices) return l.unsupported("another number of registers than of matrices");
  Value* addresses = l.read_vector(i.operands[load ? 1 : 0], ScalarType::b64);
  const LaneMask used = matrices == 4 ? kFullMask : (1u << (8 * matrices)) - 1;
  Value* mask = ir.CreateAnd(l.mask_bits(), ir.getInt32(used));
  Value* rows = l.scratch(ir.getInt32Ty(), 4);
  l.meet_all();
  const auto permute = [&](Value* registers) {
    l.call("wg_matrix_rows", ir.getVoidTy(),
           {ir.getInt32(matrices), ir.getInt32(i.has(Modifier::trans)), ir.getInt32(!load), rows, registers});
  };
  if (load) {
    Value* registers = l.scratch(ir.getInt32Ty(), matrices);
    request(l, true, addresses, mask, rows);
    permute(registers);
    reload(l, fragment, ScalarType::b32, registers);
  } else {
    permute(spill(l, fragment, ScalarType::b32));
    request(l, false, addresses, mask, rows);
  }
}

}  // namespace

void lower_ldmatrix(Lowering& l) {
  lower_matrix_rows(l, true);
}

void lower_stmatrix(Lowering& l) {
  lower_matrix_rows(l, false);
}

// Lane l holds elements 2*(l%4) and 2*(l%4)+1 of row l/4, and receives those of the transposed matrix.
void lower_movmatrix(Lowering& l) {
  const Instruction& i = l.instruction();
  Value* matrix = spill(l, i.operands[1], ScalarType::b32);
  l.meet_all();
  transpose(l, 1, matrix);
  reload(l, i.operands[0], ScalarType::b32, matrix);
}

unsigned matrix_request_bytes(const Instruction& i) {
  if (i.opcode == Opcode::ldmatrix || i.opcode == Opcode::stmatrix) return 16;
  if (i.opcode != Opcode::wmma_load && i.opcode != Opcode::wmma_store) return 0;
  const auto w = ptx::wmma_move(i);
  return w ? w->request_bytes : 4;
}

}  // namespace warpgrind::jit
