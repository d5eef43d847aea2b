// Modules: code loaded into the current context. A module is a library that belongs to a device.
#include "host/modules.h"

#include "cuda/driver.h"

namespace warpgrind::cuda {

namespace {

CUdeviceptr to_device_pointer(const void* pointer) {
  return reinterpret_cast<CUdeviceptr>(pointer);
}

// What is wrong with the code goes into the buffers that the options name.
CUresult load(CUmodule* module, const void* image, unsigned count, const CUjit_option* options, void** values) {
  const host::JitOptions jit(count, reinterpret_cast<const int*>(options), values);
  std::string messages;
  const cudaError_t error = host::load_image(module, image, host::thread_state().device, messages);
  jit.give(messages, "");
  return driver_error(error);
}

}  // namespace

CUresult cuModuleLoad(CUmodule* module, const char* path) {
  return driver([&] {
    std::string messages;
    return driver_error(host::load_file(module, path, host::thread_state().device, messages));
  });
}
CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  return driver([&] { return load(module, image, 0, nullptr, nullptr); });
}
CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned count, CUjit_option* options, void** values) {
  return driver([&] { return load(module, image, count, options, values); });
}
CUresult cuModuleLoadFatBinary(CUmodule* module, const void* image) {
  return driver([&] { return load(module, image, 0, nullptr, nullptr); });
}
CUresult cuModuleUnload(CUmodule module) {
  return driver_without_context([&] { return driver_error(host::unload(module)); });
}
// Kernels are compiled at their first launch.
CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  return driver_without_context([&]() -> CUresult {
    if (!mode) return CUDA_ERROR_INVALID_VALUE;
    *mode = CU_MODULE_LAZY_LOADING;
    return CUDA_SUCCESS;
  });
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  return driver([&]() -> CUresult {
    if (!host::is_library(module)) return CUDA_ERROR_INVALID_HANDLE;
    return driver_error(host::library_kernel(*module, name, function));
  });
}
CUresult cuModuleGetFunctionCount(unsigned* count, CUmodule module) {
  return driver([&]() -> CUresult {
    if (!count) return CUDA_ERROR_INVALID_VALUE;
    if (!host::is_library(module)) return CUDA_ERROR_INVALID_HANDLE;
    return driver_error(host::library_kernel_count(*module, count));
  });
}
CUresult cuModuleEnumerateFunctions(CUfunction* functions, unsigned count, CUmodule module) {
  return driver([&]() -> CUresult {
    if (!functions) return CUDA_ERROR_INVALID_VALUE;
    if (!host::is_library(module)) return CUDA_ERROR_INVALID_HANDLE;
    return driver_error(host::library_kernels(*module, functions, count));
  });
}
CUresult cuModuleGetGlobal_v2(CUdeviceptr* pointer, std::size_t* bytes, CUmodule module, const char* name) {
  return driver([&]() -> CUresult {
    if (!host::is_library(module)) return CUDA_ERROR_INVALID_HANDLE;
    host::DeviceVariable found;
    if (const cudaError_t error = host::library_global(*module, module->device, name, found))
      return driver_error(error);
    if (pointer) *pointer = to_device_pointer(found.address);
    if (bytes) *bytes = found.size;
    return CUDA_SUCCESS;
  });
}

}  // namespace warpgrind::cuda
