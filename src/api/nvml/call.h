// Common prologue of all NVML functions. They are C++ functions of this namespace, declared here from the table;
// libnvidia-ml.so.1 jumps to them through one array (entries.cpp).
#pragma once

// nvml.h then declares no C functions. semantics/types.h sets it too, for the headers of the APIs that it includes.
#define WARPGRIND_LIBRARY

#include <cstddef>

#include "nvml.h"
#include "semantics/state.h"

// Object behind a device handle. There is one for each virtual GPU; it is never destroyed.
struct nvmlDevice_st {
  unsigned index = 0;
};

namespace warpgrind::nvml {

#define WG_NVML(result, name, parameters, arguments) result name parameters;
#define WG_NVML_UNSUPPORTED(name, parameters) nvmlReturn_t name parameters;
#define WG_NVML_UNDECLARED(name) nvmlReturn_t name();
#include "warpgrind/nvml_functions.inc"
#undef WG_NVML
#undef WG_NVML_UNSUPPORTED
#undef WG_NVML_UNDECLARED

inline const GpuModel& model() {
  return session::model();
}

bool initialized();                      // more calls of nvmlInit than of nvmlShutdown so far
unsigned device_count();                 // number of virtual GPUs
nvmlDevice_t handle_of(unsigned index);  // null: no such device
bool valid(nvmlDevice_t device);

// NVML_ERROR_INSUFFICIENT_SIZE if the text and its terminating zero do not fit.
nvmlReturn_t copy_text(const char* text, char* out, unsigned length);

template <class Body>
nvmlReturn_t call(Body&& body) {
  return initialized() ? body() : NVML_ERROR_UNINITIALIZED;
}
// For functions of one device with one output. `out` must not be null.
template <class Body>
nvmlReturn_t call_of(nvmlDevice_t device, const void* out, Body&& body) {
  if (!initialized()) return NVML_ERROR_UNINITIALIZED;
  return out && valid(device) ? body() : NVML_ERROR_INVALID_ARGUMENT;
}

}  // namespace warpgrind::nvml
