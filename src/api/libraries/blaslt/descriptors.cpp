// Descriptors of cuBLASLt: creation, destruction, and attributes.
#include "libraries/blaslt/descriptors.h"

#include <memory>
#include <new>

#include "libraries/blaslt/attributes.h"
#include "libraries/common/handles.h"

namespace warpgrind::libraries::blaslt {
namespace {

constexpr Attribute kLayoutAttributes[] = {WG_ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_TYPE, Layout, type),
                                           WG_ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_ORDER, Layout, order),
                                           WG_ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_ROWS, Layout, rows),
                                           WG_ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_COLS, Layout, columns),
                                           WG_ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_LD, Layout, ld),
                                           WG_ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, Layout, batch),
                                           WG_ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, Layout, stride),
                                           WG_ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET, Layout, plane_offset),
                                           WG_ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_BATCH_MODE, Layout, batch_mode)};

constexpr Attribute kMatmulAttributes[] = {
    WG_ATTRIBUTE(CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, MatmulDesc, compute),
    WG_ATTRIBUTE(CUBLASLT_MATMUL_DESC_SCALE_TYPE, MatmulDesc, scale),
    WG_ATTRIBUTE(CUBLASLT_MATMUL_DESC_POINTER_MODE, MatmulDesc, pointer_mode),
    WG_ATTRIBUTE(CUBLASLT_MATMUL_DESC_TRANSA, MatmulDesc, transa),
    WG_ATTRIBUTE(CUBLASLT_MATMUL_DESC_TRANSB, MatmulDesc, transb),
    WG_ATTRIBUTE(CUBLASLT_MATMUL_DESC_TRANSC, MatmulDesc, transc),
    WG_ATTRIBUTE(CUBLASLT_MATMUL_DESC_FILL_MODE, MatmulDesc, fill),
    WG_ATTRIBUTE(CUBLASLT_MATMUL_DESC_EPILOGUE, MatmulDesc, epilogue),
    WG_ATTRIBUTE(CUBLASLT_MATMUL_DESC_BIAS_POINTER, MatmulDesc, bias),
    WG_ATTRIBUTE(CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, MatmulDesc, bias_stride),
    WG_ATTRIBUTE(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, MatmulDesc, aux),
    WG_ATTRIBUTE(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, MatmulDesc, aux_ld),
    WG_ATTRIBUTE(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE, MatmulDesc, aux_stride),
    WG_ATTRIBUTE(CUBLASLT_MATMUL_DESC_ALPHA_VECTOR_BATCH_STRIDE, MatmulDesc, alpha_stride),
    WG_ATTRIBUTE(CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET, MatmulDesc, sm_count),
    WG_ATTRIBUTE(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, MatmulDesc, scales[0]),
    WG_ATTRIBUTE(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, MatmulDesc, scales[1]),
    WG_ATTRIBUTE(CUBLASLT_MATMUL_DESC_C_SCALE_POINTER, MatmulDesc, scales[2]),
    WG_ATTRIBUTE(CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, MatmulDesc, scales[3]),
    WG_ATTRIBUTE(CUBLASLT_MATMUL_DESC_AMAX_D_POINTER, MatmulDesc, scales[4]),
    WG_ATTRIBUTE(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE, MatmulDesc, aux_type),
    WG_ATTRIBUTE(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_POINTER, MatmulDesc, scales[5]),
    WG_ATTRIBUTE(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_AMAX_POINTER, MatmulDesc, scales[6]),
    WG_ATTRIBUTE(CUBLASLT_MATMUL_DESC_FAST_ACCUM, MatmulDesc, fast_accumulation),
    WG_ATTRIBUTE(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, MatmulDesc, bias_type),
    WG_ATTRIBUTE(CUBLASLT_MATMUL_DESC_A_SCALE_MODE, MatmulDesc, scale_modes[0]),
    WG_ATTRIBUTE(CUBLASLT_MATMUL_DESC_B_SCALE_MODE, MatmulDesc, scale_modes[1]),
    WG_ATTRIBUTE(CUBLASLT_MATMUL_DESC_C_SCALE_MODE, MatmulDesc, scale_modes[2]),
    WG_ATTRIBUTE(CUBLASLT_MATMUL_DESC_D_SCALE_MODE, MatmulDesc, scale_modes[3]),
    WG_ATTRIBUTE(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_MODE, MatmulDesc, scale_modes[4]),
    WG_ATTRIBUTE(CUBLASLT_MATMUL_DESC_D_OUT_SCALE_POINTER, MatmulDesc, scales[7]),
    WG_ATTRIBUTE(CUBLASLT_MATMUL_DESC_D_OUT_SCALE_MODE, MatmulDesc, scale_modes[5])};

constexpr Attribute kTransformAttributes[] = {
    WG_ATTRIBUTE(CUBLASLT_MATRIX_TRANSFORM_DESC_SCALE_TYPE, TransformDesc, scale),
    WG_ATTRIBUTE(CUBLASLT_MATRIX_TRANSFORM_DESC_POINTER_MODE, TransformDesc, pointer_mode),
    WG_ATTRIBUTE(CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSA, TransformDesc, transa),
    WG_ATTRIBUTE(CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSB, TransformDesc, transb)};

constexpr Attribute kPreferenceAttributes[] = {
    WG_ATTRIBUTE(CUBLASLT_MATMUL_PREF_SEARCH_MODE, Preference, search),
    WG_ATTRIBUTE(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, Preference, workspace),
    WG_ATTRIBUTE(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, Preference, reductions),
    WG_ATTRIBUTE(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, Preference, alignment[0]),
    WG_ATTRIBUTE(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, Preference, alignment[1]),
    WG_ATTRIBUTE(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, Preference, alignment[2]),
    WG_ATTRIBUTE(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, Preference, alignment[3]),
    WG_ATTRIBUTE(CUBLASLT_MATMUL_PREF_MAX_WAVES_COUNT, Preference, waves),
    WG_ATTRIBUTE(CUBLASLT_MATMUL_PREF_IMPL_MASK, Preference, numerical)};

template <class Content, class Opaque>
cublasStatus_t initialise(Opaque* at, std::size_t bytes, const Content& content) {
  if (!at) return CUBLAS_STATUS_INVALID_VALUE;
  if (bytes < sizeof(Content)) return CUBLAS_STATUS_ALLOC_FAILED;
  std::memset(static_cast<void*>(at), 0, bytes);
  new (at) Content(content);
  return CUBLAS_STATUS_SUCCESS;
}

// Descriptors that the library allocates. It records them, so that each is destroyed only once.
template <class Opaque, class Content>
cublasStatus_t create(Opaque** out, const Content& content) {
  if (!out) return CUBLAS_STATUS_INVALID_VALUE;
  auto made = std::make_shared<Opaque>();
  initialise(made.get(), sizeof(Opaque), content);
  *out = made.get();
  handles<Opaque*, Opaque>().add(made.get(), made);
  return CUBLAS_STATUS_SUCCESS;
}
template <class Opaque>
cublasStatus_t destroy(Opaque* descriptor) {
  return handles<Opaque*, Opaque>().remove(descriptor) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

Layout layout_of(cudaDataType type, std::uint64_t rows, std::uint64_t columns, std::int64_t ld) {
  Layout out;
  out.type = static_cast<std::uint32_t>(type);
  out.rows = rows;
  out.columns = columns;
  out.ld = ld;
  return out;
}
MatmulDesc matmul_of(cublasComputeType_t compute, cudaDataType scale) {
  MatmulDesc out;
  out.compute = compute;
  out.scale = scale;
  return out;
}
TransformDesc transform_of(cudaDataType scale) {
  TransformDesc out;
  out.scale = scale;
  return out;
}

}  // namespace
}  // namespace warpgrind::libraries::blaslt

using namespace warpgrind::libraries::blaslt;

extern "C" {

#define WG_ACCESS(set, get, Handle, Name, Content, attributes)                                \
  cublasStatus_t set(Handle descriptor, Name name, const void* from, size_t bytes) {          \
    return set_attribute(attributes, content<Content>(descriptor), name, from, bytes);        \
  }                                                                                           \
  cublasStatus_t get(Handle descriptor, Name name, void* to, size_t bytes, size_t* written) { \
    return get_attribute(attributes, content<Content>(descriptor), name, to, bytes, written); \
  }
WG_ACCESS(cublasLtMatrixLayoutSetAttribute, cublasLtMatrixLayoutGetAttribute, cublasLtMatrixLayout_t,
          cublasLtMatrixLayoutAttribute_t, Layout, kLayoutAttributes)
WG_ACCESS(cublasLtMatmulDescSetAttribute, cublasLtMatmulDescGetAttribute, cublasLtMatmulDesc_t,
          cublasLtMatmulDescAttributes_t, MatmulDesc, kMatmulAttributes)
WG_ACCESS(cublasLtMatrixTransformDescSetAttribute, cublasLtMatrixTransformDescGetAttribute,
          cublasLtMatrixTransformDesc_t, cublasLtMatrixTransformDescAttributes_t, TransformDesc, kTransformAttributes)
WG_ACCESS(cublasLtMatmulPreferenceSetAttribute, cublasLtMatmulPreferenceGetAttribute, cublasLtMatmulPreference_t,
          cublasLtMatmulPreferenceAttributes_t, Preference, kPreferenceAttributes)
#undef WG_ACCESS

cublasStatus_t cublasLtMatrixLayoutInit_internal(cublasLtMatrixLayout_t layout, size_t bytes, cudaDataType type,
                                                 uint64_t rows, uint64_t columns, int64_t ld) {
  return initialise(layout, bytes, layout_of(type, rows, columns, ld));
}
cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type, uint64_t rows,
                                          uint64_t columns, int64_t ld) {
  return create(layout, layout_of(type, rows, columns, ld));
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  return destroy(layout);
}
cublasStatus_t cublasLtMatmulDescInit_internal(cublasLtMatmulDesc_t desc, size_t bytes, cublasComputeType_t compute,
                                               cudaDataType scale) {
  return initialise(desc, bytes, matmul_of(compute, scale));
}
cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* desc, cublasComputeType_t compute, cudaDataType scale) {
  return create(desc, matmul_of(compute, scale));
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc) {
  return destroy(desc);
}
cublasStatus_t cublasLtMatrixTransformDescInit_internal(cublasLtMatrixTransformDesc_t desc, size_t bytes,
                                                        cudaDataType scale) {
  return initialise(desc, bytes, transform_of(scale));
}
cublasStatus_t cublasLtMatrixTransformDescCreate(cublasLtMatrixTransformDesc_t* desc, cudaDataType scale) {
  return create(desc, transform_of(scale));
}
cublasStatus_t cublasLtMatrixTransformDescDestroy(cublasLtMatrixTransformDesc_t desc) {
  return destroy(desc);
}
cublasStatus_t cublasLtMatmulPreferenceInit_internal(cublasLtMatmulPreference_t preference, size_t bytes) {
  return initialise(preference, bytes, Preference{});
}
cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  return create(preference, Preference{});
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  return destroy(preference);
}

}  // extern "C"
