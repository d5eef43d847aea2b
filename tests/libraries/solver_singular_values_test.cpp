// cuSOLVER's singular values and vectors, and the reduction to bidiagonal form.
#include "solver_matrices.h"

namespace warpgrind::test {
namespace {

using SingularValueCalls = Solver<double>;

template <class T>
class SingularValues : public Solver<T> {
 protected:
  static constexpr auto kReal = data_type<Real<T>>();
  Array<Real<T>> s = Array<Real<T>>(32);
  Array<T> work = Array<T>(2000);
  void expect_decomposed(const Matrix<T>& a, const Matrix<T>& u, const Matrix<T>& v, std::size_t first = 0) {
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    const int least = std::min(a.rows, a.columns);
    const std::vector<Real<T>> values(s.data() + first, s.data() + first + least);
    EXPECT_TRUE(std::is_sorted(values.rbegin(), values.rend()));
    expect_orthonormal(u);
    expect_orthonormal(v);
    expect_same(a, u * diagonal<T>(values, u.columns, v.columns) * adjoint(v), 10 * near<T>());
  }
};
TYPED_TEST_SUITE(SingularValues, Types);

template <class T>
Matrix<T> slice(const Matrix<T>& a, int first, int count) {
  Matrix<T> out(a.rows, count);
  std::copy_n(a.values.begin() + std::ptrdiff_t{first} * a.rows, out.values.size(), out.values.begin());
  return out;
}

TYPED_TEST(SingularValues, ByQr) {
  using T = TypeParam;
  constexpr int kM = 6, kN = 4;
  const Matrix<T> a = random_matrix<T>(kM, kN, 1);
  DONE(SOLVER(T, gesvd_bufferSize)(this->handle, kM, kN, &this->lwork));
  ASSERT_LE(this->lwork, 2000);
  const Array<Real<T>> superdiagonal(kN);
  const auto gesvd = SOLVER(T, gesvd);
  for (const char job : {'A', 'S', 'N'}) {
    const OnDevice<T> on_device(a), u(kM, job == 'A' ? kM : kN), vt(kN, kN);
    DONE(gesvd(this->handle, job, job, kM, kN, on_device.cuda(), on_device.ld(), this->s.data(), u.cuda(), u.ld(),
               vt.cuda(), vt.ld(), cu(this->work), this->lwork, superdiagonal.data(), this->info.data()));
    ASSERT_EQ(this->result(), 0);
    if (job != 'N') this->expect_decomposed(a, u.host(), adjoint(vt.host()));
  }
  const OnDevice<T> left(a), vt(kN, kN);  // U in place of A
  DONE(gesvd(this->handle, 'O', 'S', kM, kN, left.cuda(), left.ld(), this->s.data(), nullptr, 1, vt.cuda(), vt.ld(),
             cu(this->work), this->lwork, nullptr, this->info.data()));
  this->expect_decomposed(a, left.host(), adjoint(vt.host()));
  EXPECT_EQ(gesvd(this->handle, 'A', 'A', kN, kM, left.cuda(), left.ld(), this->s.data(), nullptr, 6, nullptr, 6,
                  cu(this->work), this->lwork, nullptr, this->info.data()),
            kInvalid);                                                    // fewer rows than columns
  DONE(SOLVER(T, gesvd_bufferSize)(this->handle, kN, kM, &this->lwork));  // as an H200 says
  EXPECT_EQ(gesvd(this->handle, 'O', 'O', kM, kN, left.cuda(), left.ld(), this->s.data(), nullptr, 6, nullptr, 6,
                  cu(this->work), this->lwork, nullptr, this->info.data()),
            kInvalid);
}

TYPED_TEST(SingularValues, ByJacobi) {
  using T = TypeParam;
  gesvdjInfo_t params = nullptr;
  DONE(cusolverDnCreateGesvdjInfo(&params));
  DONE(cusolverDnXgesvdjSetTolerance(params, 1e-7));
  DONE(cusolverDnXgesvdjSetMaxSweeps(params, 15));
  DONE(cusolverDnXgesvdjSetSortEig(params, 1));
  for (const auto& [m, n] : {std::pair{6, 4}, {4, 6}})
    for (const int econ : {0, 1}) {
      const Matrix<T> a = random_matrix<T>(m, n, 2);
      const OnDevice<T> on_device(a), u(m, econ ? 4 : m), v(n, econ ? 4 : n);
      DONE(SOLVER(T, gesvdj_bufferSize)(this->handle, kVectors, econ, m, n, on_device.cuda(), on_device.ld(),
                                        this->s.data(), u.cuda(), u.ld(), v.cuda(), v.ld(), &this->lwork, params));
      DONE(SOLVER(T, gesvdj)(this->handle, kVectors, econ, m, n, on_device.cuda(), on_device.ld(), this->s.data(),
                             u.cuda(), u.ld(), v.cuda(), v.ld(), cu(this->work), this->lwork, this->info.data(),
                             params));
      ASSERT_EQ(this->result(), 0);
      this->expect_decomposed(a, u.host(), v.host());
    }
  double residual = -1;
  int sweeps = -1;
  DONE(cusolverDnXgesvdjGetResidual(this->handle, params, &residual));
  DONE(cusolverDnXgesvdjGetSweeps(this->handle, params, &sweeps));
  EXPECT_GT(residual, 0);
  EXPECT_LT(residual, 1000 * near<T>());
  EXPECT_EQ(sweeps, 1);
  EXPECT_EQ(cusolverDnXgesvdjGetSweeps(nullptr, params, &sweeps), kNone);

  constexpr int kM = 5, kN = 3, kCount = 2;
  const Matrix<T> batch = random_matrix<T>(kM, kN * kCount, 3);
  const OnDevice<T> all(batch), u(kM, kM * kCount), v(kN, kN * kCount);
  DONE(SOLVER(T, gesvdjBatched_bufferSize)(this->handle, kVectors, kM, kN, all.cuda(), all.ld(), this->s.data(),
                                           u.cuda(), u.ld(), v.cuda(), v.ld(), &this->lwork, params, kCount));
  const auto batched = SOLVER(T, gesvdjBatched);
  DONE(batched(this->handle, kVectors, kM, kN, all.cuda(), all.ld(), this->s.data(), u.cuda(), u.ld(), v.cuda(), v.ld(),
               cu(this->work), this->lwork, this->info.data(), params, kCount));
  for (int i = 0; i < kCount; ++i) {
    ASSERT_EQ(this->result(static_cast<std::size_t>(i)), 0);
    this->expect_decomposed(slice(batch, i * kN, kN), slice(u.host(), i * kM, kM), slice(v.host(), i * kN, kN),
                            static_cast<std::size_t>(i) * kN);
  }
  EXPECT_EQ(batched(this->handle, kVectors, 33, kN, all.cuda(), 33, this->s.data(), u.cuda(), 33, v.cuda(), v.ld(),
                    cu(this->work), 2000, this->info.data(), params, kCount),
            kInvalid);  // at most 32 rows
  DONE(cusolverDnDestroyGesvdjInfo(params));
}

TYPED_TEST(SingularValues, OfAStridedBatch) {
  using T = TypeParam;
  constexpr int kM = 6, kN = 4, kRank = 4, kCount = 2;
  const Matrix<T> batch = random_matrix<T>(kM, kN * kCount, 4);
  const OnDevice<T> a(batch), u(kM, kRank * kCount), v(kN, kRank * kCount);
  const long long of_a = a.ld() * kN, of_u = u.ld() * kRank, of_v = v.ld() * kRank;
  std::vector<double> norms(kCount, -1);
  DONE(SOLVER(T, gesvdaStridedBatched_bufferSize)(this->handle, kVectors, kRank, kM, kN, a.cuda(), a.ld(), of_a,
                                                  this->s.data(), kRank, u.cuda(), u.ld(), of_u, v.cuda(), v.ld(), of_v,
                                                  &this->lwork, kCount));
  DONE(SOLVER(T, gesvdaStridedBatched)(this->handle, kVectors, kRank, kM, kN, a.cuda(), a.ld(), of_a, this->s.data(),
                                       kRank, u.cuda(), u.ld(), of_u, v.cuda(), v.ld(), of_v, cu(this->work),
                                       this->lwork, this->info.data(), norms.data(), kCount));
  for (int i = 0; i < kCount; ++i) {
    ASSERT_EQ(this->result(static_cast<std::size_t>(i)), 0);
    this->expect_decomposed(slice(batch, i * kN, kN), slice(u.host(), i * kRank, kRank),
                            slice(v.host(), i * kRank, kRank), static_cast<std::size_t>(i) * kRank);
    EXPECT_LT(norms[static_cast<std::size_t>(i)], 1000 * near<T>());
    EXPECT_GE(norms[static_cast<std::size_t>(i)], 0);
  }
  expect_same(batch, a.host(), 0);  // A is input
}

TYPED_TEST(SingularValues, WideFunctions) {
  using T = TypeParam;
  constexpr int kM = 6, kN = 4, kRank = 2;
  constexpr auto kType = data_type<T>(), kReal = TestFixture::kReal;
  const Matrix<T> a = random_matrix<T>(kM, kN, 5);
  {
    const OnDevice<T> in(a), u(kM, kN), vt(kN, kN);
    DONE(cusolverDnXgesvd_bufferSize(this->handle, nullptr, 'S', 'S', kM, kN, kType, in.data(), in.ld(), kReal,
                                     this->s.data(), kType, u.data(), u.ld(), kType, vt.data(), vt.ld(), kType,
                                     &this->bytes, &this->host_bytes));
    DONE(cusolverDnXgesvd(this->handle, nullptr, 'S', 'S', kM, kN, kType, in.data(), in.ld(), kReal, this->s.data(),
                          kType, u.data(), u.ld(), kType, vt.data(), vt.ld(), kType, this->work.data(), this->bytes,
                          nullptr, 0, this->info.data()));
    this->expect_decomposed(a, u.host(), adjoint(vt.host()));
  }
  {
    const OnDevice<T> in(a), u(kM, kM), v(kN, kN);
    double error = -1;
    DONE(cusolverDnXgesvdp_bufferSize(this->handle, nullptr, kVectors, 0, kM, kN, kType, in.data(), in.ld(), kReal,
                                      this->s.data(), kType, u.data(), u.ld(), kType, v.data(), v.ld(), kType,
                                      &this->bytes, &this->host_bytes));
    DONE(cusolverDnXgesvdp(this->handle, nullptr, kVectors, 0, kM, kN, kType, in.data(), in.ld(), kReal, this->s.data(),
                           kType, u.data(), u.ld(), kType, v.data(), v.ld(), kType, this->work.data(), this->bytes,
                           nullptr, 0, this->info.data(), &error));
    EXPECT_EQ(error, 0);
    this->expect_decomposed(a, u.host(), v.host());
  }
  const std::vector<Real<T>> all = this->s.copy();
  const OnDevice<T> in(a), u(kM, kRank), v(kN, kRank);
  DONE(cusolverDnXgesvdr_bufferSize(this->handle, nullptr, 'S', 'S', kM, kN, kRank, 1, 2, kType, in.data(), in.ld(),
                                    kReal, this->s.data(), kType, u.data(), u.ld(), kType, v.data(), v.ld(), kType,
                                    &this->bytes, &this->host_bytes));
  DONE(cusolverDnXgesvdr(this->handle, nullptr, 'S', 'S', kM, kN, kRank, 1, 2, kType, in.data(), in.ld(), kReal,
                         this->s.data(), kType, u.data(), u.ld(), kType, v.data(), v.ld(), kType, this->work.data(),
                         this->bytes, nullptr, 0, this->info.data()));
  ASSERT_EQ(this->result(), 0);
  for (std::size_t i = 0; i < kRank; ++i) EXPECT_NEAR(this->s[i], all[i], 10 * near<T>());
  expect_same(a * v.host(), u.host() * diagonal<T>(this->s.copy(), kRank, kRank), 10 * near<T>());
  EXPECT_EQ(cusolverDnXgesvdr(this->handle, nullptr, 'S', 'S', kM, kN, 4, 1, 2, kType, in.data(), in.ld(), kReal,
                              this->s.data(), kType, u.data(), u.ld(), kType, v.data(), v.ld(), kType,
                              this->work.data(), this->bytes, nullptr, 0, this->info.data()),
            kInvalid);  // k + p is more than there are
}

TYPED_TEST(SingularValues, BidiagonalForm) {
  using T = TypeParam;
  constexpr int kM = 6, kN = 4;
  const Matrix<T> a = random_matrix<T>(kM, kN, 6);
  const OnDevice<T> f(a);
  const Array<Real<T>> d(kN), e(kN);
  const Array<T> tauq(kN), taup(kN);
  DONE(SOLVER(T, gebrd_bufferSize)(this->handle, kM, kN, &this->lwork));
  DONE(SOLVER(T, gebrd)(this->handle, kM, kN, f.cuda(), f.ld(), d.data(), e.data(), cu(tauq), cu(taup), cu(this->work),
                        this->lwork, this->info.data()));
  ASSERT_EQ(this->result(), 0);
  const OnDevice<T> q(f.host()), p(slice(transpose(slice(transpose(f.host()), 0, kN)), 0, kN));
  const auto orgbr = SOLVER2(T, orgbr, ungbr);
  DONE(SOLVER2(T, orgbr_bufferSize, ungbr_bufferSize)(this->handle, CUBLAS_SIDE_LEFT, kM, kN, kN, q.cuda(), q.ld(),
                                                      cu(tauq), &this->lwork));
  DONE(orgbr(this->handle, CUBLAS_SIDE_LEFT, kM, kN, kN, q.cuda(), q.ld(), cu(tauq), cu(this->work), this->lwork,
             this->info.data()));
  DONE(orgbr(this->handle, CUBLAS_SIDE_RIGHT, kN, kN, kM, p.cuda(), p.ld(), cu(taup), cu(this->work), this->lwork,
             this->info.data()));
  ASSERT_EQ(this->result(), 0);
  Matrix<T> bidiagonal = diagonal<T>(d.copy(), kN, kN);
  for (int i = 0; i + 1 < kN; ++i) bidiagonal(i, i + 1) = T(e[static_cast<std::size_t>(i)]);
  expect_orthonormal(q.host());
  expect_same(a, q.host() * bidiagonal * p.host(), 10 * near<T>());
  EXPECT_EQ(SOLVER(T, gebrd)(this->handle, kN, kM, f.cuda(), f.ld(), d.data(), e.data(), cu(tauq), cu(taup),
                             cu(this->work), this->lwork, this->info.data()),
            kInvalid);  // fewer rows than columns
}

TEST_F(SingularValueCalls, SingularValuesOfNumbersThatAreNone) {
  Matrix<double> nan(4, 3);
  for (double& v : nan.values) v = std::nan("");
  const OnDevice<double> a(nan), u(4, 4), vt(3, 3);
  const Array<double> s(3), work(200);
  DONE(cusolverDnDgesvd(handle, 'A', 'A', 4, 3, a.data(), a.ld(), s.data(), u.data(), u.ld(), vt.data(), vt.ld(),
                        work.data(), 200, nullptr, info.data()));
  result();
  EXPECT_EQ(cusolverDnDgesvd(handle, 'X', 'A', 4, 3, a.data(), a.ld(), s.data(), u.data(), u.ld(), vt.data(), vt.ld(),
                             work.data(), 200, nullptr, info.data()),
            kInvalid);
}

}  // namespace
}  // namespace warpgrind::test
