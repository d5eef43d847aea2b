// cuSOLVER's factorisations: LU, Cholesky, QR, LDL^T, and the systems solved with them. Results are checked by
// residuals.
#include "solver_matrices.h"

namespace warpgrind::test {
namespace {

using FactorisationCalls = Solver<double>;

template <class T>
class Factorisations : public Solver<T> {};
TYPED_TEST_SUITE(Factorisations, Types);

template <class T>
void exchange_rows(Matrix<T>& a, const std::vector<int>& pivots) {
  for (int k = 0; k < static_cast<int>(pivots.size()); ++k)
    for (int j = 0; j < a.columns; ++j) std::swap(a(k, j), a(pivots[static_cast<std::size_t>(k)] - 1, j));
}

TYPED_TEST(Factorisations, Lu) {
  using T = TypeParam;
  for (const auto& [m, n] : {std::pair{5, 5}, {7, 4}, {3, 6}}) {
    const Matrix<T> a = random_matrix<T>(m, n, 1);
    const OnDevice<T> on_device(a);
    const int least = std::min(m, n);
    const Array<int> pivots(static_cast<std::size_t>(least));
    DONE(SOLVER(T, getrf_bufferSize)(this->handle, m, n, on_device.cuda(), on_device.ld(), &this->lwork));
    const Array<T> work(static_cast<std::size_t>(this->lwork));
    DONE(SOLVER(T, getrf)(this->handle, m, n, on_device.cuda(), on_device.ld(), cu(work), pivots.data(),
                          this->info.data()));
    ASSERT_EQ(this->result(), 0);
    const Matrix<T> factors = on_device.host();
    Matrix<T> expected = a;
    exchange_rows(expected, pivots.copy());
    expect_same(expected, part(factors, Part::unit_lower, m, least) * part(factors, Part::upper, least, n));
    if (m != n) continue;
    for (const auto op : {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C}) {
      const Matrix<T> b = random_matrix<T>(n, 2, 2);
      const OnDevice<T> x(b);
      DONE(SOLVER(T, getrs)(this->handle, op, n, 2, on_device.cuda(), on_device.ld(), pivots.data(), x.cuda(), x.ld(),
                            this->info.data()));
      expect_same(b,
                  (op == CUBLAS_OP_N   ? a
                   : op == CUBLAS_OP_T ? transpose(a)
                                       : adjoint(a)) *
                      x.host(),
                  10 * near<T>());
    }
  }
}

TYPED_TEST(Factorisations, LuWithoutExchangesAndOfSingularMatrices) {
  using T = TypeParam;
  constexpr int kN = 4;
  Matrix<T> a = positive<T>(kN, 3);
  const OnDevice<T> on_device(a);
  const Array<T> work(1000);
  DONE(SOLVER(T, getrf)(this->handle, kN, kN, on_device.cuda(), on_device.ld(), cu(work), nullptr, this->info.data()));
  ASSERT_EQ(this->result(), 0);
  const Matrix<T> f = on_device.host();
  expect_same(a, part(f, Part::unit_lower, kN, kN) * part(f, Part::upper, kN, kN));
  for (int i = 0; i < kN; ++i) a(i, 2) = T{};  // the third pivot is 0
  const OnDevice<T> singular(a);
  const Array<int> pivots(kN);
  DONE(SOLVER(T, getrf)(this->handle, kN, kN, singular.cuda(), singular.ld(), cu(work), pivots.data(),
                        this->info.data()));
  EXPECT_EQ(this->result(), 3);
}

TYPED_TEST(Factorisations, RowsAreExchanged) {
  using T = TypeParam;
  const Matrix<T> a = random_matrix<T>(4, 3, 4);
  const OnDevice<T> on_device(a, 0);
  const Array<int> pivots{3, 4, 3, 4};
  const auto laswp = SOLVER(T, laswp);
  DONE(laswp(this->handle, 3, on_device.cuda(), 4, 1, 3, pivots.data(), 1));
  Matrix<T> expected = a;
  exchange_rows(expected, {3, 4, 3});
  expect_same(expected, on_device.host(), 0);
  DONE(laswp(this->handle, 3, on_device.cuda(), 4, 1, 3, pivots.data(), -1));
  expect_same(a, on_device.host(), 0);
  EXPECT_EQ(laswp(this->handle, 3, on_device.cuda(), 4, 2, 5, pivots.data(), 1), kInvalid);
  EXPECT_EQ(laswp(nullptr, 3, on_device.cuda(), 4, 1, 3, pivots.data(), 1), kNone);
}

TYPED_TEST(Factorisations, Cholesky) {
  using T = TypeParam;
  constexpr int kN = 5;
  for (const auto uplo : {kLower, kUpper}) {
    const Matrix<T> a = positive<T>(kN, 5);
    const OnDevice<T> f(a);
    const auto size = [&](auto function) {
      EXPECT_EQ(function(this->handle, uplo, kN, f.cuda(), f.ld(), &this->lwork), CUSOLVER_STATUS_SUCCESS);
      return static_cast<std::size_t>(this->lwork);
    };
    const Array<T> work(size(SOLVER(T, potrf_bufferSize)));
    DONE(SOLVER(T, potrf)(this->handle, uplo, kN, f.cuda(), f.ld(), cu(work), this->lwork, this->info.data()));
    ASSERT_EQ(this->result(), 0);
    const Part which = uplo == kLower ? Part::lower : Part::upper;
    const Matrix<T> factor = part(f.host(), which, kN, kN);
    expect_same(a, uplo == kLower ? factor * adjoint(factor) : adjoint(factor) * factor);
    const Matrix<T> b = random_matrix<T>(kN, 3, 6);
    const OnDevice<T> x(b);
    DONE(SOLVER(T, potrs)(this->handle, uplo, kN, 3, f.cuda(), f.ld(), x.cuda(), x.ld(), this->info.data()));
    expect_same(b, a * x.host(), 10 * near<T>());
    const OnDevice<T> product(factor);
    const Array<T> more(size(SOLVER(T, lauum_bufferSize)));
    DONE(SOLVER(T, lauum)(this->handle, uplo, kN, product.cuda(), product.ld(), cu(more), this->lwork,
                          this->info.data()));
    expect_same(part(uplo == kLower ? adjoint(factor) * factor : factor * adjoint(factor), which, kN, kN),
                part(product.host(), which, kN, kN));
    const Array<T> most(size(SOLVER(T, potri_bufferSize)));
    DONE(SOLVER(T, potri)(this->handle, uplo, kN, f.cuda(), f.ld(), cu(most), this->lwork, this->info.data()));
    ASSERT_EQ(this->result(), 0);
    Matrix<T> inverse = part(f.host(), which, kN, kN);
    for (int j = 0; j < kN; ++j)
      for (int i = 0; i < kN; ++i)
        if (uplo == kLower ? i < j : i > j) inverse(i, j) = conjugate(inverse(j, i));
    expect_same(identity<T>(kN), a * inverse, 100 * near<T>());
  }
}

TYPED_TEST(Factorisations, CholeskyOfIndefiniteMatrices) {
  using T = TypeParam;
  Matrix<T> a = positive<T>(4, 7);
  a(2, 2) = T(-100);
  const OnDevice<T> f(a);
  const Array<T> work(1000);
  DONE(SOLVER(T, potrf)(this->handle, kLower, 4, f.cuda(), f.ld(), cu(work), 1000, this->info.data()));
  EXPECT_EQ(this->result(), 3);
}

TYPED_TEST(Factorisations, CholeskyOfBatches) {
  using T = TypeParam;
  constexpr int kN = 3, kCount = 3;
  std::vector<Matrix<T>> all = {positive<T>(kN, 8), positive<T>(kN, 9), positive<T>(kN, 10)};
  all[1](0, 0) = T(-1);  // not positive definite: the others are factored
  const OnDevice<T> a0(all[0]), a1(all[1]), a2(all[2]);
  const Matrix<T> b = random_matrix<T>(kN, 1, 11);
  const OnDevice<T> x0(b), x1(b), x2(b);
  using Pointer = decltype(a0.cuda());
  const Array<Pointer> a{a0.cuda(), a1.cuda(), a2.cuda()}, x{x0.cuda(), x1.cuda(), x2.cuda()};
  const auto factor = SOLVER(T, potrfBatched);
  const auto solve = SOLVER(T, potrsBatched);
  DONE(factor(this->handle, kUpper, kN, a.data(), a0.ld(), this->info.data(), kCount));
  EXPECT_EQ(this->result(0), 0);
  EXPECT_EQ(this->result(1), 1);
  EXPECT_EQ(this->result(2), 0);
  DONE(solve(this->handle, kUpper, kN, 1, a.data(), a0.ld(), x.data(), x0.ld(), this->info.data(), kCount));
  EXPECT_EQ(this->result(0), 0);
  expect_same(b, all[0] * x0.host(), 10 * near<T>());
  expect_same(b, all[2] * x2.host(), 10 * near<T>());
  EXPECT_EQ(solve(this->handle, kUpper, kN, 2, a.data(), a0.ld(), x.data(), x0.ld(), this->info.data(), kCount),
            kInvalid);
  EXPECT_EQ(factor(this->handle, kUpper, kN, nullptr, a0.ld(), this->info.data(), kCount), kInvalid);
  EXPECT_EQ(factor(this->handle, kUpper, kN, a.data(), kN - 1, this->info.data(), kCount), kInvalid);
  DONE(factor(this->handle, kUpper, kN, a.data(), a0.ld(), this->info.data(), 0));
}

TYPED_TEST(Factorisations, Qr) {
  using T = TypeParam;
  constexpr int kM = 6, kN = 4;
  const Matrix<T> a = random_matrix<T>(kM, kN, 12);
  const OnDevice<T> f(a);
  const Array<T> tau(kN);
  DONE(SOLVER(T, geqrf_bufferSize)(this->handle, kM, kN, f.cuda(), f.ld(), &this->lwork));
  const Array<T> work(static_cast<std::size_t>(this->lwork));
  DONE(SOLVER(T, geqrf)(this->handle, kM, kN, f.cuda(), f.ld(), cu(tau), cu(work), this->lwork, this->info.data()));
  ASSERT_EQ(this->result(), 0);
  const Matrix<T> r = part(f.host(), Part::upper, kN, kN);

  const auto apply = SOLVER2(T, ormqr, unmqr);
  const OnDevice<T> c(a);  // Q^H A = R
  DONE(SOLVER2(T, ormqr_bufferSize, unmqr_bufferSize)(this->handle, CUBLAS_SIDE_LEFT, CUBLAS_OP_C, kM, kN, kN, f.cuda(),
                                                      f.ld(), cu(tau), c.cuda(), c.ld(), &this->lwork));
  const Array<T> more(static_cast<std::size_t>(this->lwork));
  DONE(apply(this->handle, CUBLAS_SIDE_LEFT, CUBLAS_OP_C, kM, kN, kN, f.cuda(), f.ld(), cu(tau), c.cuda(), c.ld(),
             cu(more), this->lwork, this->info.data()));
  Matrix<T> expected(kM, kN);
  for (int j = 0; j < kN; ++j)
    for (int i = 0; i <= j; ++i) expected(i, j) = r(i, j);
  expect_same(expected, c.host());

  DONE(SOLVER2(T, orgqr_bufferSize, ungqr_bufferSize)(this->handle, kM, kN, kN, f.cuda(), f.ld(), cu(tau),
                                                      &this->lwork));
  const Array<T> most(static_cast<std::size_t>(this->lwork));
  DONE(SOLVER2(T, orgqr, ungqr)(this->handle, kM, kN, kN, f.cuda(), f.ld(), cu(tau), cu(most), this->lwork,
                                this->info.data()));
  const Matrix<T> q = f.host();
  expect_orthonormal(q);
  expect_same(a, q * r);
  EXPECT_EQ(apply(this->handle, CUBLAS_SIDE_LEFT, CUBLAS_OP_N, kM, kN, kM + 1, f.cuda(), f.ld(), cu(tau), c.cuda(),
                  c.ld(), cu(more), this->lwork, this->info.data()),
            kInvalid);
}

TYPED_TEST(Factorisations, SymmetricIndefinite) {
  using T = TypeParam;
  constexpr int kN = 5;
  const Matrix<T> half = random_matrix<T>(kN, kN, 13);
  const Matrix<T> a = half + transpose(half);  // symmetric, also if complex
  for (const auto uplo : {kLower, kUpper})
    for (const bool exchanges : {true, false}) {
      Matrix<T> matrix = a;
      for (int i = 0; i < kN && !exchanges; ++i) matrix(i, i) += T(20);
      const OnDevice<T> f(matrix);
      const Array<int> pivots(kN);
      int* const rows = exchanges ? pivots.data() : nullptr;
      DONE(SOLVER(T, sytrf_bufferSize)(this->handle, kN, f.cuda(), f.ld(), &this->lwork));
      const Array<T> work(static_cast<std::size_t>(this->lwork));
      DONE(SOLVER(T, sytrf)(this->handle, uplo, kN, f.cuda(), f.ld(), rows, cu(work), this->lwork, this->info.data()));
      ASSERT_EQ(this->result(), 0);
      const Matrix<T> b = random_matrix<T>(kN, 2, 14);
      const OnDevice<T> x(b);
      const Array<std::int64_t> wide(kN);
      for (std::size_t i = 0; i < kN; ++i) wide[i] = pivots[i];
      const std::int64_t* const wide_rows = exchanges ? wide.data() : nullptr;
      DONE(cusolverDnXsytrs_bufferSize(this->handle, uplo, kN, 2, data_type<T>(), f.data(), f.ld(), wide_rows,
                                       data_type<T>(), x.data(), x.ld(), &this->bytes, &this->host_bytes));
      const Array<char> space(this->bytes);
      DONE(cusolverDnXsytrs(this->handle, uplo, kN, 2, data_type<T>(), f.data(), f.ld(), wide_rows, data_type<T>(),
                            x.data(), x.ld(), space.data(), this->bytes, nullptr, 0, this->info.data()));
      ASSERT_EQ(this->result(), 0);
      expect_same(b, matrix * x.host(), 100 * near<T>());
      DONE(SOLVER(T, sytri_bufferSize)(this->handle, uplo, kN, f.cuda(), f.ld(), rows, &this->lwork));
      const Array<T> more(static_cast<std::size_t>(this->lwork));
      DONE(SOLVER(T, sytri)(this->handle, uplo, kN, f.cuda(), f.ld(), rows, cu(more), this->lwork, this->info.data()));
      ASSERT_EQ(this->result(), 0);
      Matrix<T> inverse = f.host();
      for (int j = 0; j < kN; ++j)
        for (int i = 0; i < kN; ++i)
          if (uplo == kLower ? i < j : i > j) inverse(i, j) = inverse(j, i);
      expect_same(identity<T>(kN), matrix * inverse, 100 * near<T>());
    }
}

TYPED_TEST(Factorisations, WideFunctions) {
  using T = TypeParam;
  constexpr auto kType = data_type<T>();
  constexpr int kN = 5;
  cusolverDnParams_t params = nullptr;
  DONE(cusolverDnCreateParams(&params));
  const Matrix<T> a = positive<T>(kN, 15), b = random_matrix<T>(kN, 2, 16);
  const OnDevice<T> lu(a), cholesky(a), qr(a), triangle(a), x(b), y(b);
  const Array<std::int64_t> pivots(kN);
  DONE(cusolverDnXgetrf_bufferSize(this->handle, params, kN, kN, kType, lu.data(), lu.ld(), kType, &this->bytes,
                                   &this->host_bytes));
  const Array<char> work(this->bytes);
  DONE(cusolverDnXgetrf(this->handle, params, kN, kN, kType, lu.data(), lu.ld(), pivots.data(), kType, work.data(),
                        this->bytes, nullptr, this->host_bytes, this->info.data()));
  DONE(cusolverDnXgetrs(this->handle, params, CUBLAS_OP_N, kN, 2, kType, lu.data(), lu.ld(), pivots.data(), kType,
                        x.data(), x.ld(), this->info.data()));
  expect_same(b, a * x.host(), 10 * near<T>());
  DONE(cusolverDnXpotrf_bufferSize(this->handle, params, kUpper, kN, kType, cholesky.data(), cholesky.ld(), kType,
                                   &this->bytes, &this->host_bytes));
  DONE(cusolverDnXpotrf(this->handle, params, kUpper, kN, kType, cholesky.data(), cholesky.ld(), kType, work.data(),
                        this->bytes, nullptr, 0, this->info.data()));
  DONE(cusolverDnXpotrs(this->handle, params, kUpper, kN, 2, kType, cholesky.data(), cholesky.ld(), kType, y.data(),
                        y.ld(), this->info.data()));
  expect_same(b, a * y.host(), 10 * near<T>());
  const Array<T> tau(kN);
  DONE(cusolverDnXgeqrf_bufferSize(this->handle, params, kN, kN, kType, qr.data(), qr.ld(), kType, tau.data(), kType,
                                   &this->bytes, &this->host_bytes));
  DONE(cusolverDnXgeqrf(this->handle, params, kN, kN, kType, qr.data(), qr.ld(), kType, tau.data(), kType, work.data(),
                        this->bytes, nullptr, 0, this->info.data()));
  const Matrix<T> r = part(qr.host(), Part::upper, kN, kN);
  expect_same(adjoint(a) * a, adjoint(r) * r, 10 * near<T>());
  // The block reflector I - V T V^H is Q.
  const OnDevice<T> block(kN, kN);
  DONE(cusolverDnXlarft_bufferSize(this->handle, params, CUBLAS_DIRECT_FORWARD, CUBLAS_STOREV_COLUMNWISE, kN, kN, kType,
                                   qr.data(), qr.ld(), kType, tau.data(), kType, block.data(), block.ld(), kType,
                                   &this->bytes, &this->host_bytes));
  DONE(cusolverDnXlarft(this->handle, params, CUBLAS_DIRECT_FORWARD, CUBLAS_STOREV_COLUMNWISE, kN, kN, kType, qr.data(),
                        qr.ld(), kType, tau.data(), kType, block.data(), block.ld(), kType, work.data(), this->bytes,
                        nullptr, 0));
  const Matrix<T> v = part(qr.host(), Part::unit_lower, kN, kN);
  Matrix<T> q = v * part(block.host(), Part::upper, kN, kN) * adjoint(v);
  for (T& value : q.values) value = -value;
  for (int i = 0; i < kN; ++i) q(i, i) += T(1);
  expect_same(a, q * r, 10 * near<T>());
  DONE(cusolverDnXtrtri_bufferSize(this->handle, kLower, CUBLAS_DIAG_NON_UNIT, kN, kType, triangle.data(),
                                   triangle.ld(), &this->bytes, &this->host_bytes));
  DONE(cusolverDnXtrtri(this->handle, kLower, CUBLAS_DIAG_NON_UNIT, kN, kType, triangle.data(), triangle.ld(),
                        work.data(), this->bytes, nullptr, 0, this->info.data()));
  ASSERT_EQ(this->result(), 0);
  expect_same(identity<T>(kN), part(a, Part::lower, kN, kN) * part(triangle.host(), Part::lower, kN, kN),
              10 * near<T>());
  DONE(cusolverDnDestroyParams(params));
}

TEST_F(FactorisationCalls, FactorisationsWithWrongArguments) {
  const OnDevice<double> a(positive<double>(3, 17));
  const Array<double> work(200);
  const Array<int> pivots(3);
  int* const i = info.data();
  EXPECT_EQ(cusolverDnDgetrf_bufferSize(nullptr, 3, 3, a.data(), 5, &lwork), kNone);
  EXPECT_EQ(cusolverDnDgetrf_bufferSize(handle, -1, 3, a.data(), 5, &lwork), kInvalid);
  EXPECT_EQ(cusolverDnDgetrf_bufferSize(handle, 3, 3, a.data(), 2, &lwork), CUSOLVER_STATUS_SUCCESS);  // as on an H200
  EXPECT_EQ(cusolverDnDgeqrf_bufferSize(handle, 5, 4, a.data(), 4, &lwork), CUSOLVER_STATUS_SUCCESS);  // CuPy's qr()
  EXPECT_EQ(cusolverDnDgetrf_bufferSize(handle, 3, 3, a.data(), 5, nullptr), kInvalid);
  EXPECT_EQ(cusolverDnDgetrf(nullptr, 3, 3, a.data(), 5, work.data(), pivots.data(), i), kNone);
  EXPECT_EQ(cusolverDnDgetrf(handle, 3, -3, a.data(), 5, work.data(), pivots.data(), i), kInvalid);
  EXPECT_EQ(cusolverDnDgetrf(handle, 3, 3, a.data(), 5, work.data(), pivots.data(), nullptr), kInvalid);
  EXPECT_EQ(cusolverDnDpotrf(handle, CUBLAS_FILL_MODE_FULL, 3, a.data(), 5, work.data(), 200, i), kInvalid);
  EXPECT_EQ(cusolverDnDpotrf(handle, kLower, 3, a.data(), 5, work.data(), -3, i), kInvalid);
  EXPECT_EQ(cusolverDnDpotrs(handle, kLower, 3, 1, a.data(), 5, work.data(), 2, i), kInvalid);
  EXPECT_EQ(cusolverDnDgeqrf(handle, 3, 3, a.data(), 2, work.data(), work.data(), 200, i), kInvalid);
  EXPECT_EQ(cusolverDnDorgqr(handle, 3, 4, 3, a.data(), 5, work.data(), work.data(), 200, i), kInvalid);
  EXPECT_EQ(cusolverDnXgetrf(handle, nullptr, 3, 3, CUDA_R_16F, a.data(), 5, nullptr, CUDA_R_16F, work.data(), 1600,
                             nullptr, 0, i),
            kInvalid);
  EXPECT_EQ(cusolverDnXgetrf(handle, nullptr, std::int64_t{1} << 40, 3, CUDA_R_64F, a.data(), std::int64_t{1} << 40,
                             nullptr, CUDA_R_64F, work.data(), 1600, nullptr, 0, i),
            kInvalid);
  EXPECT_EQ(result(), -77);
  // Nothing to do is fine.
  DONE(cusolverDnDgetrf(handle, 0, 0, nullptr, 1, work.data(), pivots.data(), i));
  EXPECT_EQ(result(), 0);
}

// The virtual GPU takes the time of the columns, which depend on each other: 104 us for 64 (measured on an H200), of
// which the operations are 0.01.
TEST_F(FactorisationCalls, ColumnsTakeTime) {
  constexpr int kN = 64;
  const Matrix<double> a = positive<double>(kN, 5);
  const OnDevice<double> on_device(a);
  const Array<double> work(32 * kN);
  cudaEvent_t begin = nullptr, end = nullptr;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  cudaEventRecord(begin);
  DONE(cusolverDnDgetrf(handle, kN, kN, on_device.cuda(), on_device.ld(), cu(work), nullptr, info.data()));
  cudaEventRecord(end);
  float milliseconds = 0;
  ASSERT_EQ(cudaEventSynchronize(end), cudaSuccess);
  ASSERT_EQ(cudaEventElapsedTime(&milliseconds, begin, end), cudaSuccess);
  EXPECT_GT(milliseconds, 0.09f);
  EXPECT_LT(milliseconds, 0.15f);
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
}

}  // namespace
}  // namespace warpgrind::test
