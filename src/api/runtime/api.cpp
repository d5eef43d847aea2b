// Definitions generated from the table of functions (include/warpgrind/runtime_functions.inc): twins and unsupported
// functions.
#include "runtime/call.h"

namespace warpgrind::runtime {

cudaError_t unsupported_call(const char* name) {
  return api([&] { return not_supported(name); }, name);
}

#pragma GCC diagnostic ignored "-Wunused-parameter"

extern "C" {
#define WG_DEFAULT(value)
#define WG_FUNCTION(result, name, parameters, arguments)
#define WG_FUNCTION_PTDS(result, name, parameters, arguments) WG_TWIN(result, name, _ptds, parameters, arguments)
#define WG_FUNCTION_PTSZ(result, name, parameters, arguments) WG_TWIN(result, name, _ptsz, parameters, arguments)
#define WG_UNSUPPORTED(name, parameters) \
  WG_API cudaError_t name parameters {   \
    return unsupported_call(#name);      \
  }
#define WG_UNSUPPORTED_PTDS(name, parameters) \
  WG_UNSUPPORTED(name, parameters)            \
  WG_UNSUPPORTED(name##_ptds, parameters)
#define WG_UNSUPPORTED_PTSZ(name, parameters) \
  WG_UNSUPPORTED(name, parameters)            \
  WG_UNSUPPORTED(name##_ptsz, parameters)
#define WG_UNDECLARED(name) WG_UNSUPPORTED(name, ())
#include "warpgrind/runtime_functions.inc"
}

}  // namespace warpgrind::runtime
