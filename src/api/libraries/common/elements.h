// Conversion between the element types of matrices and vectors and the C++ types that the libraries compute in.
#pragma once

#include <library_types.h>

#include <complex>
#include <cstddef>
#include <cstdint>

#include "libraries/common/numbers.h"

namespace warpgrind::libraries {

std::size_t element_bytes(cudaDataType type);  // 0: not a supported type

// cudaDataType of a C++ element type, NVIDIA's or ours (numbers.h), for functions whose name has a type letter.
template <class T>
constexpr cudaDataType kTypeOf = kTypeOf<typename NumberOf<T>::type>;
template <>
inline constexpr cudaDataType kTypeOf<float> = CUDA_R_32F;
template <>
inline constexpr cudaDataType kTypeOf<double> = CUDA_R_64F;
template <>
inline constexpr cudaDataType kTypeOf<Complex> = CUDA_C_32F;
template <>
inline constexpr cudaDataType kTypeOf<DoubleComplex> = CUDA_C_64F;

inline bool is_complex(cudaDataType type) {
  return type == CUDA_C_32F || type == CUDA_C_64F || type == CUDA_C_8I;
}

// Copy a column-major matrix, whose columns are `ld` elements apart, to or from a dense buffer of float, double or
// their complex types. Integers saturate, except 32-bit sums, which wrap.
template <class D>
void load(cudaDataType type, const void* from, std::int64_t ld, std::int64_t rows, std::int64_t columns, D* to);
template <class D>
void store(cudaDataType type, void* to, std::int64_t ld, std::int64_t rows, std::int64_t columns, const D* from);
// One element, as a double-precision complex number.
std::complex<double> read_factor(cudaDataType type, const void* at);

float bf16_to_float(std::uint16_t bits);
std::uint16_t float_to_bf16(float value);

// Converts a number. Complex to real keeps the real part.
template <class D, class S>
D converted(S v) {
  if constexpr (kIsComplex<S> && kIsComplex<D>)
    return D(static_cast<Real<D>>(v.real()), static_cast<Real<D>>(v.imag()));
  else if constexpr (kIsComplex<S>)
    return static_cast<D>(v.real());
  else
    return D(static_cast<Real<D>>(v));
}

}  // namespace warpgrind::libraries
