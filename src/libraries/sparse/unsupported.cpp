// What cuSPARSE has and this library has not, so that programs which name it are loaded: a call says so.
#include "libraries/common/unsupported.h"

#include <cusparse.h>

#define WG_UNSUPPORTED_CALL(name) WG_LIBRARY_UNSUPPORTED(name, CUSPARSE_STATUS_NOT_SUPPORTED)
#include "libraries/sparse/unsupported.inc"
