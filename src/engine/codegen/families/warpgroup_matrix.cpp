// Lowering of PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions": wgmma. Each of the four warps computes its
// own 16 rows of D from its rows of A and the whole of B, so that no warp needs another. The product is computed when
// it is issued. The manual allows this: a program that follows its rules (fence before, commit and wait after) cannot
// see the difference. On a GPU the four warps multiply together. A warp's wait is thus over only when the others have
// multiplied too.
#include "jit/calls/warpgroup_matrix.h"

#include <charconv>

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
using ptx::Operand;
using ptx::OperandKind;
using ptx::ScalarType;

struct WarpgroupShape {
  unsigned columns = 0, depth = 0;
};

// ".m64n128k16"
std::optional<WarpgroupShape> warpgroup_shape_of(const Instruction& i) {
  static constexpr std::string_view kRows = "m64n";
  for (const Modifier m : i.modifiers) {
    const std::string_view text = ptx::name(m);
    if (!text.starts_with(kRows)) continue;
    WarpgroupShape shape;
    const char* const end = text.data() + text.size();
    const auto columns = std::from_chars(text.data() + kRows.size(), end, shape.columns);
    if (columns.ptr == end || *columns.ptr != 'k') return std::nullopt;
    std::from_chars(columns.ptr + 1, end, shape.depth);
    return shape;
  }
  return std::nullopt;
}

bool number_is(const Instruction& i, std::size_t operand, std::int64_t value) {
  return operand < i.operands.size() && static_cast<std::int64_t>(i.operands[operand].bits) == value;
}

bool is_sparse(const Instruction& i) {
  return i.opcode == ptx::Opcode::wgmma_mma_async_sp;
}

constexpr std::size_t kMetadata = 3, kSelector = 4;  // operands of a sparse product
std::size_t scale_operand(const Instruction& i) {
  return is_sparse(i) ? 5 : 3;
}

// scale-d, imm-scale-a, imm-scale-b, imm-trans-a (of a matrix in shared memory), imm-trans-b
std::uint32_t flags_of(const Instruction& i, bool in_shared) {
  std::uint32_t flags = 0;
  const std::size_t first = scale_operand(i);
  if (is_sparse(i))
    flags |= kWarpgroupSparse | static_cast<std::uint32_t>(i.operands[kSelector].bits) << kWarpgroupSelectorShift;
  if (in_shared) flags |= kWarpgroupAInShared;
  if (number_is(i, first + 1, -1)) flags |= kWarpgroupNegateA;
  if (number_is(i, first + 2, -1)) flags |= kWarpgroupNegateB;
  if (in_shared && number_is(i, first + 3, 1)) flags |= kWarpgroupAByDepth;
  if (number_is(i, first + (in_shared ? 4 : 3), 1)) flags |= kWarpgroupBByDepth;
  if (i.has(Modifier::satfinite)) flags |= kWarpgroupSaturate;
  return flags;
}

}  // namespace

void lower_wgmma(Lowering& l) {
  const Instruction& i = l.instruction();
  const auto shape = warpgroup_shape_of(i);
  const ScalarType d = i.type(0), a = i.type(1), b = i.type(2);
  if (!shape || shape->columns == 0 || shape->columns > kMostWarpgroupColumns || shape->columns % 8 != 0 ||
      shape->depth * matrix_element_bits(a) != kWarpgroupDepthBytes * 8 * (is_sparse(i) ? 2 : 1))
    return l.unsupported("this shape");
  if (is_sparse(i) && static_cast<std::uint64_t>(i.operands[kSelector].bits) >= sparsity_selectors(a, shape->depth / 2))
    return l.unsupported("a sparsity selector that this shape does not have");
  const Operand &sums = i.operands[0], &rows = i.operands[1];
  const bool in_shared = rows.kind != OperandKind::vector;
  if (registers_of(sums).size() != shape->columns / (d == ScalarType::f16 ? 4 : 2))
    return l.unsupported("another number of registers of D than the shape has");
  if (!in_shared && registers_of(rows).size() != 4) return l.unsupported("another number of registers of A than four");
  const WarpgroupProduct product{shape->columns, d, a, b, flags_of(i, in_shared)};
  llvm::IRBuilder<>& ir = l.ir();
  l.meet_all();
  Value* planes = spill(l, sums, ScalarType::b32);
  Value* left = in_shared ? store_lanes(l, l.read_vector(rows, ScalarType::b64)) : spill(l, rows, ScalarType::b32);
  Value* right = store_lanes(l, l.read_vector(i.operands[2], ScalarType::b64));
  Value* add = l.lanes_to_bits(l.read_vector(i.operands[scale_operand(i)], ScalarType::pred));
  Value* metadata = is_sparse(i) ? store_lanes(l, l.read_vector(i.operands[kMetadata], ScalarType::b32)) : nullptr;
  if (!metadata) metadata = llvm::ConstantPointerNull::get(ir.getPtrTy());
  l.call("wg_warpgroup_mma", ir.getVoidTy(),
         {l.context_pointer(), l.site_number(), ir.getInt32(product.code()), ir.getInt32(product.flags), planes, left,
          right, add, l.mask_bits(), metadata});
  reload(l, sums, ScalarType::b32, planes);
}

// fence, commit_group, wait_group: no product of this warp is pending.
void lower_wgmma_order(Lowering& l) {
  l.meet_all();
  if (l.instruction().opcode == ptx::Opcode::wgmma_wait_group)
    l.call("wg_warpgroup_wait", l.ir().getVoidTy(), {l.context_pointer()});
}

}  // namespace warpgrind::jit
