// Functions and kernels of the driver API: attributes, names, parameters. A CUfunction and a CUkernel are the same
// handle here, since code is loaded for all contexts of a device at once.
#include "semantics/kernels.h"

#include "driver/driver.h"
#include "semantics/launch.h"
#include "semantics/modules.h"

namespace warpgrind::driver {

namespace {

template <class Body>
CUresult of_function(CUfunction function, Body body, const char* call = __builtin_FUNCTION()) {
  return driver_of(
      function, [&]() -> CUresult { return semantics::is_kernel(function) ? body() : CUDA_ERROR_INVALID_HANDLE; },
      call);
}
template <class Body>
CUresult of_kernel(CUkernel kernel, Body body, const char* call = __builtin_FUNCTION()) {
  return driver_without_context(
      [&]() -> CUresult { return semantics::is_kernel(kernel) ? body() : CUDA_ERROR_INVALID_HANDLE; }, call);
}

// For queries about a kernel's code: a null handle is CUDA_ERROR_INVALID_VALUE, not CUDA_ERROR_INVALID_HANDLE.
template <class Handle, class Body>
CUresult of_code(const Handle* handle, Body body, const char* call = __builtin_FUNCTION()) {
  return handle ? body() : leave(CUDA_ERROR_INVALID_VALUE, call);
}

CUresult attribute_of(int* value, CUfunction_attribute attribute, CUfunction function) {
  if (!value) return CUDA_ERROR_INVALID_VALUE;
  cudaFuncAttributes all;
  if (const cudaError_t error = semantics::attributes_of(all, function)) return driver_error(error);
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *value = all.maxThreadsPerBlock;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      *value = static_cast<int>(all.sharedSizeBytes);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
      *value = static_cast<int>(all.constSizeBytes);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      *value = static_cast<int>(all.localSizeBytes);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      *value = all.numRegs;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
      *value = all.ptxVersion;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      *value = all.binaryVersion;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
      *value = all.cacheModeCA;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      *value = all.maxDynamicSharedSizeBytes;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      *value = all.preferredShmemCarveout;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
      *value = all.clusterDimMustBeSet;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
      *value = all.requiredClusterWidth;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
      *value = all.requiredClusterHeight;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
      *value = all.requiredClusterDepth;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
      *value = all.nonPortableClusterSizeAllowed;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      *value = all.clusterSchedulingPolicyPreference;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_MAX:
      break;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

// Attributes that can be set have the numbers of cudaFuncAttribute. CLUSTER_SIZE_MUST_BE_SET follows from the code and
// cannot be set.
CUresult set(CUfunction function, CUfunction_attribute attribute, int value) {
  if (attribute < CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES ||
      attribute == CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET)
    return CUDA_ERROR_INVALID_VALUE;
  return driver_error(semantics::set_attribute(function, static_cast<cudaFuncAttribute>(attribute), value));
}
static_assert(static_cast<int>(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) ==
              static_cast<int>(cudaFuncAttributeMaxDynamicSharedMemorySize));
static_assert(static_cast<int>(CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE) ==
              static_cast<int>(cudaFuncAttributeClusterSchedulingPolicyPreference));

CUresult name_of(const char** name, CUfunction function) {
  if (!name) return CUDA_ERROR_INVALID_VALUE;
  *name = function->name.c_str();
  return CUDA_SUCCESS;
}

CUresult library_of(CUlibrary* library, CUfunction function) {
  if (!library) return CUDA_ERROR_INVALID_VALUE;
  if (!function->library) return CUDA_ERROR_NOT_FOUND;  // registered by the program's own code
  *library = function->library;
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function) {
  return of_function(function, [&] { return attribute_of(value, attribute, function); });
}
CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  return of_function(function, [&] { return set(function, attribute, value); });
}
CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config) {
  return of_function(function, [&] {
    return driver_error(semantics::set_cache_config(function, static_cast<cudaFuncCache>(config)));
  });
}
// Has no effect: the GPU model determines the bank width.
CUresult cuFuncSetSharedMemConfig(CUfunction function, CUsharedconfig config) {
  return of_function(function, [&]() -> CUresult {
    return config > CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
  });
}
CUresult cuFuncGetModule(CUmodule* module, CUfunction function) {
  return of_function(function, [&] { return library_of(module, function); });
}
CUresult cuFuncGetName(const char** name, CUfunction function) {
  return of_code(function, [&] { return of_function(function, [&] { return name_of(name, function); }); });
}
CUresult cuFuncGetParamInfo(CUfunction function, std::size_t index, std::size_t* offset, std::size_t* size) {
  const auto ask = [&] { return driver_error(semantics::parameter_info(function, index, offset, size)); };
  return of_code(function, [&] { return of_function(function, ask); });
}
CUresult cuFuncIsLoaded(CUfunctionLoadingState* state, CUfunction function) {
  return of_function(function, [&]() -> CUresult {
    if (!state) return CUDA_ERROR_INVALID_VALUE;
    const bool loaded = function->loaded.load() >> (semantics::thread_state().device % 64) & 1;
    *state = loaded ? CU_FUNCTION_LOADING_STATE_LOADED : CU_FUNCTION_LOADING_STATE_UNLOADED;
    return CUDA_SUCCESS;
  });
}
CUresult cuFuncLoad(CUfunction function) {
  return of_function(function, [&]() -> CUresult {
    semantics::charge_load(*function, semantics::thread_state().device);
    return CUDA_SUCCESS;
  });
}

CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  return of_function(kernel, [&]() -> CUresult {
    if (!function) return CUDA_ERROR_INVALID_VALUE;
    *function = kernel;
    return CUDA_SUCCESS;
  });
}
CUresult cuKernelGetLibrary(CUlibrary* library, CUkernel kernel) {
  return of_kernel(kernel, [&] { return library_of(library, kernel); });
}
CUresult cuKernelGetAttribute(int* value, CUfunction_attribute attribute, CUkernel kernel, CUdevice device) {
  return of_kernel(kernel, [&]() -> CUresult {
    return valid_device(device) ? attribute_of(value, attribute, kernel) : CUDA_ERROR_INVALID_DEVICE;
  });
}
CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel, CUdevice device) {
  return of_kernel(kernel, [&]() -> CUresult {
    return valid_device(device) ? set(kernel, attribute, value) : CUDA_ERROR_INVALID_DEVICE;
  });
}
CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice device) {
  return of_kernel(kernel, [&]() -> CUresult {
    if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    return driver_error(semantics::set_cache_config(kernel, static_cast<cudaFuncCache>(config)));
  });
}
CUresult cuKernelGetName(const char** name, CUkernel kernel) {
  return of_code(kernel, [&] { return of_kernel(kernel, [&] { return name_of(name, kernel); }); });
}
CUresult cuKernelGetParamInfo(CUkernel kernel, std::size_t index, std::size_t* offset, std::size_t* size) {
  const auto ask = [&] { return driver_error(semantics::parameter_info(kernel, index, offset, size)); };
  return of_code(kernel, [&] { return of_kernel(kernel, ask); });
}

}  // namespace warpgrind::driver
