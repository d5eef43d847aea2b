// Declarations of all driver API functions (include/warpgrind/driver_functions.inc), under their symbol names.
#pragma once

#include "driver/api_types.h"

namespace warpgrind::driver {

#define WG_DRIVER(name, symbol, version, parameters, arguments) CUresult symbol parameters;
#define WG_DRIVER_PTDS(name, symbol, version, parameters, arguments) \
  CUresult symbol parameters;                                        \
  CUresult symbol##_ptds parameters;
#define WG_DRIVER_PTSZ(name, symbol, version, parameters, arguments) \
  CUresult symbol parameters;                                        \
  CUresult symbol##_ptsz parameters;
#define WG_DRIVER_UNDECLARED(name, symbol, version) CUresult symbol();
#include "warpgrind/driver_rows.h"

}  // namespace warpgrind::driver
