// Variables of code that was loaded while the program runs.
#pragma once

#include "cuda/addresses.h"
#include "host/modules.h"

namespace warpgrind::cuda {

// Of a module or a library, which are one handle here; its address and size, each null where it is not asked for.
inline CUresult global_of(host::LibraryHandle* library, const char* name, CUdeviceptr* pointer, std::size_t* bytes) {
  void* at = nullptr;
  const cudaError_t error = host::library_global(library, name, &at, bytes);
  if (error == cudaSuccess && pointer) *pointer = address(at);
  return driver_error(error);
}

}  // namespace warpgrind::cuda
