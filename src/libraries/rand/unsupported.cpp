// What cuRAND has and this library has not, so that programs which name it are loaded: a call says so.
#include "libraries/common/unsupported.h"

#include <curand.h>

#define WG_UNSUPPORTED_CALL(name) WG_LIBRARY_UNSUPPORTED(name, CURAND_STATUS_TYPE_ERROR)
#include "libraries/rand/unsupported.inc"
