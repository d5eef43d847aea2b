// Definitions generated from the table of functions (include/warpgrind/nvml_functions.inc): unsupported functions, and
// the array in which libnvidia-ml.so.1 finds all functions (library/trampolines.S).
#include "nvml/call.h"

namespace warpgrind::nvml {

#pragma GCC diagnostic ignored "-Wunused-parameter"

// Unsupported functions print no message: programs query everything and show what is missing as such.
#define WG_NVML(result, name, parameters, arguments)
#define WG_NVML_UNSUPPORTED(name, parameters)                                   \
  nvmlReturn_t name parameters {                                                \
    return initialized() ? NVML_ERROR_NOT_SUPPORTED : NVML_ERROR_UNINITIALIZED; \
  }
#define WG_NVML_UNDECLARED(name) WG_NVML_UNSUPPORTED(name, ())
#include "warpgrind/nvml_functions.inc"
#undef WG_NVML
#undef WG_NVML_UNSUPPORTED
#undef WG_NVML_UNDECLARED

}  // namespace warpgrind::nvml

extern "C" __attribute__((visibility("default"))) void (*const warpgrind_nvml_entries[])() = {
#define WG_NVML(result, name, parameters, arguments) reinterpret_cast<void (*)()>(&warpgrind::nvml::name),
#define WG_NVML_UNSUPPORTED(name, parameters) WG_NVML(nvmlReturn_t, name, parameters, ())
#define WG_NVML_UNDECLARED(name) WG_NVML(nvmlReturn_t, name, (), ())
#include "warpgrind/nvml_functions.inc"
};
