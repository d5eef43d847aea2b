// What mma, wmma and wgmma compute alike: products of dense matrices, and sums in the registers of a warp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ptx/types.h"

namespace warpgrind::jit {

// sums += a * b: a (rows x depth) and sums (rows x columns) row by row, b by depth: its columns side by side. rows and
// columns are multiples of 8. Each sum is taken in the order of depth, one rounding a product.
void add_products(float* sums, const float* a, const float* b, unsigned rows, unsigned columns, unsigned depth);
void add_products(double* sums, const double* a, const double* b, unsigned rows, unsigned columns, unsigned depth);
void add_products(std::int32_t* sums, const std::int32_t* a, const std::int32_t* b, unsigned rows, unsigned columns,
                  unsigned depth);

// b1: how many bits of a's row and b's column, `words` 32-bit words each, are 1 in both (`both`), or differ.
void add_bit_counts(std::int32_t* sums, const std::uint32_t* a, const std::uint32_t* b, unsigned rows, unsigned columns,
                    unsigned words, bool both);

// to[k * columns + j] = from[j * depth + k]; columns is a multiple of 8.
void transpose_columns(float* to, const float* from, unsigned columns, unsigned depth);
void transpose_columns(double* to, const double* from, unsigned columns, unsigned depth);
void transpose_columns(std::int32_t* to, const std::int32_t* from, unsigned columns, unsigned depth);

// sums += before, modulo 2^32, or up to the ends of s32 (.satfinite).
void add_integers(std::int32_t* sums, const std::int32_t* before, std::size_t count, bool saturate);

// C and D of mma and wgmma in registers. PTX ISA, "Matrix Fragments for mma.*" and "Register Fragments and Shared
// Memory Matrix Layouts": lane l has columns 2*(l%4), +1 of each eight, of the rows l/4 and, of sixteen, l/4 + 8. So
// four lanes' pairs, side by side, are eight columns of a row. Registers come as planes of 32 words: f16 two columns a
// word, f32 and s32 a word each, f64 64-bit words. rows: 8 or 16. A NaN is written as the one that the tensor core
// makes.
void read_sums(float* sums, const void* planes, unsigned rows, unsigned columns, ptx::ScalarType type);
void read_sums(double* sums, const void* planes, unsigned rows, unsigned columns, ptx::ScalarType type);
void read_sums(std::int32_t* sums, const void* planes, unsigned rows, unsigned columns, ptx::ScalarType type);
void write_sums(void* planes, const float* sums, unsigned rows, unsigned columns, ptx::ScalarType type);
void write_sums(void* planes, const double* sums, unsigned rows, unsigned columns, ptx::ScalarType type);
void write_sums(void* planes, const std::int32_t* sums, unsigned rows, unsigned columns, ptx::ScalarType type);

}  // namespace warpgrind::jit
