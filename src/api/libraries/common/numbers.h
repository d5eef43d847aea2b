// C++ types for the libraries' element types: cuComplex and cuDoubleComplex become std::complex, which has the same
// layout.
#pragma once

#include <complex>
#include <cstdint>
#include <type_traits>

#include "cuComplex.h"

namespace warpgrind::libraries {

using Complex = std::complex<float>;
using DoubleComplex = std::complex<double>;

template <class T>
struct NumberOf {
  using type = T;
};
template <>
struct NumberOf<cuComplex> {
  using type = Complex;
};
template <>
struct NumberOf<cuDoubleComplex> {
  using type = DoubleComplex;
};

template <class T>
struct RealOf {
  using type = T;
};
template <class T>
struct RealOf<std::complex<T>> {
  using type = T;
};
template <class T>
using Real = typename RealOf<T>::type;
template <class T>
inline constexpr bool kIsComplex = !std::is_same_v<T, Real<T>>;

// Casts of pointers to elements, and of arrays of such pointers.
template <class T>
auto number(const T* p) {
  return reinterpret_cast<const typename NumberOf<T>::type*>(p);
}
template <class T>
auto number(T* p) {
  return reinterpret_cast<typename NumberOf<T>::type*>(p);
}
template <class T>
auto number(const T* const* p) {
  return reinterpret_cast<const typename NumberOf<T>::type* const*>(p);
}
template <class T>
auto number(T* const* p) {
  return reinterpret_cast<typename NumberOf<T>::type* const*>(p);
}

template <class T>
T conjugate(T v) {
  if constexpr (kIsComplex<T>)
    return std::conj(v);
  else
    return v;
}

}  // namespace warpgrind::libraries
