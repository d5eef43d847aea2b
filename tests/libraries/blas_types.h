// Element types of cuBLAS, for both of its interfaces.
#pragma once

#include "library_test.h"

namespace warpgrind::test {

template <class T>
struct CudaNumber {
  using type = T;
};
template <>
struct CudaNumber<Complex> {
  using type = cuComplex;
};
template <>
struct CudaNumber<DoubleComplex> {
  using type = cuDoubleComplex;
};
template <class T>
auto cu(const T* p) {
  return reinterpret_cast<const typename CudaNumber<T>::type*>(p);
}
template <class T>
auto cu(T* p) {
  return reinterpret_cast<typename CudaNumber<T>::type*>(p);
}
template <class T>
auto cu(const Array<T>& a) {
  return cu(a.data());
}

// BLAS(T, gemm): cublasSgemm, ... for T.
#define BLAS_OF(T, s, d, c, z)                     \
  ([] {                                            \
    if constexpr (std::is_same_v<T, float>)        \
      return &s;                                   \
    else if constexpr (std::is_same_v<T, double>)  \
      return &d;                                   \
    else if constexpr (std::is_same_v<T, Complex>) \
      return &c;                                   \
    else                                           \
      return &z;                                   \
  }())

}  // namespace warpgrind::test
