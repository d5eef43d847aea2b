// Declarations of the runtime API functions: the public ones (include/cuda_runtime_api.h, through semantics/types.h),
// and those of other interfaces (EGL, OpenGL, VDPAU), which that header does not declare.
#pragma once

#include "semantics/types.h"

#define WG_API __attribute__((visibility("default")))

extern "C" {
#define WG_FUNCTION(result, name, parameters, arguments)
#define WG_FUNCTION_PTDS WG_FUNCTION
#define WG_FUNCTION_PTSZ WG_FUNCTION
#define WG_UNSUPPORTED(name, parameters)
#define WG_UNSUPPORTED_PTDS WG_UNSUPPORTED
#define WG_UNSUPPORTED_PTSZ WG_UNSUPPORTED
#define WG_UNDECLARED(name) WG_API cudaError_t name();
#include "warpgrind/runtime_functions.inc"
#undef WG_FUNCTION
#undef WG_FUNCTION_PTDS
#undef WG_FUNCTION_PTSZ
#undef WG_UNSUPPORTED
#undef WG_UNSUPPORTED_PTDS
#undef WG_UNSUPPORTED_PTSZ
#undef WG_UNDECLARED
}
