// cuSOLVER's eigenvalues: of symmetric and Hermitian matrices, of pairs, of batches, of general matrices, and the
// reductions to tridiagonal form.
#include "solver_matrices.h"

namespace warpgrind::test {
namespace {

using EigenvalueCalls = Solver<double>;

template <class T>
class Eigenvalues : public Solver<T> {
 protected:
  static constexpr int kN = 5;
  static constexpr auto kReal = data_type<Real<T>>();
  Array<Real<T>> w = Array<Real<T>>(32);
  Array<T> work = Array<T>(2000);
  // A V = V diag(w), or with B: A V = B V diag(w).
  void expect_pairs(const Matrix<T>& a, const Matrix<T>& v, int count, const Matrix<T>& b = identity<T>(kN)) {
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    Matrix<T> some(kN, count);
    std::copy_n(v.values.begin(), some.values.size(), some.values.begin());
    std::vector<Real<T>> values = w.copy();
    values.resize(static_cast<std::size_t>(count));
    EXPECT_TRUE(std::is_sorted(values.begin(), values.end()));
    expect_same(a * some, b * some * diagonal<T>(values, count, count), 10 * near<T>());
  }
};
TYPED_TEST_SUITE(Eigenvalues, Types);

TYPED_TEST(Eigenvalues, OfSymmetricMatrices) {
  using T = TypeParam;
  constexpr int kN = TestFixture::kN;
  const Matrix<T> a = positive<T>(kN, 1);
  std::vector<Real<T>> all;
  for (const auto uplo : {kLower, kUpper}) {
    const OnDevice<T> v(a), only(a);
    DONE(SOLVER2(T, syevd_bufferSize, heevd_bufferSize)(this->handle, kVectors, uplo, kN, v.cuda(), v.ld(),
                                                        this->w.data(), &this->lwork));
    ASSERT_LE(this->lwork, 2000);
    const auto syevd = SOLVER2(T, syevd, heevd);
    DONE(syevd(this->handle, kVectors, uplo, kN, v.cuda(), v.ld(), this->w.data(), cu(this->work), this->lwork,
               this->info.data()));
    ASSERT_EQ(this->result(), 0);
    this->expect_pairs(a, v.host(), kN);
    expect_orthonormal(v.host());
    all = this->w.copy();
    DONE(syevd(this->handle, kNoVectors, uplo, kN, only.cuda(), only.ld(), this->w.data(), cu(this->work), this->lwork,
               this->info.data()));
    ASSERT_EQ(this->result(), 0);
    for (std::size_t i = 0; i < kN; ++i) EXPECT_NEAR(this->w[i], all[i], 100 * near<T>());
  }
  // Ranges: by number, and by value, open at the lower end.
  const auto syevdx = SOLVER2(T, syevdx, heevdx);
  int count = 0;
  const OnDevice<T> v(a), u(a);
  DONE(SOLVER2(T, syevdx_bufferSize, heevdx_bufferSize)(this->handle, kVectors, CUSOLVER_EIG_RANGE_I, kLower, kN,
                                                        v.cuda(), v.ld(), 0, 0, 2, 4, &count, this->w.data(),
                                                        &this->lwork));
  DONE(syevdx(this->handle, kVectors, CUSOLVER_EIG_RANGE_I, kLower, kN, v.cuda(), v.ld(), 0, 0, 2, 4, &count,
              this->w.data(), cu(this->work), this->lwork, this->info.data()));
  ASSERT_EQ(count, 3);
  this->expect_pairs(a, v.host(), 3);
  EXPECT_NEAR(this->w[0], all[1], 100 * near<T>());
  DONE(syevdx(this->handle, kVectors, CUSOLVER_EIG_RANGE_V, kLower, kN, u.cuda(), u.ld(), (all[0] + all[1]) / 2,
              (all[2] + all[3]) / 2, 0, 0, &count, this->w.data(), cu(this->work), this->lwork, this->info.data()));
  ASSERT_EQ(count, 2);
  this->expect_pairs(a, u.host(), 2);
  EXPECT_EQ(syevdx(this->handle, kVectors, CUSOLVER_EIG_RANGE_I, kLower, kN, u.cuda(), u.ld(), 0, 0, 3, 2, &count,
                   this->w.data(), cu(this->work), this->lwork, this->info.data()),
            kInvalid);
}

TYPED_TEST(Eigenvalues, OfPairs) {
  using T = TypeParam;
  constexpr int kN = TestFixture::kN;
  const Matrix<T> a = positive<T>(kN, 2), b = positive<T>(kN, 3, 4);
  syevjInfo_t params = nullptr;
  DONE(cusolverDnCreateSyevjInfo(&params));
  const auto sygvd = SOLVER2(T, sygvd, hegvd);
  {
    const OnDevice<T> v(a), f(b);
    DONE(SOLVER2(T, sygvd_bufferSize, hegvd_bufferSize)(this->handle, CUSOLVER_EIG_TYPE_1, kVectors, kLower, kN,
                                                        v.cuda(), v.ld(), f.cuda(), f.ld(), this->w.data(),
                                                        &this->lwork));
    DONE(sygvd(this->handle, CUSOLVER_EIG_TYPE_1, kVectors, kLower, kN, v.cuda(), v.ld(), f.cuda(), f.ld(),
               this->w.data(), cu(this->work), this->lwork, this->info.data()));
    ASSERT_EQ(this->result(), 0);
    this->expect_pairs(a, v.host(), kN, b);
    const Matrix<T> factor = part(f.host(), Part::lower, kN, kN);  // B is overwritten by its Cholesky factor
    expect_same(b, factor * adjoint(factor));
  }
  {
    const OnDevice<T> v(a), f(b);
    int count = 0;
    DONE(SOLVER2(T, sygvdx_bufferSize, hegvdx_bufferSize)(this->handle, CUSOLVER_EIG_TYPE_1, kVectors,
                                                          CUSOLVER_EIG_RANGE_I, kUpper, kN, v.cuda(), v.ld(), f.cuda(),
                                                          f.ld(), 0, 0, 1, 2, &count, this->w.data(), &this->lwork));
    DONE(SOLVER2(T, sygvdx, hegvdx)(this->handle, CUSOLVER_EIG_TYPE_1, kVectors, CUSOLVER_EIG_RANGE_I, kUpper, kN,
                                    v.cuda(), v.ld(), f.cuda(), f.ld(), 0, 0, 1, 2, &count, this->w.data(),
                                    cu(this->work), this->lwork, this->info.data()));
    ASSERT_EQ(count, 2);
    this->expect_pairs(a, v.host(), 2, b);
  }
  {
    const OnDevice<T> v(a), f(b);
    DONE(SOLVER2(T, sygvj_bufferSize, hegvj_bufferSize)(this->handle, CUSOLVER_EIG_TYPE_1, kVectors, kUpper, kN,
                                                        v.cuda(), v.ld(), f.cuda(), f.ld(), this->w.data(),
                                                        &this->lwork, params));
    DONE(SOLVER2(T, sygvj, hegvj)(this->handle, CUSOLVER_EIG_TYPE_1, kVectors, kUpper, kN, v.cuda(), v.ld(), f.cuda(),
                                  f.ld(), this->w.data(), cu(this->work), this->lwork, this->info.data(), params));
    ASSERT_EQ(this->result(), 0);
    this->expect_pairs(a, v.host(), kN, b);
  }
  Matrix<T> indefinite = b;
  indefinite(1, 1) = T(-50);
  const OnDevice<T> v(a), f(indefinite);
  DONE(sygvd(this->handle, CUSOLVER_EIG_TYPE_1, kVectors, kLower, kN, v.cuda(), v.ld(), f.cuda(), f.ld(),
             this->w.data(), cu(this->work), this->lwork, this->info.data()));
  EXPECT_EQ(this->result(), kN + 2);  // n + i: the minor of order i of B is not positive
  DONE(cusolverDnDestroySyevjInfo(params));
}

TYPED_TEST(Eigenvalues, ByJacobi) {
  using T = TypeParam;
  constexpr int kN = TestFixture::kN, kCount = 3;
  syevjInfo_t params = nullptr;
  DONE(cusolverDnCreateSyevjInfo(&params));
  DONE(cusolverDnXsyevjSetTolerance(params, 1e-7));
  DONE(cusolverDnXsyevjSetMaxSweeps(params, 15));
  DONE(cusolverDnXsyevjSetSortEig(params, 1));
  const Matrix<T> a = positive<T>(kN, 4);
  const OnDevice<T> v(a);
  DONE(SOLVER2(T, syevj_bufferSize, heevj_bufferSize)(this->handle, kVectors, kLower, kN, v.cuda(), v.ld(),
                                                      this->w.data(), &this->lwork, params));
  DONE(SOLVER2(T, syevj, heevj)(this->handle, kVectors, kLower, kN, v.cuda(), v.ld(), this->w.data(), cu(this->work),
                                this->lwork, this->info.data(), params));
  ASSERT_EQ(this->result(), 0);
  this->expect_pairs(a, v.host(), kN);
  double residual = -1;
  int sweeps = -1;
  DONE(cusolverDnXsyevjGetResidual(this->handle, params, &residual));
  DONE(cusolverDnXsyevjGetSweeps(this->handle, params, &sweeps));
  EXPECT_GT(residual, 0);
  EXPECT_LT(residual, 1000 * near<T>());
  EXPECT_EQ(sweeps, 1);

  Matrix<T> batch(kN, kN * kCount);
  for (int i = 0; i < kCount; ++i) {
    const Matrix<T> one = positive<T>(kN, 20u + static_cast<unsigned>(i));
    std::copy(one.values.begin(), one.values.end(), batch.values.begin() + std::ptrdiff_t{i} * kN * kN);
  }
  const OnDevice<T> all(batch), wide(batch);
  DONE(SOLVER2(T, syevjBatched_bufferSize, heevjBatched_bufferSize)(
      this->handle, kVectors, kUpper, kN, all.cuda(), all.ld(), this->w.data(), &this->lwork, params, kCount));
  DONE(SOLVER2(T, syevjBatched, heevjBatched)(this->handle, kVectors, kUpper, kN, all.cuda(), all.ld(), this->w.data(),
                                              cu(this->work), this->lwork, this->info.data(), params, kCount));
  const Array<Real<T>> w2(kN * kCount);
  DONE(cusolverDnXsyevBatched_bufferSize(this->handle, nullptr, kVectors, kUpper, kN, data_type<T>(), wide.data(),
                                         wide.ld(), TestFixture::kReal, w2.data(), data_type<T>(), &this->bytes,
                                         &this->host_bytes, kCount));
  DONE(cusolverDnXsyevBatched(this->handle, nullptr, kVectors, kUpper, kN, data_type<T>(), wide.data(), wide.ld(),
                              TestFixture::kReal, w2.data(), data_type<T>(), this->work.data(), this->bytes, nullptr, 0,
                              this->info.data(), kCount));
  const Matrix<T> vectors = all.host(), wide_vectors = wide.host();
  for (int i = 0; i < kCount; ++i) {
    ASSERT_EQ(this->result(static_cast<std::size_t>(i)), 0);
    Matrix<T> one(kN, kN), of(kN, kN), wide_of(kN, kN);
    std::copy_n(batch.values.begin() + std::ptrdiff_t{i} * kN * kN, kN * kN, one.values.begin());
    std::copy_n(vectors.values.begin() + std::ptrdiff_t{i} * kN * kN, kN * kN, of.values.begin());
    std::copy_n(wide_vectors.values.begin() + std::ptrdiff_t{i} * kN * kN, kN * kN, wide_of.values.begin());
    const std::vector<Real<T>> values(this->w.data() + i * kN, this->w.data() + (i + 1) * kN);
    const std::vector<Real<T>> wide_values(w2.data() + i * kN, w2.data() + (i + 1) * kN);
    expect_same(one * of, of * diagonal<T>(values, kN, kN), 10 * near<T>());
    expect_same(one * wide_of, wide_of * diagonal<T>(wide_values, kN, kN), 10 * near<T>());
  }
  DONE(cusolverDnDestroySyevjInfo(params));
}

TYPED_TEST(Eigenvalues, WideFunctions) {
  using T = TypeParam;
  constexpr int kN = TestFixture::kN;
  constexpr auto kType = data_type<T>(), kReal = TestFixture::kReal;
  const Matrix<T> a = positive<T>(kN, 5);
  const OnDevice<T> v(a), u(a);
  DONE(cusolverDnXsyevd_bufferSize(this->handle, nullptr, kVectors, kLower, kN, kType, v.data(), v.ld(), kReal,
                                   this->w.data(), kType, &this->bytes, &this->host_bytes));
  DONE(cusolverDnXsyevd(this->handle, nullptr, kVectors, kLower, kN, kType, v.data(), v.ld(), kReal, this->w.data(),
                        kType, this->work.data(), this->bytes, nullptr, 0, this->info.data()));
  this->expect_pairs(a, v.host(), kN);
  std::int64_t count = 0;
  Real<T> low = 0, high = (this->w[1] + this->w[2]) / 2;
  DONE(cusolverDnXsyevdx_bufferSize(this->handle, nullptr, kVectors, CUSOLVER_EIG_RANGE_V, kLower, kN, kType, u.data(),
                                    u.ld(), &low, &high, 0, 0, &count, kReal, this->w.data(), kType, &this->bytes,
                                    &this->host_bytes));
  DONE(cusolverDnXsyevdx(this->handle, nullptr, kVectors, CUSOLVER_EIG_RANGE_V, kLower, kN, kType, u.data(), u.ld(),
                         &low, &high, 0, 0, &count, kReal, this->w.data(), kType, this->work.data(), this->bytes,
                         nullptr, 0, this->info.data()));
  ASSERT_EQ(count, 2);
  this->expect_pairs(a, u.host(), 2);
  EXPECT_EQ(cusolverDnXsyevd(this->handle, nullptr, kVectors, kLower, kN, kType, v.data(), v.ld(), CUDA_R_16F,
                             this->w.data(), kType, this->work.data(), this->bytes, nullptr, 0, this->info.data()),
            kInvalid);
}

// Eigenvalues as complex numbers, with vectors.
TYPED_TEST(Eigenvalues, OfGeneralMatrices) {
  using T = TypeParam;
  using C = std::complex<Real<T>>;
  constexpr int kN = TestFixture::kN;
  constexpr auto kType = data_type<T>(), kComplex = data_type<C>();
  Matrix<T> a = random_matrix<T>(kN, kN, 6);
  a(0, 1) = T(4);
  a(1, 0) = T(-4);  // a complex pair
  const OnDevice<T> on_device(a);
  const OnDevice<C> v(kN, kN);
  const Array<C> w(kN);
  DONE(cusolverDnXgeev_bufferSize(this->handle, nullptr, kNoVectors, kVectors, kN, kType, on_device.data(),
                                  on_device.ld(), kComplex, w.data(), kComplex, nullptr, 1, kComplex, v.data(), v.ld(),
                                  kType, &this->bytes, &this->host_bytes));
  DONE(cusolverDnXgeev(this->handle, nullptr, kNoVectors, kVectors, kN, kType, on_device.data(), on_device.ld(),
                       kComplex, w.data(), kComplex, nullptr, 1, kComplex, v.data(), v.ld(), kType, this->work.data(),
                       this->bytes, nullptr, 0, this->info.data()));
  ASSERT_EQ(this->result(), 0);
  Matrix<C> wide(kN, kN), values(kN, kN);
  for (int i = 0; i < kN; ++i) values(i, i) = w[static_cast<std::size_t>(i)];
  for (std::size_t i = 0; i < a.values.size(); ++i) wide.values[i] = C(a.values[i]);
  expect_same(wide * v.host(), v.host() * values, 20 * near<T>());
  EXPECT_EQ(cusolverDnXgeev(this->handle, nullptr, kVectors, kVectors, kN, kType, on_device.data(), on_device.ld(),
                            kComplex, w.data(), kComplex, v.data(), v.ld(), kComplex, v.data(), v.ld(), kType,
                            this->work.data(), this->bytes, nullptr, 0, this->info.data()),
            CUSOLVER_STATUS_INTERNAL_ERROR);
}

TEST_F(EigenvalueCalls, GeneralRealMatricesInRealNumbers) {
  const OnDevice<double> a([] {
    Matrix<double> rotation(2, 2);  // eigenvalues i and -i
    rotation(0, 1) = -1;
    rotation(1, 0) = 1;
    return rotation;
  }());
  const Array<double> w(4), v(4), work(64);
  DONE(cusolverDnXgeev(handle, nullptr, kNoVectors, kVectors, 2, CUDA_R_64F, a.data(), a.ld(), CUDA_R_64F, w.data(),
                       CUDA_R_64F, nullptr, 1, CUDA_R_64F, v.data(), 2, CUDA_R_64F, work.data(), 512, nullptr, 0,
                       info.data()));
  ASSERT_EQ(result(), 0);
  EXPECT_NEAR(w[0], 0, 1e-14);
  EXPECT_NEAR(w[2], 1, 1e-14);  // imaginary parts follow the real ones
  EXPECT_NEAR(w[3], -1, 1e-14);
}

TYPED_TEST(Eigenvalues, TridiagonalForm) {
  using T = TypeParam;
  constexpr int kN = TestFixture::kN;
  for (const auto uplo : {kLower, kUpper}) {
    const Matrix<T> a = positive<T>(kN, 7);
    const OnDevice<T> f(a), applied(identity<T>(kN));
    const Array<Real<T>> d(kN), e(kN);
    const Array<T> tau(kN);
    DONE(SOLVER2(T, sytrd_bufferSize, hetrd_bufferSize)(this->handle, uplo, kN, f.cuda(), f.ld(), d.data(), e.data(),
                                                        cu(tau), &this->lwork));
    DONE(SOLVER2(T, sytrd, hetrd)(this->handle, uplo, kN, f.cuda(), f.ld(), d.data(), e.data(), cu(tau), cu(this->work),
                                  this->lwork, this->info.data()));
    ASSERT_EQ(this->result(), 0);
    DONE(SOLVER2(T, ormtr_bufferSize, unmtr_bufferSize)(this->handle, CUBLAS_SIDE_LEFT, uplo, CUBLAS_OP_N, kN, kN,
                                                        f.cuda(), f.ld(), cu(tau), applied.cuda(), applied.ld(),
                                                        &this->lwork));
    DONE(SOLVER2(T, ormtr, unmtr)(this->handle, CUBLAS_SIDE_LEFT, uplo, CUBLAS_OP_N, kN, kN, f.cuda(), f.ld(), cu(tau),
                                  applied.cuda(), applied.ld(), cu(this->work), this->lwork, this->info.data()));
    DONE(SOLVER2(T, orgtr_bufferSize, ungtr_bufferSize)(this->handle, uplo, kN, f.cuda(), f.ld(), cu(tau),
                                                        &this->lwork));
    DONE(SOLVER2(T, orgtr, ungtr)(this->handle, uplo, kN, f.cuda(), f.ld(), cu(tau), cu(this->work), this->lwork,
                                  this->info.data()));
    const Matrix<T> q = f.host();
    expect_orthonormal(q);
    expect_same(q, applied.host());
    Matrix<T> tridiagonal = diagonal<T>(d.copy(), kN, kN);
    for (int i = 0; i + 1 < kN; ++i) tridiagonal(i, i + 1) = tridiagonal(i + 1, i) = T(e[static_cast<std::size_t>(i)]);
    expect_same(a, q * tridiagonal * adjoint(q), 10 * near<T>());
  }
}

TEST_F(EigenvalueCalls, EigenvaluesWithWrongArguments) {
  const OnDevice<double> a(positive<double>(3, 8));
  const Array<double> w(3), work(200);
  syevjInfo_t params = nullptr;
  DONE(cusolverDnCreateSyevjInfo(&params));
  int* const i = info.data();
  const auto mode = static_cast<cusolverEigMode_t>(2);
  EXPECT_EQ(cusolverDnDsyevd_bufferSize(handle, mode, kLower, 3, a.data(), 5, w.data(), &lwork), kInvalid);
  EXPECT_EQ(cusolverDnDsyevd(nullptr, kVectors, kLower, 3, a.data(), 5, w.data(), work.data(), 200, i), kNone);
  EXPECT_EQ(cusolverDnDsyevd(handle, kVectors, kLower, 3, a.data(), 2, w.data(), work.data(), 200, i), kInvalid);
  EXPECT_EQ(cusolverDnDsyevd(handle, kVectors, kLower, 3, a.data(), 5, w.data(), work.data(), -1, i), kInvalid);
  EXPECT_EQ(cusolverDnDsyevj(handle, kVectors, kLower, 3, a.data(), 5, w.data(), work.data(), 200, i, nullptr),
            kInvalid);
  EXPECT_EQ(cusolverDnDsygvd(handle, static_cast<cusolverEigType_t>(4), kVectors, kLower, 3, a.data(), 5, a.data(), 5,
                             w.data(), work.data(), 200, i),
            kInvalid);
  EXPECT_EQ(cusolverDnXsyevjSetTolerance(nullptr, 1), kInvalid);
  EXPECT_EQ(cusolverDnXsyevjGetSweeps(handle, params, nullptr), kInvalid);
  DONE(cusolverDnDestroySyevjInfo(params));
  EXPECT_EQ(cusolverDnXsyevjSetMaxSweeps(params, 1), kInvalid);  // it is gone
  // Numbers that are none do not crash.
  Matrix<double> nan(3, 3);
  for (double& v : nan.values) v = std::nan("");
  const OnDevice<double> bad(nan);
  DONE(cusolverDnDsyevd(handle, kVectors, kLower, 3, bad.data(), 5, w.data(), work.data(), 200, i));
  result();
}

}  // namespace
}  // namespace warpgrind::test
