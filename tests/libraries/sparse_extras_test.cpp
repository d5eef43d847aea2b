// Functions of cuSPARSE that programs of earlier versions use: counts, sorts, batches, incomplete factorisations.
#include <cusparse.h>

#include <algorithm>
#include <numeric>

#include "blas_calls.h"

namespace warpgrind::test {
namespace {

#undef DONE
#define DONE(...) ASSERT_EQ(__VA_ARGS__, CUSPARSE_STATUS_SUCCESS)
#define BY_TYPE(T, name) BLAS_OF(T, cusparseS##name, cusparseD##name, cusparseC##name, cusparseZ##name)
constexpr auto kInvalid = CUSPARSE_STATUS_INVALID_VALUE;
constexpr auto kNone = CUSPARSE_STATUS_NOT_INITIALIZED;

template <class T>
class SparseExtras : public testing::Test {
 protected:
  SparseExtras() {
    EXPECT_EQ(cusparseCreate(&handle), CUSPARSE_STATUS_SUCCESS);
    EXPECT_EQ(cusparseCreateMatDescr(&description), CUSPARSE_STATUS_SUCCESS);
  }
  ~SparseExtras() override {
    EXPECT_EQ(cusparseDestroyMatDescr(description), CUSPARSE_STATUS_SUCCESS);
    EXPECT_EQ(cusparseDestroy(handle), CUSPARSE_STATUS_SUCCESS);
  }
  cusparseHandle_t handle = nullptr;
  cusparseMatDescr_t description = nullptr;
};
TYPED_TEST_SUITE(SparseExtras, Types);
using SparseExtraCalls = SparseExtras<float>;

TYPED_TEST(SparseExtras, ElementsAreCounted) {
  using T = TypeParam;
  constexpr int kM = 3, kN = 4, kLd = 5;
  const Array<T> a(kLd * kN, T(7));  // what lies between columns does not count
  const int full[kM][kN] = {{1, 0, 1, 1}, {0, 0, 0, 0}, {1, 0, 0, 1}};
  for (std::size_t j = 0; j < kN; ++j)
    for (std::size_t i = 0; i < kM; ++i) a[j * kLd + i] = T(static_cast<Real<T>>(full[i][j]));
  const auto count = BY_TYPE(T, nnz);
  const Array<int> rows(kM), columns(kN), on_device(1);
  int total = 0;
  DONE(count(this->handle, CUSPARSE_DIRECTION_ROW, kM, kN, this->description, cu(a), kLd, rows.data(), &total));
  EXPECT_EQ(total, 5);
  DONE(cusparseSetPointerMode(this->handle, CUSPARSE_POINTER_MODE_DEVICE));
  DONE(count(this->handle, CUSPARSE_DIRECTION_COLUMN, kM, kN, this->description, cu(a), kLd, columns.data(),
             on_device.data()));
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(rows.copy(), (std::vector<int>{3, 0, 2}));
  EXPECT_EQ(columns.copy(), (std::vector<int>{2, 0, 1, 2}));
  EXPECT_EQ(on_device[0], 5);
  const auto row = CUSPARSE_DIRECTION_ROW;
  EXPECT_EQ(count(nullptr, row, kM, kN, this->description, cu(a), kLd, rows.data(), &total), kNone);
  EXPECT_EQ(count(this->handle, row, kM, kN, nullptr, cu(a), kLd, rows.data(), &total), kInvalid);
  EXPECT_EQ(count(this->handle, row, kM, kN, this->description, nullptr, kLd, rows.data(), &total), kInvalid);
  EXPECT_EQ(count(this->handle, row, kM, kN, this->description, cu(a), kM - 1, rows.data(), &total), kInvalid);
  EXPECT_EQ(count(this->handle, row, kM, kN, this->description, cu(a), kLd, nullptr, &total), kInvalid);
  EXPECT_EQ(count(this->handle, row, kM, kN, this->description, cu(a), kLd, rows.data(), nullptr), kInvalid);
  EXPECT_EQ(count(this->handle, row, -1, kN, this->description, cu(a), kLd, rows.data(), &total), kInvalid);
  EXPECT_EQ(count(this->handle, static_cast<cusparseDirection_t>(2), kM, kN, this->description, cu(a), kLd, rows.data(),
                  &total),
            kInvalid);
}

TEST_F(SparseExtraCalls, IndicesAreSorted) {
  const Array<int> offsets{1, 4, 4, 6}, indices{9, 2, 5, 3, 1}, p(5);
  std::size_t bytes = 0;
  DONE(cusparseSetMatIndexBase(description, CUSPARSE_INDEX_BASE_ONE));
  DONE(cusparseCreateIdentityPermutation(handle, 5, p.data()));
  DONE(cusparseXcsrsort_bufferSizeExt(handle, 3, 9, 5, offsets.data(), indices.data(), &bytes));
  EXPECT_GT(bytes, 0u);
  DONE(cusparseXcsrsort(handle, 3, 9, 5, description, offsets.data(), indices.data(), p.data(), nullptr));
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(indices.copy(), (std::vector<int>{2, 5, 9, 1, 3}));
  EXPECT_EQ(p.copy(), (std::vector<int>{1, 2, 0, 4, 3}));
  const Array<int> again{9, 2, 5, 3, 1};  // by columns, without a permutation
  DONE(cusparseXcscsort_bufferSizeExt(handle, 9, 3, 5, offsets.data(), again.data(), &bytes));
  DONE(cusparseXcscsort(handle, 9, 3, 5, description, offsets.data(), again.data(), nullptr, nullptr));
  const Array<int> rows{2, 0, 2, 1, 0}, columns{1, 3, 0, 2, 1};
  DONE(cusparseCreateIdentityPermutation(handle, 5, p.data()));
  DONE(cusparseXcoosort_bufferSizeExt(handle, 3, 4, 5, rows.data(), columns.data(), &bytes));
  DONE(cusparseXcoosortByRow(handle, 3, 4, 5, rows.data(), columns.data(), p.data(), nullptr));
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(again.copy(), (std::vector<int>{2, 5, 9, 1, 3}));
  EXPECT_EQ(rows.copy(), (std::vector<int>{0, 0, 1, 2, 2}));
  EXPECT_EQ(columns.copy(), (std::vector<int>{1, 3, 2, 0, 1}));
  EXPECT_EQ(p.copy(), (std::vector<int>{4, 1, 3, 2, 0}));
  DONE(cusparseXcoosortByColumn(handle, 3, 4, 5, rows.data(), columns.data(), p.data(), nullptr));
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(columns.copy(), (std::vector<int>{0, 1, 1, 2, 3}));
  EXPECT_EQ(rows.copy(), (std::vector<int>{2, 0, 2, 1, 0}));
}

TEST_F(SparseExtraCalls, SortsWithWrongArguments) {
  const Array<int> offsets{0, 2}, indices{1, 0};
  std::size_t bytes = 0;
  int* const i = indices.data();
  EXPECT_EQ(cusparseCreateIdentityPermutation(nullptr, 2, i), kNone);
  EXPECT_EQ(cusparseCreateIdentityPermutation(handle, 2, nullptr), kInvalid);
  EXPECT_EQ(cusparseCreateIdentityPermutation(handle, -1, i), kInvalid);
  for (const auto size :
       {cusparseXcsrsort_bufferSizeExt, cusparseXcscsort_bufferSizeExt, cusparseXcoosort_bufferSizeExt}) {
    EXPECT_EQ(size(nullptr, 1, 2, 2, offsets.data(), i, &bytes), kNone);
    EXPECT_EQ(size(handle, 1, 2, -2, offsets.data(), i, &bytes), kInvalid);
    EXPECT_EQ(size(handle, 1, 2, 2, offsets.data(), i, nullptr), kInvalid);
  }
  for (const auto sort : {cusparseXcsrsort, cusparseXcscsort}) {
    EXPECT_EQ(sort(nullptr, 1, 2, 2, description, offsets.data(), i, nullptr, nullptr), kNone);
    EXPECT_EQ(sort(handle, 1, 2, 2, nullptr, offsets.data(), i, nullptr, nullptr), kInvalid);
    EXPECT_EQ(sort(handle, 1, 2, 2, description, nullptr, i, nullptr, nullptr), kInvalid);
    EXPECT_EQ(sort(handle, 1, 2, 2, description, offsets.data(), nullptr, nullptr, nullptr), kInvalid);
    EXPECT_EQ(sort(handle, -1, 2, 2, description, offsets.data(), i, nullptr, nullptr), kInvalid);
  }
  for (const auto sort : {cusparseXcoosortByRow, cusparseXcoosortByColumn}) {
    EXPECT_EQ(sort(nullptr, 1, 2, 2, i, i, nullptr, nullptr), kNone);
    EXPECT_EQ(sort(handle, 1, 2, 2, nullptr, i, nullptr, nullptr), kInvalid);
    EXPECT_EQ(sort(handle, 1, 2, 2, i, nullptr, nullptr, nullptr), kInvalid);
    EXPECT_EQ(sort(handle, 1, 2, -1, i, i, nullptr, nullptr), kInvalid);
  }
}

// C_i = A_i B_i and C_i = A B_i.
TYPED_TEST(SparseExtras, Batches) {
  using T = TypeParam;
  constexpr cudaDataType kType = std::is_same_v<T, float>     ? CUDA_R_32F
                                 : std::is_same_v<T, double>  ? CUDA_R_64F
                                 : std::is_same_v<T, Complex> ? CUDA_C_32F
                                                              : CUDA_C_64F;
  constexpr int kRows = 3, kInner = 4, kColumns = 2, kNnz = 4, kCount = 3;
  constexpr int kOffsetsStride = kRows + 2, kElementsStride = kNnz + 1, kBStride = kInner * kColumns + 1;
  constexpr int kCStride = kRows * kColumns;
  const Array<int> offsets(kOffsetsStride * kCount), columns(kElementsStride * kCount);
  const Array<T> values(kElementsStride * kCount), b(kBStride * kCount), c(kCStride * kCount);
  fill(values, 80);
  fill(b, 81);
  const int patterns[kCount][kRows + 1] = {{0, 2, 3, 4}, {0, 0, 4, 4}, {0, 1, 2, 4}};
  for (std::size_t n = 0; n < kCount; ++n) {
    for (std::size_t i = 0; i <= kRows; ++i) offsets[n * kOffsetsStride + i] = patterns[n][i];
    for (std::size_t e = 0; e < kNnz; ++e) columns[n * kElementsStride + e] = static_cast<int>((e + n) % kInner);
  }
  const T one = T(1), zero{};
  for (const bool one_matrix : {false, true}) {
    cusparseSpMatDescr_t a = nullptr;
    cusparseDnMatDescr_t mb = nullptr, mc = nullptr;
    DONE(cusparseCreateCsr(&a, kRows, kInner, kNnz, offsets.data(), columns.data(), values.data(), CUSPARSE_INDEX_32I,
                           CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, kType));
    DONE(cusparseCreateDnMat(&mb, kInner, kColumns, kInner, b.data(), kType, CUSPARSE_ORDER_COL));
    DONE(cusparseCreateDnMat(&mc, kRows, kColumns, kRows, c.data(), kType, CUSPARSE_ORDER_COL));
    DONE(cusparseCsrSetStridedBatch(a, kCount, one_matrix ? 0 : kOffsetsStride, one_matrix ? 0 : kElementsStride));
    DONE(cusparseDnMatSetStridedBatch(mb, kCount, kBStride));
    DONE(cusparseDnMatSetStridedBatch(mc, kCount, kCStride));
    int count = 0;
    std::int64_t stride = 0;
    DONE(cusparseSpMatGetStridedBatch(a, &count));
    EXPECT_EQ(count, kCount);
    DONE(cusparseDnMatGetStridedBatch(mb, &count, &stride));
    EXPECT_EQ(stride, kBStride);
    const auto op = CUSPARSE_OPERATION_NON_TRANSPOSE;
    const auto multiply = [&] {
      return cusparseSpMM(this->handle, op, op, &one, a, mb, &zero, mc, kType, CUSPARSE_SPMM_ALG_DEFAULT, nullptr);
    };
    DONE(multiply());
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    for (std::size_t n = 0; n < kCount; ++n)
      for (std::size_t j = 0; j < kColumns; ++j)
        for (std::size_t i = 0; i < kRows; ++i) {
          const std::size_t which = one_matrix ? 0 : n;
          T sum{};
          for (auto e = static_cast<std::size_t>(patterns[which][i]);
               e < static_cast<std::size_t>(patterns[which][i + 1]); ++e)
            sum += values[which * kElementsStride + e] * b[n * kBStride + j * kInner + (e + which) % kInner];
          ASSERT_LE(std::abs(c[n * kCStride + j * kRows + i] - sum), 1e-5) << n << ": " << i << ", " << j;
        }
    DONE(cusparseDnMatSetStridedBatch(mc, kCount + 1, kCStride));
    EXPECT_EQ(multiply(), kInvalid);
    DONE(cusparseDestroySpMat(a));
    DONE(cusparseDestroyDnMat(mb));
    DONE(cusparseDestroyDnMat(mc));
  }
}

TEST_F(SparseExtraCalls, BatchesWithWrongArguments) {
  const Array<int> indices(8);
  const Array<float> values(16);
  cusparseSpMatDescr_t csr = nullptr, coo = nullptr;
  cusparseDnMatDescr_t dense = nullptr;
  DONE(cusparseCreateCsr(&csr, 2, 2, 2, indices.data(), indices.data(), values.data(), CUSPARSE_INDEX_32I,
                         CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
  DONE(cusparseCreateCoo(&coo, 2, 2, 2, indices.data(), indices.data(), values.data(), CUSPARSE_INDEX_32I,
                         CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
  DONE(cusparseCreateDnMat(&dense, 2, 2, 2, values.data(), CUDA_R_32F, CUSPARSE_ORDER_COL));
  int count = 0;
  std::int64_t stride = 0;
  EXPECT_EQ(cusparseCsrSetStridedBatch(nullptr, 2, 3, 2), kInvalid);
  EXPECT_EQ(cusparseCsrSetStridedBatch(csr, 0, 3, 2), kInvalid);
  EXPECT_EQ(cusparseCsrSetStridedBatch(csr, 2, 2, 2), kInvalid);
  EXPECT_EQ(cusparseCsrSetStridedBatch(csr, 2, 3, 1), kInvalid);
  EXPECT_EQ(cusparseCsrSetStridedBatch(coo, 2, 3, 2), kInvalid);
  EXPECT_EQ(cusparseCooSetStridedBatch(csr, 2, 2), kInvalid);
  EXPECT_EQ(cusparseCooSetStridedBatch(coo, 2, 1), kInvalid);
  EXPECT_EQ(cusparseCooSetStridedBatch(nullptr, 2, 2), kInvalid);
  DONE(cusparseCooSetStridedBatch(coo, 2, 2));
  EXPECT_EQ(cusparseDnMatSetStridedBatch(dense, 2, 3), kInvalid);
  EXPECT_EQ(cusparseDnMatSetStridedBatch(dense, 0, 4), kInvalid);
  EXPECT_EQ(cusparseDnMatSetStridedBatch(nullptr, 2, 4), kInvalid);
  EXPECT_EQ(cusparseSpMatGetStridedBatch(coo, nullptr), kInvalid);
  EXPECT_EQ(cusparseSpMatGetStridedBatch(nullptr, &count), kInvalid);
  EXPECT_EQ(cusparseDnMatGetStridedBatch(dense, nullptr, &stride), kInvalid);
  EXPECT_EQ(cusparseDnMatGetStridedBatch(dense, &count, nullptr), kInvalid);
  EXPECT_EQ(cusparseDnMatGetStridedBatch(nullptr, &count, &stride), kInvalid);
  DONE(cusparseDestroySpMat(csr));
  DONE(cusparseDestroySpMat(coo));
  DONE(cusparseDestroyDnMat(dense));
}

// A matrix with the pattern that its factors have together: both are exact then.
template <class T>
struct Arrow {  // the diagonal, the last row and the last column
  static constexpr int kN = 4, kNnz = 3 * kN - 2;
  Array<int> offsets{0, 2, 4, 6, 10}, columns{0, 3, 1, 3, 2, 3, 0, 1, 2, 3};
  Array<T> values{T(4), T(1), T(5), T(-1), T(6), T(2), T(1), T(-1), T(2), T(9)};
  T dense(int i, int j) const {
    for (int e = offsets[static_cast<std::size_t>(i)]; e < offsets[static_cast<std::size_t>(i) + 1]; ++e)
      if (columns[static_cast<std::size_t>(e)] == j) return values[static_cast<std::size_t>(e)];
    return T{};
  }
};

TYPED_TEST(SparseExtras, IncompleteFactorisations) {
  using T = TypeParam;
  constexpr int kN = Arrow<T>::kN, kNnz = Arrow<T>::kNnz;
  const Arrow<T> a, lu, l;
  csrilu02Info_t info = nullptr;
  csric02Info_t of_l = nullptr;
  DONE(cusparseCreateCsrilu02Info(&info));
  DONE(cusparseCreateCsric02Info(&of_l));
  int bytes = 0, position = 0;
  std::size_t wide_bytes = 0;
  const auto policy = CUSPARSE_SOLVE_POLICY_USE_LEVEL;
  const auto with = [&](auto function, const Arrow<T>& m, auto which, auto... rest) {
    return function(this->handle, kN, kNnz, this->description, cu(m.values), m.offsets.data(), m.columns.data(), which,
                    rest...);
  };
  DONE(with(BY_TYPE(T, csrilu02_bufferSize), lu, info, &bytes));
  DONE(with(BY_TYPE(T, csrilu02_bufferSizeExt), lu, info, &wide_bytes));
  EXPECT_EQ(static_cast<std::size_t>(bytes), wide_bytes);
  DONE(with(BY_TYPE(T, csrilu02_analysis), lu, info, policy, nullptr));
  DONE(cusparseXcsrilu02_zeroPivot(this->handle, info, &position));
  EXPECT_EQ(position, -1);
  DONE(with(BY_TYPE(T, csrilu02), lu, info, policy, nullptr));
  DONE(with(BY_TYPE(T, csric02_bufferSize), l, of_l, &bytes));
  DONE(with(BY_TYPE(T, csric02_bufferSizeExt), l, of_l, &wide_bytes));
  DONE(with(BY_TYPE(T, csric02_analysis), l, of_l, policy, nullptr));
  DONE(with(BY_TYPE(T, csric02), l, of_l, policy, nullptr));
  DONE(cusparseXcsric02_zeroPivot(this->handle, of_l, &position));
  EXPECT_EQ(position, -1);
  for (int i = 0; i < kN; ++i)
    for (int j = 0; j < kN; ++j) {
      T by_lu{}, by_l{};
      for (int k = 0; k <= std::min(i, j); ++k) {
        by_lu += (k == i ? T(1) : lu.dense(i, k)) * lu.dense(k, j);
        by_l += l.dense(i, k) * conjugate(l.dense(j, k));
      }
      ASSERT_LE(std::abs(by_lu - a.dense(i, j)), 1e-5) << i << ", " << j;
      ASSERT_LE(std::abs(by_l - a.dense(i, j)), 1e-5) << i << ", " << j;
    }
  // A pivot that becomes 0, and one that is replaced.
  copy_to(lu.values, a.values.copy());
  lu.values[2] = T{};
  DONE(with(BY_TYPE(T, csrilu02), lu, info, policy, nullptr));
  EXPECT_EQ(cusparseXcsrilu02_zeroPivot(this->handle, info, &position), CUSPARSE_STATUS_ZERO_PIVOT);
  EXPECT_EQ(position, 1);
  copy_to(lu.values, a.values.copy());
  lu.values[2] = T{};
  double tolerance = 1e-10;
  T replacement = T(8);
  DONE(BY_TYPE(T, csrilu02_numericBoost)(this->handle, info, 1, &tolerance, cu(&replacement)));
  DONE(with(BY_TYPE(T, csrilu02), lu, info, policy, nullptr));
  DONE(cusparseXcsrilu02_zeroPivot(this->handle, info, &position));
  EXPECT_EQ(lu.values[2], T(8));
  // One that is not there: row 2 has its column 1 in place of 2.
  lu.columns[4] = 1;
  DONE(cusparseSetMatIndexBase(this->description, CUSPARSE_INDEX_BASE_ZERO));
  DONE(with(BY_TYPE(T, csrilu02_analysis), lu, info, policy, nullptr));
  DONE(cusparseSetPointerMode(this->handle, CUSPARSE_POINTER_MODE_DEVICE));
  const Array<int> on_device(1);
  EXPECT_EQ(cusparseXcsrilu02_zeroPivot(this->handle, info, on_device.data()), CUSPARSE_STATUS_ZERO_PIVOT);
  EXPECT_EQ(on_device[0], 2);
  DONE(cusparseSetPointerMode(this->handle, CUSPARSE_POINTER_MODE_HOST));
  // A matrix that is not positive.
  copy_to(l.values, a.values.copy());
  l.values[2] = T(-5);
  DONE(with(BY_TYPE(T, csric02), l, of_l, policy, nullptr));
  EXPECT_EQ(cusparseXcsric02_zeroPivot(this->handle, of_l, &position), CUSPARSE_STATUS_ZERO_PIVOT);
  EXPECT_EQ(position, 1);
  DONE(cusparseDestroyCsrilu02Info(info));
  DONE(cusparseDestroyCsric02Info(of_l));
}

TEST_F(SparseExtraCalls, FactorisationsWithWrongArguments) {
  const Arrow<float> a;
  csrilu02Info_t info = nullptr;
  DONE(cusparseCreateCsrilu02Info(&info));
  int bytes = 0, position = 0;
  const auto policy = CUSPARSE_SOLVE_POLICY_NO_LEVEL;
  EXPECT_EQ(cusparseCreateCsrilu02Info(nullptr), kInvalid);
  EXPECT_EQ(cusparseCreateCsric02Info(nullptr), kInvalid);
  EXPECT_EQ(cusparseXcsrilu02_zeroPivot(nullptr, info, &position), kNone);
  EXPECT_EQ(cusparseXcsrilu02_zeroPivot(handle, nullptr, &position), kInvalid);
  EXPECT_EQ(cusparseXcsrilu02_zeroPivot(handle, info, nullptr), kInvalid);
  EXPECT_EQ(cusparseXcsric02_zeroPivot(handle, nullptr, &position), kInvalid);
  float* const v = a.values.data();
  const int *const o = a.offsets.data(), *const c = a.columns.data();
  EXPECT_EQ(cusparseScsrilu02_bufferSize(nullptr, 4, 10, description, v, o, c, info, &bytes), kNone);
  EXPECT_EQ(cusparseScsrilu02_bufferSize(handle, 4, 10, description, v, o, c, info, nullptr), kInvalid);
  EXPECT_EQ(cusparseScsric02_bufferSize(handle, 4, 10, description, v, o, c, nullptr, &bytes), kInvalid);
  EXPECT_EQ(cusparseScsrilu02(handle, 4, 10, nullptr, v, o, c, info, policy, nullptr), kInvalid);
  EXPECT_EQ(cusparseScsrilu02(handle, -4, 10, description, v, o, c, info, policy, nullptr), kInvalid);
  EXPECT_EQ(cusparseScsrilu02(handle, 4, 10, description, nullptr, o, c, info, policy, nullptr), kInvalid);
  EXPECT_EQ(cusparseScsrilu02(handle, 4, 10, description, v, nullptr, c, info, policy, nullptr), kInvalid);
  EXPECT_EQ(cusparseScsrilu02(handle, 4, 10, description, v, o, nullptr, info, policy, nullptr), kInvalid);
  EXPECT_EQ(cusparseScsrilu02(handle, 4, 10, description, v, o, c, nullptr, policy, nullptr), kInvalid);
  EXPECT_EQ(cusparseScsrilu02_analysis(nullptr, 4, 10, description, v, o, c, info, policy, nullptr), kNone);
  EXPECT_EQ(cusparseScsric02_analysis(handle, 4, 10, description, v, o, c, nullptr, policy, nullptr), kInvalid);
  double tolerance = 1;
  float value = 1;
  EXPECT_EQ(cusparseScsrilu02_numericBoost(nullptr, info, 1, &tolerance, &value), kNone);
  EXPECT_EQ(cusparseScsrilu02_numericBoost(handle, nullptr, 1, &tolerance, &value), kInvalid);
  EXPECT_EQ(cusparseScsrilu02_numericBoost(handle, info, 1, nullptr, &value), kInvalid);
  EXPECT_EQ(cusparseScsrilu02_numericBoost(handle, info, 1, &tolerance, nullptr), kInvalid);
  DONE(cusparseScsrilu02_numericBoost(handle, info, 0, nullptr, nullptr));
  DONE(cusparseSetMatType(description, CUSPARSE_MATRIX_TYPE_TRIANGULAR));
  EXPECT_EQ(cusparseScsrilu02(handle, 4, 10, description, v, o, c, info, policy, nullptr),
            CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED);
  DONE(cusparseDestroyCsrilu02Info(info));
}

}  // namespace
}  // namespace warpgrind::test
