// Modules of the driver API: code loaded into the current context. A module is a library that belongs to a device.
#include "semantics/modules.h"

#include "driver/globals.h"
#include "driver/references.h"

namespace warpgrind::driver {

namespace {

CUresult load(CUmodule* module, const void* image, unsigned count, const CUjit_option* options, void** values) {
  const semantics::JitOptions jit(count, reinterpret_cast<const int*>(options), values);
  return driver_error(semantics::load_image(module, image, semantics::thread_state().device, jit));
}

}  // namespace

CUresult cuModuleLoad(CUmodule* module, const char* path) {
  return driver([&] {
    return driver_error(semantics::load_file(module, path, semantics::thread_state().device, semantics::JitOptions()));
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
  return driver_without_context([&] {
    forget_references(module);
    return driver_error(semantics::unload(module));
  });
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
  return driver_of_handle([&]() -> CUresult {
    if (!semantics::is_library(module)) return CUDA_ERROR_INVALID_HANDLE;
    return driver_error(semantics::library_kernel(*module, name, function));
  });
}
CUresult cuModuleGetFunctionCount(unsigned* count, CUmodule module) {
  return driver_of_handle([&]() -> CUresult {
    if (!count) return CUDA_ERROR_INVALID_VALUE;
    if (!semantics::is_library(module)) return CUDA_ERROR_INVALID_HANDLE;
    return driver_error(semantics::library_kernel_count(*module, count));
  });
}
CUresult cuModuleEnumerateFunctions(CUfunction* functions, unsigned count, CUmodule module) {
  return driver_of_handle([&]() -> CUresult {
    if (!functions) return CUDA_ERROR_INVALID_VALUE;
    if (!semantics::is_library(module)) return CUDA_ERROR_INVALID_HANDLE;
    return driver_error(semantics::library_kernels(*module, functions, count));
  });
}
CUresult cuModuleGetGlobal_v2(CUdeviceptr* pointer, std::size_t* bytes, CUmodule module, const char* name) {
  return driver_of_handle([&] { return global_of(module, name, pointer, bytes); });
}

}  // namespace warpgrind::driver
