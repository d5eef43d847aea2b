// Table of the OpenBLAS functions that our libraries call. The first call that needs one loads OpenBLAS.
#pragma once

#include <cblas.h>

#include <string>

#include "libraries/common/numbers.h"

namespace warpgrind::libraries::blas {

// By type: each name stands for cblas_s<name>, cblas_d<name>, cblas_c<name> and cblas_z<name>.
#define WG_CBLAS_OF_ALL(X) \
  X(axpy)                  \
  X(copy)                  \
  X(swap)                  \
  X(gemv) X(gbmv) X(trmv) X(trsv) X(tbmv) X(tbsv) X(tpmv) X(tpsv) X(gemm) X(symm) X(syrk) X(syr2k) X(trmm) X(trsm)
#define WG_CBLAS_OF_REAL(X) X(dot) X(rotm) X(rotg) X(rotmg) X(ger) X(symv) X(sbmv) X(spmv) X(syr) X(spr) X(syr2) X(spr2)
#define WG_CBLAS_OF_COMPLEX(X) \
  X(geru) X(gerc) X(hemv) X(hbmv) X(hpmv) X(her) X(hpr) X(her2) X(hpr2) X(hemm) X(herk) X(her2k)
// Names that do not follow the scheme.
// clang-format off
#define WG_CBLAS_OTHERS(X) \
  X(cblas_snrm2) X(cblas_dnrm2) X(cblas_scnrm2) X(cblas_dznrm2) \
  X(cblas_sasum) X(cblas_dasum) X(cblas_scasum) X(cblas_dzasum) \
  X(cblas_isamax) X(cblas_idamax) X(cblas_icamax) X(cblas_izamax) \
  X(cblas_isamin) X(cblas_idamin) X(cblas_icamin) X(cblas_izamin) \
  X(cblas_cdotu_sub) X(cblas_cdotc_sub) X(cblas_zdotu_sub) X(cblas_zdotc_sub) \
  X(openblas_set_num_threads)
// clang-format on

// LAPACK functions, which OpenBLAS contains, in Fortran's calling convention.
template <class T>
struct Lapack {
  void (*getrf)(const int* m, const int* n, T* a, const int* lda, int* pivots, int* info) = nullptr;
  void (*getrs)(const char* trans, const int* n, const int* nrhs, const T* a, const int* lda, const int* pivots, T* b,
                const int* ldb, int* info, std::size_t) = nullptr;
  void (*getri)(const int* n, T* a, const int* lda, const int* pivots, T* work, const int* lwork, int* info) = nullptr;
  void (*geqrf)(const int* m, const int* n, T* a, const int* lda, T* tau, T* work, const int* lwork,
                int* info) = nullptr;
  void (*gels)(const char* trans, const int* m, const int* n, const int* nrhs, T* a, const int* lda, T* b,
               const int* ldb, T* work, const int* lwork, int* info, std::size_t) = nullptr;
};

struct OpenBlas {
#define WG_MEMBER_ALL(name)                     \
  decltype(&::cblas_s##name) s##name = nullptr; \
  decltype(&::cblas_d##name) d##name = nullptr; \
  decltype(&::cblas_c##name) c##name = nullptr; \
  decltype(&::cblas_z##name) z##name = nullptr;
#define WG_MEMBER_REAL(name)                    \
  decltype(&::cblas_s##name) s##name = nullptr; \
  decltype(&::cblas_d##name) d##name = nullptr;
#define WG_MEMBER_COMPLEX(name)                 \
  decltype(&::cblas_c##name) c##name = nullptr; \
  decltype(&::cblas_z##name) z##name = nullptr;
#define WG_MEMBER(name) decltype(&::name) name = nullptr;
  WG_CBLAS_OF_ALL(WG_MEMBER_ALL)
  WG_CBLAS_OF_REAL(WG_MEMBER_REAL)
  WG_CBLAS_OF_COMPLEX(WG_MEMBER_COMPLEX)
  WG_CBLAS_OTHERS(WG_MEMBER)
#undef WG_MEMBER_ALL
#undef WG_MEMBER_REAL
#undef WG_MEMBER_COMPLEX
#undef WG_MEMBER
  Lapack<float> s;
  Lapack<double> d;
  Lapack<Complex> c;
  Lapack<DoubleComplex> z;
  std::string missing;  // message about a missing function; empty: none
};
const OpenBlas& openblas();
// Another function of OpenBLAS, such as a LAPACK routine ("dpotrf_"). nullptr: it has none, or is not installed.
void* find_in_openblas(const char* name);

// Blas<T>::name is the member of OpenBlas for element type T. Pass scalars through by(), since complex ones are passed
// by address.
template <class T>
struct Blas;
#define WG_OF_S(name) static constexpr auto name = &OpenBlas::s##name;
#define WG_OF_D(name) static constexpr auto name = &OpenBlas::d##name;
#define WG_OF_C(name) static constexpr auto name = &OpenBlas::c##name;
#define WG_OF_Z(name) static constexpr auto name = &OpenBlas::z##name;
template <>
struct Blas<float> {
  WG_CBLAS_OF_ALL(WG_OF_S)
  WG_CBLAS_OF_REAL(WG_OF_S)
  static constexpr auto nrm2 = &OpenBlas::cblas_snrm2;
  static constexpr auto asum = &OpenBlas::cblas_sasum;
  static constexpr auto amax = &OpenBlas::cblas_isamax;
  static constexpr auto amin = &OpenBlas::cblas_isamin;
  static constexpr auto lapack = &OpenBlas::s;
};
template <>
struct Blas<double> {
  WG_CBLAS_OF_ALL(WG_OF_D)
  WG_CBLAS_OF_REAL(WG_OF_D)
  static constexpr auto nrm2 = &OpenBlas::cblas_dnrm2;
  static constexpr auto asum = &OpenBlas::cblas_dasum;
  static constexpr auto amax = &OpenBlas::cblas_idamax;
  static constexpr auto amin = &OpenBlas::cblas_idamin;
  static constexpr auto lapack = &OpenBlas::d;
};
template <>
struct Blas<Complex> {
  WG_CBLAS_OF_ALL(WG_OF_C)
  WG_CBLAS_OF_COMPLEX(WG_OF_C)
  static constexpr auto nrm2 = &OpenBlas::cblas_scnrm2;
  static constexpr auto asum = &OpenBlas::cblas_scasum;
  static constexpr auto amax = &OpenBlas::cblas_icamax;
  static constexpr auto amin = &OpenBlas::cblas_icamin;
  static constexpr auto dotu = &OpenBlas::cblas_cdotu_sub;
  static constexpr auto dotc = &OpenBlas::cblas_cdotc_sub;
  static constexpr auto lapack = &OpenBlas::c;
};
template <>
struct Blas<DoubleComplex> {
  WG_CBLAS_OF_ALL(WG_OF_Z)
  WG_CBLAS_OF_COMPLEX(WG_OF_Z)
  static constexpr auto nrm2 = &OpenBlas::cblas_dznrm2;
  static constexpr auto asum = &OpenBlas::cblas_dzasum;
  static constexpr auto amax = &OpenBlas::cblas_izamax;
  static constexpr auto amin = &OpenBlas::cblas_izamin;
  static constexpr auto dotu = &OpenBlas::cblas_zdotu_sub;
  static constexpr auto dotc = &OpenBlas::cblas_zdotc_sub;
  static constexpr auto lapack = &OpenBlas::z;
};
#undef WG_OF_S
#undef WG_OF_D
#undef WG_OF_C
#undef WG_OF_Z

#define WG_BLAS(T, name) (openblas().*Blas<T>::name)

inline float by(const float& v) {
  return v;
}
inline double by(const double& v) {
  return v;
}
inline const void* by(const Complex& v) {
  return &v;
}
inline const void* by(const DoubleComplex& v) {
  return &v;
}

}  // namespace warpgrind::libraries::blas
