// Handles of cuBLAS and their settings.
#include "libraries/blas/context.h"

#include <cuda_runtime_api.h>

#include "libraries/blaslt/context.h"
#include "libraries/common/handles.h"

namespace warpgrind::libraries::blas {

namespace {

Handles<cublasHandle_t, cublasContext>& contexts() {
  return handles<cublasHandle_t, cublasContext>();
}

template <class Body>
cublasStatus_t with(cublasHandle_t handle, Body&& body) {
  const std::shared_ptr<cublasContext> context = contexts().find(handle);
  if (!context) return CUBLAS_STATUS_NOT_INITIALIZED;
  return body(*context);
}

}  // namespace

Caller::Caller(cublasHandle_t handle, const char* function) : context_(contexts().find(handle)), function_(function) {}

cublasStatus_t Caller::do_issue(std::string arguments, const LibraryWork& work, bool host_waits,
                                std::function<void(LibraryRun&)> run) const {
  return issue_work(function_, std::move(arguments), work, context_->stream, host_waits, std::move(run));
}

namespace {
cublasLogCallback g_log_callback = nullptr;
}  // namespace

}  // namespace warpgrind::libraries::blas

using namespace warpgrind::libraries;
using namespace warpgrind::libraries::blas;

extern "C" {

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  if (!handle) return CUBLAS_STATUS_INVALID_VALUE;
  if (cudaFree(nullptr) != cudaSuccess) return CUBLAS_STATUS_NOT_INITIALIZED;
  warpgrind_library_begin("cuBLAS", "OpenBLAS");
  auto context = std::make_shared<cublasContext>();
  *handle = context.get();
  contexts().add(context.get(), context);
  warpgrind_cublaslt_add(context.get());
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  if (!contexts().remove(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  warpgrind_cublaslt_remove(handle);
  // Documented. MAGMA destroys a handle instead of waiting for its work, and then copies the results in another stream.
  static_cast<void>(cudaDeviceSynchronize());
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetVersion_v2(cublasHandle_t, int* version) {
  return give(version, CUBLAS_VERSION);
}
cublasStatus_t cublasGetProperty(libraryPropertyType type, int* value) {
  return cublasLtGetProperty(type, value);  // both libraries have the same version
}
size_t cublasGetCudartVersion() {
  return cublasLtGetCudartVersion();
}
// Has no effect: our work needs no device memory. Any workspace is accepted.
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void* workspace, size_t bytes) {
  return with(handle, [&](cublasContext&) {
    return bytes > 0 && !workspace ? CUBLAS_STATUS_INVALID_VALUE : CUBLAS_STATUS_SUCCESS;
  });
}
cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  return with(handle, [&](cublasContext& context) {
    context.stream = stream;
    return CUBLAS_STATUS_SUCCESS;
  });
}
cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, cudaStream_t* stream) {
  return with(handle, [&](cublasContext& context) { return give(stream, context.stream); });
}
cublasStatus_t cublasGetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t* mode) {
  return with(handle, [&](cublasContext& context) { return give(mode, context.pointer_mode); });
}
cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t mode) {
  return with(handle, [&](cublasContext& context) {
    if (mode != CUBLAS_POINTER_MODE_HOST && mode != CUBLAS_POINTER_MODE_DEVICE) return CUBLAS_STATUS_INVALID_VALUE;
    context.pointer_mode = mode;
    return CUBLAS_STATUS_SUCCESS;
  });
}
cublasStatus_t cublasGetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t* mode) {
  return with(handle, [&](cublasContext& context) { return give(mode, context.atomics); });
}
cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode) {
  return with(handle, [&](cublasContext& context) {
    if (mode != CUBLAS_ATOMICS_ALLOWED && mode != CUBLAS_ATOMICS_NOT_ALLOWED) return CUBLAS_STATUS_INVALID_VALUE;
    context.atomics = mode;
    return CUBLAS_STATUS_SUCCESS;
  });
}
cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode) {
  return with(handle, [&](cublasContext& context) { return give(mode, context.math); });
}
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
  return with(handle, [&](cublasContext& context) {
    const int plain = mode & ~CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION;
    if (plain < CUBLAS_DEFAULT_MATH || plain > CUBLAS_FP32_EMULATED_BF16X9_MATH) return CUBLAS_STATUS_INVALID_VALUE;
    context.math = mode;
    return CUBLAS_STATUS_SUCCESS;
  });
}
cublasStatus_t cublasGetSmCountTarget(cublasHandle_t handle, int* count) {
  return with(handle, [&](cublasContext& context) { return give(count, context.sm_count_target); });
}
cublasStatus_t cublasSetSmCountTarget(cublasHandle_t handle, int count) {
  return with(handle, [&](cublasContext& context) {
    if (count < 0) return CUBLAS_STATUS_INVALID_VALUE;
    context.sm_count_target = count;
    return CUBLAS_STATUS_SUCCESS;
  });
}
const char* cublasGetStatusName(cublasStatus_t status) {
  return name_of(status);
}
const char* cublasGetStatusString(cublasStatus_t status) {
  return text_of(status);
}
// Has no effect: the profile has a row for each call, and there is no other log.
cublasStatus_t cublasLoggerConfigure(int, int, int, const char*) {
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetLoggerCallback(cublasLogCallback callback) {
  g_log_callback = callback;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetLoggerCallback(cublasLogCallback* callback) {
  return give(callback, g_log_callback);
}
void cublasXerbla(const char* name, int info) {
  std::fprintf(stderr, "cuBLAS: argument %d of %s is not valid\n", info, name ? name : "?");
}

}  // extern "C"
