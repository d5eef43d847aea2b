// Libraries: code that is of no context, and their kernels.
#include "cuda/driver.h"
#include "host/kernels.h"
#include "host/modules.h"

namespace warpgrind::cuda {

namespace {

template <class Load>
CUresult load(unsigned count, const CUjit_option* options, void** values, Load load_code) {
  return driver_without_context([&] {
    const host::JitOptions jit(count, reinterpret_cast<const int*>(options), values);
    std::string messages;
    const cudaError_t error = load_code(messages);
    jit.give(messages, "");
    return driver_error(error);
  });
}

template <class Body>
CUresult of_library(const host::LibraryHandle* library, Body body) {
  return host::is_library(library) ? body() : CUDA_ERROR_INVALID_HANDLE;
}

CUresult global(CUdeviceptr* pointer, std::size_t* bytes, CUlibrary library, const char* name) {
  return of_library(library, [&]() -> CUresult {
    host::DeviceVariable found;
    const int device = host::thread_state().device;
    if (const cudaError_t error = host::library_global(*library, device, name, found)) return driver_error(error);
    if (pointer) *pointer = reinterpret_cast<CUdeviceptr>(found.address);
    if (bytes) *bytes = found.size;
    return CUDA_SUCCESS;
  });
}

}  // namespace

CUresult cuLibraryLoadData(CUlibrary* library, const void* code, CUjit_option* options, void** values,
                           unsigned option_count, CUlibraryOption*, void**, unsigned) {
  return load(option_count, options, values,
              [&](std::string& messages) { return host::load_image(library, code, -1, messages); });
}
CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* path, CUjit_option* options, void** values,
                               unsigned option_count, CUlibraryOption*, void**, unsigned) {
  return load(option_count, options, values,
              [&](std::string& messages) { return host::load_file(library, path, -1, messages); });
}
CUresult cuLibraryUnload(CUlibrary library) {
  return driver_without_context([&] { return driver_error(host::unload(library)); });
}

CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
  return driver_without_context(
      [&] { return of_library(library, [&] { return driver_error(host::library_kernel(*library, name, kernel)); }); });
}
CUresult cuLibraryGetKernelCount(unsigned* count, CUlibrary library) {
  return driver_without_context(
      [&] { return of_library(library, [&] { return driver_error(host::library_kernel_count(*library, count)); }); });
}
CUresult cuLibraryEnumerateKernels(CUkernel* kernels, unsigned count, CUlibrary library) {
  return driver_without_context([&] {
    return of_library(library, [&] { return driver_error(host::library_kernels(*library, kernels, count)); });
  });
}
// A library is a module in every context.
CUresult cuLibraryGetModule(CUmodule* module, CUlibrary library) {
  return driver([&] {
    return of_library(library, [&]() -> CUresult {
      if (!module) return CUDA_ERROR_INVALID_VALUE;
      *module = library;
      return CUDA_SUCCESS;
    });
  });
}
CUresult cuLibraryGetGlobal(CUdeviceptr* pointer, std::size_t* bytes, CUlibrary library, const char* name) {
  return driver([&] { return global(pointer, bytes, library, name); });
}
CUresult cuLibraryGetManaged(CUdeviceptr* pointer, std::size_t* bytes, CUlibrary library, const char* name) {
  return driver_without_context([&] { return global(pointer, bytes, library, name); });
}

}  // namespace warpgrind::cuda
