// The CUDA runtime API, for C and C++: CUDA 13.0, as libcudart.so.13 has it. The prototypes stand in
// warpgrind/runtime_functions.inc, the one table of these functions. What CUDA 11 and 12 had and programs still use is
// in warpgrind/older_runtime.h (C++ only: overloads).
#ifndef __CUDA_RUNTIME_API_H__
#define __CUDA_RUNTIME_API_H__

#define CUDART_VERSION 13000
#define __CUDART_API_VERSION CUDART_VERSION

#include "builtin_types.h"
#include "host_defines.h"

#if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM)
#define WG_TWIN(name, twin) __asm__(#name twin)
#else
#define WG_TWIN(name, twin)
#endif
#ifdef __cplusplus
#define WG_DEFAULT(value) = value
extern "C" {
#else
#define WG_DEFAULT(value)
#endif

#define WG_FUNCTION(result, name, parameters, arguments) result CUDARTAPI name parameters;
#define WG_WITH_TWIN(result, name, twin, parameters)     \
  result CUDARTAPI name parameters WG_TWIN(name, #twin); \
  result CUDARTAPI name##twin parameters;
#define WG_FUNCTION_PTDS(result, name, parameters, arguments) WG_WITH_TWIN(result, name, _ptds, parameters)
#define WG_FUNCTION_PTSZ(result, name, parameters, arguments) WG_WITH_TWIN(result, name, _ptsz, parameters)
#define WG_UNSUPPORTED(name, parameters) cudaError_t CUDARTAPI name parameters;
#define WG_UNSUPPORTED_PTDS(name, parameters) WG_WITH_TWIN(cudaError_t, name, _ptds, parameters)
#define WG_UNSUPPORTED_PTSZ(name, parameters) WG_WITH_TWIN(cudaError_t, name, _ptsz, parameters)
#define WG_UNDECLARED(name)
#include "warpgrind/runtime_functions.inc"
#undef WG_FUNCTION
#undef WG_WITH_TWIN
#undef WG_FUNCTION_PTDS
#undef WG_FUNCTION_PTSZ
#undef WG_UNSUPPORTED
#undef WG_UNSUPPORTED_PTDS
#undef WG_UNSUPPORTED_PTSZ
#undef WG_UNDECLARED
#undef WG_DEFAULT
#undef WG_TWIN

#ifdef __cplusplus
}
#endif

#if defined(__cplusplus) && !defined(WARPGRIND_LIBRARY)
#include "warpgrind/older_runtime.h"
#endif

#endif
