// What the table of functions (api.inc) defines by itself: twins and what is unsupported.
#include "cudart/runtime.h"

namespace warpgrind::cudart {

extern "C" {
#define WG_FUNCTION(result, name, parameters, arguments)
#define WG_FUNCTION_PTDS(result, name, parameters, arguments) \
  WG_API result name##_ptds parameters {                      \
    NullStreamIsOwn scope;                                    \
    return name arguments;                                    \
  }
#define WG_FUNCTION_PTSZ(result, name, parameters, arguments) \
  WG_API result name##_ptsz parameters {                      \
    NullStreamIsOwn scope;                                    \
    return name arguments;                                    \
  }
#define WG_UNSUPPORTED(name)        \
  WG_API cudaError_t name() {       \
    return unsupported_call(#name); \
  }
#include "cudart/api.inc"
#undef WG_FUNCTION
#undef WG_FUNCTION_PTDS
#undef WG_FUNCTION_PTSZ
#undef WG_UNSUPPORTED
}

}  // namespace warpgrind::cudart
