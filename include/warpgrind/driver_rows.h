// The rows of driver_functions.inc for somebody who wants them all alike: what has parameters, by WG_DRIVER and its
// twins, refused or not. Takes the macros away again. No include guard: it is a table.
#ifndef WG_DRIVER_NAME
#define WG_DRIVER_NAME(name, symbol, version)
#endif
#ifndef WG_DRIVER_UNDECLARED
#define WG_DRIVER_UNDECLARED(name, symbol, version)
#endif
#define WG_DRIVER_UNSUPPORTED WG_DRIVER
#define WG_DRIVER_UNSUPPORTED_PTDS WG_DRIVER_PTDS
#define WG_DRIVER_UNSUPPORTED_PTSZ WG_DRIVER_PTSZ
#include "warpgrind/driver_functions.inc"
#undef WG_DRIVER
#undef WG_DRIVER_PTDS
#undef WG_DRIVER_PTSZ
#undef WG_DRIVER_UNSUPPORTED
#undef WG_DRIVER_UNSUPPORTED_PTDS
#undef WG_DRIVER_UNSUPPORTED_PTSZ
#undef WG_DRIVER_UNDECLARED
#undef WG_DRIVER_NAME
