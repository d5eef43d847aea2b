// Copies of vectors and matrices between host and device (cublasSetVector and others). They use the runtime's copies,
// which have their own rows in the profile.
#include <algorithm>

#include "libraries/blas/context.h"

namespace warpgrind::libraries::blas {
namespace {

cublasStatus_t status_of(cudaError_t error) {
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_MAPPING_ERROR;
}

struct Way {
  cudaMemcpyKind kind;
  bool asynchronous;
  cudaStream_t stream;
};

cublasStatus_t copy_rows(const Way& way, void* to, std::int64_t to_pitch, const void* from, std::int64_t from_pitch,
                         std::int64_t width, std::int64_t rows) {
  const auto size = [](std::int64_t n) { return static_cast<size_t>(n); };
  if (way.asynchronous)
    return status_of(
        cudaMemcpy2DAsync(to, size(to_pitch), from, size(from_pitch), size(width), size(rows), way.kind, way.stream));
  return status_of(cudaMemcpy2D(to, size(to_pitch), from, size(from_pitch), size(width), size(rows), way.kind));
}

cublasStatus_t copy_vector(const Way& way, std::int64_t n, std::int64_t bytes, const void* x, std::int64_t incx,
                           void* y, std::int64_t incy) {
  WG_REQUIRE(incx > 0 && incy > 0 && bytes > 0);
  if (n <= 0) return CUBLAS_STATUS_SUCCESS;
  if (incx == 1 && incy == 1) return copy_rows(way, y, n * bytes, x, n * bytes, n * bytes, 1);
  return copy_rows(way, y, incy * bytes, x, incx * bytes, bytes, n);
}
cublasStatus_t copy_matrix(const Way& way, std::int64_t rows, std::int64_t columns, std::int64_t bytes, const void* a,
                           std::int64_t lda, void* b, std::int64_t ldb) {
  WG_REQUIRE(rows >= 0 && columns >= 0 && bytes > 0 && lda > 0 && ldb > 0);
  if (rows == 0 || columns == 0) return CUBLAS_STATUS_SUCCESS;
  WG_REQUIRE(lda >= rows && ldb >= rows);
  return copy_rows(way, b, ldb * bytes, a, lda * bytes, rows * bytes, columns);
}

constexpr Way kSet{cudaMemcpyHostToDevice, false, nullptr}, kGet{cudaMemcpyDeviceToHost, false, nullptr};
Way set_in(cudaStream_t stream) {
  return {cudaMemcpyHostToDevice, true, stream};
}
Way get_in(cudaStream_t stream) {
  return {cudaMemcpyDeviceToHost, true, stream};
}

}  // namespace

}  // namespace warpgrind::libraries::blas

using namespace warpgrind::libraries;
using namespace warpgrind::libraries::blas;

extern "C" {

#define WG_COPIES(Int, suffix)                                                                                         \
  cublasStatus_t cublasSetVector##suffix(Int n, Int bytes, const void* x, Int incx, void* y, Int incy) {               \
    return copy_vector(kSet, n, bytes, x, incx, y, incy);                                                              \
  }                                                                                                                    \
  cublasStatus_t cublasGetVector##suffix(Int n, Int bytes, const void* x, Int incx, void* y, Int incy) {               \
    return copy_vector(kGet, n, bytes, x, incx, y, incy);                                                              \
  }                                                                                                                    \
  cublasStatus_t cublasSetMatrix##suffix(Int rows, Int columns, Int bytes, const void* a, Int lda, void* b, Int ldb) { \
    return copy_matrix(kSet, rows, columns, bytes, a, lda, b, ldb);                                                    \
  }                                                                                                                    \
  cublasStatus_t cublasGetMatrix##suffix(Int rows, Int columns, Int bytes, const void* a, Int lda, void* b, Int ldb) { \
    return copy_matrix(kGet, rows, columns, bytes, a, lda, b, ldb);                                                    \
  }                                                                                                                    \
  cublasStatus_t cublasSetVectorAsync##suffix(Int n, Int bytes, const void* x, Int incx, void* y, Int incy,            \
                                              cudaStream_t stream) {                                                   \
    return copy_vector(set_in(stream), n, bytes, x, incx, y, incy);                                                    \
  }                                                                                                                    \
  cublasStatus_t cublasGetVectorAsync##suffix(Int n, Int bytes, const void* x, Int incx, void* y, Int incy,            \
                                              cudaStream_t stream) {                                                   \
    return copy_vector(get_in(stream), n, bytes, x, incx, y, incy);                                                    \
  }                                                                                                                    \
  cublasStatus_t cublasSetMatrixAsync##suffix(Int rows, Int columns, Int bytes, const void* a, Int lda, void* b,       \
                                              Int ldb, cudaStream_t stream) {                                          \
    return copy_matrix(set_in(stream), rows, columns, bytes, a, lda, b, ldb);                                          \
  }                                                                                                                    \
  cublasStatus_t cublasGetMatrixAsync##suffix(Int rows, Int columns, Int bytes, const void* a, Int lda, void* b,       \
                                              Int ldb, cudaStream_t stream) {                                          \
    return copy_matrix(get_in(stream), rows, columns, bytes, a, lda, b, ldb);                                          \
  }
WG_COPIES(int, )
WG_COPIES(std::int64_t, _64)
#undef WG_COPIES

}  // extern "C"
