// Libraries of the runtime API: code that the program loads at run time. They belong to no device.
#include "runtime/call.h"
#include "semantics/modules.h"

namespace warpgrind::runtime {

namespace {

// For queries of a library's function or variable: checks the library's handle.
template <class Body>
cudaError_t of_library(LibraryHandle* library, Body body, const char* call = __builtin_FUNCTION()) {
  return api([&]() -> cudaError_t { return is_library(library) ? body() : cudaErrorInvalidResourceHandle; }, call);
}

}  // namespace

extern "C" {

WG_API cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code, cudaJitOption* jit_options,
                                       void** jit_values, unsigned jit_count, cudaLibraryOption*, void**, unsigned) {
  const JitOptions options(jit_count, reinterpret_cast<const int*>(jit_options), jit_values);
  return api([&] { return load_image(library, code, -1, options); });
}
WG_API cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t* library, const char* path, cudaJitOption* jit_options,
                                           void** jit_values, unsigned jit_count, cudaLibraryOption*, void**,
                                           unsigned) {
  const JitOptions options(jit_count, reinterpret_cast<const int*>(jit_options), jit_values);
  return api([&] { return load_file(library, path, -1, options); });
}
WG_API cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
  return api([&] { return unload(library); });
}
WG_API cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library, const char* name) {
  return of_library(library, [&] { return library_kernel(*library, name, kernel); });
}
WG_API cudaError_t cudaLibraryGetKernelCount(unsigned* count, cudaLibrary_t library) {
  return of_library(library, [&] { return library_kernel_count(*library, count); });
}
WG_API cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t* kernels, unsigned count, cudaLibrary_t library) {
  return of_library(library, [&] { return library_kernels(*library, kernels, count); });
}
WG_API cudaError_t cudaLibraryGetGlobal(void** pointer, std::size_t* bytes, cudaLibrary_t library, const char* name) {
  return api([&] {
    const bool asked = pointer || bytes || !is_library(library);
    return asked ? library_global(library, name, pointer, bytes) : cudaErrorInvalidValue;
  });
}
WG_API cudaError_t cudaLibraryGetManaged(void** pointer, std::size_t* bytes, cudaLibrary_t library, const char* name) {
  return api([&] {
    const bool asked = pointer || bytes || !is_library(library);
    return asked ? library_managed(library, name, pointer, bytes) : cudaErrorInvalidValue;
  });
}

}  // extern "C"

}  // namespace warpgrind::runtime
