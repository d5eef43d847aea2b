// Unsupported functions of cuFFT. They exist so that programs which refer to them can be loaded; a call is reported.
#include "libraries/common/unsupported.h"

#include <cufft.h>

#define WG_UNSUPPORTED_CALL(name) WG_LIBRARY_UNSUPPORTED(name, CUFFT_NOT_SUPPORTED)
#include "libraries/fft/unsupported.inc"
