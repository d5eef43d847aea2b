// The first interface of cuBLAS: each function against its counterpart in the second interface.
#include <cublas.h>

#include <cstring>

#include "blas_types.h"

namespace warpgrind::test {
namespace {

#define DONE(...) ASSERT_EQ(__VA_ARGS__, CUBLAS_STATUS_SUCCESS)
#define FIRST(T, name) BLAS_OF(T, cublasS##name, cublasD##name, cublasC##name, cublasZ##name)
#define SECOND(T, name) BLAS_OF(T, cublasS##name##_v2, cublasD##name##_v2, cublasC##name##_v2, cublasZ##name##_v2)
// Of two types: float and double, or their complex numbers.
#define ONE_OF(T, single, wide)                   \
  ([] {                                           \
    if constexpr (std::is_same_v<Real<T>, float>) \
      return &single;                             \
    else                                          \
      return &wide;                               \
  }())

constexpr int kN = 4;
constexpr auto kUp = CUBLAS_FILL_MODE_UPPER, kLow = CUBLAS_FILL_MODE_LOWER;
constexpr auto kNone = CUBLAS_OP_N, kTransposed = CUBLAS_OP_T, kConjugate = CUBLAS_OP_C;
constexpr auto kUnit = CUBLAS_DIAG_UNIT, kFull = CUBLAS_DIAG_NON_UNIT;
constexpr auto kLeft = CUBLAS_SIDE_LEFT, kRight = CUBLAS_SIDE_RIGHT;

// What a call works on; both interfaces begin with the same numbers.
template <class T>
struct Operands {
  Operands() {
    fill(a, 1);
    fill(x, 2);
    fill(y, 3);
    for (std::size_t i = 0; i < kN; ++i) a[i * kN + i] = T(Real<T>(3));  // triangles can be inverted
  }
  Array<T> a = Array<T>(kN * kN), x = Array<T>(kN * kN), y = Array<T>(kN * kN);
};

template <class T>
class BlasFirst : public testing::Test {
 protected:
  using N = typename CudaNumber<T>::type;
  BlasFirst() {
    EXPECT_EQ(cublasInit(), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(cublasCreate_v2(&s), CUBLAS_STATUS_SUCCESS);
    const T two = T(Real<T>(2)), half = T(Real<T>(-0.5));
    std::memcpy(&al, &two, sizeof al);
    std::memcpy(&be, &half, sizeof be);
  }
  ~BlasFirst() override {
    EXPECT_EQ(cublasShutdown(), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(cublasDestroy_v2(s), CUBLAS_STATUS_SUCCESS);
  }
  template <class First, class Second>
  void same(const char* what, First first, Second second) {
    const Operands<T> of_first, of_second;
    first(cu(of_first.a), cu(of_first.x), cu(of_first.y));
    DONE(cublasGetError()) << what;
    DONE(second(cu(of_second.a), cu(of_second.x), cu(of_second.y))) << what;
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(of_first.a.copy(), of_second.a.copy()) << what;
    EXPECT_EQ(of_first.x.copy(), of_second.x.copy()) << what;
    EXPECT_EQ(of_first.y.copy(), of_second.y.copy()) << what;
  }
  // One value, which the first interface returns.
  template <class First, class Second>
  void same_value(const char* what, First first, Second second) {
    const Operands<T> o;
    const auto got = first(cu(o.a), cu(o.x), cu(o.y));
    std::remove_const_t<decltype(got)> expected{};
    DONE(cublasGetError()) << what;
    DONE(second(cu(o.a), cu(o.x), cu(o.y), &expected)) << what;
    EXPECT_EQ(std::memcmp(&got, &expected, sizeof got), 0) << what;
  }
  cublasHandle_t s = nullptr;
  N al{}, be{};
  const Real<T> c = Real<T>(0.5);
};
using Types = testing::Types<float, double, Complex, DoubleComplex>;
TYPED_TEST_SUITE(BlasFirst, Types);

#define OPERANDS [[maybe_unused]] N *A, [[maybe_unused]] N *x, [[maybe_unused]] N *y
#define SAME_BY(first, second, name, of_first, of_second) \
  this->same(                                             \
      name, [&](OPERANDS) { first of_first; }, [&](OPERANDS) { return second of_second; })
#define SAME(name, of_first, of_second) SAME_BY(FIRST(T, name), SECOND(T, name), #name, of_first, of_second)
#define SAME_OF(l, w, name, of_first, of_second)                                                                     \
  SAME_BY(ONE_OF(T, cublas##l##name, cublas##w##name), ONE_OF(T, cublas##l##name##_v2, cublas##w##name##_v2), #name, \
          of_first, of_second)
#define SAME_VALUE(first, second, name, ...)              \
  this->same_value(                                       \
      name, [&](OPERANDS) { return first(__VA_ARGS__); }, \
      [&](OPERANDS, auto* result) { return second(s, __VA_ARGS__, result); })
#define SAME_VALUE_OF(a, b, c, d)                                    \
  SAME_VALUE(BLAS_OF(T, cublas##a, cublas##b, cublas##c, cublas##d), \
             BLAS_OF(T, cublas##a##_v2, cublas##b##_v2, cublas##c##_v2, cublas##d##_v2), #a, kN, x, 1)
#define HEAD                                             \
  using T = TypeParam;                                   \
  using N = typename CudaNumber<T>::type;                \
  [[maybe_unused]] const auto s = this->s;               \
  [[maybe_unused]] const N al = this->al, be = this->be; \
  [[maybe_unused]] const Real<T> c = this->c

TYPED_TEST(BlasFirst, WhatEveryTypeHas) {
  HEAD;
  SAME(axpy, (kN, al, x, 1, y, 2), (s, kN, &al, x, 1, y, 2));
  SAME(copy, (kN, x, 2, y, 1), (s, kN, x, 2, y, 1));
  SAME(swap, (kN, x, 2, y, 1), (s, kN, x, 2, y, 1));
  SAME(scal, (kN, al, x, 2), (s, kN, &al, x, 2));
  SAME(rot, (kN, x, 1, y, 1, c, al), (s, kN, x, 1, y, 1, &c, &al));
  SAME_VALUE_OF(Snrm2, Dnrm2, Scnrm2, Dznrm2);
  SAME_VALUE_OF(Sasum, Dasum, Scasum, Dzasum);
  SAME_VALUE_OF(Isamax, Idamax, Icamax, Izamax);
  SAME_VALUE_OF(Isamin, Idamin, Icamin, Izamin);
  SAME(gemv, ('t', 3, kN, al, A, kN, x, 1, be, y, 2), (s, kTransposed, 3, kN, &al, A, kN, x, 1, &be, y, 2));
  SAME(gbmv, ('N', kN, kN, 1, 1, al, A, kN, x, 1, be, y, 1), (s, kNone, kN, kN, 1, 1, &al, A, kN, x, 1, &be, y, 1));
  SAME(trmv, ('L', 'N', 'U', kN, A, kN, x, 1), (s, kLow, kNone, kUnit, kN, A, kN, x, 1));
  SAME(trsv, ('u', 'T', 'n', kN, A, kN, x, 1), (s, kUp, kTransposed, kFull, kN, A, kN, x, 1));
  SAME(tbmv, ('L', 'C', 'N', kN, 1, A, kN, x, 1), (s, kLow, kConjugate, kFull, kN, 1, A, kN, x, 1));
  SAME(tbsv, ('L', 'N', 'U', kN, 1, A, kN, x, 1), (s, kLow, kNone, kUnit, kN, 1, A, kN, x, 1));
  SAME(tpmv, ('U', 'N', 'N', kN, A, x, 1), (s, kUp, kNone, kFull, kN, A, x, 1));
  SAME(tpsv, ('U', 'N', 'U', kN, A, x, 1), (s, kUp, kNone, kUnit, kN, A, x, 1));
  SAME(gemm, ('N', 'c', 2, 3, kN, al, A, kN, x, kN, be, y, kN),
       (s, kNone, kConjugate, 2, 3, kN, &al, A, kN, x, kN, &be, y, kN));
  SAME(symm, ('R', 'L', 3, kN, al, A, kN, x, kN, be, y, kN), (s, kRight, kLow, 3, kN, &al, A, kN, x, kN, &be, y, kN));
  SAME(syrk, ('U', 'N', kN, 2, al, A, kN, be, y, kN), (s, kUp, kNone, kN, 2, &al, A, kN, &be, y, kN));
  SAME(syr2k, ('U', 'N', kN, 2, al, A, kN, x, kN, be, y, kN), (s, kUp, kNone, kN, 2, &al, A, kN, x, kN, &be, y, kN));
  SAME(trmm, ('l', 'U', 'N', 'N', kN, 3, al, A, kN, x, kN),
       (s, kLeft, kUp, kNone, kFull, kN, 3, &al, A, kN, x, kN, x, kN));
  SAME(trsm, ('L', 'U', 'N', 'N', kN, 3, al, A, kN, x, kN), (s, kLeft, kUp, kNone, kFull, kN, 3, &al, A, kN, x, kN));
}

// Symmetric and Hermitian matrices. F: the factor of their rank 1.
#define SAME_OF_MATRICES(l, w, F, mv, bmv, pmv, r, pr, r2, pr2)                                               \
  SAME_OF(l, w, mv, ('U', kN, al, A, kN, x, 1, be, y, 1), (s, kUp, kN, &al, A, kN, x, 1, &be, y, 1));         \
  SAME_OF(l, w, bmv, ('L', kN, 1, al, A, kN, x, 1, be, y, 1), (s, kLow, kN, 1, &al, A, kN, x, 1, &be, y, 1)); \
  SAME_OF(l, w, pmv, ('U', kN, al, A, x, 1, be, y, 1), (s, kUp, kN, &al, A, x, 1, &be, y, 1));                \
  SAME_OF(l, w, r, ('U', kN, F, x, 1, A, kN), (s, kUp, kN, &F, x, 1, A, kN));                                 \
  SAME_OF(l, w, pr, ('L', kN, F, x, 1, A), (s, kLow, kN, &F, x, 1, A));                                       \
  SAME_OF(l, w, r2, ('U', kN, al, x, 1, y, 1, A, kN), (s, kUp, kN, &al, x, 1, y, 1, A, kN));                  \
  SAME_OF(l, w, pr2, ('L', kN, al, x, 1, y, 1, A), (s, kLow, kN, &al, x, 1, y, 1, A))
#define SAME_GER(l, w, name) SAME_OF(l, w, name, (3, kN, al, x, 1, y, 1, A, kN), (s, 3, kN, &al, x, 1, y, 1, A, kN))
#define SAME_DOT(l, w, name)                                                                                     \
  SAME_VALUE(ONE_OF(T, cublas##l##name, cublas##w##name), ONE_OF(T, cublas##l##name##_v2, cublas##w##name##_v2), \
             #name, kN, x, 1, y, 1)

template <class T>
class BlasFirstReal : public BlasFirst<T> {};
using RealTypes = testing::Types<float, double>;
TYPED_TEST_SUITE(BlasFirstReal, RealTypes);
TYPED_TEST(BlasFirstReal, WhatTheyHave) {
  HEAD;
  SAME_OF_MATRICES(S, D, al, symv, sbmv, spmv, syr, spr, syr2, spr2);
  SAME_GER(S, D, ger);
  SAME_DOT(S, D, dot);
  const T param[5] = {-1, T(0.5), 2, -3, 1};
  SAME_OF(S, D, rotm, (kN, x, 1, y, 1, param), (s, kN, x, 1, y, 1, param));
  // Their operands are of the host or the device.
  SAME_OF(S, D, rotg, (x, x + 1, x + 2, x + 3), (s, x, x + 1, x + 2, x + 3));
  SAME_OF(S, D, rotmg, (x, x + 1, x + 2, x + 3, y), (s, x, x + 1, x + 2, x + 3, y));
}

template <class T>
class BlasFirstComplex : public BlasFirst<T> {};
using ComplexTypes = testing::Types<Complex, DoubleComplex>;
TYPED_TEST_SUITE(BlasFirstComplex, ComplexTypes);
TYPED_TEST(BlasFirstComplex, WhatTheyHave) {
  HEAD;
  SAME_OF_MATRICES(C, Z, c, hemv, hbmv, hpmv, her, hpr, her2, hpr2);
  SAME_GER(C, Z, geru);
  SAME_GER(C, Z, gerc);
  SAME_DOT(C, Z, dotu);
  SAME_DOT(C, Z, dotc);
  SAME_OF(Cs, Zd, scal, (kN, c, x, 1), (s, kN, &c, x, 1));
  SAME_OF(Cs, Zd, rot, (kN, x, 1, y, 1, c, c), (s, kN, x, 1, y, 1, &c, &c));
  SAME_OF(C, Z, hemm, ('R', 'L', 3, kN, al, A, kN, x, kN, be, y, kN),
          (s, kRight, kLow, 3, kN, &al, A, kN, x, kN, &be, y, kN));
  SAME_OF(C, Z, herk, ('U', 'N', kN, 2, c, A, kN, c, y, kN), (s, kUp, kNone, kN, 2, &c, A, kN, &c, y, kN));
  SAME_OF(C, Z, her2k, ('U', 'N', kN, 2, al, A, kN, x, kN, c, y, kN),
          (s, kUp, kNone, kN, 2, &al, A, kN, x, kN, &c, y, kN));
  Real<T> first{}, second{};
  N b = be;
  SAME_OF(C, Z, rotg, (x, be, &first, x + 1), (s, x, &b, &second, x + 1));
  EXPECT_EQ(first, second);
}

TEST(BlasFirstLibrary, StateAndErrors) {
  float* device = nullptr;
  EXPECT_EQ(cublasShutdown(), CUBLAS_STATUS_NOT_INITIALIZED);
  cublasSscal(4, 2.0f, nullptr, 1);
  EXPECT_EQ(cublasGetError(), CUBLAS_STATUS_NOT_INITIALIZED);
  EXPECT_EQ(cublasGetError(), CUBLAS_STATUS_SUCCESS);  // it is forgotten
  EXPECT_EQ(cublasAlloc(4, 4, reinterpret_cast<void**>(&device)), CUBLAS_STATUS_NOT_INITIALIZED);
  EXPECT_EQ(cublasFree(nullptr), CUBLAS_STATUS_NOT_INITIALIZED);
  EXPECT_EQ(cublasSetKernelStream(nullptr), CUBLAS_STATUS_NOT_INITIALIZED);
  DONE(cublasInit());
  DONE(cublasInit());  // again: the same
  cublasGetError();
  int version = 0;
  DONE(cublasGetVersion(&version));
  EXPECT_EQ(version, CUBLAS_VERSION);
  EXPECT_EQ(cublasGetVersion(nullptr), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(cublasAlloc(0, 4, reinterpret_cast<void**>(&device)), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(cublasAlloc(4, 0, reinterpret_cast<void**>(&device)), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(cublasAlloc(4, 4, nullptr), CUBLAS_STATUS_INVALID_VALUE);
  DONE(cublasAlloc(4, sizeof(float), reinterpret_cast<void**>(&device)));
  cublasGetError();
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  DONE(cublasSetKernelStream(stream));
  const float host[4] = {1, -2, 3, -4};
  DONE(cublasSetVector(4, sizeof(float), host, 1, device, 1));
  EXPECT_EQ(cublasSasum(4, device, 1), 10.0f);
  DONE(cublasGetError());
  for (const auto& wrong : {"XNLU", "NXLU", "NNXU", "NNLX"}) {  // each letter in its turn
    cublasStrmm(wrong[2] == 'X' ? 'X' : 'L', wrong[3] == 'X' ? 'X' : 'U', wrong[0], wrong[1] == 'X' ? 'X' : 'N', 2, 2,
                1.0f, device, 2, device, 2);
    EXPECT_EQ(cublasGetError(), CUBLAS_STATUS_INVALID_VALUE) << wrong;
  }
  EXPECT_EQ(cublasSasum(4, nullptr, 0), 0.0f);  // no elements without a distance
  DONE(cublasGetError());
  DONE(cublasFree(device));
  DONE(cublasSetKernelStream(nullptr));
  DONE(cublasShutdown());
  ASSERT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

}  // namespace
}  // namespace warpgrind::test
