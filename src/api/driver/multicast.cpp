// Multicast object management of the driver API.
#include "semantics/multicast.h"

#include "driver/addresses.h"
#include "semantics/virtual_memory.h"

namespace warpgrind::driver {

namespace {

// Other processes cannot get a multicast object; a program that asks for a file descriptor fails when it exports it.
CUresult check_multicast(const CUmulticastObjectProp* properties) {
  if (!properties || properties->flags != 0) return CUDA_ERROR_INVALID_VALUE;
  constexpr unsigned long long kOthers =
      CU_MEM_HANDLE_TYPE_WIN32 | CU_MEM_HANDLE_TYPE_WIN32_KMT | CU_MEM_HANDLE_TYPE_FABRIC;
  const unsigned long long others = properties->handleTypes & ~std::uint64_t{CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR};
  if (others & ~kOthers) return CUDA_ERROR_INVALID_VALUE;
  if (others) return not_supported("a multicast object with a handle other than a file descriptor");
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuMulticastCreate(CUmemGenericAllocationHandle* multicast, const CUmulticastObjectProp* properties) {
  return driver_without_context([&]() -> CUresult {
    if (!multicast) return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult error = check_multicast(properties); error != CUDA_SUCCESS) return error;
    std::uint64_t made = 0;
    const cudaError_t error = semantics::create_multicast(&made, properties->numDevices, properties->size,
                                                          properties->handleTypes != CU_MEM_HANDLE_TYPE_NONE);
    if (error == cudaSuccess) *multicast = made;
    return driver_error(error);
  });
}
CUresult cuMulticastAddDevice(CUmemGenericAllocationHandle multicast, CUdevice device) {
  return driver_without_context(
      [&]() -> CUresult { return driver_error(semantics::add_multicast_device(multicast, device)); });
}

CUresult cuMulticastBindMem(CUmemGenericAllocationHandle multicast, size_t multicast_offset,
                            CUmemGenericAllocationHandle memory, size_t memory_offset, size_t size,
                            unsigned long long flags) {
  return driver_without_context([&]() -> CUresult {
    if (flags) return CUDA_ERROR_INVALID_VALUE;
    return driver_error(semantics::bind_multicast_memory(multicast, multicast_offset, memory, memory_offset, size));
  });
}
CUresult cuMulticastBindAddr(CUmemGenericAllocationHandle multicast, size_t multicast_offset, CUdeviceptr pointer,
                             size_t size, unsigned long long flags) {
  return driver_without_context([&]() -> CUresult {
    if (flags) return CUDA_ERROR_INVALID_VALUE;
    return driver_error(semantics::bind_multicast_address(multicast, multicast_offset, pointer, size));
  });
}
CUresult cuMulticastUnbind(CUmemGenericAllocationHandle multicast, CUdevice device, size_t multicast_offset,
                           size_t size) {
  return driver_without_context([&]() -> CUresult {
    return driver_error(semantics::unbind_multicast(multicast, device, multicast_offset, size));
  });
}

// Both granularities are the page size. (A GPU recommends more for the sake of its speed.)
CUresult cuMulticastGetGranularity(size_t* granularity, const CUmulticastObjectProp* properties,
                                   CUmulticastGranularity_flags option) {
  return driver_without_context([&]() -> CUresult {
    const bool known = option == CU_MULTICAST_GRANULARITY_MINIMUM || option == CU_MULTICAST_GRANULARITY_RECOMMENDED;
    if (!granularity || !known) return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult error = check_multicast(properties); error != CUDA_SUCCESS) return error;
    *granularity = semantics::kMappingGranularity;
    return CUDA_SUCCESS;
  });
}

}  // namespace warpgrind::driver
