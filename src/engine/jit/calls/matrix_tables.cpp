// Matrix products by tables of the place of each element in its fragment.
#include "jit/calls/matrix_tables.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <type_traits>
#include <vector>

#include "base/per_thread.h"
#include "gpu/types.h"
#include "jit/calls/matrix_elements.h"
#include "jit/calls/matrix_products.h"
#include "jit/calls/tensor_core_sums.h"

namespace warpgrind::jit {

namespace {

using ptx::ScalarType;

constexpr unsigned kMaxElements = 32 * 32;

enum class Matrix { a, b, c };

// Place of an element: its lane, and its index in the lane's registers, taken as one run of packed elements.
struct Place {
  unsigned lane, element;
};

// Place in product `quad`. PTX ISA, "Matrix Fragments for mma.m8n8k4 with .f16 floating point type".
Place volta_place(Matrix matrix, ScalarType type, bool column_major, unsigned quad, unsigned row, unsigned column) {
  const auto lane_of = [&](unsigned in_four, unsigned upper) { return quad * 4 + in_four + 16 * upper; };
  switch (matrix) {
    case Matrix::a:
      return column_major ? Place{lane_of(column, row / 4), row % 4} : Place{lane_of(row % 4, row / 4), column};
    case Matrix::b:
      return column_major ? Place{lane_of(column % 4, column / 4), row} : Place{lane_of(row, column / 4), column % 4};
    default:
      break;
  }
  if (type == ScalarType::f16) return {lane_of(row % 4, row / 4), column};
  // f32: row = (lane & 1) + (i & 2) + 4*upper, column = (i & 4) + (lane & 2) + (i & 1)
  return {lane_of((row & 1) | (column & 2), row / 4), (row & 2) | (column & 4) | (column & 1)};
}

// Index of the element in planes of 32 lanes of packed elements.
unsigned index_of(const MatrixProduct& p, Matrix matrix, ScalarType type, unsigned quad, unsigned row,
                  unsigned column) {
  const bool column_major = matrix == Matrix::a ? p.has(kMatrixAColumn) : matrix == Matrix::b && p.has(kMatrixBColumn);
  const Place place = volta_place(matrix, type, column_major, quad, row, column);
  const unsigned per_word = 32 / matrix_element_bits(type);
  return (place.element / per_word * kWarpSize + place.lane) * per_word + place.element % per_word;
}

// Place in the fragments of each element of the dense matrices (row by row, product by product). Made once per kind of
// product and thread.
struct FragmentTable {
  std::vector<std::uint16_t> places;
  bool in_order = true;  // places[i] == i
};
struct Tables {
  FragmentTable a, b, c, d;
};

unsigned products_of(const MatrixProduct& p) {
  return p.is_volta() ? 4 : 1;
}

const Tables& tables_of(const MatrixProduct& p) {
  using Key = std::array<std::uint32_t, 6>;
  auto& made = per_thread<std::map<Key, Tables>>();
  const auto code = [](ScalarType type) { return static_cast<std::uint32_t>(type); };
  Tables& t = made[Key{p.shape.code(), code(p.a), code(p.b), code(p.c), code(p.d), p.flags}];
  if (!t.a.places.empty()) return t;
  const auto [m, n, k] = p.shape;
  const auto fill = [&](FragmentTable& table, Matrix matrix, ScalarType type, unsigned rows, unsigned columns) {
    for (unsigned quad = 0; quad < products_of(p); ++quad)
      for (unsigned i = 0; i < rows; ++i)
        for (unsigned j = 0; j < columns; ++j) {
          const unsigned place = index_of(p, matrix, type, quad, i, j);
          table.in_order &= place == table.places.size();
          table.places.push_back(static_cast<std::uint16_t>(place));
        }
  };
  fill(t.a, Matrix::a, p.a, m, k);
  fill(t.b, Matrix::b, p.b, k, n);
  fill(t.c, Matrix::c, p.c, m, n);
  fill(t.d, Matrix::c, p.d, m, n);
  return t;
}

// m8n8k4 of f16 on GPUs since Turing, as measured on an H200: products are added one by one with f32's rounding. The
// number before is the first term if the result is f16, else the last.
void add_without_tensor_core(float* sums, const float* a, const float* b, MatrixShape shape, ScalarType result) {
  if (result == ScalarType::f16) return add_products(sums, a, b, shape.m, shape.n, shape.k);
  float products[8 * 8] = {};
  add_products(products, a, b, shape.m, shape.n, shape.k);
  for (unsigned i = 0; i < std::size(products); ++i) sums[i] += products[i];
}

// T: type of products and sums.
template <class T>
struct DenseWork {
  T linear[kMaxElements], a[kMaxElements], b[kMaxElements], sums[kMaxElements], before[kMaxElements];

  void gather(T* dense, const void* fragment, const FragmentTable& table, ScalarType type) {
    const auto count = static_cast<unsigned>(table.places.size());
    if (table.in_order) return unpack_matrix(dense, fragment, count, type);
    unpack_matrix(linear, fragment, count, type);
    for (unsigned i = 0; i < count; ++i) dense[i] = linear[table.places[i]];
  }
};

template <class T>
void multiply_dense(const MatrixProduct& p, void* d, const void* a, const void* b, const void* c) {
  const Tables& tables = tables_of(p);
  // On the heap: a library with large thread-local arrays cannot be opened by dlopen.
  DenseWork<T>& work = per_thread<DenseWork<T>>();
  const auto [m, n, k] = p.shape;
  const auto count = static_cast<unsigned>(tables.d.places.size());
  constexpr bool kIntegers = std::is_integral_v<T>;  // integer products do not overflow, but adding C may
  work.gather(kIntegers ? work.before : work.sums, c, tables.c, p.c);
  if (kIntegers) std::fill_n(work.sums, count, T{});
  bool bits = false;
  if constexpr (kIntegers)
    if ((bits = p.a == ScalarType::b1))  // A is always row-major, B column-major
      add_bit_counts(work.sums, static_cast<const std::uint32_t*>(a), static_cast<const std::uint32_t*>(b), m, n,
                     k / 32u, p.has(kMatrixAndPopc));
  if (!bits) {
    work.gather(work.a, a, tables.a, p.a);
    work.gather(work.b, b, tables.b, p.b);
    for (unsigned q = 0; q < products_of(p); ++q) {
      T *const sums = work.sums + q * m * n, *const rows = work.a + q * m * k, *const columns = work.b + q * k * n;
      if constexpr (std::is_same_v<T, float>) {
        if (p.is_volta() && p.capability > 70)
          add_without_tensor_core(sums, rows, columns, p.shape, p.d);
        else
          add_on_tensor_core(sums, rows, columns,
                             {m, n, k, p.a, p.b, p.d, tensor_core_sum(p.a, k, p.capability, false)});
      } else {
        add_products(sums, rows, columns, m, n, k);
      }
    }
  }
  if constexpr (kIntegers) add_integers(work.sums, work.before, count, p.has(kMatrixSaturate));
  if (tables.d.in_order) return pack_matrix(d, work.sums, count, p.d);
  for (unsigned i = 0; i < count; ++i) work.linear[tables.d.places[i]] = work.sums[i];
  pack_matrix(d, work.linear, count, p.d);
}

}  // namespace

void multiply_by_tables(const MatrixProduct& p, void* d, const void* a, const void* b, const void* c) {
  if (p.d == ScalarType::f64)
    multiply_dense<double>(p, d, a, b, c);
  else if (p.d == ScalarType::s32)
    multiply_dense<std::int32_t>(p, d, a, b, c);
  else
    multiply_dense<float>(p, d, a, b, c);
}

}  // namespace warpgrind::jit
