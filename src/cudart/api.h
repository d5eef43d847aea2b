// The functions that programs call (api.inc).
#pragma once

#include "cudart/api_types.h"

#define WG_API __attribute__((visibility("default")))

namespace warpgrind::cudart {

extern "C" {
#define WG_FUNCTION(result, name, parameters, arguments) WG_API result name parameters;
#define WG_FUNCTION_PTDS(result, name, parameters, arguments) \
  WG_API result name parameters;                              \
  WG_API result name##_ptds parameters;
#define WG_FUNCTION_PTSZ(result, name, parameters, arguments) \
  WG_API result name parameters;                              \
  WG_API result name##_ptsz parameters;
#define WG_UNSUPPORTED(name) WG_API cudaError_t name();
#include "cudart/api.inc"
#undef WG_FUNCTION
#undef WG_FUNCTION_PTDS
#undef WG_FUNCTION_PTSZ
#undef WG_UNSUPPORTED
}

}  // namespace warpgrind::cudart
