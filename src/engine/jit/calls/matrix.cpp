// Functions wg_mma and wg_matrix_rows, which machine code calls for mma, wmma, ldmatrix and stmatrix.
#include "jit/calls/matrix.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "base/per_thread.h"
#include "gpu/types.h"
#include "jit/calls/matrix_elements.h"
#include "jit/calls/matrix_products.h"
#include "jit/calls/matrix_tables.h"
#include "jit/calls/symbols.h"

namespace warpgrind::jit {

using ptx::ScalarType;

namespace {

constexpr unsigned kMostRows = 16, kColumns = 8;
constexpr unsigned kMostDepth = 64;  // 4-bit elements; 1-bit elements can be deeper, but stay packed
constexpr unsigned kRowsOfPlane = 8, kLanesOfRow = kWarpSize / kRowsOfPlane;

// T: type of products and sums.
template <class T>
struct Work {
  T a[kMostRows * kMostDepth], b_columns[kColumns * kMostDepth], b[kMostDepth * kColumns];
  T sums[kMostRows * kColumns], before[kMostRows * kColumns];
};

// PTX ISA, "Matrix Fragments for mma.*": an unpacked register of A is 8 rows with the elements of four lanes each. A
// register of B is 8 such columns. A's registers for rows from 8 on follow those above. So for each group of depth that
// four lanes hold, A's registers are already dense row by row, and B's are dense column by column.
template <class T>
void multiply(const MatrixProduct& p, void* d, const void* a, const void* b, const void* c) {
  // On the heap: a library with large thread-local arrays cannot be opened by dlopen.
  Work<T>& work = per_thread<Work<T>>();
  const auto [m, n, k] = p.shape;
  constexpr bool kIntegers = std::is_integral_v<T>;  // integer products do not overflow, but adding C may
  read_sums(kIntegers ? work.before : work.sums, c, m, n, p.c);
  if (kIntegers) std::fill_n(work.sums, m * n, T{});
  const unsigned per_word = std::max(1u, 32 / matrix_element_bits(p.a)), depth = kLanesOfRow * per_word;
  bool bits = false;
  if constexpr (kIntegers)
    if ((bits = p.a == ScalarType::b1))
      for (unsigned group = 0; group < k / depth; ++group)
        add_bit_counts(work.sums, static_cast<const std::uint32_t*>(a) + group * m * kLanesOfRow,
                       static_cast<const std::uint32_t*>(b) + group * n * kLanesOfRow, m, n, kLanesOfRow,
                       p.has(kMatrixAndPopc));
  if (!bits) {
    unpack_matrix(work.a, a, m * k, p.a);
    unpack_matrix(work.b_columns, b, n * k, p.b);
    for (unsigned group = 0; group < k / depth; ++group) {
      transpose_columns(work.b, work.b_columns + group * n * depth, n, depth);
      add_products(work.sums, work.a + group * m * depth, work.b, m, n, depth);
    }
  }
  if constexpr (kIntegers) add_integers(work.sums, work.before, m * n, p.has(kMatrixSaturate));
  write_sums(d, work.sums, m, n, p.d);
}

void mma(std::uint32_t shape, std::uint32_t types, std::uint32_t flags, void* d, const void* a, const void* b,
         const void* c) {
  const auto type = [&](unsigned i) { return static_cast<ScalarType>(types >> (8 * i) & 255); };
  const MatrixProduct p{MatrixShape::from_code(shape), type(0), type(1), type(2), type(3), flags};
  if (!p.has(kMatrixMmaLayout) || p.is_volta())
    multiply_by_tables(p, d, a, b, c);
  else if (p.d == ScalarType::f64)
    multiply<double>(p, d, a, b, c);
  else if (p.d == ScalarType::s32)
    multiply<std::int32_t>(p, d, a, b, c);
  else
    multiply<float>(p, d, a, b, c);
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

}  // namespace

void register_matrix_symbols() {
  static const CallSymbol symbols[] = {
      {"wg_mma", reinterpret_cast<void*>(&mma)},
      {"wg_matrix_rows", reinterpret_cast<void*>(&matrix_rows)},
  };
  register_call_symbols(symbols);
}

}  // namespace warpgrind::jit
