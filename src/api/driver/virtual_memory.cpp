// Virtual memory management of the driver API. Other processes share memory through file descriptors.
#include "semantics/virtual_memory.h"

#include "driver/addresses.h"

namespace warpgrind::driver {

namespace {

// Only pinned memory of a device is supported.
CUresult check_properties(const CUmemAllocationProp* properties) {
  if (!properties || properties->type != CU_MEM_ALLOCATION_TYPE_PINNED) return CUDA_ERROR_INVALID_VALUE;
  constexpr unsigned kOthers = CU_MEM_HANDLE_TYPE_WIN32 | CU_MEM_HANDLE_TYPE_WIN32_KMT | CU_MEM_HANDLE_TYPE_FABRIC;
  const unsigned others = properties->requestedHandleTypes & ~CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  if (others & ~kOthers) return CUDA_ERROR_INVALID_VALUE;
  if (others) return not_supported("memory shared with other processes by a handle other than a file descriptor");
  switch (properties->location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
      return valid_device(properties->location.id) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
      return not_supported("cuMemCreate of host memory");
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

}  // namespace

CUresult cuMemAddressReserve(CUdeviceptr* out, size_t size, size_t alignment, CUdeviceptr wish,
                             unsigned long long flags) {
  return driver_without_context([&]() -> CUresult {
    if (!out || flags) return CUDA_ERROR_INVALID_VALUE;
    std::uint64_t reserved = 0;
    const cudaError_t error = semantics::reserve_addresses(&reserved, size, alignment, wish);
    if (error == cudaSuccess) *out = reserved;
    return driver_error(error);
  });
}
CUresult cuMemAddressFree(CUdeviceptr from, size_t size) {
  return driver_without_context([&]() -> CUresult { return driver_error(semantics::free_addresses(from, size)); });
}

CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, size_t size, const CUmemAllocationProp* properties,
                     unsigned long long flags) {
  return driver_without_context([&]() -> CUresult {
    if (!handle || flags) return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult error = check_properties(properties); error != CUDA_SUCCESS) return error;
    std::uint64_t made = 0;
    const cudaError_t error =
        semantics::create_memory(&made, size, properties->location.id, properties->requestedHandleTypes != 0);
    if (error == cudaSuccess) *handle = made;
    return driver_error(error);
  });
}
CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  return driver_without_context([&]() -> CUresult { return driver_error(semantics::release_memory(handle)); });
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle, void* at) {
  return driver_without_context([&]() -> CUresult {
    if (!handle) return CUDA_ERROR_INVALID_VALUE;
    std::uint64_t mapped = 0;
    const cudaError_t error = semantics::retain_memory(&mapped, address(at));
    if (error == cudaSuccess) *handle = mapped;
    return driver_error(error);
  });
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* properties, CUmemGenericAllocationHandle handle) {
  return driver_without_context([&]() -> CUresult {
    if (!properties) return CUDA_ERROR_INVALID_VALUE;
    int device = 0;
    bool shareable = false;
    const cudaError_t error = semantics::device_of_memory(&device, &shareable, handle);
    if (error != cudaSuccess) return driver_error(error);
    *properties = {};  // no compression
    properties->type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties->location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
    if (shareable) properties->requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemGetAllocationGranularity(size_t* granularity, const CUmemAllocationProp* properties,
                                       CUmemAllocationGranularity_flags option) {
  return driver_without_context([&]() -> CUresult {
    const bool known = option == CU_MEM_ALLOC_GRANULARITY_MINIMUM || option == CU_MEM_ALLOC_GRANULARITY_RECOMMENDED;
    if (!granularity || !known) return CUDA_ERROR_INVALID_VALUE;
    if (!properties) return CUDA_ERROR_INVALID_VALUE;  // otherwise unused: the granularity never depends on them
    *granularity = semantics::kMappingGranularity;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemExportToShareableHandle(void* out, CUmemGenericAllocationHandle handle, CUmemAllocationHandleType type,
                                      unsigned long long flags) {
  return driver_without_context([&]() -> CUresult {
    if (!out || flags || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return CUDA_ERROR_INVALID_VALUE;
    return driver_error(semantics::export_memory(static_cast<int*>(out), handle));
  });
}
// A file descriptor is passed as the pointer value.
CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* handle, void* from,
                                        CUmemAllocationHandleType type) {
  return driver_without_context([&]() -> CUresult {
    if (!handle || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return CUDA_ERROR_INVALID_VALUE;
    std::uint64_t made = 0;
    const cudaError_t error = semantics::import_memory(&made, static_cast<int>(address(from)));
    if (error == cudaSuccess) *handle = made;
    return driver_error(error);
  });
}

// The manual says of the flags: "Currently must be zero".
CUresult cuMemMap(CUdeviceptr to, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags) {
  return driver_without_context([&]() -> CUresult {
    if (flags) return CUDA_ERROR_INVALID_VALUE;
    return driver_error(semantics::map_memory(to, size, offset, handle));
  });
}
CUresult cuMemUnmap(CUdeviceptr from, size_t size) {
  return driver_without_context([&]() -> CUresult { return driver_error(semantics::unmap_memory(from, size)); });
}

CUresult cuMemSetAccess(CUdeviceptr of, size_t size, const CUmemAccessDesc* list, size_t count) {
  return driver_without_context([&]() -> CUresult {
    static_assert(sizeof(CUmemAccessDesc) == sizeof(cudaMemAccessDesc));
    return driver_error(semantics::set_access(of, size, reinterpret_cast<const cudaMemAccessDesc*>(list), count));
  });
}
CUresult cuMemGetAccess(unsigned long long* flags, const CUmemLocation* location, CUdeviceptr of) {
  return driver_without_context([&]() -> CUresult {
    if (!flags || !location) return CUDA_ERROR_INVALID_VALUE;
    cudaMemAccessFlags same{};
    const cudaError_t error = semantics::get_access(&same, location_of(*location), of);
    if (error == cudaSuccess) *flags = same;
    return driver_error(error);
  });
}

}  // namespace warpgrind::driver
