// State behind cuSOLVER's handles, and helpers that check a call and issue it as work of its stream.
#pragma once

#include <cusolverDn.h>
#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "libraries/common/elements.h"
#include "libraries/common/issue.h"
#include "libraries/products/operands.h"
#include "libraries/solver/lapack.h"

struct cusolverDnContext {
  cudaStream_t stream = nullptr;
  cusolverDeterministicMode_t deterministic = CUSOLVER_DETERMINISTIC_RESULTS;
  cusolverMathMode_t math = CUSOLVER_DEFAULT_MATH;
};
struct cusolverDnParams {
  cusolverAlgMode_t algorithm[3] = {CUSOLVER_ALG_0, CUSOLVER_ALG_0, CUSOLVER_ALG_0};  // by cusolverDnFunction_t
};

namespace warpgrind::libraries::solver {

// Parameters of Jacobi's methods, and what the last call has left. LAPACK's methods do the work: tolerance and number
// of sweeps have no effect, and values are always sorted.
struct Jacobi {
  double tolerance = 0;
  int max_sweeps = 100;
  int sorts = 1;
  double residual = 0;  // of the last call, when it has ended
  int sweeps = 0;
};

}  // namespace warpgrind::libraries::solver

struct syevjInfo : warpgrind::libraries::solver::Jacobi {};
struct gesvdjInfo : warpgrind::libraries::solver::Jacobi {};

namespace warpgrind::libraries::solver {

using blas::at_least;
// Stands for the leading dimensions that NVIDIA's functions for workspace sizes do not look at (tried on an H200): CuPy
// passes n for an m x n matrix.
inline constexpr int kAnyLd = std::numeric_limits<int>::max();
using blas::Blas;
using blas::fits;
using blas::is_diagonal;
using blas::is_operation;
using blas::is_side;
using blas::is_triangle;
using blas::openblas;
using blas::product_work;
using blas::reads_matrix;
using blas::reads_vector;
using blas::real;
using blas::writes_matrix;
using blas::writes_vector;
using timing::Factorisation;

// Objects that the program has created. Null: the handle is not one of them.
std::shared_ptr<cusolverDnContext> find(cusolverDnHandle_t handle);
std::shared_ptr<cusolverDnParams> find(cusolverDnParams_t params);
std::shared_ptr<syevjInfo> find(syevjInfo_t info);
std::shared_ptr<gesvdjInfo> find(gesvdjInfo_t info);

// Stores the answer of a query function.
template <class T>
cusolverStatus_t give(T* out, T value) {
  if (!out) return CUSOLVER_STATUS_INVALID_VALUE;
  *out = value;
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t issue_on(cudaStream_t stream, const char* function, std::string arguments, const LibraryWork& work,
                          bool host_waits, std::function<void(LibraryRun&)> run);

// One call of a function of the dense part.
class Call {
 public:
  Call(cusolverDnHandle_t handle, const char* function) : context_(find(handle)), function_(function) {}
  bool initialized() const { return context_ != nullptr; }
  // host_waits: a result goes to host memory.
  template <class Run>
  cusolverStatus_t issue(std::string arguments, const LibraryWork& work, Run run, bool host_waits = false) const {
    return issue_on(context_->stream, function_, std::move(arguments), work, host_waits, std::move(run));
  }

 private:
  std::shared_ptr<cusolverDnContext> context_;
  const char* function_;
};

// Begins every function: returns an error unless the handle is valid.
#define WG_SOLVER_CALL(handle, function) \
  const Call call(handle, function);     \
  if (!call.initialized()) return CUSOLVER_STATUS_NOT_INITIALIZED
// The arguments are valid according to the documentation.
#define WG_VALID(condition) \
  if (!(condition)) return CUSOLVER_STATUS_INVALID_VALUE

// Answer of a ..._bufferSize function.
template <class Size>
cusolverStatus_t workspace_size(cusolverDnHandle_t handle, bool valid, Size* size, std::int64_t elements) {
  if (!find(handle)) return CUSOLVER_STATUS_NOT_INITIALIZED;
  WG_VALID(valid && size && (sizeof(Size) > 4 || elements <= blas::kMostElements));
  *size = static_cast<Size>(elements);
  return CUSOLVER_STATUS_SUCCESS;
}
// Elements of the workspace of a problem with that many rows and columns. LAPACK's own workspace lies in host memory. A
// call still announces that it writes this much, so that a buffer that is too small is found. Like NVIDIA's functions,
// ours do not look at the size that the program passes.
inline std::int64_t room(std::int64_t rows, std::int64_t columns) {
  return 32 * std::max<std::int64_t>(1, std::max(rows, columns));
}
inline bool writes_bytes(LibraryRun& run, const char* name, void* at, std::int64_t bytes) {
  return run.writes(name, at, static_cast<std::size_t>(bytes));
}
template <class T>
bool writes_work(LibraryRun& run, T* workspace, std::int64_t elements) {
  return writes_bytes(run, "workspace", workspace, elements * static_cast<std::int64_t>(sizeof(T)));
}
inline bool writes_info(LibraryRun& run, int* info, std::int64_t count = 1) {
  return writes_bytes(run, "devInfo", info, count * static_cast<std::int64_t>(sizeof(int)));
}

template <class T>
LibraryWork cubic(double m, double n, double operations, double count = 1) {
  return product_work<T>(m, n, std::min(m, n) * operations / 2, m * n * 2, count);
}
// The same with the time of its columns.
template <class T>
LibraryWork factored(Factorisation kind, double m, double n, double operations, double count = 1) {
  LibraryWork work = cubic<T>(m, n, operations, count);
  work.factorisation = {kind, m, n, count};
  return work;
}
inline std::string shape(std::int64_t m, std::int64_t n) {
  return fmt::format("{} x {}", m, n);
}
inline std::string shape(std::int64_t m, std::int64_t n, std::int64_t count) {
  return fmt::format("{} x {}, {} times", m, n, count);
}
inline char letter(cublasFillMode_t uplo) {
  return uplo == CUBLAS_FILL_MODE_UPPER ? 'U' : 'L';
}
inline char letter(cublasSideMode_t side) {
  return side == CUBLAS_SIDE_LEFT ? 'L' : 'R';
}
inline char letter(cusolverEigMode_t mode) {
  return mode == CUSOLVER_EIG_MODE_VECTOR ? 'V' : 'N';
}
// Letter of an operation on a matrix with elements T: real matrices have no conjugate.
template <class T>
char letter(cublasOperation_t op) {
  return op == CUBLAS_OP_N ? 'N' : op == CUBLAS_OP_C && kIsComplex<T> ? 'C' : 'T';
}
inline bool is_mode(cusolverEigMode_t mode) {
  return mode == CUSOLVER_EIG_MODE_VECTOR || mode == CUSOLVER_EIG_MODE_NOVECTOR;
}
inline bool is_plain_operation(cublasOperation_t op) {
  return op == CUBLAS_OP_N || op == CUBLAS_OP_T || op == CUBLAS_OP_C;
}
template <class T>
T* column(T* a, std::int64_t j, std::int64_t ld) {
  return a + j * ld;
}
template <class T>
std::vector<T> dense_copy(const T* a, int rows, int columns, std::int64_t ld) {
  std::vector<T> out;
  out.reserve(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns));
  for (int j = 0; j < columns; ++j) out.insert(out.end(), column(a, j, ld), column(a, j, ld) + rows);
  return out;
}
template <class T>
void copy_matrix(const T* from, std::int64_t ld_from, T* to, std::int64_t ld_to, int rows, int columns) {
  for (int j = 0; j < columns; ++j) std::copy_n(column(from, j, ld_from), rows, column(to, j, ld_to));
}
// Leading dimension that LAPACK accepts for a matrix that is not used.
inline int any_ld(int ld) {
  return std::max(1, ld);
}

// ---- 64-bit functions
// Bytes of an element; 0: cuSOLVER has no such type.
inline std::size_t bytes_of(cudaDataType type) {
  return type == CUDA_R_32F ? 4 : type == CUDA_R_64F || type == CUDA_C_32F ? 8 : type == CUDA_C_64F ? 16 : 0;
}
inline cudaDataType real_of(cudaDataType type) {
  return type == CUDA_C_32F ? CUDA_R_32F : type == CUDA_C_64F ? CUDA_R_64F : type;
}
// Calls body with a zero of the C++ type. Another type: invalid value.
template <class Body>
cusolverStatus_t by_type(cudaDataType type, Body&& body) {
  switch (type) {
    case CUDA_R_32F:
      return body(float{});
    case CUDA_R_64F:
      return body(double{});
    case CUDA_C_32F:
      return body(Complex{});
    case CUDA_C_64F:
      return body(DoubleComplex{});
    default:
      return CUSOLVER_STATUS_INVALID_VALUE;
  }
}
inline bool valid_params(cusolverDnParams_t params) {
  return !params || find(params);
}
inline int int_of(std::int64_t n) {
  return static_cast<int>(n);
}
// Answer of a 64-bit ..._bufferSize function.
inline cusolverStatus_t workspace_bytes(cusolverDnHandle_t handle, bool valid, cudaDataType type, std::size_t* device,
                                        std::size_t* host, std::int64_t elements) {
  if (!find(handle)) return CUSOLVER_STATUS_NOT_INITIALIZED;
  WG_VALID(valid && bytes_of(type) && device && host);
  *device = static_cast<std::size_t>(elements) * bytes_of(type);
  *host = 0;
  return CUSOLVER_STATUS_SUCCESS;
}

}  // namespace warpgrind::libraries::solver
