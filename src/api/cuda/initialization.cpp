// cuInit and versions.
#include "cuda/driver.h"
#include "host/devices.h"

namespace warpgrind::cuda {

CUresult cuInit(unsigned int flags) {
  return driver_always([&]() -> CUresult {
    if (flags) return CUDA_ERROR_INVALID_VALUE;
    if (const cudaError_t error = host::enter_call(); error != cudaSuccess) return driver_error(error);
    if (host::the_session().device_count() == 0) return CUDA_ERROR_NO_DEVICE;
    set_initialized();
    return CUDA_SUCCESS;
  });
}

CUresult cuDriverGetVersion(int* version) {
  return driver_always([&]() -> CUresult { return driver_error(host::driver_get_version(version)); });
}

}  // namespace warpgrind::cuda
