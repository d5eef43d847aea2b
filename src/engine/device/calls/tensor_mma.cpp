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

MatrixDescriptor descriptor_of(const MmaCall& call, unsigned operand, char matrix, TensorElement type, bool transpose) {
  const bool lines_of_64 = call.form.sparse && matrix == 'B';
  MatrixDescriptor d;
  std::string problem = d.decode(call.operand(operand));
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

// The rows of A lie in the lanes of their rows of D, 32 bits of each row in a column.
void read_left_cells(const MmaCall& call, TensorMemory& memory, const TensorLayout& layout, unsigned bytes,
                     std::uint8_t* to) {
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
    const unsigned at = lane + layout.place(row, 0).lane;
    const std::uint32_t* const cells = memory.row(at) + first;
    std::memcpy(to + std::size_t{row} * bytes, cells, bytes);
    for (unsigned g = 1; g < layout.across; ++g)
      if (std::memcmp(memory.row(at + g * layout.lanes_apart) + first, cells, bytes) != 0)
        call.fail(FaultKind::tensor_memory,
                  fmt::format("tcgen05.mma: row {} of A differs between lanes {} and {} of tensor memory", row, at,
                              at + g * layout.lanes_apart),
                  "with this layout of D, each group of lanes needs its own copy of A");
  }
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
void spread_left(const MmaCall& call, TensorMemory& memory, const TensorLayout& layout, TensorFactors<Number>& m) {
  SparsePlaces& places = per_thread<SparsePlaces>();
  const unsigned depth = call.product.k, stored = depth / 2;
  std::transform(m.a, m.a + std::size_t{layout.rows} * stored, places.is_zero, [](Number a) { return a == Number{0}; });
  read_metadata(call, memory, layout, places);
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

// Scales A by rows and B by columns. A scale factor of row (column) i is a byte of the word at lane i % 32 of the
// quarter that computes with it, i / 32 columns from the matrix's address.
void scale(const MmaCall& call, TensorMemory& memory, const TensorLayout& layout, TensorFactors<double>& m) {
  const TensorProduct& p = call.product;
  const unsigned blocks = call.form.scale_blocks, length = p.k / blocks;
  const unsigned b_columns = layout.width();
  const auto columns_of = [](unsigned lines) { return (lines + 31) / 32; };
  const auto check = [&](unsigned operand, unsigned lines) {
    const unsigned first = tensor_column(call.address(operand));
    check_columns(call, memory, first, columns_of(lines));
    report_hazard(call, memory.read({first, columns_of(lines), kAllQuarters}), true);
    return first;
  };
  const unsigned first_a = check(kScaleA, layout.rows), first_b = check(kScaleB, b_columns);
  const auto factor = [&](unsigned quarter, unsigned first, unsigned line, unsigned byte) {
    const std::uint32_t word = memory.row(quarter * 32 + line % 32)[first + line / 32];
    return jit::scale_factor(static_cast<std::uint8_t>(word >> 8 * byte), p.scale);
  };
  for (unsigned i = 0; i < layout.rows; ++i)
    for (unsigned k = 0; k < p.k; ++k) m.a[i * p.k + k] *= factor(i / 32, first_a, i, p.scale_a_id + k / length);
  for (unsigned j = 0; j < p.n; ++j) {
    const unsigned quarter = j / b_columns * layout.lanes_apart / 32;
    for (unsigned k = 0; k < p.k; ++k)
      m.b[k * p.n + j] *= factor(quarter, first_b, j % b_columns, p.scale_b_id + k / length);
  }
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

// Calls f(cell, index of the sum) for each element of D in one block that the instruction may write.
template <class F>
void each_sum(const MmaCall& call, TensorMemory& memory, const TensorLayout& layout, unsigned half, F&& f) {
  const std::uint32_t address = call.address(kSums);
  const unsigned lane = tensor_lane(address), first = tensor_column(address);
  const unsigned width = layout.width();
  for (unsigned i = 0; i < layout.rows; ++i)
    for (unsigned group = 0; group < layout.across; ++group) {
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

template <class Number>
void multiply(const MmaCall& call, const TensorBlocks& blocks) {
  const TensorProduct& p = call.product;
  const TensorForm& form = call.form;
  const TensorLayout layout = jit::tensor_layout(form, p);
  RawTiles& tiles = per_thread<RawTiles>();
  TensorFactors<Number>& m = per_thread<TensorFactors<Number>>();
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
    if (form.a_in_tensor_memory) {
      read_left_cells(call, memory, layout, line_bytes(stored_depth(call), p.a, form.kind), tiles.a);
    } else {
      read_matrix(reader, left, block, layout.rows, stored_depth(call), p.a, form.kind, p.transpose_a, tiles.a);
      reader.flush();
    }
    make_left(call, tiles, layout.rows, m);
    if (form.sparse) spread_left(call, memory, layout, m);
    make_right(call, tiles, blocks.count, m);
    if (form.masks_columns) zero_columns(call, m);
    scale(call, memory, layout, m);
    std::fill_n(m.sums, std::size_t{layout.rows} * layout.columns, Number{0});
    if (call.add)
      each_sum(call, memory, layout, half,
               [&](std::uint32_t cell, std::size_t k) { m.sums[k] = number_of<Number>(cell, call); });
    run(call, m, layout.rows);
    if (form.shifts_a) shift_left_cells(call, memory);
    each_sum(call, memory, layout, half,
             [&](std::uint32_t& cell, std::size_t k) { cell = word_of<Number>(m.sums[k], call); });
  }
}

void multiply(MmaCall& call) {
  std::string problem = jit::decode_tensor_product(call.address(kDescriptor), call.form, call.product);
  if (!problem.empty()) {
    problem.insert(0, "tcgen05.mma, instruction descriptor: ");
    call.fail(FaultKind::illegal_instruction, std::move(problem),
              "make the descriptor with cute::UMMA::make_instr_desc, or check its fields against the PTX manual");
  }
  const TensorLayout layout = jit::tensor_layout(call.form, call.product);
  if (call.form.stationary && call.form.a_in_tensor_memory && layout.across > 1)
    call.fail(FaultKind::unsupported,
              "tcgen05.mma.ws with A in tensor memory and M of 32 or 64: the manual does not say where A lies");
  if (call.product.k == 96) call.fail(FaultKind::unsupported, "tcgen05.mma with K of 96 (sm_103a) is not done yet");
  if (call.form.masks_columns &&
      jit::decode_column_mask(call.operand(kColumnMask), call.product.m, call.product.n).shift != 0)
    call.fail(FaultKind::unsupported, "tcgen05.mma.ws with a column shift is not done yet");
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
