// Kernel launches of the driver API.
#include <cstring>
#include <map>
#include <mutex>
#include <span>
#include <vector>

#include "driver/driver.h"
#include "semantics/kernels.h"
#include "semantics/launch.h"

namespace warpgrind::driver {

namespace {

constexpr unsigned kMostParameters = 32764;  // bytes of a kernel's parameters (CUDA C++ Programming Guide)

// The arguments are either an array of pointers or `extra`: one buffer with the layout of parameter memory.
CUresult arguments_of(CUfunction function, void** parameters, void** extra, semantics::LaunchArguments& out) {
  if (!semantics::is_kernel(function)) return CUDA_ERROR_INVALID_HANDLE;
  if (parameters && extra) return CUDA_ERROR_INVALID_VALUE;
  out.function = function;
  out.parameters = parameters;
  return extra ? driver_error(semantics::take_packed(extra, out)) : CUDA_SUCCESS;
}

CUresult launch(CUfunction function, dim3 grid, dim3 block, unsigned shared, CUstream stream, void** parameters,
                void** extra, bool cooperative) {
  semantics::LaunchArguments a;
  if (const CUresult error = arguments_of(function, parameters, extra, a); error != CUDA_SUCCESS) return error;
  a.grid = grid;
  a.block = block;
  a.shared = shared;
  a.cooperative = cooperative;
  return driver_error(semantics::launch_kernel(a, stream));
}

// Settings for the next launch of a function, made by the functions from before CUDA 4.
struct Prepared {
  dim3 block{1, 1, 1};
  unsigned shared = 0;
  std::vector<std::uint8_t> parameters;
};
std::mutex prepared_mutex;
std::map<const semantics::KernelHandle*, Prepared>& prepared() {
  static auto* map = new std::map<const semantics::KernelHandle*, Prepared>;
  return *map;
}

template <class Body>
CUresult prepare(CUfunction function, Body body, const char* call = __builtin_FUNCTION()) {
  return driver(
      [&]() -> CUresult {
        if (!semantics::is_kernel(function)) return CUDA_ERROR_INVALID_HANDLE;
        const std::lock_guard lock(prepared_mutex);
        return body(prepared()[function]);
      },
      call);
}

CUresult set_parameter(CUfunction function, int offset, const void* value, unsigned bytes,
                       const char* call = __builtin_FUNCTION()) {
  return prepare(
      function,
      [&](Prepared& p) -> CUresult {
        if (offset < 0 || !value || bytes > kMostParameters || static_cast<unsigned>(offset) > kMostParameters - bytes)
          return CUDA_ERROR_INVALID_VALUE;
        const auto begin = static_cast<std::size_t>(offset);
        if (p.parameters.size() < begin + bytes) p.parameters.resize(begin + bytes);
        std::memcpy(p.parameters.data() + begin, value, bytes);
        return CUDA_SUCCESS;
      },
      call);
}

CUresult launch_prepared(CUfunction function, int width, int height, CUstream stream,
                         const char* call = __builtin_FUNCTION()) {
  return driver(
      [&]() -> CUresult {
        if (!semantics::is_kernel(function)) return CUDA_ERROR_INVALID_HANDLE;
        if (width <= 0 || height <= 0) return CUDA_ERROR_INVALID_VALUE;
        Prepared p;
        {
          const std::lock_guard lock(prepared_mutex);
          p = prepared()[function];
        }
        semantics::LaunchArguments a;
        a.function = function;
        a.grid = {static_cast<unsigned>(width), static_cast<unsigned>(height), 1};
        a.block = p.block;
        a.shared = p.shared;
        a.packed = std::span<const std::uint8_t>(p.parameters);
        return driver_error(semantics::launch_kernel(a, stream));
      },
      call);
}

}  // namespace

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned shared, CUstream stream, void** parameters,
                        void** extra) {
  return driver([&] {
    return launch(function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared, stream, parameters, extra,
                  false);
  });
}
CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                                   CUstream stream, void** parameters) {
  return driver([&] {
    return launch(function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared, stream, parameters, nullptr,
                  true);
  });
}
// Launch attributes have the same numbers and layout as the runtime's.
CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** parameters, void** extra) {
  static_assert(sizeof(CUlaunchAttribute) == sizeof(cudaLaunchAttribute) &&
                static_cast<int>(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) ==
                    static_cast<int>(cudaLaunchAttributeClusterDimension));
  return driver([&]() -> CUresult {
    if (!config) return CUDA_ERROR_INVALID_VALUE;
    semantics::LaunchArguments a;
    if (const CUresult error = arguments_of(function, parameters, extra, a); error != CUDA_SUCCESS) return error;
    a.grid = {config->gridDimX, config->gridDimY, config->gridDimZ};
    a.block = {config->blockDimX, config->blockDimY, config->blockDimZ};
    a.shared = config->sharedMemBytes;
    return driver_error(semantics::launch_with_attributes(
        a, config->hStream, reinterpret_cast<const cudaLaunchAttribute*>(config->attrs), config->numAttrs));
  });
}

// ---- Deprecated: settings made one by one, then a launch
CUresult cuFuncSetBlockShape(CUfunction function, int x, int y, int z) {
  return prepare(function, [&](Prepared& p) -> CUresult {
    if (x <= 0 || y <= 0 || z <= 0) return CUDA_ERROR_INVALID_VALUE;
    p.block = {static_cast<unsigned>(x), static_cast<unsigned>(y), static_cast<unsigned>(z)};
    return CUDA_SUCCESS;
  });
}
CUresult cuFuncSetSharedSize(CUfunction function, unsigned bytes) {
  return prepare(function, [&](Prepared& p) -> CUresult {
    p.shared = bytes;
    return CUDA_SUCCESS;
  });
}
CUresult cuParamSetSize(CUfunction function, unsigned bytes) {
  return prepare(function, [&](Prepared& p) -> CUresult {
    if (bytes > kMostParameters) return CUDA_ERROR_INVALID_VALUE;
    p.parameters.resize(bytes);
    return CUDA_SUCCESS;
  });
}
CUresult cuParamSeti(CUfunction function, int offset, unsigned value) {
  return set_parameter(function, offset, &value, sizeof value);
}
CUresult cuParamSetf(CUfunction function, int offset, float value) {
  return set_parameter(function, offset, &value, sizeof value);
}
CUresult cuParamSetv(CUfunction function, int offset, void* pointer, unsigned bytes) {
  return set_parameter(function, offset, pointer, bytes);
}
CUresult cuLaunch(CUfunction function) {
  return launch_prepared(function, 1, 1, nullptr);
}
CUresult cuLaunchGrid(CUfunction function, int grid_width, int grid_height) {
  return launch_prepared(function, grid_width, grid_height, nullptr);
}
CUresult cuLaunchGridAsync(CUfunction function, int grid_width, int grid_height, CUstream stream) {
  return launch_prepared(function, grid_width, grid_height, stream);
}

}  // namespace warpgrind::driver
