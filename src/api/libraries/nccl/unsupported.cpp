// Unsupported functions of NCCL. They exist so that programs which refer to them can be loaded; a call is reported.
#include "libraries/common/unsupported.h"

#define WG_UNSUPPORTED_CALL(name) WG_LIBRARY_UNSUPPORTED(name, 5)  // ncclInvalidUsage
#include "libraries/nccl/unsupported.inc"
