// Declarations of the functions in warpgrind/older_functions.inc. The macros build their names.
#pragma once

#include "runtime/api.h"
#include "runtime/older/types.h"

#define WG_OLDER(name, parameters, arguments) WG_API cudaError_t warpgrind_older_##name parameters;
#define WG_OLDER_11(name, parameters, arguments) WG_API cudaError_t warpgrind_cuda11_##name parameters;
#define WG_OLDER_12(name, parameters, arguments) WG_API cudaError_t warpgrind_cuda12_##name parameters;
#define WG_OLDER_PTSZ WG_OLDER
#define WG_OLDER_11_PTSZ WG_OLDER_11
#define WG_OLDER_12_PTSZ WG_OLDER_12
namespace warpgrind::runtime {
extern "C" {
#include "warpgrind/older_functions.inc"
}
}  // namespace warpgrind::runtime
#undef WG_OLDER
#undef WG_OLDER_11
#undef WG_OLDER_12
#undef WG_OLDER_PTSZ
#undef WG_OLDER_11_PTSZ
#undef WG_OLDER_12_PTSZ
