// Libraries of the driver API: code that belongs to no context, and its kernels.
#include "driver/globals.h"
#include "semantics/kernels.h"

namespace warpgrind::driver {

namespace {

template <class Body>
CUresult of_library(const semantics::LibraryHandle* library, Body body) {
  return semantics::is_library(library) ? body() : CUDA_ERROR_INVALID_HANDLE;
}

// For queries of a variable: checks the name before the handle.
template <class Body>
CUresult variable(const char* name, Body body) {
  return name && *name ? body() : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace

CUresult cuLibraryLoadData(CUlibrary* library, const void* code, CUjit_option* options, void** values,
                           unsigned option_count, CUlibraryOption*, void**, unsigned) {
  const semantics::JitOptions jit(option_count, reinterpret_cast<const int*>(options), values);
  return driver_without_context([&] { return driver_error(semantics::load_image(library, code, -1, jit)); });
}
CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* path, CUjit_option* options, void** values,
                               unsigned option_count, CUlibraryOption*, void**, unsigned) {
  const semantics::JitOptions jit(option_count, reinterpret_cast<const int*>(options), values);
  return driver_without_context([&] { return driver_error(semantics::load_file(library, path, -1, jit)); });
}
CUresult cuLibraryUnload(CUlibrary library) {
  return driver_without_context([&] { return driver_error(semantics::unload(library)); });
}

CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
  return driver_without_context([&] {
    return of_library(library, [&] { return driver_error(semantics::library_kernel(*library, name, kernel)); });
  });
}
CUresult cuLibraryGetKernelCount(unsigned* count, CUlibrary library) {
  return driver_without_context([&] {
    return of_library(library, [&] { return driver_error(semantics::library_kernel_count(*library, count)); });
  });
}
CUresult cuLibraryEnumerateKernels(CUkernel* kernels, unsigned count, CUlibrary library) {
  return driver_without_context([&] {
    return of_library(library, [&] { return driver_error(semantics::library_kernels(*library, kernels, count)); });
  });
}
// The module of a library is the same handle in every context.
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
  return driver([&] { return variable(name, [&] { return global_of(library, name, pointer, bytes); }); });
}
CUresult cuLibraryGetManaged(CUdeviceptr* pointer, std::size_t* bytes, CUlibrary library, const char* name) {
  const auto managed = [&]() -> CUresult {
    void* at = nullptr;
    const cudaError_t error = semantics::library_managed(library, name, &at, bytes);
    if (error == cudaSuccess && pointer) *pointer = address(at);
    return driver_error(error);
  };
  return driver_without_context([&] { return variable(name, managed); });
}

}  // namespace warpgrind::driver
