// Products on tensor memory: tcgen05.mma. A product is computed when it is issued; TensorMemory keeps track of what a
// program must wait for. Results are by the manual; no hardware has confirmed them.
#include "device/calls/tensor_mma.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/per_thread.h"
#include "device/calls/tensor_operands.h"
#include "device/fault.h"
#include "device/symbols.h"

namespace warpgrind::device {

namespace {

using jit::MatrixDescriptor;
using jit::TensorElement;
using jit::TensorFactors;
using jit::TensorForm;
using jit::TensorKind;
using jit::TensorLayout;
using jit::TensorProduct;

constexpr unsigned kOperandPiece = MatrixDescriptor::kPiece;
constexpr unsigned kLongLinePieces = 3;  // a K of 96 elements of 4 bits
constexpr unsigned kWordBits = 32;

// A and B of one block as they lie in memory.
struct RawTiles {
  alignas(64) std::uint8_t a[128 * 128];
  alignas(64) std::uint8_t b[256 * 128];
};

// Bytes of one row of A, or of one column of B.
unsigned line_bytes(unsigned depth, TensorElement type, TensorKind kind) {
  return depth * jit::tensor_element_bits(type, kind) / 8;
}

bool needs_padding(TensorElement type, TensorKind kind) {
  const bool small = type == TensorElement::e2m1 || type == TensorElement::e2m3 || type == TensorElement::e3m2;
  return small && jit::tensor_element_bits(type, kind) == 8;
}

// PTX ISA, "Absolute address mode for K dimension being 48B", and lines that need it.
std::string long_line_problem(const MatrixDescriptor& d, bool long_lines) {
  using Swizzle = MatrixDescriptor::Swizzle;
  if (d.absolute && !long_lines) return "the absolute address mode (bit 52) is for a K of 96";
  if (d.absolute && d.swizzle != Swizzle::bytes_128) return "the absolute address mode needs 128-byte swizzling";
  if (d.absolute && d.base != 0) return "the absolute address mode needs a base offset of 0";
  if (long_lines && !d.absolute && d.swizzle != Swizzle::none && d.pieces_of_line() < kLongLinePieces)
    return "a line of 48 bytes passes the end of the swizzled line, which needs the absolute address mode (bit 52)";
  return "";
}

MatrixDescriptor descriptor_of(const MmaCall& call, unsigned operand, char matrix, TensorElement type, bool transpose) {
  const bool lines_of_64 = call.form.sparse && matrix == 'B';
  MatrixDescriptor d;
  std::string problem = d.decode(call.operand(operand));
  if (problem.empty()) problem = long_line_problem(d, call.product.k == jit::kLongTensorDepth);
  if (problem.empty()) {
    const bool by_32 = d.swizzle == MatrixDescriptor::Swizzle::bytes_128_by_32;
    const bool wide = jit::tensor_element_bits(type, call.form.kind) == 32;
    if (transpose && wide && !by_32)
      problem = "a transposed matrix of 32-bit elements needs 128-byte swizzling with atoms of 32 bytes";
    else if (lines_of_64 && !transpose && d.swizzle == MatrixDescriptor::Swizzle::bytes_32)
      problem = "columns of 64 bytes do not fit 32-byte swizzling";
    else if (by_32 && !(transpose && wide))
      problem = "128-byte swizzling with atoms of 32 bytes is for transposed matrices of 32-bit elements only";
  }
  if (!problem.empty()) {
    problem.insert(0, ": ").insert(0, 1, matrix).insert(0, "tcgen05.mma, matrix ");
    call.fail(FaultKind::illegal_instruction, std::move(problem));
  }
  return d;
}

// Reads lines of a matrix from the shared memory of `block`.
void read_matrix(TensorReader& reader, const MatrixDescriptor& d, const Block& block, unsigned lines, unsigned depth,
                 TensorElement type, TensorKind kind, bool transpose, std::uint8_t* to) {
  if (transpose)
    reader.read_depths(d, block, depth, lines * jit::tensor_element_bits(type, kind) / 8 / kOperandPiece, to);
  else
    reader.read_lines(d, block, lines, line_bytes(depth, type, kind) / kOperandPiece, to);
}

// The rows of A lie in the lanes of their rows of D, 32 bits of each row in a column. If D lies in several groups of
// lanes, each has an A of its own: usually copies, but FlashMLA's "dual gemm" multiplies different ones.
void read_left_cells(const MmaCall& call, TensorMemory& memory, const TensorLayout& layout, unsigned group,
                     unsigned bytes, std::uint8_t* to) {
  const std::uint32_t address = call.address(kLeft);
  const unsigned first = tensor_column(address), lane = tensor_lane(address), columns = bytes / 4;
  check_columns(call, memory, first, columns);
  if (lane != tensor_lane(call.address(kSums)))
    call.fail(FaultKind::tensor_memory,
              fmt::format("tcgen05.mma: matrix A begins at lane {}, and D at lane {}", lane,
                          tensor_lane(call.address(kSums))),
              "let A and D begin at the same lane of tensor memory");
  report_hazard(call, memory.read({first, columns, kAllQuarters}), true);
  for (unsigned row = 0; row < layout.rows; ++row) {
    const unsigned at = lane + layout.place(row, group * layout.width()).lane;
    std::memcpy(to + std::size_t{row} * bytes, memory.row(at) + first, bytes);
  }
}

// Groups of lanes of D whose rows of A differ, or may.
unsigned groups_of_left(const MmaCall& call, const TensorLayout& layout) {
  return call.form.a_in_tensor_memory || call.form.sparse ? layout.across : 1;
}

// .ashift: after the product, each lane of A gets the words of the next one (seen on a B200: CUTLASS,
// 1cta_mma_a_from_tmem.py).
void shift_left_cells(const MmaCall& call, TensorMemory& memory) {
  const unsigned first = tensor_column(call.address(kLeft));
  report_hazard(call, memory.write({first, kShiftedColumns, kAllQuarters}, call.thread(), call.site), false);
  for (unsigned q = 0; q < TensorMemory::kQuarters; ++q) memory.shift_lanes(q, first, kShiftedColumns);
}

// Elements of a row of A in memory: with .sp, every other one.
unsigned stored_depth(const MmaCall& call) {
  return call.form.sparse ? call.product.k / 2 : call.product.k;
}

// Puts the stored elements of A, `m.a`, to their places in whole rows.
template <class Number>
void spread_left(const MmaCall& call, TensorMemory& memory, const TensorLayout& layout, unsigned group,
                 TensorFactors<Number>& m) {
  SparsePlaces& places = per_thread<SparsePlaces>();
  const unsigned depth = call.product.k, stored = depth / 2;
  std::transform(m.a, m.a + std::size_t{layout.rows} * stored, places.is_zero, [](Number a) { return a == Number{0}; });
  read_metadata(call, memory, layout, group, places);
  std::copy_n(m.a, std::size_t{layout.rows} * stored, m.linear);
  std::fill_n(m.a, std::size_t{layout.rows} * depth, Number{0});
  for (unsigned i = 0; i < layout.rows; ++i)
    for (unsigned e = 0; e < stored; ++e) {
      const std::size_t k = std::size_t{i} * stored + e;
      m.a[i * depth + places.of[k]] = m.linear[k];
    }
}

template <class Number>
void make_left(const MmaCall& call, const RawTiles& tiles, unsigned rows, TensorFactors<Number>& m) {
  const TensorProduct& p = call.product;
  const unsigned depth = stored_depth(call);
  const TensorKind kind = call.form.kind;
  const bool padded = needs_padding(p.a, kind) && !call.form.a_in_tensor_memory;
  if (p.transpose_a) {
    jit::unpack_tensor(m.linear, tiles.a, rows * depth, p.a, kind, padded);
    for (unsigned k = 0; k < depth; ++k)
      for (unsigned i = 0; i < rows; ++i) m.a[i * depth + k] = m.linear[k * rows + i];
  } else {
    jit::unpack_tensor(m.a, tiles.a, rows * depth, p.a, kind, padded);
  }
  if (p.negate_a != p.negate_b)
    for (unsigned i = 0; i < rows * depth; ++i) m.a[i] = -m.a[i];
}

// tiles.b: columns 0 to n-1, or for each half of the pair its own (`halves` of 2).
template <class Number>
void make_right(const MmaCall& call, const RawTiles& tiles, unsigned halves, TensorFactors<Number>& m) {
  const TensorProduct& p = call.product;
  const TensorKind kind = call.form.kind;
  const bool padded = needs_padding(p.b, kind);
  jit::unpack_tensor(m.linear, tiles.b, p.n * p.k, p.b, kind, padded);
  const unsigned width = p.n / halves;
  for (unsigned j = 0; j < p.n; ++j) {
    const unsigned column = j % width;
    const Number* const half = m.linear + std::size_t{j - column} * p.k;
    for (unsigned k = 0; k < p.k; ++k)
      m.b[k * p.n + j] = p.transpose_b ? half[k * width + column] : half[column * p.k + k];
  }
}

void zero_columns(const MmaCall& call, TensorFactors<float>& m) {
  const jit::ColumnMask mask = jit::decode_column_mask(call.operand(kColumnMask), call.product.m, call.product.n);
  for (unsigned j = 0; j < call.product.n; ++j)
    if (mask.zeroes[j])
      for (unsigned k = 0; k < call.product.k; ++k) m.b[k * call.product.n + j] = 0;
}

void zero_columns(const MmaCall& call, TensorFactors<std::int32_t>& m) {
  const jit::ColumnMask mask = jit::decode_column_mask(call.operand(kColumnMask), call.product.m, call.product.n);
  for (unsigned j = 0; j < call.product.n; ++j)
    if (mask.zeroes[j])
      for (unsigned k = 0; k < call.product.k; ++k) m.b[k * call.product.n + j] = 0;
}

void zero_columns(const MmaCall&, TensorFactors<double>&) {}

void scale(const MmaCall& call, TensorMemory& memory, const TensorLayout& layout, TensorFactors<double>& m) {
  scale_factors(call, memory, layout, m);
}
void scale(const MmaCall&, TensorMemory&, const TensorLayout&, TensorFactors<float>&) {}
void scale(const MmaCall&, TensorMemory&, const TensorLayout&, TensorFactors<std::int32_t>&) {}

void run(const MmaCall& call, TensorFactors<float>& m, unsigned rows) {
  jit::multiply_tensor(m, rows, call.product.n, call.product.k);
}
void run(const MmaCall& call, TensorFactors<double>& m, unsigned rows) {
  jit::multiply_tensor(m, rows, call.product.n, call.product.k);
}
void run(const MmaCall& call, TensorFactors<std::int32_t>& m, unsigned rows) {
  jit::multiply_tensor(m, rows, call.product.n, call.product.k, call.product.saturate);
}

template <class Number>
Number number_of(std::uint32_t word, const MmaCall& call) {
  const auto power = static_cast<float>(1u << call.form.scale_d);  // scale-input-d divides by it
  return static_cast<Number>(jit::tensor_sum(word, call.product.d) / power);
}
template <>
std::int32_t number_of<std::int32_t>(std::uint32_t word, const MmaCall&) {
  return static_cast<std::int32_t>(word);
}
template <class Number>
std::uint32_t word_of(Number sum, const MmaCall& call) {
  return jit::tensor_word(static_cast<float>(sum), call.product.d);
}
template <>
std::uint32_t word_of<std::int32_t>(std::int32_t sum, const MmaCall&) {
  return static_cast<std::uint32_t>(sum);
}

// Groups of lanes of D.
struct LaneGroups {
  unsigned first, end;
};

// Calls f(cell, index of the sum) for each element of D in one block that the instruction may write.
template <class F>
void each_sum(const MmaCall& call, TensorMemory& memory, const TensorLayout& layout, LaneGroups groups, unsigned half,
              F&& f) {
  const std::uint32_t address = call.address(kSums);
  const unsigned lane = tensor_lane(address), first = tensor_column(address);
  const unsigned width = layout.width();
  for (unsigned i = 0; i < layout.rows; ++i)
    for (unsigned group = groups.first; group < groups.end; ++group) {
      const unsigned to = lane + layout.place(i, group * width).lane;
      if (call.form.masks_lanes && (call.operand(kLaneMask + half * 4 + to / kWordBits) >> to % kWordBits & 1) != 0)
        continue;
      std::uint32_t* const cells = memory.row(to) + first;
      const std::size_t sum = std::size_t{i} * layout.columns + group * width;
      for (unsigned j = 0; j < width; ++j) f(cells[j], sum + j);
    }
}

void check_sums(const MmaCall& call, TensorMemory& memory, const TensorLayout& layout) {
  const std::uint32_t address = call.address(kSums);
  const unsigned lane = tensor_lane(address);
  if (lane != 0 && !(layout.half_quarters && lane == 16))
    call.fail(FaultKind::tensor_memory, fmt::format("tcgen05.mma: matrix D begins at lane {} of tensor memory", lane),
              layout.half_quarters ? "D of 64 rows begins at lane 0 or 16" : "this D begins at lane 0");
  check_columns(call, memory, tensor_column(address), layout.width());
  const TensorMemory::Range range{tensor_column(address), layout.width(), kAllQuarters};
  if (call.add) report_hazard(call, memory.read(range), true);
  report_hazard(call, memory.write(range, call.thread(), call.site), false);
}

// Computes the part of D in some groups of lanes of one block. B lies in tiles.b, and so does A if it is in shared
// memory.
template <class Number>
void multiply_groups(const MmaCall& call, TensorMemory& memory, const TensorLayout& layout, const TensorBlocks& blocks,
                     unsigned half, LaneGroups groups, RawTiles& tiles) {
  const TensorForm& form = call.form;
  TensorFactors<Number>& m = per_thread<TensorFactors<Number>>();
  if (form.a_in_tensor_memory)
    read_left_cells(call, memory, layout, groups.first, line_bytes(stored_depth(call), call.product.a, form.kind),
                    tiles.a);
  make_left(call, tiles, layout.rows, m);
  if (form.sparse) spread_left(call, memory, layout, groups.first, m);
  make_right(call, tiles, blocks.count, m);
  if (form.masks_columns) zero_columns(call, m);
  scale(call, memory, layout, m);
  std::fill_n(m.sums, std::size_t{layout.rows} * layout.columns, Number{0});
  if (call.add)
    each_sum(call, memory, layout, groups, half,
             [&](std::uint32_t cell, std::size_t k) { m.sums[k] = number_of<Number>(cell, call); });
  run(call, m, layout.rows);
  each_sum(call, memory, layout, groups, half,
           [&](std::uint32_t& cell, std::size_t k) { cell = word_of<Number>(m.sums[k], call); });
}

template <class Number>
void multiply(const MmaCall& call, const TensorBlocks& blocks) {
  const TensorProduct& p = call.product;
  const TensorForm& form = call.form;
  const TensorLayout layout = jit::tensor_layout(form, p);
  RawTiles& tiles = per_thread<RawTiles>();
  const MatrixDescriptor right = descriptor_of(call, kRight, 'B', p.b, p.transpose_b);
  MatrixDescriptor left;
  if (!form.a_in_tensor_memory) left = descriptor_of(call, kLeft, 'A', p.a, p.transpose_a);
  TensorReader reader(call);
  const unsigned width = p.n / blocks.count;
  for (unsigned half = 0; half < blocks.count; ++half)
    read_matrix(reader, right, *blocks.of[half], width, p.k, p.b, form.kind, p.transpose_b,
                tiles.b + std::size_t{half} * width * line_bytes(p.k, p.b, form.kind));
  reader.flush();
  for (unsigned half = 0; half < blocks.count; ++half) {
    Block& block = *blocks.of[half];
    TensorMemory& memory = tensor_memory(call, block, form.pair);
    check_sums(call, memory, layout);
    if (!form.a_in_tensor_memory) {
      read_matrix(reader, left, block, layout.rows, stored_depth(call), p.a, form.kind, p.transpose_a, tiles.a);
      reader.flush();
    }
    const unsigned parts = groups_of_left(call, layout), groups = layout.across / parts;
    for (unsigned part = 0; part < parts; ++part)
      multiply_groups<Number>(call, memory, layout, blocks, half, {part * groups, (part + 1) * groups}, tiles);
    if (form.shifts_a) shift_left_cells(call, memory);
  }
}

void check_long_depth(const MmaCall& call) {
  if (call.product.k != jit::kLongTensorDepth) return;
  constexpr unsigned kCapability = 103;
  if (call.context->capability != kCapability)
    call.fail(FaultKind::illegal_instruction, "tcgen05.mma with a K of 96 needs a GPU of compute capability 10.3");
  if (jit::tensor_layout(call.form, call.product).across > 1)
    call.fail(
        FaultKind::unsupported,
        "tcgen05.mma.cta_group::2 with a K of 96 and an M of 128: the manual does not say where the scale factors "
        "of A lie");
}

void multiply(MmaCall& call) {
  std::string problem = jit::decode_tensor_product(call.address(kDescriptor), call.form, call.product);
  if (!problem.empty()) {
    problem.insert(0, "tcgen05.mma, instruction descriptor: ");
    call.fail(FaultKind::illegal_instruction, std::move(problem),
              "make the descriptor with cute::UMMA::make_instr_desc, or check its fields against the PTX manual");
  }
  check_long_depth(call);
  if (call.form.masks_columns &&
      jit::decode_column_mask(call.operand(kColumnMask), call.product.m, call.product.n).shift != 0)
    call.fail(FaultKind::unsupported,
              "tcgen05.mma.ws with a column shift: the manual does not say which way B moves, and what then stands in "
              "its last columns");
  const TensorBlocks blocks = tensor_blocks(call, call.form.pair);
  if (call.product.d == TensorElement::s32)
    multiply<std::int32_t>(call, blocks);
  else if (call.form.scale_blocks != 0)
    multiply<double>(call, blocks);
  else
    multiply<float>(call, blocks);
}

}  // namespace

}  // namespace warpgrind::device

using namespace warpgrind;
using namespace warpgrind::device;

extern "C" {

// operands: planes in the order of MmaOperand, then 4 or 8 of disable-output-lane.
static void wg_tensor_mma(void* context, std::uint32_t site, std::uint32_t code, const std::uint64_t* operands,
                          std::uint32_t add, std::uint32_t mask) {
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    MmaCall call;
    static_cast<TensorCall&>(call) = {&warp(context), site, static_cast<unsigned>(std::countr_zero(m)), "tcgen05.mma"};
    call.form = jit::TensorForm::from_code(code);
    call.operands = operands;
    call.add = (add >> call.lane & 1) != 0;
    if (m == mask) warn_of_threads(call, mask);
    multiply(call);
  }
}

}  // extern "C"

namespace warpgrind::device {

std::span<const jit::CallSymbol> tensor_mma_symbols() {
  static const jit::CallSymbol symbols[] = {{"wg_tensor_mma", reinterpret_cast<void*>(&wg_tensor_mma)}};

  return symbols;
}

}  // namespace warpgrind::device
