// Error names and texts of the driver API, and the conversion of the runtime's errors.
#include <fmt/core.h>

#include "driver/driver.h"

namespace warpgrind::driver {

const char* error_name(CUresult error) {
  switch (error) {
#define WG_DRIVER_ERROR(name, value, text) \
  case CUDA_##name:                        \
    return "CUDA_" #name;
#include "warpgrind/driver_errors.inc"
#undef WG_DRIVER_ERROR
  }
  return nullptr;
}

const char* error_text(CUresult error) {
  switch (error) {
#define WG_DRIVER_ERROR(name, value, text) \
  case CUDA_##name:                        \
    return text;
#include "warpgrind/driver_errors.inc"
#undef WG_DRIVER_ERROR
  }
  return nullptr;
}

CUresult driver_error(cudaError_t error) {
  switch (error) {
    // Only the runtime has these numbers. Its errors about arguments become CUDA_ERROR_INVALID_VALUE.
    case cudaErrorInvalidConfiguration:
    case cudaErrorInvalidPitchValue:
    case cudaErrorInvalidHostPointer:
    case cudaErrorInvalidDevicePointer:
    case cudaErrorInvalidTexture:
    case cudaErrorInvalidTextureBinding:
    case cudaErrorInvalidChannelDescriptor:
    case cudaErrorInvalidMemcpyDirection:
    case cudaErrorInvalidFilterSetting:
    case cudaErrorInvalidNormSetting:
    case cudaErrorMissingConfiguration:
      return CUDA_ERROR_INVALID_VALUE;
    case cudaErrorInvalidSymbol:
    case cudaErrorInvalidDeviceFunction:
      return CUDA_ERROR_NOT_FOUND;
    case cudaErrorIncompatibleDriverContext:
      return CUDA_ERROR_INVALID_CONTEXT;
    default: {
      const auto same = static_cast<CUresult>(error);
      return error_name(same) ? same : CUDA_ERROR_UNKNOWN;
    }
  }
}

CUresult cuGetErrorName(CUresult error, const char** text) {
  return driver_always([&]() -> CUresult {
    if (!text) return CUDA_ERROR_INVALID_VALUE;
    *text = error_name(error);
    return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuGetErrorString(CUresult error, const char** text) {
  return driver_always([&]() -> CUresult {
    if (!text) return CUDA_ERROR_INVALID_VALUE;
    *text = error_text(error);
    return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult not_supported(const std::string& what) {
  session::messages().say_once(fmt::format("{} is not supported: CUDA_ERROR_NOT_SUPPORTED is returned", what));
  semantics::already_said(cudaSuccess);
  return CUDA_ERROR_NOT_SUPPORTED;
}

}  // namespace warpgrind::driver
