// Products of dense matrices in AVX2 vector code, and the order of sums in a warp's registers.
#include "jit/calls/matrix_products.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/assert.h"
#include "base/vectors.h"
#include "gpu/types.h"
#include "jit/calls/matrix_elements.h"

namespace warpgrind::jit {

using ptx::ScalarType;

namespace {

constexpr unsigned kColumnsAtOnce = 8;

struct Floats {
  using Vector = avx2::Floats;
  // Enough sums to hide the latency, few enough to stay in registers.
  static constexpr unsigned kRows = 8, kVectors = 1;
  static Vector add(Vector sum, float a, Vector b) { return _mm256_fmadd_ps(_mm256_set1_ps(a), b, sum); }
};
struct Doubles {
  using Vector = avx2::Doubles;
  static constexpr unsigned kRows = 4, kVectors = 2;
  static Vector add(Vector sum, double a, Vector b) { return _mm256_fmadd_pd(_mm256_set1_pd(a), b, sum); }
};
struct Integers {
  using Vector = avx2::Words;
  static constexpr unsigned kRows = 8, kVectors = 1;
  static Vector add(Vector sum, std::int32_t a, Vector b) { return sum + static_cast<std::uint32_t>(a) * b; }
};

template <class Lanes, class T>
void multiply(T* sums, const T* a, const T* b, unsigned rows, unsigned columns, unsigned depth) {
  using Vector = typename Lanes::Vector;
  constexpr unsigned kPerVector = kColumnsAtOnce / Lanes::kVectors;
  for (unsigned i = 0; i < rows; i += Lanes::kRows)
    for (unsigned j = 0; j < columns; j += kColumnsAtOnce) {
      Vector block[Lanes::kRows][Lanes::kVectors];
      const auto at = [&](unsigned r, unsigned v) { return std::size_t{i + r} * columns + j + v * kPerVector; };
      for (unsigned r = 0; r < Lanes::kRows; ++r)
        for (unsigned v = 0; v < Lanes::kVectors; ++v) block[r][v] = avx2::loaded<Vector>(sums + at(r, v));
      for (unsigned k = 0; k < depth; ++k)
        for (unsigned v = 0; v < Lanes::kVectors; ++v) {
          const auto line = avx2::loaded<Vector>(b + std::size_t{k} * columns + j + v * kPerVector);
          for (unsigned r = 0; r < Lanes::kRows; ++r)
            block[r][v] = Lanes::add(block[r][v], a[std::size_t{i + r} * depth + k], line);
        }
      for (unsigned r = 0; r < Lanes::kRows; ++r)
        for (unsigned v = 0; v < Lanes::kVectors; ++v) avx2::store(block[r][v], sums + at(r, v));
    }
}

// Transposes an 8 x 8 square. Rows of `from` are `depth` elements apart, rows of `to` are `columns` apart.
void transpose_square(float* to, const float* from, unsigned columns, unsigned depth) {
  avx2::Ints row[2][4], column[2][4];
  for (unsigned i = 0; i < kColumnsAtOnce; ++i)
    row[i / 4][i % 4] = avx2::loaded<avx2::Ints>(from + std::size_t{i} * depth);
  for (unsigned half = 0; half < 2; ++half) avx2::transpose(row[half], column[half]);
  for (unsigned i = 0; i < 4; ++i) {
    float* const low = to + std::size_t{i} * columns;
    const avx2::Ints a = column[0][i], b = column[1][i];
    avx2::store(__builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11), low);
    avx2::store(__builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15), low + std::size_t{4} * columns);
  }
}

// Calls f(index of the first of eight sums in a row, index of their first word in the planes). `registers`: number of
// planes that hold the pairs of a row.
template <class F>
void each_piece(unsigned rows, unsigned columns, unsigned registers, F&& f) {
  const unsigned halves = rows / kColumnsAtOnce;
  for (unsigned j = 0; j < columns / kColumnsAtOnce; ++j)
    for (unsigned half = 0; half < halves; ++half)
      for (unsigned r = 0; r < kColumnsAtOnce; ++r)
        f(std::size_t{half * kColumnsAtOnce + r} * columns + std::size_t{j} * kColumnsAtOnce,
          std::size_t{(j * halves + half) * registers} * kWarpSize + std::size_t{r} * 4);
}

void read_words(float* sums, const float* planes, unsigned rows, unsigned columns) {
  each_piece(rows, columns, 2, [&](std::size_t piece, std::size_t word) {
    const __m128 even = _mm_loadu_ps(planes + word), odd = _mm_loadu_ps(planes + word + kWarpSize);
    _mm_storeu_ps(sums + piece, _mm_unpacklo_ps(even, odd));
    _mm_storeu_ps(sums + piece + 4, _mm_unpackhi_ps(even, odd));
  });
}

void write_words(float* planes, const float* sums, unsigned rows, unsigned columns) {
  each_piece(rows, columns, 2, [&](std::size_t piece, std::size_t word) {
    const __m128 low = _mm_loadu_ps(sums + piece), high = _mm_loadu_ps(sums + piece + 4);
    _mm_storeu_ps(planes + word, _mm_shuffle_ps(low, high, 0x88));
    _mm_storeu_ps(planes + word + kWarpSize, _mm_shuffle_ps(low, high, 0xdd));
  });
}

}  // namespace

void add_products(float* sums, const float* a, const float* b, unsigned rows, unsigned columns, unsigned depth) {
  multiply<Floats>(sums, a, b, rows, columns, depth);
}

void add_products(double* sums, const double* a, const double* b, unsigned rows, unsigned columns, unsigned depth) {
  multiply<Doubles>(sums, a, b, rows, columns, depth);
}

void add_products(std::int32_t* sums, const std::int32_t* a, const std::int32_t* b, unsigned rows, unsigned columns,
                  unsigned depth) {
  multiply<Integers>(sums, a, b, rows, columns, depth);
}

void add_bit_counts(std::int32_t* sums, const std::uint32_t* a, const std::uint32_t* b, unsigned rows, unsigned columns,
                    unsigned words, bool both) {
  for (unsigned i = 0; i < rows; ++i)
    for (unsigned j = 0; j < columns; ++j)
      for (unsigned w = 0; w < words; ++w) {
        const std::uint32_t x = a[i * words + w], y = b[j * words + w];
        sums[i * columns + j] += std::popcount(both ? x & y : x ^ y);
      }
}

void transpose_columns(float* to, const float* from, unsigned columns, unsigned depth) {
  unsigned whole = depth / kColumnsAtOnce * kColumnsAtOnce;
  for (unsigned j = 0; j < columns; j += kColumnsAtOnce) {
    for (unsigned k = 0; k < whole; k += kColumnsAtOnce)
      transpose_square(to + std::size_t{k} * columns + j, from + std::size_t{j} * depth + k, columns, depth);
    for (unsigned k = whole; k < depth; ++k)
      for (unsigned i = j; i < j + kColumnsAtOnce; ++i)
        to[std::size_t{k} * columns + i] = from[std::size_t{i} * depth + k];
  }
}

void transpose_columns(double* to, const double* from, unsigned columns, unsigned depth) {
  for (unsigned k = 0; k < depth; ++k)
    for (unsigned j = 0; j < columns; ++j) to[std::size_t{k} * columns + j] = from[std::size_t{j} * depth + k];
}

void transpose_columns(std::int32_t* to, const std::int32_t* from, unsigned columns, unsigned depth) {
  transpose_columns(reinterpret_cast<float*>(to), reinterpret_cast<const float*>(from), columns, depth);
}

void add_integers(std::int32_t* sums, const std::int32_t* before, std::size_t count, bool saturate) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t sum = std::int64_t{sums[i]} + before[i];
    sums[i] = static_cast<std::int32_t>(saturate ? std::clamp<std::int64_t>(sum, INT32_MIN, INT32_MAX) : sum);
  }
}

void read_sums(float* sums, const void* planes, unsigned rows, unsigned columns, ScalarType type) {
  if (type != ScalarType::f16) return read_words(sums, static_cast<const float*>(planes), rows, columns);
  each_piece(rows, columns, 1, [&](std::size_t piece, std::size_t word) {
    const auto* const pairs = reinterpret_cast<const __m128i*>(static_cast<const std::uint32_t*>(planes) + word);
    _mm256_storeu_ps(sums + piece, _mm256_cvtph_ps(_mm_loadu_si128(pairs)));
  });
}

void write_sums(void* planes, const float* sums, unsigned rows, unsigned columns, ScalarType type) {
  if (type == ScalarType::f16)
    return each_piece(rows, columns, 1, [&](std::size_t piece, std::size_t word) {
      pack_matrix(static_cast<std::uint32_t*>(planes) + word, sums + piece, kColumnsAtOnce, type);
    });
  write_words(static_cast<float*>(planes), sums, rows, columns);
  // The planes contain only the sums, so their order does not matter here.
  pack_matrix(planes, static_cast<const float*>(planes), rows * columns, ScalarType::f32);
}

void read_sums(std::int32_t* sums, const void* planes, unsigned rows, unsigned columns, ScalarType) {
  read_words(reinterpret_cast<float*>(sums), static_cast<const float*>(planes), rows, columns);
}

void write_sums(void* planes, const std::int32_t* sums, unsigned rows, unsigned columns, ScalarType) {
  write_words(static_cast<float*>(planes), reinterpret_cast<const float*>(sums), rows, columns);
}

void read_sums(double* sums, const void* planes, unsigned rows, unsigned columns, ScalarType) {
  each_piece(rows, columns, 2, [&](std::size_t piece, std::size_t word) {
    const double* const even = static_cast<const double*>(planes) + word;
    for (unsigned i = 0; i < kColumnsAtOnce; ++i) sums[piece + i] = even[i / 2 + i % 2 * kWarpSize];
  });
}

void write_sums(void* planes, const double* sums, unsigned rows, unsigned columns, ScalarType) {
  each_piece(rows, columns, 2, [&](std::size_t piece, std::size_t word) {
    double* const even = static_cast<double*>(planes) + word;
    for (unsigned i = 0; i < kColumnsAtOnce; ++i) even[i / 2 + i % 2 * kWarpSize] = sums[piece + i];
  });
}

}  // namespace warpgrind::jit
