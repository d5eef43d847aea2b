// Twins, for per-thread default streams, of the functions in warpgrind/older_functions.inc.
#include "runtime/call.h"
#include "runtime/older/functions.h"

namespace warpgrind::runtime {

extern "C" {
#define WG_OLDER(name, parameters, arguments)
#define WG_OLDER_11(name, parameters, arguments)
#define WG_OLDER_12(name, parameters, arguments)
#define WG_OLDER_TWIN(name, parameters, arguments) WG_TWIN(cudaError_t, name, _ptsz, parameters, arguments)
#define WG_OLDER_PTSZ(name, parameters, arguments) WG_OLDER_TWIN(warpgrind_older_##name, parameters, arguments)
#define WG_OLDER_11_PTSZ(name, parameters, arguments) WG_OLDER_TWIN(warpgrind_cuda11_##name, parameters, arguments)
#define WG_OLDER_12_PTSZ(name, parameters, arguments) WG_OLDER_TWIN(warpgrind_cuda12_##name, parameters, arguments)
#include "warpgrind/older_functions.inc"
}

}  // namespace warpgrind::runtime
