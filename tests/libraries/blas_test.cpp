// BLAS 1, 2 and 3 of cuBLAS in all four types.
#include "blas_calls.h"

namespace warpgrind::test {
namespace {

TYPED_TEST_SUITE(Blas, Types);

TYPED_TEST(Blas, VectorsAreChanged) {
  using T = TypeParam;
  constexpr int kN = 37;
  const Array<T> x(2 * kN), y(3 * kN);
  fill(x, 1);
  fill(y, 2);
  std::vector<T> ex = x.copy(), ey = y.copy();
  const T alpha = T(Real<T>(1.5));
  for (std::size_t i = 0; i < kN; ++i) ey[3 * i] += alpha * ex[2 * i];
  DONE(BLAS2(T, axpy)(this->handle, kN, cu(&alpha), cu(x), 2, cu(y), 3));
  expect_near(ey, y, tolerance<T>());
  for (std::size_t i = 0; i < kN; ++i) ex[2 * i] *= alpha;
  DONE(BLAS2(T, scal)(this->handle, kN, cu(&alpha), cu(x), 2));
  expect_near(ex, x, tolerance<T>());
  for (std::size_t i = 0; i < kN; ++i) std::swap(ex[2 * i], ey[3 * i]);
  DONE(BLAS2(T, swap)(this->handle, kN, cu(x), 2, cu(y), 3));
  expect_near(ex, x, tolerance<T>());
  expect_near(ey, y, tolerance<T>());
  // A negative increment begins at the end.
  for (std::size_t i = 0; i < kN; ++i) ey[3 * i] = ex[2 * (kN - 1 - i)];
  DONE(BLAS2(T, copy)(this->handle, kN, cu(x), -2, cu(y), 3));
  expect_near(ey, y, tolerance<T>());
  const Real<T> c = Real<T>(0.6);
  const T s = T(Real<T>(0.8));
  for (std::size_t i = 0; i < kN; ++i) {
    const T a = ex[2 * i], b = ey[3 * i];
    ex[2 * i] = c * a + s * b;
    ey[3 * i] = c * b - conjugate(s) * a;
  }
  DONE(BLAS2(T, rot)(this->handle, kN, cu(x), 2, cu(y), 3, &c, cu(&s)));
  expect_near(ex, x, tolerance<T>());
  expect_near(ey, y, tolerance<T>());
}

TYPED_TEST(Blas, VectorsComeDownToOneValue) {
  using T = TypeParam;
  constexpr int kN = 41;
  const Array<T> x(kN), y(2 * kN), on_device(1);
  fill(x, 3);
  fill(y, 4);
  x[17] = T(Real<T>(-9));
  x[5] = T(Real<T>(0.125));
  for (int i = 0; i < kN; ++i)
    if (x[static_cast<std::size_t>(i)] == T{}) x[static_cast<std::size_t>(i)] = T(1);
  Real<T> squares = 0, parts = 0;
  T dot{}, dotc{};
  for (std::size_t i = 0; i < kN; ++i) {
    squares += std::norm(x[i]);
    parts += std::abs(std::real(x[i])) + std::abs(std::imag(x[i]));
    dot += x[i] * y[2 * i];
    dotc += conjugate(x[i]) * y[2 * i];
  }
  Real<T> value = 0;
  DONE(BLAS_OF(T, cublasSnrm2, cublasDnrm2, cublasScnrm2, cublasDznrm2)(this->handle, kN, cu(x), 1, &value));
  EXPECT_NEAR(value, std::sqrt(squares), 1e-4);
  DONE(BLAS_OF(T, cublasSasum, cublasDasum, cublasScasum, cublasDzasum)(this->handle, kN, cu(x), 1, &value));
  EXPECT_NEAR(value, parts, 1e-4);
  int place = 0;
  DONE(BLAS_OF(T, cublasIsamax, cublasIdamax, cublasIcamax, cublasIzamax)(this->handle, kN, cu(x), 1, &place));
  EXPECT_EQ(place, 18);
  DONE(BLAS_OF(T, cublasIsamin, cublasIdamin, cublasIcamin, cublasIzamin)(this->handle, kN, cu(x), 1, &place));
  EXPECT_EQ(place, 6);
  std::int64_t wide = 0;
  DONE(BLAS_OF(T, cublasIsamax_64, cublasIdamax_64, cublasIcamax_64, cublasIzamax_64)(this->handle, kN, cu(x), 1,
                                                                                      &wide));
  EXPECT_EQ(wide, 18);
  DONE(BLAS_OF(T, cublasIsamax, cublasIdamax, cublasIcamax, cublasIzamax)(this->handle, 0, cu(x), 1, &place));
  EXPECT_EQ(place, 0);
  T sum{};
  DONE(BLAS_OF(T, cublasSdot, cublasDdot, cublasCdotu, cublasZdotu)(this->handle, kN, cu(x), 1, cu(y), 2, cu(&sum)));
  EXPECT_LE(std::abs(sum - dot), 1e-3);
  DONE(BLAS_OF(T, cublasSdot, cublasDdot, cublasCdotc, cublasZdotc)(this->handle, kN, cu(x), 1, cu(y), 2, cu(&sum)));
  EXPECT_LE(std::abs(sum - dotc), 1e-3);
  // The same to device memory.
  DONE(cublasSetPointerMode(this->handle, CUBLAS_POINTER_MODE_DEVICE));
  DONE(BLAS_OF(T, cublasSdot, cublasDdot, cublasCdotc, cublasZdotc)(this->handle, kN, cu(x), 1, cu(y), 2,
                                                                    cu(on_device)));
  expect_near({dotc}, on_device, 1e-4);
}

TYPED_TEST(Blas, Rotations) {
  using T = TypeParam;
  T a = T(Real<T>(3)), b = T(Real<T>(4)), s{};
  if constexpr (kIsComplex<T>) a = {3, 1}, b = {-2, 4};
  const T a0 = a, b0 = b;
  Real<T> c = 0;
  DONE(BLAS2(T, rotg)(this->handle, cu(&a), cu(&b), &c, cu(&s)));
  EXPECT_LE(std::abs(c * a0 + s * b0 - a), 1e-5);
  EXPECT_LE(std::abs(c * b0 - conjugate(s) * a0), 1e-5);
}

TYPED_TEST(Blas, MatricesTimesVectors) {
  using T = TypeParam;
  constexpr int kM = 13, kN = 9, kLd = 15;
  const T alpha = T(Real<T>(2)), beta = T(Real<T>(0.5));
  const Array<T> a(kLd * kN), x(2 * 16), y(16);
  for (const cublasOperation_t op : kOperations) {
    fill(a, 5);
    fill(x, 6);
    fill(y, 7);
    const int rows = op == CUBLAS_OP_N ? kM : kN, columns = op == CUBLAS_OP_N ? kN : kM;
    std::vector<T> expected = y.copy();
    for (int i = 0; i < rows; ++i) {
      T sum{};
      for (int j = 0; j < columns; ++j) sum += element(a.copy(), kLd, op, i, j) * x[static_cast<std::size_t>(2 * j)];
      expected[static_cast<std::size_t>(i)] = alpha * sum + beta * expected[static_cast<std::size_t>(i)];
    }
    DONE(BLAS2(T, gemv)(this->handle, op, kM, kN, cu(&alpha), cu(a), kLd, cu(x), 2, cu(&beta), cu(y), 1));
    expect_near(expected, y, tolerance<T>());
  }
  std::vector<T> expected = a.copy();
  for (int j = 0; j < kN; ++j)
    for (int i = 0; i < kM; ++i)
      expected[static_cast<std::size_t>(j * kLd + i)] +=
          alpha * x[static_cast<std::size_t>(i)] * conjugate(y[static_cast<std::size_t>(j)]);
  DONE(BLAS_OF(T, cublasSger, cublasDger, cublasCgerc, cublasZgerc)(this->handle, kM, kN, cu(&alpha), cu(x), 1, cu(y),
                                                                    1, cu(a), kLd));
  expect_near(expected, a, tolerance<T>());
}

// Bands of a dense matrix, as gbmv and its like store them.
TYPED_TEST(Blas, BandsAndPackedTriangles) {
  using T = TypeParam;
  constexpr int kN = 8, kBand = 2;
  const T one = T(1), zero{};
  const Array<T> dense(kN * kN), band(5 * kN), x(kN), y(kN), ap(kN * (kN + 1) / 2);
  fill(dense, 8);
  fill(x, 9);
  std::vector<T> whole = dense.copy();
  for (int j = 0; j < kN; ++j)
    for (int i = 0; i < kN; ++i) {
      T& v = whole[static_cast<std::size_t>(j * kN + i)];
      if (std::abs(i - j) > kBand) v = zero;
      if (std::abs(i - j) <= kBand) band[static_cast<std::size_t>(j * 5 + kBand + i - j)] = v;
    }
  std::vector<T> expected(kN);
  product(CUBLAS_OP_N, CUBLAS_OP_N, kN, 1, kN, one, whole, kN, x.copy(), kN, zero, expected, kN);
  DONE(BLAS2(T, gbmv)(this->handle, CUBLAS_OP_N, kN, kN, kBand, kBand, cu(&one), cu(band), 5, cu(x), 1, cu(&zero),
                      cu(y), 1));
  expect_near(expected, y, tolerance<T>());
  for (const cublasFillMode_t uplo : kTriangles) {
    const std::vector<T> sym = symmetric(dense.copy(), kN, uplo, true);
    copy_to(ap, packed(dense.copy(), kN, uplo));
    product(CUBLAS_OP_N, CUBLAS_OP_N, kN, 1, kN, one, sym, kN, x.copy(), kN, zero, expected, kN);
    DONE(BLAS_OF(T, cublasSspmv, cublasDspmv, cublasChpmv, cublasZhpmv)(this->handle, uplo, kN, cu(&one), cu(ap), cu(x),
                                                                        1, cu(&zero), cu(y), 1));
    expect_near(expected, y, tolerance<T>());
    DONE(BLAS_OF(T, cublasSsymv, cublasDsymv, cublasChemv, cublasZhemv)(this->handle, uplo, kN, cu(&one), cu(dense), kN,
                                                                        cu(x), 1, cu(&zero), cu(y), 1));
    expect_near(expected, y, tolerance<T>());
    product(CUBLAS_OP_N, CUBLAS_OP_N, kN, 1, kN, one, symmetric(dense.copy(), kN, uplo, false), kN, x.copy(), kN, zero,
            expected, kN);
    DONE(BLAS2(T, symv)(this->handle, uplo, kN, cu(&one), cu(dense), kN, cu(x), 1, cu(&zero), cu(y), 1));
    expect_near(expected, y, tolerance<T>());
    // The Hermitian band of one diagonal to each side.
    const Array<T> narrow(2 * kN);
    std::vector<T> banded = sym;
    for (int j = 0; j < kN; ++j)
      for (int i = 0; i < kN; ++i)
        if (std::abs(i - j) > 1) banded[static_cast<std::size_t>(j * kN + i)] = zero;
    for (int j = 0; j < kN; ++j)
      for (int d = 0; d < 2; ++d) {
        const int i = uplo == CUBLAS_FILL_MODE_UPPER ? j - 1 + d : j + d;
        if (i >= 0 && i < kN) narrow[static_cast<std::size_t>(2 * j + d)] = dense[static_cast<std::size_t>(j * kN + i)];
      }
    product(CUBLAS_OP_N, CUBLAS_OP_N, kN, 1, kN, one, banded, kN, x.copy(), kN, zero, expected, kN);
    DONE(BLAS_OF(T, cublasSsbmv, cublasDsbmv, cublasChbmv, cublasZhbmv)(this->handle, uplo, kN, 1, cu(&one), cu(narrow),
                                                                        2, cu(x), 1, cu(&zero), cu(y), 1));
    expect_near(expected, y, tolerance<T>());
  }
}

TYPED_TEST(Blas, TrianglesTimesVectorsAndBack) {
  using T = TypeParam;
  constexpr int kN = 7;
  const Array<T> a(kN * kN), x(kN), ap(kN * (kN + 1) / 2), band(kN * kN);
  const T one = T(1), zero{};
  for (const cublasFillMode_t uplo : kTriangles)
    for (const cublasOperation_t op : kOperations)
      for (const cublasDiagType_t diag : kDiagonals) {
        fill(a, 10);
        fill(x, 11);
        for (std::size_t i = 0; i < kN; ++i) a[i * kN + i] = T(Real<T>(2));
        const std::vector<T> begin = x.copy(), whole = triangular(a.copy(), kN, uplo, diag);
        std::vector<T> expected(kN);
        product(op, CUBLAS_OP_N, kN, 1, kN, one, whole, kN, begin, kN, zero, expected, kN);
        DONE(BLAS2(T, trmv)(this->handle, uplo, op, diag, kN, cu(a), kN, cu(x), 1));
        expect_near(expected, x, tolerance<T>());
        DONE(BLAS2(T, trsv)(this->handle, uplo, op, diag, kN, cu(a), kN, cu(x), 1));
        expect_near(begin, x, 100 * tolerance<T>());
        copy_to(ap, packed(a.copy(), kN, uplo));
        copy_to(x, begin);
        DONE(BLAS2(T, tpmv)(this->handle, uplo, op, diag, kN, cu(ap), cu(x), 1));
        expect_near(expected, x, tolerance<T>());
        DONE(BLAS2(T, tpsv)(this->handle, uplo, op, diag, kN, cu(ap), cu(x), 1));
        expect_near(begin, x, 100 * tolerance<T>());
        for (int j = 0; j < kN; ++j)  // a band as wide as the triangle
          for (int i = 0; i < kN; ++i) {
            const int row = uplo == CUBLAS_FILL_MODE_UPPER ? kN - 1 + i - j : i - j;
            if (row >= 0 && row < kN)
              band[static_cast<std::size_t>(j * kN + row)] = a[static_cast<std::size_t>(j * kN + i)];
          }
        copy_to(x, begin);
        DONE(BLAS2(T, tbmv)(this->handle, uplo, op, diag, kN, kN - 1, cu(band), kN, cu(x), 1));
        expect_near(expected, x, tolerance<T>());
        DONE(BLAS2(T, tbsv)(this->handle, uplo, op, diag, kN, kN - 1, cu(band), kN, cu(x), 1));
        expect_near(begin, x, 100 * tolerance<T>());
      }
}

TYPED_TEST(Blas, SymmetricUpdates) {
  using T = TypeParam;
  constexpr int kN = 6;
  const Array<T> a(kN * kN), x(kN), y(kN), ap(kN * (kN + 1) / 2);
  const T alpha = T(Real<T>(1.5));
  const Real<T> real_alpha = Real<T>(1.5);
  for (const cublasFillMode_t uplo : kTriangles) {
    fill(a, 12);
    fill(x, 13);
    fill(y, 14);
    for (std::size_t i = 0; i < kN; ++i) a[i * kN + i] = T(std::real(a[i * kN + i]));
    copy_to(ap, packed(a.copy(), kN, uplo));
    std::vector<T> expected = a.copy();
    const auto each = [&](auto change) {
      for (int j = 0; j < kN; ++j)
        for (int i = 0; i < kN; ++i)
          if (uplo == CUBLAS_FILL_MODE_UPPER ? i <= j : i >= j)
            expected[static_cast<std::size_t>(j * kN + i)] +=
                change(static_cast<std::size_t>(i), static_cast<std::size_t>(j));
    };
    each([&](std::size_t i, std::size_t j) { return real_alpha * x[i] * conjugate(x[j]); });
    DONE(BLAS_OF(T, cublasSsyr, cublasDsyr, cublasCher, cublasZher)(this->handle, uplo, kN, &real_alpha, cu(x), 1,
                                                                    cu(a), kN));
    expect_near(expected, a, tolerance<T>());
    DONE(BLAS_OF(T, cublasSspr, cublasDspr, cublasChpr, cublasZhpr)(this->handle, uplo, kN, &real_alpha, cu(x), 1,
                                                                    cu(ap)));
    expect_near(packed(expected, kN, uplo), ap, tolerance<T>());
    each([&](std::size_t i, std::size_t j) {
      return alpha * x[i] * conjugate(y[j]) + conjugate(alpha) * y[i] * conjugate(x[j]);
    });
    DONE(BLAS_OF(T, cublasSsyr2, cublasDsyr2, cublasCher2, cublasZher2)(this->handle, uplo, kN, cu(&alpha), cu(x), 1,
                                                                        cu(y), 1, cu(a), kN));
    expect_near(expected, a, tolerance<T>());
    DONE(BLAS_OF(T, cublasSspr2, cublasDspr2, cublasChpr2, cublasZhpr2)(this->handle, uplo, kN, cu(&alpha), cu(x), 1,
                                                                        cu(y), 1, cu(ap)));
    expect_near(packed(expected, kN, uplo), ap, tolerance<T>());
    each([&](std::size_t i, std::size_t j) { return alpha * x[i] * x[j]; });
    DONE(BLAS2(T, syr)(this->handle, uplo, kN, cu(&alpha), cu(x), 1, cu(a), kN));
    expect_near(expected, a, tolerance<T>());
    each([&](std::size_t i, std::size_t j) { return alpha * (x[i] * y[j] + y[i] * x[j]); });
    DONE(BLAS2(T, syr2)(this->handle, uplo, kN, cu(&alpha), cu(x), 1, cu(y), 1, cu(a), kN));
    expect_near(expected, a, tolerance<T>());
  }
}

TYPED_TEST(Blas, Products) {
  using T = TypeParam;
  constexpr int kM = 11, kN = 7, kK = 9, kLd = 13;
  const Array<T> a(kLd * kLd), b(kLd * kLd), c(kLd * kN);
  const T alpha = T(Real<T>(1.5));
  for (const cublasOperation_t ta : kOperations)
    for (const cublasOperation_t tb : kOperations)
      for (const T beta : {T{}, T(Real<T>(-0.5))}) {
        fill(a, 15);
        fill(b, 16);
        fill(c, 17);
        std::vector<T> expected = c.copy();
        product(ta, tb, kM, kN, kK, alpha, a.copy(), kLd, b.copy(), kLd, beta, expected, kLd);
        DONE(BLAS2(T, gemm)(this->handle, ta, tb, kM, kN, kK, cu(&alpha), cu(a), kLd, cu(b), kLd, cu(&beta), cu(c),
                            kLd));
        expect_near(expected, c, tolerance<T>());
      }
}

TYPED_TEST(Blas, SymmetricProducts) {
  using T = TypeParam;
  constexpr int kM = 6, kN = 4;
  const T alpha = T(Real<T>(1.5)), beta = T(Real<T>(0.5));
  for (const cublasSideMode_t side : kSides)
    for (const cublasFillMode_t uplo : kTriangles)
      for (const bool hermitian : {false, true}) {
        const int size = side == CUBLAS_SIDE_LEFT ? kM : kN;
        const Array<T> a(static_cast<std::size_t>(size * size)), b(kM * kN), c(kM * kN);
        fill(a, 18);
        fill(b, 19);
        fill(c, 20);
        const std::vector<T> whole = symmetric(a.copy(), size, uplo, hermitian);
        std::vector<T> expected = c.copy();
        if (side == CUBLAS_SIDE_LEFT)
          product(CUBLAS_OP_N, CUBLAS_OP_N, kM, kN, kM, alpha, whole, kM, b.copy(), kM, beta, expected, kM);
        else
          product(CUBLAS_OP_N, CUBLAS_OP_N, kM, kN, kN, alpha, b.copy(), kM, whole, kN, beta, expected, kM);
        const auto function =
            hermitian ? BLAS_OF(T, cublasSsymm, cublasDsymm, cublasChemm, cublasZhemm) : BLAS2(T, symm);
        DONE(function(this->handle, side, uplo, kM, kN, cu(&alpha), cu(a), size, cu(b), kM, cu(&beta), cu(c), kM));
        expect_near(expected, c, tolerance<T>());
      }
}

TYPED_TEST(Blas, RankUpdates) {
  using T = TypeParam;
  constexpr int kN = 6, kK = 4;
  const T alpha = T(Real<T>(1.5)), beta = T(Real<T>(0.5));
  const Real<T> ra = Real<T>(1.5), rb = Real<T>(0.5);
  for (const cublasFillMode_t uplo : kTriangles)
    for (const bool transposed : {false, true})
      for (const bool hermitian : {false, true}) {
        const cublasOperation_t mirror = hermitian ? CUBLAS_OP_C : CUBLAS_OP_T, plain = CUBLAS_OP_N;
        const cublasOperation_t first = transposed ? mirror : plain, second = transposed ? plain : mirror;
        const int ld = transposed ? kK : kN;
        const Array<T> a(kN * kK), b(kN * kK), c(kN * kN);
        fill(a, 21);
        fill(b, 22);
        fill(c, 23);
        for (std::size_t i = 0; i < kN; ++i) c[i * kN + i] = T(std::real(c[i * kN + i]));
        const auto triangle_of = [&](const std::vector<T>& old, const std::vector<T>& whole) {
          std::vector<T> out = old;
          for (int j = 0; j < kN; ++j)
            for (int i = 0; i < kN; ++i)
              if (uplo == CUBLAS_FILL_MODE_UPPER ? i <= j : i >= j)
                out[static_cast<std::size_t>(j * kN + i)] = whole[static_cast<std::size_t>(j * kN + i)];
          return out;
        };
        std::vector<T> old = c.copy(), whole = old;
        product(first, second, kN, kN, kK, alpha, a.copy(), ld, a.copy(), ld, beta, whole, kN);
        std::vector<T> expected = triangle_of(old, whole);
        if (hermitian)
          DONE(BLAS_OF(T, cublasSsyrk, cublasDsyrk, cublasCherk, cublasZherk)(this->handle, uplo, first, kN, kK, &ra,
                                                                              cu(a), ld, &rb, cu(c), kN));
        else
          DONE(BLAS2(T, syrk)(this->handle, uplo, first, kN, kK, cu(&alpha), cu(a), ld, cu(&beta), cu(c), kN));
        expect_near(expected, c, tolerance<T>());
        old = whole = expected;
        product(first, second, kN, kN, kK, alpha, a.copy(), ld, b.copy(), ld, beta, whole, kN);
        product(first, second, kN, kN, kK, alpha, b.copy(), ld, a.copy(), ld, T(1), whole, kN);
        expected = triangle_of(old, whole);
        if (hermitian)
          DONE(BLAS_OF(T, cublasSsyr2k, cublasDsyr2k, cublasCher2k, cublasZher2k)(
              this->handle, uplo, first, kN, kK, cu(&alpha), cu(a), ld, cu(b), ld, &rb, cu(c), kN));
        else
          DONE(BLAS2(T, syr2k)(this->handle, uplo, first, kN, kK, cu(&alpha), cu(a), ld, cu(b), ld, cu(&beta), cu(c),
                               kN));
        expect_near(expected, c, tolerance<T>());
        if (hermitian) continue;
        old = whole = expected;
        product(first, second, kN, kN, kK, alpha, a.copy(), ld, b.copy(), ld, beta, whole, kN);
        expected = triangle_of(old, whole);
        DONE(
            BLAS1(T, syrkx)(this->handle, uplo, first, kN, kK, cu(&alpha), cu(a), ld, cu(b), ld, cu(&beta), cu(c), kN));
        expect_near(expected, c, tolerance<T>());
      }
}

TYPED_TEST(Blas, TriangularProductsAndSolutions) {
  using T = TypeParam;
  constexpr int kM = 5, kN = 4;
  const T alpha = T(Real<T>(2)), half = T(Real<T>(0.5)), zero{};
  for (const cublasSideMode_t side : kSides)
    for (const cublasFillMode_t uplo : kTriangles)
      for (const cublasOperation_t op : kOperations)
        for (const cublasDiagType_t diag : kDiagonals) {
          const int size = side == CUBLAS_SIDE_LEFT ? kM : kN;
          const Array<T> a(static_cast<std::size_t>(size * size)), b(kM * kN), c(kM * kN);
          fill(a, 24);
          fill(b, 25);
          for (int i = 0; i < size; ++i) a[static_cast<std::size_t>(i * size + i)] = T(Real<T>(2));
          const std::vector<T> whole = triangular(a.copy(), size, uplo, diag);
          std::vector<T> expected(kM * kN);
          if (side == CUBLAS_SIDE_LEFT)
            product(op, CUBLAS_OP_N, kM, kN, kM, alpha, whole, kM, b.copy(), kM, zero, expected, kM);
          else
            product(CUBLAS_OP_N, op, kM, kN, kN, alpha, b.copy(), kM, whole, kN, zero, expected, kM);
          DONE(BLAS2(T, trmm)(this->handle, side, uplo, op, diag, kM, kN, cu(&alpha), cu(a), size, cu(b), kM, cu(c),
                              kM));
          expect_near(expected, c, tolerance<T>());
          DONE(BLAS2(T, trsm)(this->handle, side, uplo, op, diag, kM, kN, cu(&half), cu(a), size, cu(c), kM));
          expect_near(b.copy(), c, 100 * tolerance<T>());
        }
}

}  // namespace
}  // namespace warpgrind::test
