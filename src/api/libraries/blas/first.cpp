// First (legacy) interface of cuBLAS, built on the second.
#include <cublas.h>

#include <mutex>

namespace warpgrind::libraries::blas {
namespace {

// The library's own handle, and the last error (cublasGetError).
struct First {
  std::mutex mutex;
  cublasHandle_t handle = nullptr;
  cublasStatus_t error = CUBLAS_STATUS_SUCCESS;
};
First& first() {
  static auto* only = new First;  // never destroyed: the program's static destructors may still make calls
  return *only;
}

cublasHandle_t first_handle() {
  const std::lock_guard lock(first().mutex);
  return first().handle;
}
cublasStatus_t keep(cublasStatus_t status) {
  const std::lock_guard lock(first().mutex);
  if (status != CUBLAS_STATUS_SUCCESS) first().error = status;
  return status;
}

// Enumerator for a letter. An unknown letter gives an invalid value, which the second interface refuses.
template <class Enumerator>
Enumerator letter(char given, char a, Enumerator if_a, char b, Enumerator if_b) {
  const char upper = given >= 'a' && given <= 'z' ? static_cast<char>(given - 'a' + 'A') : given;
  return upper == a ? if_a : upper == b ? if_b : static_cast<Enumerator>(-1);
}
cublasOperation_t operation(char c) {
  if (c == 'C' || c == 'c') return CUBLAS_OP_C;
  return letter(c, 'N', CUBLAS_OP_N, 'T', CUBLAS_OP_T);
}

}  // namespace
}  // namespace warpgrind::libraries::blas

using namespace warpgrind::libraries::blas;

extern "C" {

cublasStatus cublasInit() {
  const std::lock_guard lock(first().mutex);
  return first().handle ? CUBLAS_STATUS_SUCCESS : cublasCreate_v2(&first().handle);
}
cublasStatus cublasShutdown() {
  const std::lock_guard lock(first().mutex);
  const cublasStatus_t status = cublasDestroy_v2(first().handle);
  first().handle = nullptr;
  return status;
}
cublasStatus cublasGetError() {
  const std::lock_guard lock(first().mutex);
  const cublasStatus_t error = first().error;
  first().error = CUBLAS_STATUS_SUCCESS;
  return error;
}
cublasStatus cublasGetVersion(int* version) {
  return cublasGetVersion_v2(first_handle(), version);
}
cublasStatus cublasAlloc(int n, int bytes, void** at) {
  if (!first_handle()) return keep(CUBLAS_STATUS_NOT_INITIALIZED);
  if (n <= 0 || bytes <= 0 || !at) return keep(CUBLAS_STATUS_INVALID_VALUE);
  const bool there = cudaMalloc(at, static_cast<size_t>(n) * static_cast<size_t>(bytes)) == cudaSuccess;
  return keep(there ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED);
}
cublasStatus cublasFree(void* at) {
  if (!first_handle()) return keep(CUBLAS_STATUS_NOT_INITIALIZED);
  return keep(cudaFree(at) == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INTERNAL_ERROR);
}
cublasStatus cublasSetKernelStream(cudaStream_t stream) {
  return keep(cublasSetStream_v2(first_handle(), stream));
}

#define WG_CUBLAS(name) name
#define WG_OP(c) operation(c)
#define WG_FILL(c) letter(c, 'L', CUBLAS_FILL_MODE_LOWER, 'U', CUBLAS_FILL_MODE_UPPER)
#define WG_DIAG(c) letter(c, 'N', CUBLAS_DIAG_NON_UNIT, 'U', CUBLAS_DIAG_UNIT)
#define WG_SIDE(c) letter(c, 'L', CUBLAS_SIDE_LEFT, 'R', CUBLAS_SIDE_RIGHT)
#define WG_DO(...)                                \
  {                                               \
    const cublasHandle_t handle = first_handle(); \
    keep(__VA_ARGS__);                            \
  }
#define WG_GIVE(type, ...)                        \
  {                                               \
    const cublasHandle_t handle = first_handle(); \
    type result{};                                \
    keep(__VA_ARGS__);                            \
    return result;                                \
  }
#define WG_TYPED "cublas_first.inc"
#include "warpgrind/cublas_types.inc"

}  // extern "C"
