// cuSOLVER's handles and settings, systems "with iterative refinement", and its sparse systems.
#include <cusolverSp.h>

#include "solver_matrices.h"

namespace warpgrind::test {
namespace {

using SolverCalls = Solver<double>;

TEST_F(SolverCalls, HandlesAndSettings) {
  int version = 0, part = 0;
  DONE(cusolverGetVersion(&version));
  EXPECT_EQ(version, CUSOLVER_VERSION);
  DONE(cusolverGetProperty(MAJOR_VERSION, &part));
  EXPECT_EQ(part, CUSOLVER_VER_MAJOR);
  EXPECT_EQ(cusolverGetProperty(static_cast<libraryPropertyType>(3), &part), kInvalid);
  EXPECT_EQ(cusolverGetVersion(nullptr), kInvalid);
  EXPECT_EQ(cusolverDnCreate(nullptr), kInvalid);
  EXPECT_EQ(cusolverDnDestroy(nullptr), kNone);
  cudaStream_t stream = nullptr, now = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  DONE(cusolverDnSetStream(handle, stream));
  DONE(cusolverDnGetStream(handle, &now));
  EXPECT_EQ(now, stream);
  EXPECT_EQ(cusolverDnSetStream(nullptr, stream), kNone);
  cusolverDeterministicMode_t mode{};
  DONE(cusolverDnSetDeterministicMode(handle, CUSOLVER_ALLOW_NON_DETERMINISTIC_RESULTS));
  DONE(cusolverDnGetDeterministicMode(handle, &mode));
  EXPECT_EQ(mode, CUSOLVER_ALLOW_NON_DETERMINISTIC_RESULTS);
  EXPECT_EQ(cusolverDnSetDeterministicMode(handle, static_cast<cusolverDeterministicMode_t>(0)), kInvalid);
  cusolverMathMode_t math{};
  DONE(cusolverDnSetMathMode(handle, CUSOLVER_FP32_EMULATED_BF16X9_MATH));
  DONE(cusolverDnGetMathMode(handle, &math));
  EXPECT_EQ(math, CUSOLVER_FP32_EMULATED_BF16X9_MATH);
  cusolverDnParams_t params = nullptr;
  DONE(cusolverDnCreateParams(&params));
  DONE(cusolverDnSetAdvOptions(params, CUSOLVERDN_GETRF, CUSOLVER_ALG_1));
  EXPECT_EQ(cusolverDnSetAdvOptions(params, static_cast<cusolverDnFunction_t>(9), CUSOLVER_ALG_1), kInvalid);
  DONE(cusolverDnDestroyParams(params));
  EXPECT_EQ(cusolverDnSetAdvOptions(params, CUSOLVERDN_GETRF, CUSOLVER_ALG_1), kInvalid);
  DONE(cusolverDnLoggerSetCallback(nullptr));
  DONE(cusolverDnLoggerSetFile(nullptr));
  DONE(cusolverDnLoggerOpenFile("log"));
  DONE(cusolverDnLoggerSetLevel(1));
  DONE(cusolverDnLoggerSetMask(1));
  DONE(cusolverDnLoggerForceDisable());
  EXPECT_EQ(cusolverDnLoggerSetLevel(9), kInvalid);
  ASSERT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

// A call is work of its stream: a captured graph repeats it.
TEST_F(SolverCalls, AreWorkOfTheirStream) {
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t instance = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  DONE(cusolverDnSetStream(handle, stream));
  const OnDevice<double> a(identity<double>(2));
  const Array<double> work(200);
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  DONE(cusolverDnDpotrf(handle, kLower, 2, a.data(), a.ld(), work.data(), 200, info.data()));
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  EXPECT_EQ(result(), -77);
  a.data()[0] = 4;
  ASSERT_EQ(cudaGraphInstantiate(&instance, graph, 0), cudaSuccess);
  ASSERT_EQ(cudaGraphLaunch(instance, stream), cudaSuccess);
  EXPECT_EQ(result(), 0);
  EXPECT_EQ(a.data()[0], 2);
  ASSERT_EQ(cudaGraphExecDestroy(instance), cudaSuccess);
  ASSERT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  ASSERT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

// ---- Refinement
template <class T, class Size, class Solve>
void expect_solved(cusolverDnHandle_t handle, Size size, Solve solve, const char* name) {
  SCOPED_TRACE(name);
  constexpr int kN = 5;
  const Matrix<T> a = positive<T>(kN, 1), b = random_matrix<T>(kN, 2, 2);
  const OnDevice<T> da(a), db(b), x(kN, 2);
  const Array<int> pivots(kN), info(1, -77);
  std::size_t bytes = 0;
  DONE(size(handle, kN, 2, da.cuda(), da.ld(), pivots.data(), db.cuda(), db.ld(), x.cuda(), x.ld(), nullptr, &bytes));
  const Array<char> work(bytes);
  int iterations = -77;
  DONE(solve(handle, kN, 2, da.cuda(), da.ld(), pivots.data(), db.cuda(), db.ld(), x.cuda(), x.ld(), work.data(), bytes,
             &iterations, info.data()));
  EXPECT_EQ(iterations, 1);
  EXPECT_EQ(info[0], 0);
  expect_same(b, a * x.host(), 10 * near<T>());
  expect_same(a, da.host(), 0);
  EXPECT_EQ(solve(handle, kN, 2, da.cuda(), da.ld(), pivots.data(), db.cuda(), db.ld(), x.cuda(), x.ld(), work.data(),
                  8, &iterations, info.data()),
            CUSOLVER_STATUS_INVALID_WORKSPACE);
}
template <class T, class Size, class Solve>
void expect_least_squares(cusolverDnHandle_t handle, Size size, Solve solve, const char* name) {
  SCOPED_TRACE(name);
  constexpr int kM = 7, kN = 4;
  const Matrix<T> a = random_matrix<T>(kM, kN, 3), b = random_matrix<T>(kM, 2, 4);
  const OnDevice<T> da(a), db(b), x(kN, 2);
  const Array<int> info(1, -77);
  std::size_t bytes = 0;
  DONE(size(handle, kM, kN, 2, da.cuda(), da.ld(), db.cuda(), db.ld(), x.cuda(), x.ld(), nullptr, &bytes));
  const Array<char> work(bytes);
  int iterations = -77;
  DONE(solve(handle, kM, kN, 2, da.cuda(), da.ld(), db.cuda(), db.ld(), x.cuda(), x.ld(), work.data(), bytes,
             &iterations, info.data()));
  EXPECT_EQ(iterations, 1);
  EXPECT_EQ(info[0], 0);
  expect_same(adjoint(a) * b, adjoint(a) * a * x.host(), 10 * near<T>());  // the residual is orthogonal to A's columns
  EXPECT_EQ(solve(handle, kN, kM, 2, da.cuda(), da.ld(), db.cuda(), db.ld(), x.cuda(), x.ld() + 9, work.data(), bytes,
                  &iterations, info.data()),
            CUSOLVER_STATUS_IRS_PARAMS_INVALID);  // fewer rows than columns
}

TEST_F(SolverCalls, SystemsWithRefinement) {
#define WG_REFINED(pair, element)                                                                                      \
  expect_solved<libraries::NumberOf<element>::type>(handle, cusolverDn##pair##gesv_bufferSize, cusolverDn##pair##gesv, \
                                                    #pair);                                                            \
  expect_least_squares<libraries::NumberOf<element>::type>(handle, cusolverDn##pair##gels_bufferSize,                  \
                                                           cusolverDn##pair##gels, #pair);
#include "warpgrind/cusolver_refined.inc"
#undef WG_REFINED
  Matrix<double> singular = positive<double>(3, 5);
  for (int i = 0; i < 3; ++i) singular(i, 1) = singular(i, 0);
  singular = transpose(singular) * singular;
  for (int j = 0; j < 3; ++j) singular(2, j) = 0;
  const OnDevice<double> a(singular), b(3, 1), x(3, 1);
  const Array<int> pivots(3);
  std::size_t size = 0;
  DONE(cusolverDnDDgesv_bufferSize(handle, 3, 1, nullptr, 5, nullptr, nullptr, 5, nullptr, 5, nullptr, &size));
  const Array<char> work(size);
  int iterations = 0;
  DONE(cusolverDnDDgesv(handle, 3, 1, a.data(), 5, pivots.data(), b.data(), 5, x.data(), 5, work.data(), size,
                        &iterations, info.data()));
  EXPECT_GT(result(), 0);
  EXPECT_LT(iterations, 0);
}

TEST_F(SolverCalls, RefinementWithParameters) {
  cusolverDnIRSParams_t params = nullptr;
  cusolverDnIRSInfos_t infos = nullptr;
  DONE(cusolverDnIRSParamsCreate(&params));
  DONE(cusolverDnIRSInfosCreate(&infos));
  EXPECT_EQ(cusolverDnIRSXgesv_bufferSize(handle, params, 3, 1, &bytes), CUSOLVER_STATUS_IRS_PARAMS_INVALID);
  DONE(cusolverDnIRSParamsSetSolverPrecisions(params, CUSOLVER_R_64F, CUSOLVER_R_16F));
  DONE(cusolverDnIRSParamsSetSolverMainPrecision(params, CUSOLVER_R_64F));
  DONE(cusolverDnIRSParamsSetSolverLowestPrecision(params, CUSOLVER_R_32F));
  EXPECT_EQ(cusolverDnIRSParamsSetSolverMainPrecision(params, static_cast<cusolverPrecType_t>(9)),
            CUSOLVER_STATUS_IRS_PARAMS_INVALID_PREC);
  {
    int none = 0;
    const OnDevice<double> matrix(identity<double>(3)), right(3, 1);
    const Array<char> space(1000);
    EXPECT_EQ(cusolverDnIRSXgesv(handle, params, infos, 3, 1, matrix.data(), 5, right.data(), 5, right.data(), 5,
                                 space.data(), 1000, &none, info.data()),
              CUSOLVER_STATUS_IRS_PARAMS_INVALID_REFINE);
  }
  DONE(cusolverDnIRSParamsSetRefinementSolver(params, CUSOLVER_IRS_REFINE_GMRES));
  DONE(cusolverDnIRSParamsSetTol(params, 1e-10));
  DONE(cusolverDnIRSParamsSetTolInner(params, 1e-6));
  DONE(cusolverDnIRSParamsSetMaxIters(params, 20));
  DONE(cusolverDnIRSParamsSetMaxItersInner(params, 20));
  DONE(cusolverDnIRSParamsDisableFallback(params));
  DONE(cusolverDnIRSParamsEnableFallback(params));
  int most = 0;
  DONE(cusolverDnIRSParamsGetMaxIters(params, &most));
  EXPECT_EQ(most, 20);
  DONE(cusolverDnIRSInfosRequestResidual(infos));
  const Matrix<double> a = positive<double>(3, 6), b = random_matrix<double>(3, 1, 7);
  const OnDevice<double> da(a), db(b), x(3, 1), y(3, 1);
  int iterations = 0;
  DONE(cusolverDnIRSXgesv_bufferSize(handle, params, 3, 1, &bytes));
  const Array<char> work(bytes);
  DONE(cusolverDnIRSXgesv(handle, params, infos, 3, 1, da.data(), 5, db.data(), 5, x.data(), 5, work.data(), bytes,
                          &iterations, info.data()));
  expect_same(b, a * x.host());
  DONE(cusolverDnIRSXgels_bufferSize(handle, params, 3, 3, 1, &bytes));
  DONE(cusolverDnIRSXgels(handle, params, infos, 3, 3, 1, da.data(), 5, db.data(), 5, y.data(), 5, work.data(), bytes,
                          &iterations, info.data()));
  expect_same(b, a * y.host());
  void* history = nullptr;
  DONE(cusolverDnIRSInfosGetNiters(infos, &iterations));
  EXPECT_EQ(iterations, 1);
  DONE(cusolverDnIRSInfosGetOuterNiters(infos, &iterations));
  DONE(cusolverDnIRSInfosGetMaxIters(infos, &most));
  EXPECT_EQ(most, 20);
  DONE(cusolverDnIRSInfosGetResidualHistory(infos, &history));
  EXPECT_NE(history, nullptr);
  EXPECT_EQ(cusolverDnIRSXgesv(handle, params, nullptr, 3, 1, da.data(), 5, db.data(), 5, x.data(), 5, work.data(),
                               bytes, &iterations, info.data()),
            CUSOLVER_STATUS_IRS_INFOS_NOT_INITIALIZED);
  DONE(cusolverDnIRSInfosDestroy(infos));
  DONE(cusolverDnIRSParamsDestroy(params));
  EXPECT_EQ(cusolverDnIRSParamsSetTol(params, 1), CUSOLVER_STATUS_IRS_PARAMS_NOT_INITIALIZED);
  EXPECT_EQ(cusolverDnIRSInfosDestroy(infos), CUSOLVER_STATUS_IRS_INFOS_NOT_INITIALIZED);
}

// ---- Sparse systems
#define SPARSE(T, name) BLAS_OF(T, cusolverSpS##name, cusolverSpD##name, cusolverSpC##name, cusolverSpZ##name)
template <class T>
class SparseSystems : public testing::Test {
 protected:
  SparseSystems() {
    EXPECT_EQ(cusolverSpCreate(&handle), CUSOLVER_STATUS_SUCCESS);
    EXPECT_EQ(cusparseCreateMatDescr(&description), CUSPARSE_STATUS_SUCCESS);
    EXPECT_EQ(cusparseSetMatIndexBase(description, CUSPARSE_INDEX_BASE_ONE), CUSPARSE_STATUS_SUCCESS);
  }
  ~SparseSystems() override {
    EXPECT_EQ(cusparseDestroyMatDescr(description), CUSPARSE_STATUS_SUCCESS);
    EXPECT_EQ(cusolverSpDestroy(handle), CUSOLVER_STATUS_SUCCESS);
  }
  // The second difference, 3 x 3, with indices from 1.
  Matrix<T> dense() const {
    Matrix<T> out(3, 3);
    for (int i = 0; i < 3; ++i) out(i, i) = T(2);
    out(0, 1) = out(1, 0) = out(1, 2) = out(2, 1) = T(-1);
    return out;
  }
  Array<int> offsets{1, 3, 6, 8}, indices{1, 2, 1, 2, 3, 2, 3};
  Array<T> values{T(2), T(-1), T(-1), T(2), T(-1), T(-1), T(2)};
  Array<T> b{T(1), T(2), T(3)};
  Array<T> x = Array<T>(3);
  cusolverSpHandle_t handle = nullptr;
  cusparseMatDescr_t description = nullptr;
};
TYPED_TEST_SUITE(SparseSystems, Types);

TYPED_TEST(SparseSystems, AreSolved) {
  using T = TypeParam;
  for (const auto solve : {SPARSE(T, csrlsvqr), SPARSE(T, csrlsvqrHost), SPARSE(T, csrlsvchol),
                           SPARSE(T, csrlsvcholHost), SPARSE(T, csrlsvluHost)}) {
    int singularity = -77;
    for (std::size_t i = 0; i < 3; ++i) this->x[i] = T{};
    DONE(solve(this->handle, 3, 7, this->description, cu(this->values), this->offsets.data(), this->indices.data(),
               cu(this->b), 0, 0, cu(this->x), &singularity));
    EXPECT_EQ(singularity, -1);
    Matrix<T> x(3, 1), b(3, 1);
    x.values = this->x.copy();
    b.values = this->b.copy();
    expect_same(b, this->dense() * x);
    EXPECT_EQ(solve(nullptr, 3, 7, this->description, cu(this->values), this->offsets.data(), this->indices.data(),
                    cu(this->b), 0, 0, cu(this->x), &singularity),
              kNone);
    EXPECT_EQ(solve(this->handle, 3, 7, nullptr, cu(this->values), this->offsets.data(), this->indices.data(),
                    cu(this->b), 0, 0, cu(this->x), &singularity),
              kInvalid);
  }
  // The last row is 0.
  this->values[5] = this->values[6] = T{};
  int singularity = -77;
  DONE(SPARSE(T, csrlsvqr)(this->handle, 3, 7, this->description, cu(this->values), this->offsets.data(),
                           this->indices.data(), cu(this->b), static_cast<Real<T>>(1e-6), 0, cu(this->x),
                           &singularity));
  EXPECT_EQ(singularity, 2);
}

TYPED_TEST(SparseSystems, BatchesByQr) {
  using T = TypeParam;
  csrqrInfo_t info = nullptr;
  DONE(cusolverSpCreateCsrqrInfo(&info));
  DONE(cusolverSpXcsrqrAnalysisBatched(this->handle, 3, 3, 7, this->description, this->offsets.data(),
                                       this->indices.data(), info));
  const Array<T> values(14), b(6), x(6);
  for (std::size_t i = 0; i < 7; ++i) {
    values[i] = this->values[i];
    values[i + 7] = this->values[i] * T(2);
  }
  for (std::size_t i = 0; i < 6; ++i) b[i] = this->b[i % 3];
  std::size_t inner = 0, bytes = 0;
  DONE(SPARSE(T, csrqrBufferInfoBatched)(this->handle, 3, 3, 7, this->description, cu(values), this->offsets.data(),
                                         this->indices.data(), 2, info, &inner, &bytes));
  const Array<char> work(bytes);
  DONE(SPARSE(T, csrqrsvBatched)(this->handle, 3, 3, 7, this->description, cu(values), this->offsets.data(),
                                 this->indices.data(), cu(b), cu(x), 2, info, work.data()));
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  Matrix<T> first(3, 1), right(3, 1);
  std::copy_n(x.data(), 3, first.values.begin());
  right.values = this->b.copy();
  expect_same(right, this->dense() * first);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(std::abs(x[i] - x[i + 3] * T(2)), 0, 10 * near<T>());
  DONE(cusolverSpDestroyCsrqrInfo(info));
}

using SparseCalls = SparseSystems<double>;
TEST_F(SparseCalls, StreamsAndSizes) {
  cudaStream_t stream = nullptr;
  DONE(cusolverSpSetStream(handle, nullptr));
  DONE(cusolverSpGetStream(handle, &stream));
  EXPECT_EQ(cusolverSpSetStream(nullptr, nullptr), kNone);
  EXPECT_EQ(cusolverSpGetStream(nullptr, &stream), kNone);
  int singularity = 0;
  testing::internal::CaptureStderr();
  EXPECT_EQ(cusolverSpDcsrlsvqr(handle, 5000, 7, description, values.data(), offsets.data(), indices.data(), b.data(),
                                0, 0, x.data(), &singularity),
            CUSOLVER_STATUS_NOT_SUPPORTED);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("cusolverSpDcsrlsvqr with 5000 rows is not supported"),
            std::string::npos);
}

}  // namespace
}  // namespace warpgrind::test
