// Stream-ordered memory allocator of the driver API.
#include "semantics/pools.h"

#include "driver/addresses.h"

namespace warpgrind::driver {

namespace {

// The structures of pools are the same in both APIs.
static_assert(sizeof(CUmemPoolProps) == sizeof(cudaMemPoolProps));
static_assert(sizeof(CUmemAccessDesc) == sizeof(cudaMemAccessDesc));
static_assert(sizeof(CUmemPoolPtrExportData) == sizeof(cudaMemPoolPtrExportData));

CUresult allocate(CUdeviceptr* out, size_t bytes, CUmemoryPool pool, CUstream stream) {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  void* memory = nullptr;
  const cudaError_t error = semantics::allocate_from(pool, &memory, bytes, semantics::resolve(stream));
  if (error == cudaSuccess) *out = address(memory);
  return driver_error(error);
}

// Only pools of pinned device memory are supported, not pools of host or managed memory.
CUresult check_location(const CUmemLocation* location, CUmemAllocationType type) {
  if (!location || type == CU_MEM_ALLOCATION_TYPE_INVALID) return CUDA_ERROR_INVALID_VALUE;
  if (type != CU_MEM_ALLOCATION_TYPE_PINNED || location->type != CU_MEM_LOCATION_TYPE_DEVICE)
    return not_supported("a memory pool of host or managed memory");
  return valid_device(location->id) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

}  // namespace

CUresult cuMemAllocAsync(CUdeviceptr* out, size_t bytes, CUstream stream) {
  return driver([&]() -> CUresult { return allocate(out, bytes, nullptr, stream); });
}
CUresult cuMemAllocFromPoolAsync(CUdeviceptr* out, size_t bytes, CUmemoryPool pool, CUstream stream) {
  return driver([&]() -> CUresult { return pool ? allocate(out, bytes, pool, stream) : CUDA_ERROR_INVALID_VALUE; });
}
CUresult cuMemFreeAsync(CUdeviceptr memory, CUstream stream) {
  return driver([&]() -> CUresult {
    void* const at = pointer(memory);
    return driver_error(
        semantics::report_invalid_free(semantics::free_async(at, semantics::resolve(stream)), at, "cuMemFreeAsync"));
  });
}

CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* properties) {
  return driver_without_context([&]() -> CUresult {
    return driver_error(semantics::pool_create(pool, reinterpret_cast<const cudaMemPoolProps*>(properties)));
  });
}
CUresult cuMemPoolDestroy(CUmemoryPool pool) {
  return driver_without_context([&]() -> CUresult { return driver_error(semantics::destroy_pool(pool)); });
}
// Does nothing: a pool keeps no unused memory.
CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t) {
  return driver_without_context(
      [&]() -> CUresult { return semantics::is_pool(pool) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE; });
}
CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  return driver_without_context([&]() -> CUresult {
    return driver_error(semantics::pool_attribute(pool, static_cast<cudaMemPoolAttr>(attribute), value, true));
  });
}
CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  return driver_without_context([&]() -> CUresult {
    return driver_error(semantics::pool_attribute(pool, static_cast<cudaMemPoolAttr>(attribute), value, false));
  });
}
CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc* map, size_t count) {
  return driver_without_context([&]() -> CUresult {
    return driver_error(semantics::pool_set_access(pool, reinterpret_cast<const cudaMemAccessDesc*>(map), count));
  });
}
CUresult cuMemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool pool, CUmemLocation* location) {
  return driver_without_context([&]() -> CUresult {
    if (!flags || !location) return CUDA_ERROR_INVALID_VALUE;
    cudaMemAccessFlags same{};
    const cudaMemLocation of = location_of(*location);
    const cudaError_t error = semantics::pool_get_access(&same, pool, &of);
    if (error == cudaSuccess) *flags = static_cast<CUmemAccess_flags>(same);
    return driver_error(error);
  });
}

// ---- Sharing with other processes. A file descriptor is passed as the pointer value.
CUresult cuMemPoolExportToShareableHandle(void* handle, CUmemoryPool pool, CUmemAllocationHandleType type,
                                          unsigned long long flags) {
  return driver_without_context([&]() -> CUresult {
    return driver_error(semantics::pool_export(static_cast<int*>(handle), pool,
                                               static_cast<cudaMemAllocationHandleType>(type), flags != 0));
  });
}
CUresult cuMemPoolImportFromShareableHandle(CUmemoryPool* pool, void* handle, CUmemAllocationHandleType type,
                                            unsigned long long flags) {
  return driver_without_context([&]() -> CUresult {
    return driver_error(semantics::pool_import(pool, static_cast<int>(address(handle)),
                                               static_cast<cudaMemAllocationHandleType>(type), flags != 0));
  });
}
CUresult cuMemPoolExportPointer(CUmemPoolPtrExportData* data, CUdeviceptr memory) {
  return driver_without_context([&]() -> CUresult {
    return driver_error(
        semantics::pool_export_pointer(reinterpret_cast<cudaMemPoolPtrExportData*>(data), pointer(memory)));
  });
}
CUresult cuMemPoolImportPointer(CUdeviceptr* out, CUmemoryPool pool, CUmemPoolPtrExportData* data) {
  return driver_without_context([&]() -> CUresult {
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    void* memory = nullptr;
    const cudaError_t error =
        semantics::pool_import_pointer(&memory, pool, reinterpret_cast<cudaMemPoolPtrExportData*>(data));
    if (error == cudaSuccess) *out = address(memory);
    return driver_error(error);
  });
}

// ---- Pools of a memory location, since CUDA 13
CUresult cuMemGetDefaultMemPool(CUmemoryPool* pool, CUmemLocation* location, CUmemAllocationType type) {
  return driver_without_context([&]() -> CUresult {
    if (const CUresult error = check_location(location, type); error != CUDA_SUCCESS) return error;
    return driver_error(semantics::device_get_default_pool(pool, location->id));
  });
}
CUresult cuMemGetMemPool(CUmemoryPool* pool, CUmemLocation* location, CUmemAllocationType type) {
  return driver_without_context([&]() -> CUresult {
    if (const CUresult error = check_location(location, type); error != CUDA_SUCCESS) return error;
    return driver_error(semantics::device_get_pool(pool, location->id));
  });
}
CUresult cuMemSetMemPool(CUmemLocation* location, CUmemAllocationType type, CUmemoryPool pool) {
  return driver_without_context([&]() -> CUresult {
    if (const CUresult error = check_location(location, type); error != CUDA_SUCCESS) return error;
    return driver_error(semantics::set_pool(location->id, pool));
  });
}

}  // namespace warpgrind::driver
