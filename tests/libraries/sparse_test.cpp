// cuSPARSE's generic interface against dense sums.
#include <cusparse.h>

#include "library_test.h"

namespace warpgrind::test {
namespace {

#define DONE(...) ASSERT_EQ(__VA_ARGS__, CUSPARSE_STATUS_SUCCESS)

template <class T>
constexpr cudaDataType kType = CUDA_R_32F;
template <>
inline constexpr cudaDataType kType<double> = CUDA_R_64F;
template <>
inline constexpr cudaDataType kType<Complex> = CUDA_C_32F;
template <>
inline constexpr cudaDataType kType<DoubleComplex> = CUDA_C_64F;

constexpr cusparseOperation_t kOperations[] = {CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_TRANSPOSE,
                                               CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE};
constexpr std::size_t kRows = 7, kColumns = 5;

// A matrix in every format; by rows: element (i, j) at i * columns + j.
template <class T>
struct Matrix {
  std::size_t rows, columns;
  std::vector<T> dense;
  std::vector<int> offsets, column_of, row_of, column_offsets, rows_by_column;
  std::vector<T> values, by_column;

  Matrix(std::size_t r, std::size_t c, unsigned seed, double filled = 0.4) : rows(r), columns(c), dense(r * c) {
    std::mt19937 random(seed);
    for (T& v : dense)
      if (static_cast<double>(random() % 1000) < 1000 * filled) v = random_number<T>(random);
    take();
  }
  // The other formats from `dense`.
  void take() {
    for (auto* list : {&offsets, &column_of, &row_of, &column_offsets, &rows_by_column}) list->clear();
    values.clear();
    by_column.clear();
    offsets.push_back(0);
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < columns; ++j)
        if (dense[i * columns + j] != T{}) {
          column_of.push_back(static_cast<int>(j));
          row_of.push_back(static_cast<int>(i));
          values.push_back(dense[i * columns + j]);
        }
      offsets.push_back(static_cast<int>(values.size()));
    }
    column_offsets.push_back(0);
    for (std::size_t j = 0; j < columns; ++j) {
      for (std::size_t i = 0; i < rows; ++i)
        if (dense[i * columns + j] != T{}) {
          rows_by_column.push_back(static_cast<int>(i));
          by_column.push_back(dense[i * columns + j]);
        }
      column_offsets.push_back(static_cast<int>(by_column.size()));
    }
  }
  T at(std::size_t i, std::size_t j, cusparseOperation_t op) const {
    if (op == CUSPARSE_OPERATION_NON_TRANSPOSE) return dense[i * columns + j];
    return op == CUSPARSE_OPERATION_TRANSPOSE ? dense[j * columns + i] : conjugate(dense[j * columns + i]);
  }
};

// The same on the device, by descriptors.
template <class T>
class OnDevice {
 public:
  explicit OnDevice(const Matrix<T>& m, int base = 0)
      : offsets_(shifted(m.offsets, base)),
        columns_(shifted(m.column_of, base)),
        rows_(shifted(m.row_of, base)),
        column_offsets_(shifted(m.column_offsets, base)),
        rows_by_column_(shifted(m.rows_by_column, base)),
        values_(m.values),
        by_column_(m.by_column) {
    const auto rows = static_cast<std::int64_t>(m.rows), columns = static_cast<std::int64_t>(m.columns);
    const auto count = static_cast<std::int64_t>(m.values.size());
    const auto b = static_cast<cusparseIndexBase_t>(base);
    EXPECT_EQ(cusparseCreateCsr(&csr, rows, columns, count, offsets_.data(), columns_.data(), values_.data(),
                                CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, b, kType<T>),
              CUSPARSE_STATUS_SUCCESS);
    EXPECT_EQ(cusparseCreateCsc(&csc, rows, columns, count, column_offsets_.data(), rows_by_column_.data(),
                                by_column_.data(), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, b, kType<T>),
              CUSPARSE_STATUS_SUCCESS);
    EXPECT_EQ(cusparseCreateCoo(&coo, rows, columns, count, rows_.data(), columns_.data(), values_.data(),
                                CUSPARSE_INDEX_32I, b, kType<T>),
              CUSPARSE_STATUS_SUCCESS);
  }
  ~OnDevice() {
    for (const cusparseSpMatDescr_t m : {csr, csc, coo}) cusparseDestroySpMat(m);
  }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  cusparseSpMatDescr_t csr = nullptr, csc = nullptr, coo = nullptr;
  const Array<T>& values() const { return values_; }

 private:
  template <class V>
  struct Copy : Array<V> {
    explicit Copy(const std::vector<V>& from) : Array<V>(from.size()) {
      for (std::size_t i = 0; i < from.size(); ++i) (*this)[i] = from[i];
    }
  };
  static Copy<int> shifted(std::vector<int> from, int base) {
    for (int& v : from) v += base;
    return Copy<int>(from);
  }
  Copy<int> offsets_, columns_, rows_, column_offsets_, rows_by_column_;
  Copy<T> values_, by_column_;
};

template <class T>
class Sparse : public testing::Test {
 protected:
  Sparse() { EXPECT_EQ(cusparseCreate(&handle), CUSPARSE_STATUS_SUCCESS); }
  ~Sparse() override { EXPECT_EQ(cusparseDestroy(handle), CUSPARSE_STATUS_SUCCESS); }
  cusparseHandle_t handle = nullptr;
};
using Types = testing::Types<float, double, Complex, DoubleComplex>;
TYPED_TEST_SUITE(Sparse, Types);

TYPED_TEST(Sparse, TimesAVector) {
  using T = TypeParam;
  const Matrix<T> m(kRows, kColumns, 60);
  const T alpha = T(2), beta = T(Real<T>(0.5));
  for (const int base : {0, 1}) {
    const OnDevice<T> d(m, base);
    for (const cusparseSpMatDescr_t matrix : {d.csr, d.csc, d.coo})
      for (const cusparseOperation_t op : kOperations) {
        const bool turned = op != CUSPARSE_OPERATION_NON_TRANSPOSE;
        const std::size_t rows = turned ? kColumns : kRows, columns = turned ? kRows : kColumns;
        const Array<T> x(columns), y(rows);
        fill(x, 61);
        fill(y, 62);
        std::vector<T> expected = y.copy();
        for (std::size_t i = 0; i < rows; ++i) {
          T sum{};
          for (std::size_t j = 0; j < columns; ++j) sum += m.at(i, j, op) * x[j];
          expected[i] = alpha * sum + beta * expected[i];
        }
        cusparseDnVecDescr_t vx = nullptr, vy = nullptr;
        DONE(cusparseCreateDnVec(&vx, static_cast<std::int64_t>(columns), x.data(), kType<T>));
        DONE(cusparseCreateDnVec(&vy, static_cast<std::int64_t>(rows), y.data(), kType<T>));
        std::size_t bytes = 0;
        DONE(cusparseSpMV_bufferSize(this->handle, op, &alpha, matrix, vx, &beta, vy, kType<T>,
                                     CUSPARSE_SPMV_ALG_DEFAULT, &bytes));
        DONE(cusparseSpMV(this->handle, op, &alpha, matrix, vx, &beta, vy, kType<T>, CUSPARSE_SPMV_ALG_DEFAULT,
                          nullptr));
        expect_near(expected, y, 1e-5);
        DONE(cusparseDestroyDnVec(vx));
        DONE(cusparseDestroyDnVec(vy));
      }
  }
}

TYPED_TEST(Sparse, TimesAMatrix) {
  using T = TypeParam;
  constexpr std::size_t kWide = 3;
  const Matrix<T> m(kRows, kColumns, 63);
  const OnDevice<T> d(m);
  const T alpha = T(2), beta{};
  for (const cusparseOrder_t order : {CUSPARSE_ORDER_COL, CUSPARSE_ORDER_ROW})
    for (const cusparseOperation_t op : kOperations) {
      const bool turned = op != CUSPARSE_OPERATION_NON_TRANSPOSE;
      const bool by_columns = order == CUSPARSE_ORDER_COL;
      const std::size_t b_rows = turned ? kWide : kColumns, b_columns = turned ? kColumns : kWide;
      const Array<T> b(kColumns * kWide), c(kRows * kWide, T(77));
      fill(b, 64);
      cusparseDnMatDescr_t mb = nullptr, mc = nullptr;
      DONE(cusparseCreateDnMat(&mb, static_cast<std::int64_t>(b_rows), static_cast<std::int64_t>(b_columns),
                               static_cast<std::int64_t>(by_columns ? b_rows : b_columns), b.data(), kType<T>, order));
      DONE(cusparseCreateDnMat(&mc, kRows, kWide, by_columns ? kRows : kWide, c.data(), kType<T>, order));
      std::vector<T> expected(c.size());
      for (std::size_t i = 0; i < kRows; ++i)
        for (std::size_t j = 0; j < kWide; ++j) {
          T sum{};
          for (std::size_t k = 0; k < kColumns; ++k) {
            const std::size_t row = turned ? j : k, column = turned ? k : j;
            const T v = b[by_columns ? column * b_rows + row : row * b_columns + column];
            sum += m.dense[i * kColumns + k] * (op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE ? conjugate(v) : v);
          }
          expected[by_columns ? j * kRows + i : i * kWide + j] = alpha * sum;
        }
      DONE(cusparseSpMM(this->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, op, &alpha, d.csr, mb, &beta, mc, kType<T>,
                        CUSPARSE_SPMM_ALG_DEFAULT, nullptr));
      expect_near(expected, c, 1e-5);
      DONE(cusparseDestroyDnMat(mb));
      DONE(cusparseDestroyDnMat(mc));
    }
}

TYPED_TEST(Sparse, TriangularSystems) {
  using T = TypeParam;
  constexpr std::size_t kN = 6;
  Matrix<T> m(kN, kN, 65, 0.7);
  for (std::size_t i = 0; i < kN; ++i) m.dense[i * kN + i] = T(4);
  m.take();
  const OnDevice<T> d(m);
  const T alpha = T(2);
  for (cusparseFillMode_t fill_mode : {CUSPARSE_FILL_MODE_LOWER, CUSPARSE_FILL_MODE_UPPER})
    for (cusparseDiagType_t diagonal : {CUSPARSE_DIAG_TYPE_NON_UNIT, CUSPARSE_DIAG_TYPE_UNIT})
      for (const cusparseOperation_t op : kOperations) {
        DONE(cusparseSpMatSetAttribute(d.csr, CUSPARSE_SPMAT_FILL_MODE, &fill_mode, sizeof fill_mode));
        DONE(cusparseSpMatSetAttribute(d.csr, CUSPARSE_SPMAT_DIAG_TYPE, &diagonal, sizeof diagonal));
        const Array<T> x(kN), y(kN);
        fill(x, 66);
        cusparseDnVecDescr_t vx = nullptr, vy = nullptr;
        cusparseSpSVDescr_t descriptor = nullptr;
        std::size_t bytes = 0;
        DONE(cusparseCreateDnVec(&vx, kN, x.data(), kType<T>));
        DONE(cusparseCreateDnVec(&vy, kN, y.data(), kType<T>));
        DONE(cusparseSpSV_createDescr(&descriptor));
        DONE(cusparseSpSV_bufferSize(this->handle, op, &alpha, d.csr, vx, vy, kType<T>, CUSPARSE_SPSV_ALG_DEFAULT,
                                     descriptor, &bytes));
        DONE(cusparseSpSV_analysis(this->handle, op, &alpha, d.csr, vx, vy, kType<T>, CUSPARSE_SPSV_ALG_DEFAULT,
                                   descriptor, nullptr));
        DONE(cusparseSpSV_solve(this->handle, op, &alpha, d.csr, vx, vy, kType<T>, CUSPARSE_SPSV_ALG_DEFAULT,
                                descriptor));
        ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
        for (std::size_t i = 0; i < kN; ++i) {  // op(triangle) y = alpha x
          T sum{};
          for (std::size_t j = 0; j < kN; ++j) {
            const std::size_t row = op == CUSPARSE_OPERATION_NON_TRANSPOSE ? i : j, column = row == i ? j : i;
            const bool stored = fill_mode == CUSPARSE_FILL_MODE_LOWER ? column < row : column > row;
            if (i == j)
              sum += (diagonal == CUSPARSE_DIAG_TYPE_UNIT ? T(1) : m.at(i, j, op)) * y[j];
            else if (stored)
              sum += m.at(i, j, op) * y[j];
          }
          EXPECT_LE(std::abs(sum - alpha * x[i]), 1e-3);
        }
        cusparseSpSV_destroyDescr(descriptor);
        cusparseDestroyDnVec(vx);
        cusparseDestroyDnVec(vy);
      }
}

TYPED_TEST(Sparse, VectorsWithDenseOnes) {
  using T = TypeParam;
  const Array<int> indices{1, 4, 6};
  const Array<T> values(3), y(8);
  fill(values, 67);
  fill(y, 68);
  cusparseSpVecDescr_t vx = nullptr;
  cusparseDnVecDescr_t vy = nullptr;
  DONE(cusparseCreateSpVec(&vx, 8, 3, indices.data(), values.data(), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                           kType<T>));
  DONE(cusparseCreateDnVec(&vy, 8, y.data(), kType<T>));
  const T alpha = T(3), beta = T(2);
  std::vector<T> expected = y.copy();
  for (T& v : expected) v *= beta;
  T dot{};
  for (std::size_t i = 0; i < 3; ++i) {
    expected[static_cast<std::size_t>(indices[i])] += alpha * values[i];
    dot += conjugate(values[i]) * expected[static_cast<std::size_t>(indices[i])];
  }
  DONE(cusparseAxpby(this->handle, &alpha, vx, &beta, vy));
  expect_near(expected, y, 1e-6);
  T got{};
  DONE(cusparseSpVV(this->handle, CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE, vx, vy, &got, kType<T>, nullptr));
  EXPECT_LE(std::abs(got - dot), 1e-4);
  DONE(cusparseGather(this->handle, vy, vx));
  expect_near({expected[1], expected[4], expected[6]}, values, 1e-6);
  for (std::size_t i = 0; i < 3; ++i)
    values[i] = T(Real<T>(i)), expected[static_cast<std::size_t>(indices[i])] = values[i];
  DONE(cusparseScatter(this->handle, vx, vy));
  expect_near(expected, y, 1e-6);
  DONE(cusparseDestroySpVec(vx));
  DONE(cusparseDestroyDnVec(vy));
}

TYPED_TEST(Sparse, DenseAndBack) {
  using T = TypeParam;
  const Matrix<T> m(kRows, kColumns, 69);
  const OnDevice<T> d(m);
  const Array<T> dense(kRows * kColumns, T(9));
  cusparseDnMatDescr_t md = nullptr;
  DONE(cusparseCreateDnMat(&md, kRows, kColumns, kColumns, dense.data(), kType<T>, CUSPARSE_ORDER_ROW));
  DONE(cusparseSparseToDense(this->handle, d.csc, md, CUSPARSE_SPARSETODENSE_ALG_DEFAULT, nullptr));
  expect_near(m.dense, dense, 0);
  const Array<int> offsets(kRows + 1), columns(kRows * kColumns);
  const Array<T> values(kRows * kColumns);
  cusparseSpMatDescr_t made = nullptr;
  DONE(cusparseCreateCsr(&made, kRows, kColumns, 0, offsets.data(), nullptr, nullptr, CUSPARSE_INDEX_32I,
                         CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, kType<T>));
  DONE(cusparseDenseToSparse_analysis(this->handle, md, made, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, nullptr));
  std::int64_t rows = 0, width = 0, count = 0;
  DONE(cusparseSpMatGetSize(made, &rows, &width, &count));
  ASSERT_EQ(count, static_cast<std::int64_t>(m.values.size()));
  DONE(cusparseCsrSetPointers(made, offsets.data(), columns.data(), values.data()));
  DONE(cusparseDenseToSparse_convert(this->handle, md, made, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, nullptr));
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(offsets.copy(), m.offsets);
  for (std::size_t i = 0; i < m.values.size(); ++i) {
    EXPECT_EQ(columns[i], m.column_of[i]);
    EXPECT_EQ(values[i], m.values[i]);
  }
  DONE(cusparseDestroySpMat(made));
  DONE(cusparseDestroyDnMat(md));
}

TYPED_TEST(Sparse, TimesSparseAndSampled) {
  using T = TypeParam;
  const Matrix<T> a(kRows, kColumns, 70), b(kColumns, kRows, 71);
  const OnDevice<T> da(a), db(b);
  const T alpha = T(2), beta{};
  const Array<int> offsets(kRows + 1), columns(kRows * kRows);
  const Array<T> values(kRows * kRows);
  cusparseSpMatDescr_t c = nullptr;
  cusparseSpGEMMDescr_t descriptor = nullptr;
  const auto op = CUSPARSE_OPERATION_NON_TRANSPOSE;
  DONE(cusparseCreateCsr(&c, kRows, kRows, 0, nullptr, nullptr, nullptr, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                         CUSPARSE_INDEX_BASE_ZERO, kType<T>));
  DONE(cusparseSpGEMM_createDescr(&descriptor));
  std::size_t bytes = 0;
  const Array<char> buffer(1024);
  const auto alg = CUSPARSE_SPGEMM_DEFAULT;
  DONE(cusparseSpGEMM_workEstimation(this->handle, op, op, &alpha, da.csr, db.csr, &beta, c, kType<T>, alg, descriptor,
                                     &bytes, nullptr));
  DONE(cusparseSpGEMM_compute(this->handle, op, op, &alpha, da.csr, db.csr, &beta, c, kType<T>, alg, descriptor, &bytes,
                              nullptr));
  ASSERT_LE(bytes, buffer.size());
  DONE(cusparseSpGEMM_compute(this->handle, op, op, &alpha, da.csr, db.csr, &beta, c, kType<T>, alg, descriptor, &bytes,
                              buffer.data()));
  DONE(cusparseCsrSetPointers(c, offsets.data(), columns.data(), values.data()));
  DONE(cusparseSpGEMM_copy(this->handle, op, op, &alpha, da.csr, db.csr, &beta, c, kType<T>, alg, descriptor));
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  std::vector<T> got(kRows * kRows);
  for (std::size_t i = 0; i < kRows; ++i)
    for (auto e = static_cast<std::size_t>(offsets[i]); e < static_cast<std::size_t>(offsets[i + 1]); ++e)
      got[i * kRows + static_cast<std::size_t>(columns[e])] = values[e];
  for (std::size_t i = 0; i < kRows; ++i)
    for (std::size_t j = 0; j < kRows; ++j) {
      T sum{};
      for (std::size_t k = 0; k < kColumns; ++k) sum += a.dense[i * kColumns + k] * b.dense[k * kRows + j];
      EXPECT_LE(std::abs(got[i * kRows + j] - alpha * sum), 1e-4);
    }
  cusparseSpGEMM_destroyDescr(descriptor);
  cusparseDestroySpMat(c);
  // The same product at the places of a sparse matrix alone.
  const Array<T> left(kRows * 2), right(2 * kColumns);
  fill(left, 72);
  fill(right, 73);
  cusparseDnMatDescr_t ml = nullptr, mr = nullptr;
  DONE(cusparseCreateDnMat(&ml, kRows, 2, kRows, left.data(), kType<T>, CUSPARSE_ORDER_COL));
  DONE(cusparseCreateDnMat(&mr, 2, kColumns, 2, right.data(), kType<T>, CUSPARSE_ORDER_COL));
  std::vector<T> expected;
  for (std::size_t e = 0; e < a.values.size(); ++e) {
    const auto i = static_cast<std::size_t>(a.row_of[e]), j = static_cast<std::size_t>(a.column_of[e]);
    expected.push_back(alpha * (left[i] * right[2 * j] + left[kRows + i] * right[2 * j + 1]));
  }
  DONE(cusparseSDDMM(this->handle, op, op, &alpha, ml, mr, &beta, da.csr, kType<T>, CUSPARSE_SDDMM_ALG_DEFAULT,
                     nullptr));
  expect_near(expected, da.values(), 1e-5);
  cusparseDestroyDnMat(ml);
  cusparseDestroyDnMat(mr);
}

using SparseCalls = Sparse<float>;

TEST_F(SparseCalls, FormatsAreConverted) {
  const Matrix<float> m(kRows, kColumns, 74);
  const auto count = static_cast<int>(m.values.size());
  const Array<int> offsets(kRows + 1), columns(m.values.size()), rows(m.values.size()), back(kRows + 1);
  const Array<float> values(m.values.size()), turned(m.values.size());
  for (std::size_t i = 0; i <= kRows; ++i) offsets[i] = m.offsets[i] + 1;
  for (std::size_t i = 0; i < m.values.size(); ++i) columns[i] = m.column_of[i] + 1, values[i] = m.values[i];
  DONE(cusparseXcsr2coo(handle, offsets.data(), count, kRows, rows.data(), CUSPARSE_INDEX_BASE_ONE));
  DONE(cusparseXcoo2csr(handle, rows.data(), count, kRows, back.data(), CUSPARSE_INDEX_BASE_ONE));
  const Array<int> column_offsets(kColumns + 1), row_indices(m.values.size());
  DONE(cusparseCsr2cscEx2(handle, kRows, kColumns, count, values.data(), offsets.data(), columns.data(), turned.data(),
                          column_offsets.data(), row_indices.data(), CUDA_R_32F, CUSPARSE_ACTION_NUMERIC,
                          CUSPARSE_INDEX_BASE_ONE, CUSPARSE_CSR2CSC_ALG_DEFAULT, nullptr));
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(back.copy(), offsets.copy());
  EXPECT_EQ(turned.copy(), m.by_column);
  for (std::size_t i = 0; i < m.values.size(); ++i) {
    EXPECT_EQ(rows[i], m.row_of[i] + 1);
    EXPECT_EQ(row_indices[i], m.rows_by_column[i] + 1);
  }
}

TEST_F(SparseCalls, Errors) {
  const Matrix<float> m(kRows, kColumns, 75);
  const OnDevice<float> d(m);
  const Array<float> x(kColumns), y(kRows);
  const float one = 1;
  cusparseDnVecDescr_t vx = nullptr, vy = nullptr;
  DONE(cusparseCreateDnVec(&vx, kColumns, x.data(), CUDA_R_32F));
  DONE(cusparseCreateDnVec(&vy, kRows, y.data(), CUDA_R_32F));
  const auto spmv = [&](cusparseHandle_t h, cusparseSpMatDescr_t a, cusparseDnVecDescr_t in, cusparseDnVecDescr_t out) {
    return cusparseSpMV(h, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, in, &one, out, CUDA_R_32F,
                        CUSPARSE_SPMV_ALG_DEFAULT, nullptr);
  };
  EXPECT_EQ(spmv(nullptr, d.csr, vx, vy), CUSPARSE_STATUS_NOT_INITIALIZED);
  EXPECT_EQ(spmv(handle, nullptr, vx, vy), CUSPARSE_STATUS_INVALID_VALUE);
  EXPECT_EQ(spmv(handle, d.csr, vy, vx), CUSPARSE_STATUS_INVALID_VALUE);
  EXPECT_EQ(spmv(handle, reinterpret_cast<cusparseSpMatDescr_t>(0x1234), vx, vy), CUSPARSE_STATUS_INVALID_VALUE);
  EXPECT_STREQ(cusparseGetErrorName(CUSPARSE_STATUS_INVALID_VALUE), "CUSPARSE_STATUS_INVALID_VALUE");
  std::vector<float> host(kColumns);
  DONE(cusparseDnVecSetValues(vx, host.data()));
  DONE(spmv(handle, d.csr, vx, vy));
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  EXPECT_EQ(spmv(handle, d.csr, vx, vy), CUSPARSE_STATUS_EXECUTION_FAILED);
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  cusparseDestroyDnVec(vx);
  cusparseDestroyDnVec(vy);
}

}  // namespace
}  // namespace warpgrind::test
