// Stream-ordered memory of the runtime API. An allocation is available at once; its memory is released when the stream
// reaches the free.
#include "semantics/pools.h"

#include "runtime/call.h"
#include "semantics/graph.h"
#include "semantics/operation.h"

namespace warpgrind::runtime {

extern "C" {

WG_API cudaError_t cudaMallocAsync(void** out, std::size_t size, cudaStream_t stream) {
  return api([&] { return allocate_from(nullptr, out, size, resolve(stream)); });
}
WG_API cudaError_t cudaMallocFromPoolAsync(void** out, std::size_t size, cudaMemPool_t pool, cudaStream_t stream) {
  return api([&] { return allocate_from(pool, out, size, resolve(stream)); });
}
WG_API cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  return api([&] { return report_invalid_free(free_async(pointer, resolve(stream)), pointer, "cudaFreeAsync"); });
}

WG_API cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* out, int device) {
  return api([&] { return device_get_default_pool(out, device); });
}
WG_API cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* out, int device) {
  return api([&] { return device_get_pool(out, device); });
}
WG_API cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  return api([&] { return set_pool(device, pool); });
}
WG_API cudaError_t cudaMemPoolCreate(cudaMemPool_t* out, const cudaMemPoolProps* properties) {
  return api([&] { return pool_create(out, properties); });
}
WG_API cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  return api([&] { return destroy_pool(pool); });
}
WG_API cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t) {
  return api([&] { return is_pool(pool) ? cudaSuccess : cudaErrorInvalidValue; });
}
WG_API cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr what, void* value) {
  return api([&] { return pool_attribute(pool, what, value, true); });
}
WG_API cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr what, void* value) {
  return api([&] { return pool_attribute(pool, what, value, false); });
}
// All virtual GPUs can access all memory.
WG_API cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* list, std::size_t count) {
  return api([&] { return pool_set_access(pool, list, count); });
}
WG_API cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t pool, cudaMemLocation* of) {
  return api([&] { return pool_get_access(flags, pool, of); });
}

WG_API cudaError_t cudaMemPoolExportToShareableHandle(void* handle, cudaMemPool_t pool,
                                                      cudaMemAllocationHandleType type, unsigned flags) {
  return api([&] { return pool_export(static_cast<int*>(handle), pool, type, flags); });
}
// A file descriptor is passed as the pointer value.
WG_API cudaError_t cudaMemPoolImportFromShareableHandle(cudaMemPool_t* pool, void* handle,
                                                        cudaMemAllocationHandleType type, unsigned flags) {
  return api([&] { return pool_import(pool, static_cast<int>(reinterpret_cast<std::intptr_t>(handle)), type, flags); });
}
WG_API cudaError_t cudaMemPoolExportPointer(cudaMemPoolPtrExportData* data, void* pointer) {
  return api([&] { return pool_export_pointer(data, pointer); });
}
WG_API cudaError_t cudaMemPoolImportPointer(void** pointer, cudaMemPool_t pool, cudaMemPoolPtrExportData* data) {
  return api([&] { return pool_import_pointer(pointer, pool, data); });
}

}  // extern "C"

}  // namespace warpgrind::runtime
