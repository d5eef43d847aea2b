// What cuFFT has and this library has not, so that programs which name it are loaded: a call says so.
#include "libraries/common/unsupported.h"

#include <cufft.h>

#define WG_UNSUPPORTED_CALL(name) WG_LIBRARY_UNSUPPORTED(name, CUFFT_NOT_SUPPORTED)
#include "libraries/fft/unsupported.inc"
