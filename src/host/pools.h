// Stream-ordered memory: it is there at once, and is given back when its stream comes to that.
#pragma once

#include "host/operation.h"

namespace warpgrind::host {

bool is_pool(const MemPool* pool);
MemPool* pool_of(int device);                 // that cudaMallocAsync takes from
MemPool* pool_of_block(const void* pointer);  // null: its start is no block of a pool
// pool: null for the stream's device's.
cudaError_t allocate_from(MemPool* pool, void** out, std::size_t size, const StreamRef& stream);
cudaError_t free_async(void* pointer, const StreamRef& stream);
cudaError_t set_pool(int device, MemPool* pool);
cudaError_t create_pool(MemPool** out, int device);
cudaError_t destroy_pool(MemPool* pool);
cudaError_t pool_attribute(MemPool* pool, cudaMemPoolAttr what, void* value, bool set);

// ---- As the runtime API's functions of these names.
cudaError_t device_get_default_pool(cudaMemPool_t* out, int device);
cudaError_t device_get_pool(cudaMemPool_t* out, int device);
cudaError_t pool_create(cudaMemPool_t* out, const cudaMemPoolProps* properties);
cudaError_t pool_set_access(cudaMemPool_t pool, const cudaMemAccessDesc* list, std::size_t count);
cudaError_t pool_get_access(cudaMemAccessFlags* flags, cudaMemPool_t pool, const cudaMemLocation* of);

// ---- Of other processes (shared_memory.h). A pool that is exported was made so; one that is imported gives nothing.
cudaError_t pool_export(int* descriptor, cudaMemPool_t pool, cudaMemAllocationHandleType type, unsigned flags);
cudaError_t pool_import(cudaMemPool_t* out, int descriptor, cudaMemAllocationHandleType type, unsigned flags);
cudaError_t pool_export_pointer(cudaMemPoolPtrExportData* out, void* pointer);
cudaError_t pool_import_pointer(void** out, cudaMemPool_t pool, const cudaMemPoolPtrExportData* data);

}  // namespace warpgrind::host
