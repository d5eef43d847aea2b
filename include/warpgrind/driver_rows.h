// Rows of driver_functions.inc for users that treat supported and unsupported functions alike: all rows with parameters
// go through WG_DRIVER, WG_DRIVER_PTDS or WG_DRIVER_PTSZ. Undefines the macros at the end. No include guard: it is a
// table.
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
