// Handles of cuBLASLt, versions, and settings that have no effect here (heuristics cache, logger).
#include "libraries/blaslt/context.h"

#include <cuda_runtime_api.h>

#include <atomic>

#include "libraries/common/handles.h"
#include "libraries/common/issue.h"
#include "libraries/products/operands.h"

struct cublasLtContext {
  bool of_cublas = false;
};

namespace warpgrind::libraries::blaslt {
namespace {

using blas::give;

Handles<void*, cublasLtContext>& contexts() {
  return handles<void*, cublasLtContext>();
}
std::atomic<size_t> g_cached_heuristics = 0;
std::atomic<unsigned> g_cpu_mask = 0;

}  // namespace

bool is_handle(cublasLtHandle_t handle) {
  return contexts().find(handle) != nullptr;
}

}  // namespace warpgrind::libraries::blaslt

using namespace warpgrind::libraries;
using namespace warpgrind::libraries::blaslt;

extern "C" {

void warpgrind_cublaslt_add(void* handle) {
  contexts().add(handle, std::make_shared<cublasLtContext>(cublasLtContext{true}));
}
void warpgrind_cublaslt_remove(void* handle) {
  contexts().remove(handle);
}

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  if (!handle) return CUBLAS_STATUS_INVALID_VALUE;
  if (cudaFree(nullptr) != cudaSuccess) return CUBLAS_STATUS_NOT_INITIALIZED;
  warpgrind_library_begin("cuBLASLt", "OpenBLAS");
  auto context = std::make_shared<cublasLtContext>();
  *handle = context.get();
  contexts().add(context.get(), context);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  const auto context = contexts().find(handle);
  if (!context) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (context->of_cublas) return CUBLAS_STATUS_INVALID_VALUE;  // destroyed by cublasDestroy()
  contexts().remove(handle);
  return CUBLAS_STATUS_SUCCESS;
}
const char* cublasLtGetStatusName(cublasStatus_t status) {
  return blas::name_of(status);
}
const char* cublasLtGetStatusString(cublasStatus_t status) {
  return blas::text_of(status);
}
size_t cublasLtGetVersion() {
  return CUBLAS_VERSION;
}
size_t cublasLtGetCudartVersion() {
  int version = 0;
  cudaRuntimeGetVersion(&version);
  return static_cast<size_t>(version);
}
cublasStatus_t cublasLtGetProperty(libraryPropertyType type, int* value) {
  switch (type) {
    case MAJOR_VERSION:
      return give(value, CUBLAS_VER_MAJOR);
    case MINOR_VERSION:
      return give(value, CUBLAS_VER_MINOR);
    case PATCH_LEVEL:
      return give(value, CUBLAS_VER_PATCH);
  }
  return CUBLAS_STATUS_INVALID_VALUE;
}
// These settings are only stored: one algorithm needs no cache, and OpenBLAS chooses its instructions itself.
cublasStatus_t cublasLtHeuristicsCacheGetCapacity(size_t* capacity) {
  return give(capacity, g_cached_heuristics.load());
}
cublasStatus_t cublasLtHeuristicsCacheSetCapacity(size_t capacity) {
  g_cached_heuristics = capacity;
  return CUBLAS_STATUS_SUCCESS;
}
unsigned cublasLtDisableCpuInstructionsSetMask(unsigned mask) {
  return g_cpu_mask.exchange(mask);
}
// Logger functions have no effect: the profile has a row for each call, and there is no other log.
cublasStatus_t cublasLtLoggerSetCallback(cublasLtLoggerCallback_t) {
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtLoggerSetFile(FILE*) {
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtLoggerOpenFile(const char*) {
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtLoggerSetLevel(int level) {
  return level < 0 || level > 5 ? CUBLAS_STATUS_INVALID_VALUE : CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtLoggerSetMask(int) {
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtLoggerForceDisable() {
  return CUBLAS_STATUS_SUCCESS;
}

}  // extern "C"
