// Lowering of PTX ISA, "Warp-Level Matrix Instructions": wmma, mma, ldmatrix, stmatrix, movmatrix. Calls of the device
// read and write memory; jit/calls/matrix.cpp does the arithmetic. Programs cannot see the layout of wmma fragments.
// Here register r of lane l is word r*32 + l of the matrix in memory order (A, B) or row by row (C, D).
#include "codegen/families/matrix.h"

#include "codegen/families/families.h"
#include "codegen/families/fragments.h"
#include "jit/calls/matrix.h"
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

std::optional<MatrixShape> shape_of(const Instruction& i) {
  static constexpr struct {
    Modifier modifier;
    MatrixShape shape;
  } kShapes[] = {
      {Modifier::m8n8k4, {8, 8, 4}},       {Modifier::m8n8k16, {8, 8, 16}},     {Modifier::m8n8k32, {8, 8, 32}},
      {Modifier::m8n8k128, {8, 8, 128}},   {Modifier::m16n8k4, {16, 8, 4}},     {Modifier::m16n8k8, {16, 8, 8}},
      {Modifier::m16n8k16, {16, 8, 16}},   {Modifier::m16n8k32, {16, 8, 32}},   {Modifier::m16n8k64, {16, 8, 64}},
      {Modifier::m16n8k128, {16, 8, 128}}, {Modifier::m16n8k256, {16, 8, 256}}, {Modifier::m16n16k8, {16, 16, 8}},
      {Modifier::m16n16k16, {16, 16, 16}}, {Modifier::m32n8k16, {32, 8, 16}},   {Modifier::m8n32k16, {8, 32, 16}},
  };
  for (const auto& s : kShapes)
    if (i.has(s.modifier)) return s.shape;
  return std::nullopt;
}

// Whether the `index`-th .row or .col modifier is .col.
bool is_column(const Instruction& i, unsigned index) {
  for (Modifier m : i.modifiers)
    if (m == Modifier::row || m == Modifier::col)
      if (index-- == 0) return m == Modifier::col;
  return false;
}

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
  const auto shape = shape_of(i);
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
  if (sparse && registers_of(i.operands[4]).size() != 1) return l.unsupported("metadata of more than one register");
  if (sparse && static_cast<std::uint64_t>(i.operands[5].bits) >= sparsity_selectors(a, shape->k / 2u))
    return l.unsupported("a sparsity selector that this shape does not have");
  std::uint32_t flags = 0;
  const bool is_mma = i.opcode != Opcode::wmma_mma;
  if (is_column(i, 0)) flags |= kMatrixAColumn;
  if (is_column(i, 1)) flags |= kMatrixBColumn;
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

// One wmma.load or wmma.store: layout of the matrix in memory, and the part that one request moves.
struct WmmaAccess {
  ScalarType type;
  unsigned outer, inner;  // order in the fragment: inner runs fastest
  bool transposed;        // memory has the other order (C in column-major order)
  unsigned bits;          // per element
  unsigned per_request;   // elements a lane moves at once
  unsigned requests;      // requests that cover the matrix

  unsigned request_bytes() const { return per_request * bits / 8; }
};

std::optional<WmmaAccess> wmma_access(const Instruction& i) {
  const auto shape = shape_of(i);
  if (!shape) return std::nullopt;
  WmmaAccess w{};
  w.type = i.type();
  w.bits = matrix_element_bits(w.type);
  const bool column = is_column(i, 0);
  const bool is_a = i.has(Modifier::a), is_b = i.has(Modifier::b);
  const unsigned rows = is_b ? shape->k : shape->m, columns = is_a ? shape->k : shape->n;
  const bool by_memory = is_a || is_b;  // A and B follow memory order
  w.outer = by_memory && column ? columns : rows;
  w.inner = by_memory && column ? rows : columns;
  w.transposed = !by_memory && column;
  const unsigned word = w.bits == 64 ? 64 : 32;
  w.per_request = w.transposed ? 1 : word / w.bits;
  w.requests = std::max(1u, w.outer * w.inner / (kWarpSize * w.per_request));
  return w;
}

// Byte addresses of request `r`. `base`: the lanes' pointers, which are equal. `stride`: in elements. Both are 32 x
// i64.
Value* request_addresses(Lowering& l, const WmmaAccess& w, unsigned r, Value* base, Value* stride) {
  llvm::IRBuilder<>& ir = l.ir();
  llvm::SmallVector<llvm::Constant*, kWarpSize> line, place;
  // A word of C holds two f16 elements. If transposed, they are moved one at a time: request 2*k + e moves half e of
  // word k.
  const unsigned per_word = w.bits == 64 ? 1 : 32 / w.bits;
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    const unsigned element = w.transposed ? ((r / per_word) * kWarpSize + lane) * per_word + r % per_word
                                          : (r * kWarpSize + lane) * w.per_request;
    const unsigned outer = element / w.inner, inner = element % w.inner;
    line.push_back(ir.getInt64(w.transposed ? inner : outer));
    place.push_back(ir.getInt64(w.transposed ? outer : inner));
  }
  Value* element =
      ir.CreateAdd(ir.CreateMul(stride, llvm::ConstantVector::get(line)), llvm::ConstantVector::get(place));
  Value* bytes = w.bits >= 8 ? ir.CreateMul(element, l.splat(ir.getInt64(w.bits / 8)))
                             : ir.CreateLShr(element, l.splat(ir.getInt64(w.bits == 4 ? 1 : 3)));
  return ir.CreateAdd(base, bytes);
}

Value* stride_of(Lowering& l, std::size_t operand, const WmmaAccess& w) {
  llvm::IRBuilder<>& ir = l.ir();
  if (operand >= l.instruction().operands.size()) return l.splat(ir.getInt64(w.transposed ? w.outer : w.inner));
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

void lower_wmma_load(Lowering& l) {
  const auto w = wmma_access(l.instruction());
  if (!w) return l.unsupported("this shape");
  llvm::IRBuilder<>& ir = l.ir();
  const auto registers = registers_of(l.instruction().operands[0]);
  const ScalarType word = word_type(w->type);
  const unsigned unit = w->request_bytes(), word_bits = ptx::bits(word);
  if (unit * 8 != word_bits && unit * 8 * 2 != word_bits) return l.unsupported("this layout");
  llvm::Type* moved = llvm::FixedVectorType::get(ir.getIntNTy(unit * 8), kWarpSize);
  llvm::Type* words = llvm::FixedVectorType::get(l.element(word), kWarpSize);
  l.meet_all();
  Value* base = l.read_vector(l.instruction().operands[1], ScalarType::b64);
  Value* stride = stride_of(l, 2, *w);
  Value* area = l.scratch(l.element(word));
  // A matrix smaller than the lanes' words is in the first lanes, and is repeated over the others.
  llvm::SmallVector<Value*, 16> values;
  for (unsigned r = 0; r < w->requests; ++r) {
    request(l, true, request_addresses(l, *w, r, base, stride), l.mask_bits(), area);
    values.push_back(ir.CreateZExt(ir.CreateLoad(moved, area), words));
  }
  if (unit * 8 != word_bits)
    for (std::size_t k = 0; 2 * k < values.size(); ++k) {
      values[k] = ir.CreateOr(values[2 * k], ir.CreateShl(values[2 * k + 1], unit * 8));
      if (2 * k + 2 >= values.size()) values.truncate(k + 1);
    }
  for (std::size_t r = 0; r < registers.size(); ++r) l.write(registers[r], values[r % values.size()], word);
}

void lower_wmma_store(Lowering& l) {
  const auto w = wmma_access(l.instruction());
  if (!w) return l.unsupported("this shape");
  llvm::IRBuilder<>& ir = l.ir();
  const auto registers = registers_of(l.instruction().operands[1]);
  const ScalarType word = word_type(w->type);
  const unsigned unit = w->request_bytes(), word_bits = ptx::bits(word);
  llvm::Type* moved = llvm::FixedVectorType::get(ir.getIntNTy(unit * 8), kWarpSize);
  Value* base = l.read_vector(l.instruction().operands[0], ScalarType::b64);
  Value* stride = stride_of(l, 2, *w);
  Value* area = l.scratch(l.element(word));
  const unsigned per_register = word_bits / (unit * 8);
  if (registers.size() * per_register < w->requests)
    return l.unsupported("a fragment of fewer registers than the shape needs");
  l.meet_all();
  for (unsigned r = 0; r < w->requests; ++r) {
    Value* v = l.read_vector(registers[r / per_register], word);
    if (per_register > 1) v = ir.CreateLShr(v, r % per_register * unit * 8);
    ir.CreateStore(ir.CreateTrunc(v, moved), area);
    request(l, false, request_addresses(l, *w, r, base, stride), l.mask_bits(), area);
  }
}

namespace {

unsigned matrices_of(const Instruction& i) {
  return i.has(Modifier::x4) ? 4 : i.has(Modifier::x2) ? 2 : 1;
}

// Bits of the elements that ldmatrix.m8n16 spreads to a byte each. 0: another instruction.
unsigned packed_bits(const Instruction& i) {
  if (i.opcode != Opcode::ldmatrix || !i.has(Modifier::m8n16) || !i.has(Modifier::b8x16)) return 0;
  return i.has(Modifier::b6x16_p32) ? 6 : i.has(Modifier::b4x16_p64) ? 4 : 0;
}

// ldmatrix and stmatrix: lane 8*j + r holds the address of row r of matrix j.
void lower_matrix_rows(Lowering& l, bool load) {
  const Instruction& i = l.instruction();
  const unsigned packed = packed_bits(i);
  if (packed == 0 && (!i.has(Modifier::m8n8) || ptx::bits(i.type()) != 16)) return l.unsupported("this shape");
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
    if (packed != 0) l.call("wg_spread_rows", ir.getVoidTy(), {ir.getInt32(matrices), ir.getInt32(packed), rows});
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
  llvm::IRBuilder<>& ir = l.ir();
  const Instruction& i = l.instruction();
  Value* in = spill(l, i.operands[1], ScalarType::b32);
  Value* rows = l.scratch(ir.getInt32Ty(), 4);
  Value* out = l.scratch(ir.getInt32Ty());
  l.meet_all();
  l.call("wg_matrix_rows", ir.getVoidTy(), {ir.getInt32(1), ir.getInt32(0), ir.getInt32(1), rows, in});
  l.call("wg_matrix_rows", ir.getVoidTy(), {ir.getInt32(1), ir.getInt32(1), ir.getInt32(0), rows, out});
  reload(l, i.operands[0], ScalarType::b32, out);
}

unsigned matrix_request_bytes(const Instruction& i) {
  if (i.opcode == Opcode::ldmatrix || i.opcode == Opcode::stmatrix) return 16;
  if (i.opcode != Opcode::wmma_load && i.opcode != Opcode::wmma_store) return 0;
  const auto w = wmma_access(i);
  return w ? w->request_bytes() : 4;
}

}  // namespace warpgrind::jit
