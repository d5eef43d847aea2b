// Objects behind the handles and descriptors of cuSPARSE.
#pragma once

#include <cusparse.h>
#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "libraries/common/factor.h"
#include "libraries/common/issue.h"

struct cusparseContext {
  cudaStream_t stream = nullptr;
  cusparsePointerMode_t pointer_mode = CUSPARSE_POINTER_MODE_HOST;
};
struct cusparseMatDescr {
  cusparseMatrixType_t type = CUSPARSE_MATRIX_TYPE_GENERAL;
  cusparseFillMode_t fill = CUSPARSE_FILL_MODE_LOWER;
  cusparseDiagType_t diagonal = CUSPARSE_DIAG_TYPE_NON_UNIT;
  cusparseIndexBase_t base = CUSPARSE_INDEX_BASE_ZERO;
};
struct cusparseSpVecDescr {
  std::int64_t size = 0, nnz = 0;
  void *indices = nullptr, *values = nullptr;
  cusparseIndexType_t index_type = CUSPARSE_INDEX_32I;
  cusparseIndexBase_t base = CUSPARSE_INDEX_BASE_ZERO;
  cudaDataType type = CUDA_R_32F;
};
struct cusparseSpMatDescr {
  cusparseFormat_t format = CUSPARSE_FORMAT_CSR;
  std::int64_t rows = 0, columns = 0, nnz = 0;
  // Offsets and indices of CSR and CSC; rows and columns of COO.
  void *offsets = nullptr, *indices = nullptr, *values = nullptr;
  cusparseIndexType_t offset_type = CUSPARSE_INDEX_32I, index_type = CUSPARSE_INDEX_32I;
  cusparseIndexBase_t base = CUSPARSE_INDEX_BASE_ZERO;
  cudaDataType type = CUDA_R_32F;
  cusparseFillMode_t fill = CUSPARSE_FILL_MODE_LOWER;
  cusparseDiagType_t diagonal = CUSPARSE_DIAG_TYPE_NON_UNIT;
  // Distances from one matrix of a batch to the next; 0: all matrices share the array.
  int batch = 1;
  std::int64_t offsets_stride = 0, elements_stride = 0;
};
// A dense matrix. A dense vector is a matrix with one column.
struct cusparseDnMatDescr {
  std::int64_t rows = 0, columns = 1, ld = 0;
  void* values = nullptr;
  cudaDataType type = CUDA_R_32F;
  cusparseOrder_t order = CUSPARSE_ORDER_COL;
  int batch = 1;
  std::int64_t stride = 0;
};
struct cusparseDnVecDescr {
  cusparseDnMatDescr column;
};

namespace warpgrind::libraries::sparse {

// The object behind a handle of the program; nullptr: the handle is not valid.
std::shared_ptr<cusparseContext> find(cusparseHandle_t handle);
std::shared_ptr<cusparseMatDescr> find(const cusparseMatDescr* description);
std::shared_ptr<cusparseSpVecDescr> find(const cusparseSpVecDescr* vector);
std::shared_ptr<cusparseSpMatDescr> find(const cusparseSpMatDescr* matrix);
std::shared_ptr<cusparseDnVecDescr> find(const cusparseDnVecDescr* vector);
std::shared_ptr<cusparseDnMatDescr> find(const cusparseDnMatDescr* matrix);

inline std::size_t index_bytes(cusparseIndexType_t type) {
  return type == CUSPARSE_INDEX_64I ? 8 : type == CUSPARSE_INDEX_32I ? 4 : 0;
}

// Reported size of the buffer that the program must allocate. No call uses it.
constexpr std::size_t kBufferBytes = 512;

inline Factor factor(const cusparseContext& context, cudaDataType type, const void* at) {
  return {type, at, context.pointer_mode == CUSPARSE_POINTER_MODE_DEVICE};
}

// Creation and destruction of descriptors that the program owns.
template <class Descriptor>
cusparseStatus_t create_descriptor(Descriptor** out) {
  if (!out) return CUSPARSE_STATUS_INVALID_VALUE;
  *out = new Descriptor;
  return CUSPARSE_STATUS_SUCCESS;
}
template <class Descriptor>
cusparseStatus_t destroy_descriptor(Descriptor* descriptor) {
  delete descriptor;
  return CUSPARSE_STATUS_SUCCESS;
}

// Issues `run(access, zero)`. The type of `zero`, double or DoubleComplex, is the type to compute in.
cusparseStatus_t issue_call(const cusparseContext& context, const char* function, std::string arguments, double bytes,
                            double operations, std::function<void(LibraryRun&)> run, bool host_waits = false);
template <class Run>
cusparseStatus_t compute(const cusparseContext& context, const char* function, std::string arguments, double bytes,
                         double operations, bool complex, Run run, bool host_waits = false) {
  if (complex)
    return issue_call(
        context, function, std::move(arguments), bytes, operations,
        [run](LibraryRun& access) { run(access, DoubleComplex()); }, host_waits);
  return issue_call(
      context, function, std::move(arguments), bytes, operations, [run](LibraryRun& access) { run(access, double()); },
      host_waits);
}

#define WG_NEED(...) \
  if (!all(__VA_ARGS__)) return CUSPARSE_STATUS_INVALID_VALUE
template <class... Pointers>
bool all(const Pointers&... pointers) {
  return ((pointers != nullptr) && ...);
}

}  // namespace warpgrind::libraries::sparse
