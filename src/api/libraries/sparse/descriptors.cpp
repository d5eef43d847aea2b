// Handles and descriptors of cuSPARSE.
#include "libraries/sparse/descriptors.h"

#include <cuda_runtime_api.h>

#include <cstring>

#include "libraries/common/handles.h"

namespace warpgrind::libraries::sparse {
namespace {

template <class T>
Handles<const T*, T>& all_of() {
  return handles<const T*, T>();
}
template <class T, class Handle>
cusparseStatus_t create(Handle* out, T value) {
  auto made = std::make_shared<T>(std::move(value));
  *out = made.get();
  all_of<T>().add(made.get(), made);
  return CUSPARSE_STATUS_SUCCESS;
}
template <class T>
cusparseStatus_t destroy(const T* handle) {
  if (!handle) return CUSPARSE_STATUS_SUCCESS;
  return all_of<T>().remove(handle) ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_INVALID_VALUE;
}
template <class T, class Body>
cusparseStatus_t with(const T* handle, cusparseStatus_t otherwise, Body&& body) {
  const std::shared_ptr<T> found = all_of<T>().find(handle);
  return found ? body(*found) : otherwise;
}
template <class T, class Body>
cusparseStatus_t with(const T* handle, Body&& body) {
  return with(handle, CUSPARSE_STATUS_INVALID_VALUE, body);
}
template <class T>
cusparseStatus_t give(T* out, T value) {
  if (!out) return CUSPARSE_STATUS_INVALID_VALUE;
  *out = value;
  return CUSPARSE_STATUS_SUCCESS;
}
template <class T>
cusparseStatus_t set(T& place, T value) {
  place = value;
  return CUSPARSE_STATUS_SUCCESS;
}

bool is_base(cusparseIndexBase_t base) {
  return base == CUSPARSE_INDEX_BASE_ZERO || base == CUSPARSE_INDEX_BASE_ONE;
}

template <class Handle>
cusparseStatus_t create_vector(Handle* out, std::int64_t size, std::int64_t nnz, const void* indices,
                               const void* values, cusparseIndexType_t index_type, cusparseIndexBase_t base,
                               cudaDataType type) {
  if (!out || size < 0 || nnz < 0 || nnz > size || !index_bytes(index_type) || !is_base(base) ||
      (nnz > 0 && (!indices || !values)))
    return CUSPARSE_STATUS_INVALID_VALUE;
  if (!element_bytes(type)) return CUSPARSE_STATUS_NOT_SUPPORTED;
  return create(out, cusparseSpVecDescr{size, nnz, const_cast<void*>(indices), const_cast<void*>(values), index_type,
                                        base, type});
}
template <class Handle>
cusparseStatus_t create_column(Handle* out, std::int64_t size, const void* values, cudaDataType type) {
  if (!out || size < 0 || (size > 0 && !values)) return CUSPARSE_STATUS_INVALID_VALUE;
  if (!element_bytes(type)) return CUSPARSE_STATUS_NOT_SUPPORTED;
  return create(out, cusparseDnVecDescr{{size, 1, size, const_cast<void*>(values), type, CUSPARSE_ORDER_COL}});
}
template <class Handle>
cusparseStatus_t create_dense(Handle* out, std::int64_t rows, std::int64_t columns, std::int64_t ld, const void* values,
                              cudaDataType type, cusparseOrder_t order) {
  const bool by_columns = order == CUSPARSE_ORDER_COL;
  if (!out || rows < 0 || columns < 0 || ld < (by_columns ? rows : columns) || (rows * columns > 0 && !values) ||
      (!by_columns && order != CUSPARSE_ORDER_ROW))
    return CUSPARSE_STATUS_INVALID_VALUE;
  if (!element_bytes(type)) return CUSPARSE_STATUS_NOT_SUPPORTED;
  return create(out, cusparseDnMatDescr{rows, columns, ld, const_cast<void*>(values), type, order});
}
template <class Handle>
cusparseStatus_t create_matrix(Handle* out, cusparseSpMatDescr m) {
  if (!out || m.rows < 0 || m.columns < 0 || m.nnz < 0 || !is_base(m.base) || !index_bytes(m.offset_type) ||
      !index_bytes(m.index_type))
    return CUSPARSE_STATUS_INVALID_VALUE;
  if (!element_bytes(m.type)) return CUSPARSE_STATUS_NOT_SUPPORTED;
  return create(out, m);
}
cusparseStatus_t set_pointers(cusparseSpMatDescr_t matrix, cusparseFormat_t format, void* offsets, void* indices,
                              void* values) {
  return with(matrix, [&](cusparseSpMatDescr& m) {
    if (m.format != format) return CUSPARSE_STATUS_INVALID_VALUE;
    m.offsets = offsets;
    m.indices = indices;
    m.values = values;
    return CUSPARSE_STATUS_SUCCESS;
  });
}

struct StatusName {
  cusparseStatus_t status;
  const char* name;
  const char* text;
};
constexpr StatusName kStatusNames[] = {
    {CUSPARSE_STATUS_SUCCESS, "CUSPARSE_STATUS_SUCCESS", "success"},
    {CUSPARSE_STATUS_NOT_INITIALIZED, "CUSPARSE_STATUS_NOT_INITIALIZED", "initialization error"},
    {CUSPARSE_STATUS_ALLOC_FAILED, "CUSPARSE_STATUS_ALLOC_FAILED", "out of memory"},
    {CUSPARSE_STATUS_INVALID_VALUE, "CUSPARSE_STATUS_INVALID_VALUE", "invalid value"},
    {CUSPARSE_STATUS_ARCH_MISMATCH, "CUSPARSE_STATUS_ARCH_MISMATCH", "architecture mismatch"},
    {CUSPARSE_STATUS_MAPPING_ERROR, "CUSPARSE_STATUS_MAPPING_ERROR", "texture mapping error"},
    {CUSPARSE_STATUS_EXECUTION_FAILED, "CUSPARSE_STATUS_EXECUTION_FAILED", "kernel launch failure"},
    {CUSPARSE_STATUS_INTERNAL_ERROR, "CUSPARSE_STATUS_INTERNAL_ERROR", "internal error"},
    {CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED, "CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED",
     "matrix type not supported"},
    {CUSPARSE_STATUS_ZERO_PIVOT, "CUSPARSE_STATUS_ZERO_PIVOT", "zero pivot"},
    {CUSPARSE_STATUS_NOT_SUPPORTED, "CUSPARSE_STATUS_NOT_SUPPORTED", "operation not supported"},
    {CUSPARSE_STATUS_INSUFFICIENT_RESOURCES, "CUSPARSE_STATUS_INSUFFICIENT_RESOURCES", "insufficient resources"}};

}  // namespace

std::shared_ptr<cusparseContext> find(cusparseHandle_t handle) {
  return all_of<cusparseContext>().find(handle);
}
std::shared_ptr<cusparseMatDescr> find(const cusparseMatDescr* description) {
  return all_of<cusparseMatDescr>().find(description);
}
std::shared_ptr<cusparseSpVecDescr> find(const cusparseSpVecDescr* vector) {
  return all_of<cusparseSpVecDescr>().find(vector);
}
std::shared_ptr<cusparseSpMatDescr> find(const cusparseSpMatDescr* matrix) {
  return all_of<cusparseSpMatDescr>().find(matrix);
}
std::shared_ptr<cusparseDnVecDescr> find(const cusparseDnVecDescr* vector) {
  return all_of<cusparseDnVecDescr>().find(vector);
}
std::shared_ptr<cusparseDnMatDescr> find(const cusparseDnMatDescr* matrix) {
  return all_of<cusparseDnMatDescr>().find(matrix);
}

cusparseStatus_t issue_call(const cusparseContext& context, const char* function, std::string arguments, double bytes,
                            double operations, std::function<void(LibraryRun&)> run, bool host_waits) {
  LibraryWork work;
  work.family = LibraryFamily::sparse;
  work.bytes = bytes;
  work.operations = operations;
  const LibraryIssue issued =
      issue({function, std::move(arguments)}, "warpgrind", work, context.stream, host_waits, std::move(run));
  if (issued == LibraryIssue::done) return CUSPARSE_STATUS_SUCCESS;
  return issued == LibraryIssue::not_captured ? CUSPARSE_STATUS_NOT_SUPPORTED : CUSPARSE_STATUS_EXECUTION_FAILED;
}

}  // namespace warpgrind::libraries::sparse

using namespace warpgrind::libraries::sparse;

extern "C" {

cusparseStatus_t cusparseCreate(cusparseHandle_t* handle) {
  if (!handle) return CUSPARSE_STATUS_INVALID_VALUE;
  if (cudaFree(nullptr) != cudaSuccess) return CUSPARSE_STATUS_NOT_INITIALIZED;
  warpgrind_library_begin("cuSPARSE", "warpgrind");
  return create(handle, cusparseContext{});
}
cusparseStatus_t cusparseDestroy(cusparseHandle_t handle) {
  return destroy<cusparseContext>(handle) == CUSPARSE_STATUS_SUCCESS && handle ? CUSPARSE_STATUS_SUCCESS
                                                                               : CUSPARSE_STATUS_NOT_INITIALIZED;
}
cusparseStatus_t cusparseGetVersion(cusparseHandle_t, int* version) {
  return give(version, CUSPARSE_VERSION);
}
cusparseStatus_t cusparseGetProperty(libraryPropertyType type, int* value) {
  if (type < MAJOR_VERSION || type > PATCH_LEVEL) return CUSPARSE_STATUS_INVALID_VALUE;
  return give(value, type == MAJOR_VERSION   ? CUSPARSE_VER_MAJOR
                     : type == MINOR_VERSION ? CUSPARSE_VER_MINOR
                                             : CUSPARSE_VER_PATCH);
}
const char* cusparseGetErrorName(cusparseStatus_t status) {
  for (const StatusName& s : kStatusNames)
    if (s.status == status) return s.name;
  return "unrecognized error code";
}
const char* cusparseGetErrorString(cusparseStatus_t status) {
  for (const StatusName& s : kStatusNames)
    if (s.status == status) return s.text;
  return "unrecognized error code";
}
cusparseStatus_t cusparseSetStream(cusparseHandle_t handle, cudaStream_t stream) {
  return with<cusparseContext>(handle, CUSPARSE_STATUS_NOT_INITIALIZED,
                               [&](cusparseContext& c) { return set(c.stream, stream); });
}
cusparseStatus_t cusparseGetStream(cusparseHandle_t handle, cudaStream_t* stream) {
  return with<cusparseContext>(handle, CUSPARSE_STATUS_NOT_INITIALIZED,
                               [&](cusparseContext& c) { return give(stream, c.stream); });
}
cusparseStatus_t cusparseGetPointerMode(cusparseHandle_t handle, cusparsePointerMode_t* mode) {
  return with<cusparseContext>(handle, CUSPARSE_STATUS_NOT_INITIALIZED,
                               [&](cusparseContext& c) { return give(mode, c.pointer_mode); });
}
cusparseStatus_t cusparseSetPointerMode(cusparseHandle_t handle, cusparsePointerMode_t mode) {
  return with<cusparseContext>(handle, CUSPARSE_STATUS_NOT_INITIALIZED,
                               [&](cusparseContext& c) { return set(c.pointer_mode, mode); });
}

cusparseStatus_t cusparseCreateMatDescr(cusparseMatDescr_t* descriptor) {
  return descriptor ? create(descriptor, cusparseMatDescr{}) : CUSPARSE_STATUS_INVALID_VALUE;
}
cusparseStatus_t cusparseDestroyMatDescr(cusparseMatDescr_t descriptor) {
  return destroy<cusparseMatDescr>(descriptor);
}
#define WG_MATRIX_FACT(Name, type, member)                                                                \
  cusparseStatus_t cusparseSetMat##Name(cusparseMatDescr_t descriptor, type value) {                      \
    return with<cusparseMatDescr>(descriptor, [&](cusparseMatDescr& d) { return set(d.member, value); }); \
  }                                                                                                       \
  type cusparseGetMat##Name(const cusparseMatDescr_t descriptor) {                                        \
    type value{};                                                                                         \
    with<cusparseMatDescr>(descriptor, [&](cusparseMatDescr& d) { return set(value, d.member); });        \
    return value;                                                                                         \
  }
WG_MATRIX_FACT(Type, cusparseMatrixType_t, type)
WG_MATRIX_FACT(FillMode, cusparseFillMode_t, fill)
WG_MATRIX_FACT(DiagType, cusparseDiagType_t, diagonal)
WG_MATRIX_FACT(IndexBase, cusparseIndexBase_t, base)
#undef WG_MATRIX_FACT

cusparseStatus_t cusparseCreateSpVec(cusparseSpVecDescr_t* out, int64_t size, int64_t nnz, void* indices, void* values,
                                     cusparseIndexType_t index_type, cusparseIndexBase_t base, cudaDataType type) {
  return create_vector(out, size, nnz, indices, values, index_type, base, type);
}
cusparseStatus_t cusparseCreateConstSpVec(cusparseConstSpVecDescr_t* out, int64_t size, int64_t nnz,
                                          const void* indices, const void* values, cusparseIndexType_t index_type,
                                          cusparseIndexBase_t base, cudaDataType type) {
  return create_vector(out, size, nnz, indices, values, index_type, base, type);
}
cusparseStatus_t cusparseDestroySpVec(cusparseConstSpVecDescr_t vector) {
  return destroy(vector);
}
cusparseStatus_t cusparseSpVecGetValues(cusparseSpVecDescr_t vector, void** values) {
  return with<cusparseSpVecDescr>(vector, [&](cusparseSpVecDescr& v) { return give(values, v.values); });
}
cusparseStatus_t cusparseSpVecSetValues(cusparseSpVecDescr_t vector, void* values) {
  return with<cusparseSpVecDescr>(vector, [&](cusparseSpVecDescr& v) { return set(v.values, values); });
}
cusparseStatus_t cusparseCreateDnVec(cusparseDnVecDescr_t* out, int64_t size, void* values, cudaDataType type) {
  return create_column(out, size, values, type);
}
cusparseStatus_t cusparseCreateConstDnVec(cusparseConstDnVecDescr_t* out, int64_t size, const void* values,
                                          cudaDataType type) {
  return create_column(out, size, values, type);
}
cusparseStatus_t cusparseDestroyDnVec(cusparseConstDnVecDescr_t vector) {
  return destroy(vector);
}
cusparseStatus_t cusparseDnVecGet(cusparseDnVecDescr_t vector, int64_t* size, void** values, cudaDataType* type) {
  return with<cusparseDnVecDescr>(vector, [&](cusparseDnVecDescr& v) {
    if (!size || !values || !type) return CUSPARSE_STATUS_INVALID_VALUE;
    *size = v.column.rows;
    *values = v.column.values;
    return set(*type, v.column.type);
  });
}
cusparseStatus_t cusparseDnVecGetValues(cusparseDnVecDescr_t vector, void** values) {
  return with<cusparseDnVecDescr>(vector, [&](cusparseDnVecDescr& v) { return give(values, v.column.values); });
}
cusparseStatus_t cusparseDnVecSetValues(cusparseDnVecDescr_t vector, void* values) {
  return with<cusparseDnVecDescr>(vector, [&](cusparseDnVecDescr& v) { return set(v.column.values, values); });
}

cusparseStatus_t cusparseCreateCsr(cusparseSpMatDescr_t* out, int64_t rows, int64_t columns, int64_t nnz, void* offsets,
                                   void* indices, void* values, cusparseIndexType_t offset_type,
                                   cusparseIndexType_t index_type, cusparseIndexBase_t base, cudaDataType type) {
  return create_matrix(
      out, {CUSPARSE_FORMAT_CSR, rows, columns, nnz, offsets, indices, values, offset_type, index_type, base, type});
}
cusparseStatus_t cusparseCreateConstCsr(cusparseConstSpMatDescr_t* out, int64_t rows, int64_t columns, int64_t nnz,
                                        const void* offsets, const void* indices, const void* values,
                                        cusparseIndexType_t offset_type, cusparseIndexType_t index_type,
                                        cusparseIndexBase_t base, cudaDataType type) {
  return create_matrix(out,
                       {CUSPARSE_FORMAT_CSR, rows, columns, nnz, const_cast<void*>(offsets), const_cast<void*>(indices),
                        const_cast<void*>(values), offset_type, index_type, base, type});
}
cusparseStatus_t cusparseCreateCsc(cusparseSpMatDescr_t* out, int64_t rows, int64_t columns, int64_t nnz, void* offsets,
                                   void* indices, void* values, cusparseIndexType_t offset_type,
                                   cusparseIndexType_t index_type, cusparseIndexBase_t base, cudaDataType type) {
  return create_matrix(
      out, {CUSPARSE_FORMAT_CSC, rows, columns, nnz, offsets, indices, values, offset_type, index_type, base, type});
}
cusparseStatus_t cusparseCreateCoo(cusparseSpMatDescr_t* out, int64_t rows, int64_t columns, int64_t nnz,
                                   void* row_indices, void* column_indices, void* values,
                                   cusparseIndexType_t index_type, cusparseIndexBase_t base, cudaDataType type) {
  return create_matrix(out, {CUSPARSE_FORMAT_COO, rows, columns, nnz, row_indices, column_indices, values, index_type,
                             index_type, base, type});
}
cusparseStatus_t cusparseDestroySpMat(cusparseConstSpMatDescr_t matrix) {
  return destroy(matrix);
}
cusparseStatus_t cusparseCsrSetPointers(cusparseSpMatDescr_t matrix, void* offsets, void* indices, void* values) {
  return set_pointers(matrix, CUSPARSE_FORMAT_CSR, offsets, indices, values);
}
cusparseStatus_t cusparseCscSetPointers(cusparseSpMatDescr_t matrix, void* offsets, void* indices, void* values) {
  return set_pointers(matrix, CUSPARSE_FORMAT_CSC, offsets, indices, values);
}
cusparseStatus_t cusparseCooSetPointers(cusparseSpMatDescr_t matrix, void* rows, void* columns, void* values) {
  return set_pointers(matrix, CUSPARSE_FORMAT_COO, rows, columns, values);
}
cusparseStatus_t cusparseSpMatGetSize(cusparseConstSpMatDescr_t matrix, int64_t* rows, int64_t* columns, int64_t* nnz) {
  return with(matrix, [&](cusparseSpMatDescr& m) {
    if (!rows || !columns || !nnz) return CUSPARSE_STATUS_INVALID_VALUE;
    *rows = m.rows;
    *columns = m.columns;
    return set(*nnz, static_cast<int64_t>(m.nnz));
  });
}
cusparseStatus_t cusparseSpMatGetFormat(cusparseConstSpMatDescr_t matrix, cusparseFormat_t* format) {
  return with(matrix, [&](cusparseSpMatDescr& m) { return give(format, m.format); });
}
cusparseStatus_t cusparseSpMatGetIndexBase(cusparseConstSpMatDescr_t matrix, cusparseIndexBase_t* base) {
  return with(matrix, [&](cusparseSpMatDescr& m) { return give(base, m.base); });
}
cusparseStatus_t cusparseSpMatGetValues(cusparseSpMatDescr_t matrix, void** values) {
  return with<cusparseSpMatDescr>(matrix, [&](cusparseSpMatDescr& m) { return give(values, m.values); });
}
cusparseStatus_t cusparseSpMatSetValues(cusparseSpMatDescr_t matrix, void* values) {
  return with<cusparseSpMatDescr>(matrix, [&](cusparseSpMatDescr& m) { return set(m.values, values); });
}
cusparseStatus_t cusparseSpMatGetAttribute(cusparseConstSpMatDescr_t matrix, cusparseSpMatAttribute_t attribute,
                                           void* data, size_t bytes) {
  return with(matrix, [&](cusparseSpMatDescr& m) {
    if (!data || bytes != sizeof(int)) return CUSPARSE_STATUS_INVALID_VALUE;
    const int value = attribute == CUSPARSE_SPMAT_FILL_MODE ? static_cast<int>(m.fill) : static_cast<int>(m.diagonal);
    std::memcpy(data, &value, sizeof value);
    return CUSPARSE_STATUS_SUCCESS;
  });
}
cusparseStatus_t cusparseSpMatSetAttribute(cusparseSpMatDescr_t matrix, cusparseSpMatAttribute_t attribute, void* data,
                                           size_t bytes) {
  return with<cusparseSpMatDescr>(matrix, [&](cusparseSpMatDescr& m) {
    int value = 0;
    if (!data || bytes != sizeof value) return CUSPARSE_STATUS_INVALID_VALUE;
    std::memcpy(&value, data, sizeof value);
    if (value != 0 && value != 1) return CUSPARSE_STATUS_INVALID_VALUE;
    if (attribute == CUSPARSE_SPMAT_FILL_MODE) return set(m.fill, static_cast<cusparseFillMode_t>(value));
    if (attribute == CUSPARSE_SPMAT_DIAG_TYPE) return set(m.diagonal, static_cast<cusparseDiagType_t>(value));
    return CUSPARSE_STATUS_INVALID_VALUE;
  });
}
cusparseStatus_t cusparseCreateDnMat(cusparseDnMatDescr_t* out, int64_t rows, int64_t columns, int64_t ld, void* values,
                                     cudaDataType type, cusparseOrder_t order) {
  return create_dense(out, rows, columns, ld, values, type, order);
}
cusparseStatus_t cusparseCreateConstDnMat(cusparseConstDnMatDescr_t* out, int64_t rows, int64_t columns, int64_t ld,
                                          const void* values, cudaDataType type, cusparseOrder_t order) {
  return create_dense(out, rows, columns, ld, values, type, order);
}
cusparseStatus_t cusparseDestroyDnMat(cusparseConstDnMatDescr_t matrix) {
  return destroy(matrix);
}
cusparseStatus_t cusparseDnMatGetValues(cusparseDnMatDescr_t matrix, void** values) {
  return with<cusparseDnMatDescr>(matrix, [&](cusparseDnMatDescr& m) { return give(values, m.values); });
}
cusparseStatus_t cusparseDnMatSetValues(cusparseDnMatDescr_t matrix, void* values) {
  return with<cusparseDnMatDescr>(matrix, [&](cusparseDnMatDescr& m) { return set(m.values, values); });
}

// ---- Batches
cusparseStatus_t cusparseDnMatSetStridedBatch(cusparseDnMatDescr_t matrix, int count, int64_t stride) {
  return with<cusparseDnMatDescr>(matrix, [&](cusparseDnMatDescr& m) {
    const int64_t least = m.ld * (m.order == CUSPARSE_ORDER_COL ? m.columns : m.rows);
    if (count <= 0 || stride < 0 || (stride != 0 && stride < least)) return CUSPARSE_STATUS_INVALID_VALUE;
    m.stride = stride;
    return set(m.batch, count);
  });
}
cusparseStatus_t cusparseDnMatGetStridedBatch(cusparseConstDnMatDescr_t matrix, int* count, int64_t* stride) {
  return with(matrix, [&](cusparseDnMatDescr& m) {
    if (!count || !stride) return CUSPARSE_STATUS_INVALID_VALUE;
    *stride = m.stride;
    return set(*count, m.batch);
  });
}
cusparseStatus_t cusparseCsrSetStridedBatch(cusparseSpMatDescr_t matrix, int count, int64_t offsets_stride,
                                            int64_t elements_stride) {
  return with<cusparseSpMatDescr>(matrix, [&](cusparseSpMatDescr& m) {
    const bool offsets = offsets_stride == 0 || offsets_stride > m.rows;
    const bool elements = elements_stride == 0 || elements_stride >= m.nnz;
    if (m.format != CUSPARSE_FORMAT_CSR || count <= 0 || !offsets || !elements) return CUSPARSE_STATUS_INVALID_VALUE;
    m.offsets_stride = offsets_stride;
    m.elements_stride = elements_stride;
    return set(m.batch, count);
  });
}
// Rows, columns and values of the batch have the same stride.
cusparseStatus_t cusparseCooSetStridedBatch(cusparseSpMatDescr_t matrix, int count, int64_t stride) {
  return with<cusparseSpMatDescr>(matrix, [&](cusparseSpMatDescr& m) {
    if (m.format != CUSPARSE_FORMAT_COO || count <= 0 || (stride != 0 && stride < m.nnz))
      return CUSPARSE_STATUS_INVALID_VALUE;
    m.offsets_stride = m.elements_stride = stride;
    return set(m.batch, count);
  });
}
cusparseStatus_t cusparseSpMatGetStridedBatch(cusparseConstSpMatDescr_t matrix, int* count) {
  return with(matrix, [&](cusparseSpMatDescr& m) { return give(count, m.batch); });
}

}  // extern "C"
