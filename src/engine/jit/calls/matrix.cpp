// Functions wg_mma, wg_mma_sparse, wg_matrix_rows and wg_transpose_matrices, which machine code calls for mma, wmma,
// ldmatrix, stmatrix and movmatrix.
#include "jit/calls/matrix.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "base/assert.h"
#include "base/per_thread.h"
#include "gpu/types.h"
#include "jit/abi.h"
#include "jit/calls/matrix_bytes.h"
#include "jit/calls/matrix_elements.h"
#include "jit/calls/matrix_factors.h"
#include "jit/calls/matrix_products.h"
#include "jit/calls/matrix_tables.h"
#include "jit/calls/sparse_matrix.h"
#include "jit/calls/symbols.h"
#include "jit/calls/tensor_core_sums.h"

namespace warpgrind::jit {

using ptx::ScalarType;

namespace {

constexpr unsigned kRowsOfPlane = 8, kLanesOfRow = kWarpSize / kRowsOfPlane;

// A sparse A: which elements of B its own are multiplied by (jit/calls/sparse_matrix.h). Empty for a dense one.
struct Sparsity {
  const std::uint32_t* metadata = nullptr;  // a word a lane
  unsigned selector = 0;
  explicit operator bool() const { return metadata != nullptr; }
};

template <class T>
void multiply(const MatrixProduct& p, void* d, const void* a, const void* b, const void* c, Sparsity sparsity = {}) {
  // On the heap: a library with large thread-local arrays cannot be opened by dlopen.
  auto& work = per_thread<FactorWork<T>>();
  const auto [m, n, k] = p.shape;
  const unsigned stored = sparsity ? k / 2u : k;
  constexpr bool kIntegers = std::is_integral_v<T>;  // integer products do not overflow, but adding C may
  SparseDepths sparse;
  if (sparsity) read_metadata(sparse, sparsity.metadata, stored, p.a, sparsity.selector);
  read_sums(kIntegers ? work.before : work.sums, c, m, n, p.c);
  if (kIntegers) std::fill_n(work.sums, m * n, T{});
  if (p.a != ScalarType::b1) unpack_factors(work, p.shape, p.a, sparse.mixed ? ScalarType::f32 : p.b, stored, a, b);
  if constexpr (kIntegers) {
    constexpr unsigned kDepth = kLanesOfRow * 32;  // of b1
    if (p.a == ScalarType::b1)
      for (unsigned group = 0; group < k / kDepth; ++group)
        add_bit_counts(work.sums, static_cast<const std::uint32_t*>(a) + group * m * kLanesOfRow,
                       static_cast<const std::uint32_t*>(b) + group * n * kLanesOfRow, m, n, kLanesOfRow,
                       p.has(kMatrixAndPopc));
    else if (sparsity)
      add_sparse_products(work.sums, work.a, work.b, sparse.depths, m, n, stored);
    else
      add_products(work.sums, work.a, work.b, m, n, k);
    add_integers(work.sums, work.before, m * n, p.has(kMatrixSaturate));
  } else if constexpr (std::is_same_v<T, double>) {
    add_products(work.sums, work.a, work.b, m, n, k);
  } else {
    TensorCoreProduct product{m, n, stored, p.a, p.b, p.d, tensor_core_sum(p.a, stored, p.capability, false)};
    if (sparsity) product.chosen = sparse.depths;
    if (sparsity) product.depth_of_b = sparse.mixed ? stored * kMixedLines : k;
    if (sparse.mixed) mix_halves(work.b_columns, work.b, n, stored);
    add_on_tensor_core(work.sums, work.a, sparse.mixed ? work.b_columns : work.b, product);
  }
  write_sums(d, work.sums, m, n, p.d);
}

// Registers of B for 16 columns: those of each 8 columns follow each other, as two instructions take them.
// unpack_factors() wants those of each depth.
void join_columns(std::uint32_t* to, const void* from, unsigned planes) {
  const auto* const words = static_cast<const std::uint32_t*>(from);
  for (unsigned p = 0; p < planes; ++p)
    std::copy_n(words + (p % 2 * (planes / 2) + p / 2) * kWarpSize, kWarpSize, to + p * kWarpSize);
}

// m16n16 is one product here, two of 8 columns on the tensor cores. m32n8k16 are two of 16 rows, and m8n32k16 is the
// product of the transposed matrices.
template <class T>
void multiply_parts(const MatrixProduct& p, void* d, const void* a, const void* b, const void* c) {
  constexpr unsigned kMostRows = 16, kMostColumns = 16, kMostPlanes = 4;
  MatrixProduct part = p;
  unsigned rows = p.shape.m, columns = p.shape.n;
  if (columns > kMostColumns) {
    std::swap(rows, columns);
    std::swap(a, b);
    std::swap(part.a, part.b);
  }
  part.shape.m = static_cast<std::uint8_t>(std::min(rows, kMostRows));
  part.shape.n = static_cast<std::uint8_t>(columns);
  const auto bytes = [](unsigned elements, ScalarType type) {
    return std::size_t{elements} * matrix_element_bits(type) / 8;
  };
  const unsigned m = part.shape.m, k = part.shape.k;
  std::uint32_t joined[kMostPlanes * kWarpSize];
  if (columns == kMostColumns) {
    WG_ASSERT(bytes(columns * k, part.b) <= sizeof joined);
    join_columns(joined, b, static_cast<unsigned>(bytes(columns * k, part.b) / (kWarpSize * sizeof *joined)));
    b = joined;
  }
  for (unsigned i = 0; i < rows / m; ++i)
    multiply<T>(part, static_cast<char*>(d) + bytes(i * m * columns, p.d),
                static_cast<const char*>(a) + bytes(i * m * k, part.a), b,
                static_cast<const char*>(c) + bytes(i * m * columns, p.c));
}

template <class T>
void multiply_any(const MatrixProduct& p, void* d, const void* a, const void* b, const void* c) {
  if (p.has(kMatrixMmaLayout)) return multiply<T>(p, d, a, b, c);
  multiply_parts<T>(p, d, a, b, c);
}

MatrixProduct product_of(std::uint32_t shape, std::uint32_t types, std::uint32_t flags, const void* context) {
  const auto type = [&](unsigned i) { return static_cast<ScalarType>(types >> (8 * i) & 255); };
  return {MatrixShape::from_code(shape),
          type(0),
          type(1),
          type(2),
          type(3),
          flags,
          static_cast<const WarpContext*>(context)->capability};
}

void mma(std::uint32_t shape, std::uint32_t types, std::uint32_t flags, const void* context, void* d, const void* a,
         const void* b, const void* c) {
  const MatrixProduct p = product_of(shape, types, flags, context);
  if (p.is_volta())
    multiply_by_tables(p, d, a, b, c);
  else if (p.d == ScalarType::f64)
    multiply_any<double>(p, d, a, b, c);
  else if (p.d == ScalarType::s32)
    multiply_any<std::int32_t>(p, d, a, b, c);
  else
    multiply_any<float>(p, d, a, b, c);
}

void mma_sparse(std::uint32_t shape, std::uint32_t types, std::uint32_t flags, const void* context,
                std::uint32_t selector, void* d, const void* a, const void* b, const void* c,
                const std::uint32_t* metadata) {
  const MatrixProduct p = product_of(shape, types, flags, context);
  if (p.d == ScalarType::s32)
    multiply<std::int32_t>(p, d, a, b, c, {metadata, selector});
  else
    multiply<float>(p, d, a, b, c, {metadata, selector});
}

// ldmatrix and stmatrix. `rows` has word w of row r (8 x 16-bit elements, 8 rows a matrix) at [w*32 + r]. `registers`
// has the fragment of matrix j in plane j: lane l holds elements 2*(l%4) and 2*(l%4)+1 of row l/4 (transposed: of
// column l/4).
void move_rows(unsigned matrices, bool to_rows, std::uint32_t* rows, std::uint32_t* registers) {
  for (unsigned j = 0; j < matrices; ++j)
    for (unsigned row = 0; row < kRowsOfPlane; ++row)
      for (unsigned w = 0; w < kLanesOfRow; ++w) {
        std::uint32_t& in_rows = rows[w * kWarpSize + j * kRowsOfPlane + row];
        std::uint32_t& in_register = registers[j * kWarpSize + row * kLanesOfRow + w];
        (to_rows ? in_rows : in_register) = to_rows ? in_register : in_rows;
      }
}

// The same word of eight rows holds two columns of the matrix: each is the registers of four lanes.
void move_columns(unsigned matrices, bool to_rows, std::uint32_t* rows, std::uint32_t* registers) {
  for (unsigned j = 0; j < matrices; ++j)
    for (unsigned w = 0; w < kLanesOfRow; ++w) {
      std::uint32_t* const words = rows + w * kWarpSize + j * kRowsOfPlane;
      std::uint16_t columns[2][kRowsOfPlane];
      std::uint32_t* const lanes = registers + j * kWarpSize + w * 2 * kLanesOfRow;
      static_assert(sizeof columns == 2 * kLanesOfRow * sizeof *lanes);
      if (to_rows) {
        std::memcpy(columns, lanes, sizeof columns);
        for (unsigned row = 0; row < kRowsOfPlane; ++row)
          words[row] = columns[0][row] | std::uint32_t{columns[1][row]} << 16;
      } else {
        for (unsigned row = 0; row < kRowsOfPlane; ++row) {
          columns[0][row] = static_cast<std::uint16_t>(words[row]);
          columns[1][row] = static_cast<std::uint16_t>(words[row] >> 16);
        }
        std::memcpy(lanes, columns, sizeof columns);
      }
    }
}

void matrix_rows(std::uint32_t matrices, std::uint32_t transposed, std::uint32_t to_rows, std::uint32_t* rows,
                 std::uint32_t* registers) {
  (transposed ? move_columns : move_rows)(matrices, to_rows != 0, rows, registers);
}

// movmatrix, and 16-bit matrices of wmma that lie in the other order in memory: each plane is 8 rows of 8 elements.
void transpose_matrices(std::uint32_t count, std::uint32_t* planes) {
  constexpr unsigned kSide = kRowsOfPlane;
  for (unsigned j = 0; j < count; ++j) {
    std::uint16_t before[kSide][kSide], after[kSide][kSide];
    static_assert(sizeof before == kWarpSize * sizeof *planes);
    std::memcpy(before, planes + j * kWarpSize, sizeof before);
    for (unsigned row = 0; row < kSide; ++row)
      for (unsigned column = 0; column < kSide; ++column) after[column][row] = before[row][column];
    std::memcpy(planes + j * kWarpSize, after, sizeof after);
  }
}

}  // namespace

void register_matrix_symbols() {
  static const CallSymbol symbols[] = {
      {"wg_mma", reinterpret_cast<void*>(&mma)},
      {"wg_mma_sparse", reinterpret_cast<void*>(&mma_sparse)},
      {"wg_matrix_rows", reinterpret_cast<void*>(&matrix_rows)},
      {"wg_transpose_matrices", reinterpret_cast<void*>(&transpose_matrices)},
      {"wg_matrix_bytes", reinterpret_cast<void*>(&move_byte_matrices)},
  };
  register_call_symbols(symbols);
}

}  // namespace warpgrind::jit
