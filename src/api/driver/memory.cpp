// Memory management of the driver API: device, pinned and managed memory. Unlike in the runtime, an allocation of 0
// bytes of device memory is an error.
#include "semantics/memory.h"

#include "driver/addresses.h"
#include "semantics/batches.h"
#include "semantics/devices.h"
#include "semantics/virtual_memory.h"

namespace warpgrind::driver {

namespace {

semantics::PrefetchBatch prefetches(const CUdeviceptr* pointers, const size_t* sizes, size_t count,
                                    const CUmemLocation* locations, const size_t* firsts, size_t location_count) {
  static_assert(sizeof(CUmemLocation) == sizeof(cudaMemLocation) && sizeof(CUdeviceptr) == sizeof(void*));
  return {reinterpret_cast<void* const*>(pointers),
          sizes,
          count,
          reinterpret_cast<const cudaMemLocation*>(locations),
          firsts,
          location_count};
}

}  // namespace

// ---- Device memory
CUresult cuMemGetInfo_v2(size_t* free, size_t* total) {
  return driver([&]() -> CUresult { return driver_error(semantics::mem_get_info(free, total)); });
}

CUresult cuMemAlloc_v2(CUdeviceptr* out, size_t bytes) {
  return driver([&]() -> CUresult {
    if (!out || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
    void* memory = nullptr;
    const cudaError_t error = semantics::allocate_linear(&memory, bytes);
    return allocated(error, memory, out);
  });
}

CUresult cuMemAllocPitch_v2(CUdeviceptr* out, size_t* pitch, size_t width, size_t height, unsigned int element_size) {
  return driver([&]() -> CUresult {
    if (!out || !pitch || width == 0 || height == 0) return CUDA_ERROR_INVALID_VALUE;
    if (element_size != 4 && element_size != 8 && element_size != 16) return CUDA_ERROR_INVALID_VALUE;
    void* memory = nullptr;
    const cudaError_t error = semantics::allocate_pitch(&memory, pitch, width, height);
    return allocated(error, memory, out);
  });
}

CUresult cuMemFree_v2(CUdeviceptr memory) {
  return driver_without_context<Needs::living_context>([&]() -> CUresult {
    forget_owner(pointer(memory));
    return driver_error(semantics::free_device(pointer(memory), "cuMemFree"));
  });
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr* base, size_t* size, CUdeviceptr of) {
  return driver([&]() -> CUresult {
    const semantics::Place place = semantics::place_of(pointer(of));
    if (place.memory == semantics::Memory::pageable || place.memory == semantics::Memory::invalid)
      return CUDA_ERROR_NOT_FOUND;
    const auto mapped = semantics::mapped_place(of);
    const std::uint64_t low = mapped ? mapped->low : place.low;
    if (base) *base = low;
    if (size) *size = (mapped ? mapped->high : place.high) - low;
    return CUDA_SUCCESS;
  });
}

// ---- Pinned memory
CUresult cuMemHostAlloc(void** out, size_t bytes, unsigned int flags) {
  return driver([&]() -> CUresult {
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    void* memory = nullptr;
    CUdeviceptr same = 0;
    const cudaError_t error = semantics::host_alloc(&memory, bytes, flags);
    const CUresult result = allocated(error, memory, &same);
    if (result == CUDA_SUCCESS) *out = memory;
    return result;
  });
}
CUresult cuMemAllocHost_v2(void** out, size_t bytes) {
  return cuMemHostAlloc(out, bytes, 0);
}

CUresult cuMemFreeHost(void* memory) {
  return driver_without_context<Needs::living_context>([&]() -> CUresult {
    forget_owner(memory);
    return driver_error(semantics::report_invalid_free(semantics::free_host(memory), memory, "cuMemFreeHost"));
  });
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* out, void* memory, unsigned int flags) {
  return driver([&]() -> CUresult {
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    void* device = nullptr;
    const cudaError_t error = semantics::host_get_device_pointer(&device, memory, flags);
    if (error == cudaSuccess) *out = address(device);
    return driver_error(error);
  });
}

CUresult cuMemHostGetFlags(unsigned int* flags, void* memory) {
  return driver([&]() -> CUresult { return driver_error(semantics::host_get_flags(flags, memory)); });
}

CUresult cuMemHostRegister_v2(void* memory, size_t bytes, unsigned int flags) {
  return driver([&]() -> CUresult { return driver_error(semantics::register_host(memory, bytes, flags)); });
}
// The form from before CUDA 6.5, which has fewer flags.
CUresult cuMemHostRegister(void* memory, size_t bytes, unsigned int flags) {
  return cuMemHostRegister_v2(memory, bytes, flags);
}
CUresult cuMemHostUnregister(void* memory) {
  return driver_without_context([&]() -> CUresult { return driver_error(semantics::unregister_host(memory)); });
}

// ---- Managed memory
CUresult cuMemAllocManaged(CUdeviceptr* out, size_t bytes, unsigned int flags) {
  return driver([&]() -> CUresult {
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    void* memory = nullptr;
    const cudaError_t error = semantics::allocate_managed(&memory, bytes, flags);
    return allocated(error, memory, out);
  });
}

CUresult cuMemAdvise_v2(CUdeviceptr memory, size_t count, CUmem_advise advice, CUmemLocation location) {
  return driver([&]() -> CUresult {
    const auto what = static_cast<cudaMemoryAdvise>(advice);
    return driver_error(semantics::advise_managed(pointer(memory), count, what, location_of(location)));
  });
}
CUresult cuMemAdvise(CUdeviceptr memory, size_t count, CUmem_advise advice, CUdevice device) {
  return driver([&]() -> CUresult {
    const auto what = static_cast<cudaMemoryAdvise>(advice);
    return driver_error(semantics::advise_managed(pointer(memory), count, what, location_of(device)));
  });
}

CUresult cuMemPrefetchAsync_v2(CUdeviceptr memory, size_t count, CUmemLocation location, unsigned int flags,
                               CUstream stream) {
  return driver([&]() -> CUresult {
    if (flags) return CUDA_ERROR_INVALID_VALUE;
    return driver_error(semantics::prefetch_managed(pointer(memory), count, location_of(location), stream));
  });
}
CUresult cuMemPrefetchAsync(CUdeviceptr memory, size_t count, CUdevice to, CUstream stream) {
  return driver([&]() -> CUresult {
    return driver_error(semantics::prefetch_managed(pointer(memory), count, location_of(to), stream));
  });
}

CUresult cuMemPrefetchBatchAsync(CUdeviceptr* pointers, size_t* sizes, size_t count, CUmemLocation* locations,
                                 size_t* firsts, size_t location_count, unsigned long long flags, CUstream stream) {
  return driver([&]() -> CUresult {
    return driver_error(semantics::prefetch_batch(prefetches(pointers, sizes, count, locations, firsts, location_count),
                                                  flags, stream));
  });
}
CUresult cuMemDiscardBatchAsync(CUdeviceptr* pointers, size_t* sizes, size_t count, unsigned long long flags,
                                CUstream stream) {
  return driver([&]() -> CUresult {
    return driver_error(
        semantics::discard_batch(reinterpret_cast<void* const*>(pointers), sizes, count, flags, stream));
  });
}
// The prefetch brings back the range, whose contents are indeterminate.
CUresult cuMemDiscardAndPrefetchBatchAsync(CUdeviceptr* pointers, size_t* sizes, size_t count, CUmemLocation* locations,
                                           size_t* firsts, size_t location_count, unsigned long long flags,
                                           CUstream stream) {
  return driver([&]() -> CUresult {
    return driver_error(semantics::prefetch_batch(prefetches(pointers, sizes, count, locations, firsts, location_count),
                                                  flags, stream));
  });
}

CUresult cuMemRangeGetAttribute(void* data, size_t size, CUmem_range_attribute attribute, CUdeviceptr memory,
                                size_t count) {
  return driver([&]() -> CUresult {
    const auto what = static_cast<cudaMemRangeAttribute>(attribute);
    return driver_error(semantics::managed_range_attribute(data, size, what, pointer(memory), count));
  });
}
CUresult cuMemRangeGetAttributes(void** data, size_t* sizes, CUmem_range_attribute* attributes, size_t attribute_count,
                                 CUdeviceptr memory, size_t count) {
  return driver([&]() -> CUresult {
    auto* what = reinterpret_cast<cudaMemRangeAttribute*>(attributes);
    return driver_error(
        semantics::mem_range_get_attributes(data, sizes, what, attribute_count, pointer(memory), count));
  });
}

}  // namespace warpgrind::driver
