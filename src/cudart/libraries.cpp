// Code loaded while the program runs: libraries, which are of no device.
#include "cudart/call.h"
#include "host/modules.h"

namespace warpgrind::cudart {

namespace {

// Of an error, the messages go into the buffers that the options name.
template <class Load>
cudaError_t load(cudaLibrary_t* library, cudaJitOption* jit_options, void** jit_values, unsigned jit_count, Load load) {
  return api([&] {
    const JitOptions options(jit_count, reinterpret_cast<const int*>(jit_options), jit_values);
    std::string messages;
    const cudaError_t error = load(library, messages);
    options.give(messages, "");
    return error;
  });
}

// A library's function or variable.
template <class Body>
cudaError_t of_library(LibraryHandle* library, Body body) {
  return api([&]() -> cudaError_t { return is_library(library) ? body() : cudaErrorInvalidResourceHandle; });
}

}  // namespace

extern "C" {

WG_API cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code, cudaJitOption* jit_options,
                                       void** jit_values, unsigned jit_count, cudaLibraryOption*, void**, unsigned) {
  return load(library, jit_options, jit_values, jit_count,
              [&](cudaLibrary_t* out, std::string& messages) { return load_image(out, code, -1, messages); });
}
WG_API cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t* library, const char* path, cudaJitOption* jit_options,
                                           void** jit_values, unsigned jit_count, cudaLibraryOption*, void**,
                                           unsigned) {
  return load(library, jit_options, jit_values, jit_count,
              [&](cudaLibrary_t* out, std::string& messages) { return load_file(out, path, -1, messages); });
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
  return of_library(library, [&]() -> cudaError_t {
    DeviceVariable found;
    if (!pointer && !bytes) return cudaErrorInvalidValue;
    if (cudaError_t error = library_global(*library, thread_state().device, name, found)) return error;
    if (pointer) *pointer = found.address;
    if (bytes) *bytes = found.size;
    return cudaSuccess;
  });
}
WG_API cudaError_t cudaLibraryGetManaged(void** pointer, std::size_t* bytes, cudaLibrary_t library, const char* name) {
  return cudaLibraryGetGlobal(pointer, bytes, library, name);
}

}  // extern "C"

}  // namespace warpgrind::cudart
