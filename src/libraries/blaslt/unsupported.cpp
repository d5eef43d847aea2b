// What cuBLASLt has and this library has not, so that programs which name it are loaded: a call says so.
#include "libraries/common/unsupported.h"

#include <cublas_v2.h>

#define WG_UNSUPPORTED_CALL(name) WG_LIBRARY_UNSUPPORTED(name, CUBLAS_STATUS_NOT_SUPPORTED)
#include "libraries/blaslt/unsupported.inc"
