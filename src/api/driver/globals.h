// Lookup of device variables in modules and libraries that the program loads at run time.
#pragma once

#include "driver/addresses.h"
#include "semantics/modules.h"

namespace warpgrind::driver {

// Address and size of a variable of a module or library (both are the same handle type here). A null output is skipped.
inline CUresult global_of(semantics::LibraryHandle* library, const char* name, CUdeviceptr* pointer,
                          std::size_t* bytes) {
  void* at = nullptr;
  const cudaError_t error = semantics::library_global(library, name, &at, bytes);
  if (error == cudaSuccess && pointer) *pointer = address(at);
  return driver_error(error);
}

}  // namespace warpgrind::driver
