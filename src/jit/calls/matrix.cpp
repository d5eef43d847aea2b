#include "jit/calls/matrix.h"

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "base/assert.h"
#include "gpu/half.h"
#include "gpu/types.h"
#include "jit/calls/symbols.h"

namespace warpgrind::jit {

using ptx::ScalarType;

unsigned matrix_element_bits(ScalarType type) {
  switch (type) {
    case ScalarType::b1:
      return 1;
    case ScalarType::s4:
    case ScalarType::u4:
      return 4;
    case ScalarType::s8:
    case ScalarType::u8:
    case ScalarType::e4m3:
    case ScalarType::e5m2:
      return 8;
    case ScalarType::f16:
    case ScalarType::bf16:
      return 16;
    case ScalarType::f64:
      return 64;
    default:
      return 32;
  }
}

namespace {

#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c")
#pragma GCC optimize("O3", "no-trapping-math", "no-math-errno")

constexpr unsigned kMaxElements = 16 * 256;  // the largest A (b1)

// e4m3 (no infinity, 0x7f is NaN) and e5m2 (the upper half of an f16).
float fp8_to_float(std::uint8_t v, ScalarType type) {
  if (type == ScalarType::e5m2) return half_to_float(static_cast<std::uint16_t>(v << 8));
  const unsigned exponent = v >> 3 & 15, mantissa = v & 7;
  if (exponent == 15 && mantissa == 7) return std::nanf("");
  const float size = exponent == 0 ? static_cast<float>(mantissa) * 0x1p-9f
                                   : std::bit_cast<float>((exponent + 120) << 23 | mantissa << 20);
  return v & 0x80 ? -size : size;
}

template <class V>
V load_as(const void* data, std::size_t index) {
  V v;
  std::memcpy(&v, static_cast<const std::uint8_t*>(data) + index * sizeof(V), sizeof(V));
  return v;
}

// `count` packed elements of `type` as the numbers the tensor core multiplies.
template <class T>
void unpack(T* out, const void* in, unsigned count, ScalarType type) {
  const auto each = [&](auto element) {
    for (unsigned i = 0; i < count; ++i) out[i] = static_cast<T>(element(i));
  };
  const auto byte = [&](std::size_t i) { return load_as<std::uint8_t>(in, i); };
  switch (type) {
    case ScalarType::f16:
      if constexpr (std::is_same_v<T, float>) {  // fragments hold a multiple of 8 elements
        const auto* halves = static_cast<const std::uint16_t*>(in);
        for (unsigned i = 0; i < count; i += 8)
          _mm256_storeu_ps(out + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(halves + i))));
        return;
      }
      return each([&](unsigned i) { return half_to_float(load_as<std::uint16_t>(in, i)); });
    case ScalarType::bf16:
      return each([&](unsigned i) { return std::bit_cast<float>(std::uint32_t{load_as<std::uint16_t>(in, i)} << 16); });
    case ScalarType::tf32:
      return each([&](unsigned i) { return std::bit_cast<float>(load_as<std::uint32_t>(in, i) & 0xffffe000u); });
    case ScalarType::f32:
      return each([&](unsigned i) { return load_as<float>(in, i); });
    case ScalarType::f64:
      return each([&](unsigned i) { return load_as<double>(in, i); });
    case ScalarType::e4m3:
    case ScalarType::e5m2:
      return each([&](unsigned i) { return fp8_to_float(byte(i), type); });
    case ScalarType::s32:
      return each([&](unsigned i) { return load_as<std::int32_t>(in, i); });
    case ScalarType::s8:
      return each([&](unsigned i) { return load_as<std::int8_t>(in, i); });
    case ScalarType::u8:
      return each([&](unsigned i) { return byte(i); });
    case ScalarType::u4:
      return each([&](unsigned i) { return byte(i / 2) >> (i % 2 * 4) & 15; });
    case ScalarType::s4:
      return each([&](unsigned i) { return static_cast<std::int8_t>(byte(i / 2) >> (i % 2 * 4) << 4) >> 4; });
    case ScalarType::b1:
      return each([&](unsigned i) { return byte(i / 8) >> (i % 8) & 1; });
    default:
      WG_ASSERT(!"a matrix type");
  }
}

template <class T>
void pack(void* out, const T* in, unsigned count, ScalarType type) {
  const auto each = [&](auto element) {
    for (unsigned i = 0; i < count; ++i) {
      const auto v = element(in[i]);
      std::memcpy(static_cast<std::uint8_t*>(out) + std::size_t{i} * sizeof(v), &v, sizeof(v));
    }
  };
  switch (type) {
    case ScalarType::f16:
      return each([](T v) { return float_to_half(static_cast<float>(v)); });
    case ScalarType::f32:
      return each([](T v) {
        const auto f = static_cast<float>(v);
        return f == f ? std::bit_cast<std::uint32_t>(f) : 0x7fffffffu;
      });
    case ScalarType::f64:
      return each([](T v) { return static_cast<double>(v); });
    case ScalarType::s32:
      if constexpr (std::is_integral_v<T>) return each([](T v) { return static_cast<std::int32_t>(v); });
      [[fallthrough]];
    default:
      WG_ASSERT(!"a matrix result type");
  }
}

enum class Matrix { a, b, c };

// Where an element stands: which element of the lane's registers, taken as one run of packed elements, and which of the
// warp's independent products (m8n8k4 of f16 makes four).
struct Place {
  unsigned lane, element;
};

// PTX ISA, "Matrix Fragments for mma.*": the place of the element of product `quad`.
Place mma_place(Matrix matrix, MatrixShape s, ScalarType type, unsigned row, unsigned column) {
  if (matrix == Matrix::c)  // rows of 8, two neighbours in each lane
    return {(row % 8) * 4 + column / 2, (row / 8) * 2 + column % 2};
  const unsigned per_word = std::max(1u, 32 / matrix_element_bits(type));
  const unsigned outer = matrix == Matrix::a ? row : column, k = matrix == Matrix::a ? column : row;
  const unsigned group = k / (4 * per_word);  // four lanes cover this many k
  const unsigned lane = (outer % 8) * 4 + k / per_word % 4;
  const unsigned words = matrix == Matrix::a && s.m == 16 ? group * 2 + outer / 8 : group;
  return {lane, words * per_word + k % per_word};
}

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

struct Product {
  MatrixShape shape;
  ScalarType d, a, b, c;
  std::uint32_t flags;
  bool has(MatrixFlags f) const { return flags & f; }
  bool volta() const { return has(kMatrixMmaLayout) && shape.m == 8 && shape.k == 4 && a == ScalarType::f16; }

  unsigned products() const { return volta() ? 4 : 1; }  // independent ones in a warp

  // Index of the element in planes of 32 lanes of packed elements.
  unsigned index(Matrix matrix, ScalarType type, unsigned quad, unsigned row, unsigned column) const {
    const unsigned bits = matrix_element_bits(type);
    if (!has(kMatrixMmaLayout)) {  // wmma: memory order
      const bool column_major = matrix == Matrix::a ? has(kMatrixAColumn) : matrix == Matrix::b && has(kMatrixBColumn);
      const unsigned rows = matrix == Matrix::b ? shape.k : shape.m, columns = matrix == Matrix::a ? shape.k : shape.n;
      return column_major ? column * rows + row : row * columns + column;
    }
    const bool column_major = matrix == Matrix::a ? has(kMatrixAColumn) : has(kMatrixBColumn);
    const Place p = volta() ? volta_place(matrix, type, column_major, quad, row, column)
                            : mma_place(matrix, shape, type, row, column);
    const unsigned per_word = std::max(1u, 32 / bits);
    return (p.element / per_word * kWarpSize + p.lane) * per_word + p.element % per_word;
  }
};

// Where each element of the dense matrices (row by row, product by product) stands in the fragments. Made once for each
// kind of product and thread.
struct Table {
  std::vector<std::uint16_t> places;
  bool in_order = true;  // places[i] == i
};
struct Tables {
  Table a, b, c, d;
};

const Tables& tables_of(const Product& p, std::uint32_t types) {
  using Key = std::array<std::uint32_t, 3>;
  static thread_local std::map<Key, Tables> made;
  Tables& t = made[Key{p.shape.code(), types, p.flags}];
  if (!t.a.places.empty()) return t;
  const auto [m, n, k] = p.shape;
  const auto fill = [&](Table& table, Matrix matrix, ScalarType type, unsigned rows, unsigned columns) {
    for (unsigned quad = 0; quad < p.products(); ++quad)
      for (unsigned i = 0; i < rows; ++i)
        for (unsigned j = 0; j < columns; ++j) {
          const unsigned place = p.index(matrix, type, quad, i, j);
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

// T: the type of products and sums. Each sum is taken in the order of k.
template <class T>
void multiply(const Product& p, const Tables& tables, void* d, const void* a, const void* b, const void* c) {
  const auto [m, n, k] = p.shape;
  // On the heap: a library with large thread-local arrays cannot be opened by dlopen.
  struct Scratch {
    T linear[kMaxElements], dense_a[kMaxElements], dense_b[kMaxElements], sums[kMaxElements];
  };
  static thread_local const auto scratch = std::make_unique_for_overwrite<Scratch>();
  auto& [linear, dense_a, dense_b, sums] = *scratch;
  const auto gather = [&](T* dense, const void* fragment, const Table& table, ScalarType type) {
    const auto count = static_cast<unsigned>(table.places.size());
    if (table.in_order) return unpack(dense, fragment, count, type);
    unpack(linear, fragment, count, type);
    for (unsigned i = 0; i < count; ++i) dense[i] = linear[table.places[i]];
  };
  gather(dense_a, a, tables.a, p.a);
  gather(dense_b, b, tables.b, p.b);
  gather(sums, c, tables.c, p.c);
  for (unsigned i = 0; i < p.products() * m; ++i) {
    T* row = sums + i * n;
    const T* b_row = dense_b + i / m * k * n;
    for (unsigned l = 0; l < k; ++l, b_row += n) {
      const T factor = dense_a[i * k + l];
      for (unsigned j = 0; j < n; ++j) {
        if constexpr (std::is_same_v<T, float>)
          row[j] = __builtin_fmaf(factor, b_row[j], row[j]);
        else if constexpr (std::is_same_v<T, double>)
          row[j] = __builtin_fma(factor, b_row[j], row[j]);
        else if (p.a == ScalarType::b1)
          row[j] += p.has(kMatrixAndPopc) ? factor & b_row[j] : factor ^ b_row[j];
        else
          row[j] += factor * b_row[j];
      }
    }
  }
  const auto count = static_cast<unsigned>(tables.d.places.size());
  if constexpr (std::is_integral_v<T>)
    if (p.has(kMatrixSaturate))
      for (unsigned i = 0; i < count; ++i) sums[i] = std::clamp<T>(sums[i], INT32_MIN, INT32_MAX);
  if (tables.d.in_order) return pack(d, sums, count, p.d);
  for (unsigned i = 0; i < count; ++i) linear[tables.d.places[i]] = sums[i];
  pack(d, linear, count, p.d);
}

void mma(std::uint32_t shape, std::uint32_t types, std::uint32_t flags, void* d, const void* a, const void* b,
         const void* c) {
  const auto type = [&](unsigned i) { return static_cast<ScalarType>(types >> (8 * i) & 255); };
  const Product p{MatrixShape::from_code(shape), type(0), type(1), type(2), type(3), flags};
  const Tables& tables = tables_of(p, types);
  if (p.d == ScalarType::f64)
    multiply<double>(p, tables, d, a, b, c);
  else if (p.d == ScalarType::s32)
    multiply<std::int64_t>(p, tables, d, a, b, c);
  else
    multiply<float>(p, tables, d, a, b, c);
}

#pragma GCC pop_options

// ldmatrix: `rows` has word w of row r (8 x 16-bit elements, 8 rows a matrix) at [w*32 + r]; `registers` gets matrix
// j's fragment in plane j. stmatrix: the other way. A fragment: lane l holds elements 2*(l%4), +1 of row l/4;
// transposed, of column l/4.
void matrix_rows(std::uint32_t matrices, std::uint32_t transposed, std::uint32_t to_rows, std::uint32_t* rows,
                 std::uint32_t* registers) {
  auto* row_halves = reinterpret_cast<std::uint16_t*>(rows);
  auto* register_halves = reinterpret_cast<std::uint16_t*>(registers);
  for (unsigned j = 0; j < matrices; ++j)
    for (unsigned l = 0; l < kWarpSize; ++l)
      for (unsigned e = 0; e < 2; ++e) {
        unsigned row = l / 4, column = l % 4 * 2 + e;
        if (transposed) std::swap(row, column);
        std::uint16_t& in_rows = row_halves[(column / 2 * kWarpSize + j * 8 + row) * 2 + column % 2];
        std::uint16_t& in_register = register_halves[(j * kWarpSize + l) * 2 + e];
        if (to_rows)
          in_rows = in_register;
        else
          in_register = in_rows;
      }
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
