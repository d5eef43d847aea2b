// NVRTC, the run-time compilation of CUDA C++ (NVRTC documentation, CUDA 13.0). In warpgrind clang compiles
// (src/compiler/nvrtc). What each function does and which errors it gives is NVIDIA's documentation's; sizes of PTX and
// of the log include the NUL.
#ifndef __NVRTC_H__
#define __NVRTC_H__

#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
#define WG_NVRTC_RESULT(name, value) name = value,
#include "warpgrind/nvrtc_results.inc"
#undef WG_NVRTC_RESULT
} nvrtcResult;

typedef struct _nvrtcProgram* nvrtcProgram;

#define WG_NVRTC(result, name, parameters, arguments) result nvrtc##name parameters;
#include "warpgrind/nvrtc_functions.inc"
#undef WG_NVRTC

#ifdef __cplusplus
}
#endif

// As in NVIDIA's: only for programs that ask for it.
#if defined(__cplusplus) && defined(NVRTC_GET_TYPE_NAME) && NVRTC_GET_TYPE_NAME
#include <cxxabi.h>

#include <string>
#include <typeinfo>

// The name of a type as a program may write it in a name expression.
inline nvrtcResult nvrtcGetTypeName(const std::type_info& tinfo, std::string* result) {
  int problem = 0;
  char* const name = abi::__cxa_demangle(tinfo.name(), nullptr, nullptr, &problem);
  if (problem != 0) return NVRTC_ERROR_INTERNAL_ERROR;
  *result = name;
  free(name);
  return NVRTC_SUCCESS;
}

template <class T>
struct __nvrtcGetTypeName_helper_t {};

// typeid(T) itself would drop references and const.
template <class T>
nvrtcResult nvrtcGetTypeName(std::string* result) {
  const nvrtcResult got = nvrtcGetTypeName(typeid(__nvrtcGetTypeName_helper_t<T>), result);
  if (got != NVRTC_SUCCESS) return got;
  const std::size_t begin = result->find('<'), end = result->rfind('>');
  if (begin == std::string::npos || end == std::string::npos) return NVRTC_ERROR_INTERNAL_ERROR;
  *result = result->substr(begin + 1, end - begin - 1);
  return NVRTC_SUCCESS;
}
#endif

#endif
