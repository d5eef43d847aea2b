// Generic interface of cuSPARSE: products of matrices, and triangular systems.
#include <algorithm>

#include "libraries/sparse/matrices.h"

// Product of two sparse matrices, stored between cusparseSpGEMM_compute and cusparseSpGEMM_copy.
struct cusparseSpGEMMDescr {
  std::shared_ptr<warpgrind::libraries::sparse::Sparse<warpgrind::libraries::DoubleComplex>> product;
};
struct cusparseSpSVDescr {};
struct cusparseSpSMDescr {};

namespace warpgrind::libraries::sparse {
namespace {

std::string shape(const cusparseSpMatDescr& m) {
  return fmt::format("{} x {} with {} elements", m.rows, m.columns, m.nnz);
}
double matrix_bytes(const cusparseSpMatDescr& m) {
  return static_cast<double>(m.nnz) * static_cast<double>(element_bytes(m.type) + index_bytes(m.index_type));
}
bool is_operation(cusparseOperation_t op) {
  return op >= CUSPARSE_OPERATION_NON_TRANSPOSE && op <= CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE;
}
bool turns(cusparseOperation_t op) {
  return op != CUSPARSE_OPERATION_NON_TRANSPOSE;
}
bool is_compute(cudaDataType type) {
  return type == CUDA_R_32F || type == CUDA_R_64F || type == CUDA_C_32F || type == CUDA_C_64F || type == CUDA_R_32I ||
         type == CUDA_R_16F || type == CUDA_R_16BF;
}
bool complex_call(cudaDataType compute, cudaDataType a) {
  return is_complex(compute) || is_complex(a);
}

// C = alpha op(A) op(B) + beta C with a sparse matrix A.
template <class D>
bool multiply_now(LibraryRun& run, const cusparseSpMatDescr& a, cusparseOperation_t op_a, const cusparseDnMatDescr& b,
                  cusparseOperation_t op_b, const cusparseDnMatDescr& c, D alpha, D beta) {
  Sparse<D> left;
  Dense<D> right, out;
  if (!read_sparse(run, a, op_a, left) || !read_dense(run, "B", b, op_b, right) ||
      !read_dense(run, "C", c, CUSPARSE_OPERATION_NON_TRANSPOSE, out))
    return false;
  for (std::int64_t j = 0; j < out.columns; ++j)
    for (std::int64_t i = 0; i < out.rows; ++i) {
      D sum{};
      const auto row = static_cast<std::size_t>(i);
      for (auto e = static_cast<std::size_t>(left.begin[row]); e < static_cast<std::size_t>(left.begin[row + 1]); ++e)
        sum += left.value[e] * right.at(left.column[e], j);
      out.at(i, j) = alpha * sum + (beta == D{} ? D{} : beta * out.at(i, j));
    }
  return write_dense(run, "C", c, out);
}

// True if an operand has one matrix for each of C's batch, or one for the whole batch.
bool fits_batch(int of_operand, int batch) {
  return of_operand == batch || of_operand == 1;
}
std::string arguments_of(const cusparseSpMatDescr& a, const cusparseDnMatDescr& c) {
  std::string out = shape(a);
  if (c.columns != 1) out += fmt::format(", {} columns", c.columns);
  if (c.batch != 1) out += fmt::format(", {} times", c.batch);
  return out;
}

cusparseStatus_t multiply(const char* function, cusparseHandle_t handle, cusparseOperation_t op_a,
                          cusparseOperation_t op_b, const void* alpha, const cusparseSpMatDescr* a,
                          const cusparseDnMatDescr& b, const void* beta, const cusparseDnMatDescr& c,
                          cudaDataType type) {
  const auto context = find(handle);
  if (!context) return CUSPARSE_STATUS_NOT_INITIALIZED;
  const auto matrix = find(a);
  WG_NEED(matrix, alpha, beta);
  if (!is_operation(op_a) || !is_operation(op_b)) return CUSPARSE_STATUS_INVALID_VALUE;
  if (!is_compute(type)) return CUSPARSE_STATUS_NOT_SUPPORTED;
  const std::int64_t m = turns(op_a) ? matrix->columns : matrix->rows, k = turns(op_a) ? matrix->rows : matrix->columns;
  if ((turns(op_b) ? b.columns : b.rows) != k || (turns(op_b) ? b.rows : b.columns) != c.columns || c.rows != m ||
      !fits_batch(matrix->batch, c.batch) || !fits_batch(b.batch, c.batch))
    return CUSPARSE_STATUS_INVALID_VALUE;
  const Factor al = factor(*context, type, alpha), be = factor(*context, type, beta);
  const double wide = static_cast<double>(c.columns) * c.batch;
  return compute(*context, function, arguments_of(*matrix, c),
                 matrix_bytes(*matrix) * matrix->batch + static_cast<double>(dense_bytes(b)) * b.batch +
                     2 * static_cast<double>(dense_bytes(c)) * c.batch,
                 2 * static_cast<double>(matrix->nnz) * wide, complex_call(type, matrix->type),
                 [=, sparse = *matrix](LibraryRun& run, auto zero) {
                   decltype(zero) av, bv;
                   if (!al.get(run, "alpha", av) || !be.get(run, "beta", bv)) return;
                   for (std::int64_t i = 0; i < c.batch; ++i)
                     if (!multiply_now(run, one_of(sparse, sparse.batch == 1 ? 0 : i), op_a,
                                       one_of(b, b.batch == 1 ? 0 : i), op_b, one_of(c, i), av, bv))
                       return;
                 });
}

cusparseStatus_t need_buffer(std::size_t* bytes, bool right) {
  if (!bytes || !right) return CUSPARSE_STATUS_INVALID_VALUE;
  *bytes = kBufferBytes;
  return CUSPARSE_STATUS_SUCCESS;
}

// C = alpha op(A)^-1 op(B) with a triangle of a sparse matrix A. x: alpha op(B) on entry, the solution on return.
template <class D>
void solve(const Sparse<D>& a, bool lower, bool unit, Dense<D>& x) {
  for (std::int64_t j = 0; j < x.columns; ++j)
    for (std::int64_t step = 0; step < a.rows; ++step) {
      const std::int64_t i = lower ? step : a.rows - 1 - step;
      D sum = x.at(i, j), pivot = D(1);
      const auto row = static_cast<std::size_t>(i);
      for (auto e = static_cast<std::size_t>(a.begin[row]); e < static_cast<std::size_t>(a.begin[row + 1]); ++e) {
        const std::int64_t column = a.column[e];
        if (column == i && !unit) pivot = a.value[e];
        if (lower ? column < i : column > i) sum -= a.value[e] * x.at(column, j);
      }
      x.at(i, j) = unit ? sum : sum / pivot;
    }
}
cusparseStatus_t solve_call(const char* function, cusparseHandle_t handle, cusparseOperation_t op_a,
                            cusparseOperation_t op_b, const void* alpha, const cusparseSpMatDescr* a,
                            const cusparseDnMatDescr& b, const cusparseDnMatDescr& c, cudaDataType type) {
  const auto context = find(handle);
  if (!context) return CUSPARSE_STATUS_NOT_INITIALIZED;
  const auto matrix = find(a);
  WG_NEED(matrix, alpha);
  if (!is_operation(op_a) || !is_operation(op_b)) return CUSPARSE_STATUS_INVALID_VALUE;
  if (!is_compute(type)) return CUSPARSE_STATUS_NOT_SUPPORTED;
  if (matrix->rows != matrix->columns || (turns(op_b) ? b.columns : b.rows) != matrix->rows || c.rows != matrix->rows)
    return CUSPARSE_STATUS_INVALID_VALUE;
  const Factor al = factor(*context, type, alpha);
  return compute(
      *context, function, shape(*matrix), matrix_bytes(*matrix) + 2 * static_cast<double>(dense_bytes(c)),
      2 * static_cast<double>(matrix->nnz) * static_cast<double>(c.columns), complex_call(type, matrix->type),
      [=, sparse = *matrix](LibraryRun& run, auto zero) {
        using D = decltype(zero);
        D av;
        Sparse<D> left;
        Dense<D> x;
        if (!al.get(run, "alpha", av) || !read_sparse(run, sparse, op_a, left) || !read_dense(run, "B", b, op_b, x))
          return;
        for (D& v : x.value) v *= av;
        const bool lower = (sparse.fill == CUSPARSE_FILL_MODE_LOWER) != turns(op_a);
        solve(left, lower, sparse.diagonal == CUSPARSE_DIAG_TYPE_UNIT, x);
        write_dense(run, "C", c, x);
      });
}

// C = alpha (op(A) op(B)) + beta C, computed only at the elements of C's sparsity pattern.
cusparseStatus_t sampled(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b, const void* alpha,
                         const cusparseDnMatDescr* a, const cusparseDnMatDescr* b, const void* beta,
                         const cusparseSpMatDescr* c, cudaDataType type) {
  const auto context = find(handle);
  if (!context) return CUSPARSE_STATUS_NOT_INITIALIZED;
  const auto left = find(a), right = find(b);
  const auto matrix = find(c);
  WG_NEED(left, right, matrix, alpha, beta);
  const std::int64_t k = turns(op_a) ? left->rows : left->columns;
  if ((turns(op_b) ? right->columns : right->rows) != k || (turns(op_a) ? left->columns : left->rows) != matrix->rows ||
      (turns(op_b) ? right->rows : right->columns) != matrix->columns)
    return CUSPARSE_STATUS_INVALID_VALUE;
  const Factor al = factor(*context, type, alpha), be = factor(*context, type, beta);
  return compute(
      *context, "cusparseSDDMM", shape(*matrix),
      matrix_bytes(*matrix) + static_cast<double>(dense_bytes(*left) + dense_bytes(*right)),
      2 * static_cast<double>(matrix->nnz) * static_cast<double>(k), complex_call(type, matrix->type),
      [=, da = *left, db = *right, sparse = *matrix](LibraryRun& run, auto zero) {
        using D = decltype(zero);
        D av, bv;
        Sparse<D> out;
        Dense<D> x, y;
        if (!al.get(run, "alpha", av) || !be.get(run, "beta", bv) || !read_dense(run, "A", da, op_a, x) ||
            !read_dense(run, "B", db, op_b, y) || !read_sparse(run, sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, out))
          return;
        std::vector<D> values(out.value.size());
        for (std::size_t row = 0; row + 1 < out.begin.size(); ++row)
          for (auto e = static_cast<std::size_t>(out.begin[row]); e < static_cast<std::size_t>(out.begin[row + 1]);
               ++e) {
            D sum{};
            for (std::int64_t p = 0; p < x.columns; ++p)
              sum += x.at(static_cast<std::int64_t>(row), p) * y.at(p, out.column[e]);
            values[static_cast<std::size_t>(out.place[e])] = av * sum + (bv == D{} ? D{} : bv * out.value[e]);
          }
        if (!run.writes("values", sparse.values, values.size() * element_bytes(sparse.type))) return;
        store(sparse.type, sparse.values, sparse.nnz, sparse.nnz, 1, values.data());
      });
}

// ---- Sparse times sparse
using Product = Sparse<DoubleComplex>;
// Computes row by row. The sums of a row are in a dense array; `list` has the columns that occur.
void multiply_sparse(const Product& a, const Product& b, DoubleComplex alpha, Product& out) {
  out.rows = a.rows;
  out.columns = b.columns;
  out.begin.assign(1, 0);
  std::vector<DoubleComplex> sums(static_cast<std::size_t>(b.columns));
  std::vector<char> met(sums.size());
  std::vector<std::int64_t> list;
  for (std::size_t i = 0; i + 1 < a.begin.size(); ++i) {
    list.clear();
    for (auto e = static_cast<std::size_t>(a.begin[i]); e < static_cast<std::size_t>(a.begin[i + 1]); ++e) {
      const auto k = static_cast<std::size_t>(a.column[e]);
      const DoubleComplex factor = alpha * a.value[e];
      for (auto f = static_cast<std::size_t>(b.begin[k]); f < static_cast<std::size_t>(b.begin[k + 1]); ++f) {
        const auto column = static_cast<std::size_t>(b.column[f]);
        if (!met[column]) {
          met[column] = 1;
          sums[column] = 0;
          list.push_back(b.column[f]);
        }
        sums[column] += factor * b.value[f];
      }
    }
    std::sort(list.begin(), list.end());
    for (const std::int64_t column : list) {
      out.column.push_back(column);
      out.value.push_back(sums[static_cast<std::size_t>(column)]);
      met[static_cast<std::size_t>(column)] = 0;
    }
    out.begin.push_back(static_cast<std::int64_t>(out.column.size()));
  }
}

}  // namespace
}  // namespace warpgrind::libraries::sparse

using namespace warpgrind::libraries;
using namespace warpgrind::libraries::sparse;

extern "C" {

// ---- Products
cusparseStatus_t cusparseSpMV_bufferSize(cusparseHandle_t handle, cusparseOperation_t, const void*,
                                         cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x, const void*,
                                         cusparseDnVecDescr_t y, cudaDataType, cusparseSpMVAlg_t, size_t* bytes) {
  if (!find(handle)) return CUSPARSE_STATUS_NOT_INITIALIZED;
  return need_buffer(bytes, find(a) && find(x) && find(y));
}
cusparseStatus_t cusparseSpMV_preprocess(cusparseHandle_t handle, cusparseOperation_t, const void*,
                                         cusparseConstSpMatDescr_t, cusparseConstDnVecDescr_t, const void*,
                                         cusparseDnVecDescr_t, cudaDataType, cusparseSpMVAlg_t, void*) {
  return find(handle) ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_NOT_INITIALIZED;
}
cusparseStatus_t cusparseSpMV(cusparseHandle_t handle, cusparseOperation_t op, const void* alpha,
                              cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x, const void* beta,
                              cusparseDnVecDescr_t y, cudaDataType type, cusparseSpMVAlg_t, void*) {
  const auto in = find(x), out = find(y);
  if (!find(handle)) return CUSPARSE_STATUS_NOT_INITIALIZED;
  WG_NEED(in, out);
  return multiply("cusparseSpMV", handle, op, CUSPARSE_OPERATION_NON_TRANSPOSE, alpha, a, in->column, beta, out->column,
                  type);
}
cusparseStatus_t cusparseSpMM_bufferSize(cusparseHandle_t handle, cusparseOperation_t, cusparseOperation_t, const void*,
                                         cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b, const void*,
                                         cusparseDnMatDescr_t c, cudaDataType, cusparseSpMMAlg_t, size_t* bytes) {
  if (!find(handle)) return CUSPARSE_STATUS_NOT_INITIALIZED;
  return need_buffer(bytes, find(a) && find(b) && find(c));
}
cusparseStatus_t cusparseSpMM_preprocess(cusparseHandle_t handle, cusparseOperation_t, cusparseOperation_t, const void*,
                                         cusparseConstSpMatDescr_t, cusparseConstDnMatDescr_t, const void*,
                                         cusparseDnMatDescr_t, cudaDataType, cusparseSpMMAlg_t, void*) {
  return find(handle) ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_NOT_INITIALIZED;
}
cusparseStatus_t cusparseSpMM(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
                              const void* alpha, cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                              const void* beta, cusparseDnMatDescr_t c, cudaDataType type, cusparseSpMMAlg_t, void*) {
  const auto in = find(b), out = find(c);
  if (!find(handle)) return CUSPARSE_STATUS_NOT_INITIALIZED;
  WG_NEED(in, out);
  return multiply("cusparseSpMM", handle, op_a, op_b, alpha, a, *in, beta, *out, type);
}
cusparseStatus_t cusparseSDDMM_bufferSize(cusparseHandle_t handle, cusparseOperation_t, cusparseOperation_t,
                                          const void*, cusparseConstDnMatDescr_t a, cusparseConstDnMatDescr_t b,
                                          const void*, cusparseSpMatDescr_t c, cudaDataType, cusparseSDDMMAlg_t,
                                          size_t* bytes) {
  if (!find(handle)) return CUSPARSE_STATUS_NOT_INITIALIZED;
  return need_buffer(bytes, find(a) && find(b) && find(c));
}
cusparseStatus_t cusparseSDDMM_preprocess(cusparseHandle_t handle, cusparseOperation_t, cusparseOperation_t,
                                          const void*, cusparseConstDnMatDescr_t, cusparseConstDnMatDescr_t,
                                          const void*, cusparseSpMatDescr_t, cudaDataType, cusparseSDDMMAlg_t, void*) {
  return find(handle) ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_NOT_INITIALIZED;
}
cusparseStatus_t cusparseSDDMM(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
                               const void* alpha, cusparseConstDnMatDescr_t a, cusparseConstDnMatDescr_t b,
                               const void* beta, cusparseSpMatDescr_t c, cudaDataType type, cusparseSDDMMAlg_t, void*) {
  return sampled(handle, op_a, op_b, alpha, a, b, beta, c, type);
}

cusparseStatus_t cusparseSpGEMM_createDescr(cusparseSpGEMMDescr_t* descriptor) {
  return create_descriptor(descriptor);
}
cusparseStatus_t cusparseSpGEMM_destroyDescr(cusparseSpGEMMDescr_t descriptor) {
  return destroy_descriptor(descriptor);
}
cusparseStatus_t cusparseSpGEMM_workEstimation(cusparseHandle_t handle, cusparseOperation_t, cusparseOperation_t,
                                               const void*, cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b,
                                               const void*, cusparseSpMatDescr_t c, cudaDataType, cusparseSpGEMMAlg_t,
                                               cusparseSpGEMMDescr_t descriptor, size_t* bytes, void* buffer) {
  if (!find(handle)) return CUSPARSE_STATUS_NOT_INITIALIZED;
  if (buffer) return descriptor ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_INVALID_VALUE;
  return need_buffer(bytes, descriptor && find(a) && find(b) && find(c));
}
// Waits for the work, since the program may read the number of elements after this call.
cusparseStatus_t cusparseSpGEMM_compute(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
                                        const void* alpha, cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b,
                                        const void*, cusparseSpMatDescr_t c, cudaDataType type, cusparseSpGEMMAlg_t,
                                        cusparseSpGEMMDescr_t descriptor, size_t* bytes, void* buffer) {
  const auto context = find(handle);
  if (!context) return CUSPARSE_STATUS_NOT_INITIALIZED;
  const auto left = find(a), right = find(b), out = find(c);
  WG_NEED(left, right, out, alpha, descriptor);
  if (!buffer) return need_buffer(bytes, true);
  if (left->format != CUSPARSE_FORMAT_CSR || right->format != CUSPARSE_FORMAT_CSR || turns(op_a) || turns(op_b))
    return CUSPARSE_STATUS_NOT_SUPPORTED;
  if (left->columns != right->rows || out->rows != left->rows || out->columns != right->columns)
    return CUSPARSE_STATUS_INVALID_VALUE;
  const Factor al = factor(*context, type, alpha);
  auto product = std::make_shared<Product>();
  const cusparseStatus_t status = issue_call(
      *context, "cusparseSpGEMM_compute", shape(*left) + " by " + shape(*right),
      matrix_bytes(*left) + matrix_bytes(*right), 2 * static_cast<double>(left->nnz),
      [=, la = *left, rb = *right](LibraryRun& run) {
        DoubleComplex factor;
        Product x, y;
        if (al.get(run, "alpha", factor) && read_sparse(run, la, op_a, x) && read_sparse(run, rb, op_b, y))
          multiply_sparse(x, y, factor, *product);
      },
      true);
  if (status != CUSPARSE_STATUS_SUCCESS) return status;
  if (product->begin.empty()) return CUSPARSE_STATUS_EXECUTION_FAILED;
  descriptor->product = product;
  out->nnz = static_cast<std::int64_t>(product->value.size());
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSpGEMM_copy(cusparseHandle_t handle, cusparseOperation_t, cusparseOperation_t, const void*,
                                     cusparseConstSpMatDescr_t, cusparseConstSpMatDescr_t, const void* beta,
                                     cusparseSpMatDescr_t c, cudaDataType type, cusparseSpGEMMAlg_t,
                                     cusparseSpGEMMDescr_t descriptor) {
  const auto context = find(handle);
  if (!context) return CUSPARSE_STATUS_NOT_INITIALIZED;
  const auto out = find(c);
  WG_NEED(out, beta, descriptor);
  if (!descriptor->product) return CUSPARSE_STATUS_INVALID_VALUE;
  const Factor be = factor(*context, type, beta);
  return issue_call(*context, "cusparseSpGEMM_copy", shape(*out), 2 * matrix_bytes(*out), 0,
                    [=, m = *out, product = descriptor->product](LibraryRun& run) {
                      DoubleComplex factor;
                      if (!be.get(run, "beta", factor)) return;
                      std::vector<DoubleComplex> values = product->value;
                      if (factor != DoubleComplex()) {  // the old values of C must have this pattern
                        if (!run.reads("C", m.values, values.size() * element_bytes(m.type))) return;
                        std::vector<DoubleComplex> old(values.size());
                        load(m.type, m.values, m.nnz, m.nnz, 1, old.data());
                        for (size_t i = 0; i < old.size(); ++i) values[i] += factor * old[i];
                      }
                      if (!write_indices(run, "csrRowOffsets", m.offsets, m.offset_type, m.base, product->begin) ||
                          !write_indices(run, "csrColInd", m.indices, m.index_type, m.base, product->column) ||
                          !run.writes("csrValues", m.values, values.size() * element_bytes(m.type)))
                        return;
                      store(m.type, m.values, m.nnz, m.nnz, 1, values.data());
                    });
}

// ---- Triangular systems. The analysis has nothing to do here
cusparseStatus_t cusparseSpSV_createDescr(cusparseSpSVDescr_t* descriptor) {
  return create_descriptor(descriptor);
}
cusparseStatus_t cusparseSpSV_destroyDescr(cusparseSpSVDescr_t descriptor) {
  return destroy_descriptor(descriptor);
}
cusparseStatus_t cusparseSpSV_bufferSize(cusparseHandle_t handle, cusparseOperation_t, const void*,
                                         cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x,
                                         cusparseDnVecDescr_t y, cudaDataType, cusparseSpSVAlg_t,
                                         cusparseSpSVDescr_t descriptor, size_t* bytes) {
  if (!find(handle)) return CUSPARSE_STATUS_NOT_INITIALIZED;
  return need_buffer(bytes, descriptor && find(a) && find(x) && find(y));
}
cusparseStatus_t cusparseSpSV_analysis(cusparseHandle_t handle, cusparseOperation_t, const void*,
                                       cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t, cusparseDnVecDescr_t,
                                       cudaDataType, cusparseSpSVAlg_t, cusparseSpSVDescr_t descriptor, void*) {
  if (!find(handle)) return CUSPARSE_STATUS_NOT_INITIALIZED;
  return descriptor && find(a) ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_INVALID_VALUE;
}
cusparseStatus_t cusparseSpSV_solve(cusparseHandle_t handle, cusparseOperation_t op, const void* alpha,
                                    cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x, cusparseDnVecDescr_t y,
                                    cudaDataType type, cusparseSpSVAlg_t, cusparseSpSVDescr_t descriptor) {
  const auto in = find(x), out = find(y);
  if (!find(handle)) return CUSPARSE_STATUS_NOT_INITIALIZED;
  WG_NEED(in, out, descriptor);
  return solve_call("cusparseSpSV_solve", handle, op, CUSPARSE_OPERATION_NON_TRANSPOSE, alpha, a, in->column,
                    out->column, type);
}
// Not supported: each solution reads the values of the matrix descriptor.
cusparseStatus_t cusparseSpSV_updateMatrix(cusparseHandle_t handle, cusparseSpSVDescr_t descriptor, void* values,
                                           cusparseSpSVUpdate_t) {
  if (!find(handle)) return CUSPARSE_STATUS_NOT_INITIALIZED;
  if (!descriptor || !values) return CUSPARSE_STATUS_INVALID_VALUE;
  warpgrind_library_missing("cusparseSpSV_updateMatrix: new values need cusparseSpMatSetValues here");
  return CUSPARSE_STATUS_NOT_SUPPORTED;
}
cusparseStatus_t cusparseSpSM_createDescr(cusparseSpSMDescr_t* descriptor) {
  return create_descriptor(descriptor);
}
cusparseStatus_t cusparseSpSM_destroyDescr(cusparseSpSMDescr_t descriptor) {
  return destroy_descriptor(descriptor);
}
cusparseStatus_t cusparseSpSM_bufferSize(cusparseHandle_t handle, cusparseOperation_t, cusparseOperation_t, const void*,
                                         cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                                         cusparseDnMatDescr_t c, cudaDataType, cusparseSpSMAlg_t,
                                         cusparseSpSMDescr_t descriptor, size_t* bytes) {
  if (!find(handle)) return CUSPARSE_STATUS_NOT_INITIALIZED;
  return need_buffer(bytes, descriptor && find(a) && find(b) && find(c));
}
cusparseStatus_t cusparseSpSM_analysis(cusparseHandle_t handle, cusparseOperation_t, cusparseOperation_t, const void*,
                                       cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t, cusparseDnMatDescr_t,
                                       cudaDataType, cusparseSpSMAlg_t, cusparseSpSMDescr_t descriptor, void*) {
  if (!find(handle)) return CUSPARSE_STATUS_NOT_INITIALIZED;
  return descriptor && find(a) ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_INVALID_VALUE;
}
cusparseStatus_t cusparseSpSM_solve(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
                                    const void* alpha, cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                                    cusparseDnMatDescr_t c, cudaDataType type, cusparseSpSMAlg_t,
                                    cusparseSpSMDescr_t descriptor) {
  const auto in = find(b), out = find(c);
  if (!find(handle)) return CUSPARSE_STATUS_NOT_INITIALIZED;
  WG_NEED(in, out, descriptor);
  return solve_call("cusparseSpSM_solve", handle, op_a, op_b, alpha, a, *in, *out, type);
}

}  // extern "C"
