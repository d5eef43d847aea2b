// Unsupported functions of cuSOLVER. They exist so that programs which refer to them can be loaded; a call is reported.
#include "libraries/common/unsupported.h"

#include <cusolver_common.h>

#define WG_UNSUPPORTED_CALL(name) WG_LIBRARY_UNSUPPORTED(name, CUSOLVER_STATUS_NOT_SUPPORTED)
#include "libraries/solver/unsupported.inc"
