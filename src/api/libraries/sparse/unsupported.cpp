// Unsupported functions of cuSPARSE. They exist so that programs which refer to them can be loaded; a call is reported.
#include "libraries/common/unsupported.h"

#include <cusparse.h>

#define WG_UNSUPPORTED_CALL(name) WG_LIBRARY_UNSUPPORTED(name, CUSPARSE_STATUS_NOT_SUPPORTED)
#include "libraries/sparse/unsupported.inc"
