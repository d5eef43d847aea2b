// Unsupported functions of cuRAND. They exist so that programs which refer to them can be loaded; a call is reported.
#include "libraries/common/unsupported.h"

#include <curand.h>

#define WG_UNSUPPORTED_CALL(name) WG_LIBRARY_UNSUPPORTED(name, CURAND_STATUS_TYPE_ERROR)
#include "libraries/rand/unsupported.inc"
