// cuInit and versions.
#include "driver/driver.h"
#include "semantics/devices.h"

namespace warpgrind::driver {

CUresult cuInit(unsigned int flags) {
  return driver_always([&]() -> CUresult {
    if (flags) return CUDA_ERROR_INVALID_VALUE;
    if (const cudaError_t error = semantics::enter_call(); error != cudaSuccess) return driver_error(error);
    if (session::devices().count() == 0) return CUDA_ERROR_NO_DEVICE;
    set_initialized();
    return CUDA_SUCCESS;
  });
}

CUresult cuDriverGetVersion(int* version) {
  return driver_always([&]() -> CUresult { return driver_error(semantics::driver_get_version(version)); });
}

}  // namespace warpgrind::driver
