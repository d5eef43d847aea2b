// Device management of the driver API: devices and their attributes, from the GPU model and the runtime.
#include "semantics/devices.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "driver/arrays.h"
#include "driver/driver.h"
#include "semantics/device_properties.h"
#include "semantics/pools.h"

namespace warpgrind::driver {

namespace {

cudaDeviceProp properties_of(CUdevice device) {
  cudaDeviceProp properties;
  semantics::fill_properties(session::model(), device, properties);
  return properties;
}

}  // namespace

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  return driver_without_context([&]() -> CUresult {
    if (!device) return CUDA_ERROR_INVALID_VALUE;
    if (!valid_device(ordinal)) return CUDA_ERROR_INVALID_DEVICE;
    *device = ordinal;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetCount(int* count) {
  return driver_without_context([&]() -> CUresult {
    if (!count) return CUDA_ERROR_INVALID_VALUE;
    *count = session::devices().count();
    session::activity().device_count_read();
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  return driver_without_context([&]() -> CUresult {
    if (!name) return CUDA_ERROR_INVALID_VALUE;
    if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    if (length <= 0) return CUDA_ERROR_INVALID_VALUE;
    std::snprintf(name, static_cast<std::size_t>(length), "%s", session::model().name.c_str());
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
  return driver_without_context([&]() -> CUresult {
    if (!uuid) return CUDA_ERROR_INVALID_VALUE;
    if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    *uuid = properties_of(device).uuid;
    return CUDA_SUCCESS;
  });
}
CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
  return cuDeviceGetUuid_v2(uuid, device);
}

CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice device) {
  return driver_without_context([&]() -> CUresult {
    if (!bytes) return CUDA_ERROR_INVALID_VALUE;
    if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    *bytes = session::model().memory_bytes;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  return driver_without_context([&]() -> CUresult {
    if (!value) return CUDA_ERROR_INVALID_VALUE;
    if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    return semantics::device_attribute(session::model(), device, attribute, *value) ? CUDA_SUCCESS
                                                                                    : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuDeviceGetProperties(CUdevprop* out, CUdevice device) {
  return driver_without_context([&]() -> CUresult {
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    const cudaDeviceProp p = properties_of(device);
    out->maxThreadsPerBlock = p.maxThreadsPerBlock;
    std::copy_n(p.maxThreadsDim, 3, out->maxThreadsDim);
    std::copy_n(p.maxGridSize, 3, out->maxGridSize);
    out->sharedMemPerBlock = static_cast<int>(p.sharedMemPerBlock);
    out->totalConstantMemory = static_cast<int>(p.totalConstMem);
    out->SIMDWidth = p.warpSize;
    out->memPitch = static_cast<int>(p.memPitch);
    out->regsPerBlock = p.regsPerBlock;
    out->clockRate = p.clockRate;
    out->textureAlign = static_cast<int>(p.textureAlignment);
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice device) {
  return driver_without_context([&]() -> CUresult {
    if (!major || !minor) return CUDA_ERROR_INVALID_VALUE;
    if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    *major = session::model().cc_major;
    *minor = session::model().cc_minor;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetPCIBusId(char* id, int length, CUdevice device) {
  return driver_without_context(
      [&]() -> CUresult { return driver_error(semantics::device_get_pci_bus_id(id, length, device)); });
}
CUresult cuDeviceGetByPCIBusId(CUdevice* device, const char* id) {
  return driver_without_context(
      [&]() -> CUresult { return driver_error(semantics::device_get_by_pci_bus_id(device, id)); });
}

// Always 0: only MPS can give a context a part of the SMs, and there are no other affinity types.
CUresult cuDeviceGetExecAffinitySupport(int* value, CUexecAffinityType, CUdevice device) {
  return driver_without_context([&]() -> CUresult {
    if (!value) return CUDA_ERROR_INVALID_VALUE;
    if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    *value = 0;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetTexture1DLinearMaxWidth(size_t* width, CUarray_format format, unsigned int channels,
                                            CUdevice device) {
  return driver_without_context([&]() -> CUresult {
    cudaChannelFormatDesc element{};
    if (!channels_of(format, channels, element)) return CUDA_ERROR_INVALID_VALUE;
    const int bits = element.x + element.y + element.z + element.w;
    return driver_error(
        semantics::device_get_texture_1d_linear_max_width(width, static_cast<unsigned>(bits / 8), device));
  });
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice device) {
  return driver_without_context(
      [&]() -> CUresult { return driver_error(semantics::device_get_default_pool(pool, device)); });
}
CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice device) {
  return driver_without_context([&]() -> CUresult { return driver_error(semantics::device_get_pool(pool, device)); });
}
CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool) {
  return driver_without_context([&]() -> CUresult { return driver_error(semantics::set_pool(device, pool)); });
}

CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
  return driver_without_context(
      [&]() -> CUresult { return driver_error(semantics::device_can_access_peer(can, device, peer)); });
}
CUresult cuDeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute attribute, CUdevice from, CUdevice to) {
  return driver_without_context([&]() -> CUresult {
    return driver_error(
        semantics::device_get_p2p_attribute(value, static_cast<cudaDeviceP2PAttr>(attribute), from, to));
  });
}

}  // namespace warpgrind::driver
