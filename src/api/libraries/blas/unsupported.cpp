// Unsupported functions of cuBLAS. They exist so that programs which refer to them can be loaded; a call is reported.
#include "libraries/common/unsupported.h"

#include <cublas_v2.h>

#define WG_UNSUPPORTED_CALL(name) WG_LIBRARY_UNSUPPORTED(name, CUBLAS_STATUS_NOT_SUPPORTED)
#include "libraries/blas/unsupported.inc"
