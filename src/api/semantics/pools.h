// Stream-ordered memory and its pools. Memory is allocated at the call, and freed when the stream reaches the free.
#pragma once

#include "semantics/operation.h"

namespace warpgrind::semantics {

bool is_pool(const MemPool* pool);
MemPool* pool_of(int device);                 // the current pool, which cudaMallocAsync uses
MemPool* pool_of_block(const void* pointer);  // null: no block of a pool begins there
// pool: null for the pool of the stream's device.
cudaError_t allocate_from(MemPool* pool, void** out, std::size_t size, const StreamRef& stream);
cudaError_t free_async(void* pointer, const StreamRef& stream);
cudaError_t set_pool(int device, MemPool* pool);
cudaError_t create_pool(MemPool** out, int device);
cudaError_t destroy_pool(MemPool* pool);
cudaError_t pool_attribute(MemPool* pool, cudaMemPoolAttr what, void* value, bool set);

// ---- The runtime API's functions of the same names.
cudaError_t device_get_default_pool(cudaMemPool_t* out, int device);
cudaError_t device_get_pool(cudaMemPool_t* out, int device);
cudaError_t pool_create(cudaMemPool_t* out, const cudaMemPoolProps* properties);
cudaError_t pool_set_access(cudaMemPool_t pool, const cudaMemAccessDesc* list, std::size_t count);
cudaError_t pool_get_access(cudaMemAccessFlags* flags, cudaMemPool_t pool, const cudaMemLocation* of);

// ---- Pools of other processes (shared_memory.h). A pool can be exported only if it was created for that. An imported
// pool cannot allocate.
cudaError_t pool_export(int* descriptor, cudaMemPool_t pool, cudaMemAllocationHandleType type, unsigned flags);
cudaError_t pool_import(cudaMemPool_t* out, int descriptor, cudaMemAllocationHandleType type, unsigned flags);
cudaError_t pool_export_pointer(cudaMemPoolPtrExportData* out, void* pointer);
cudaError_t pool_import_pointer(void** out, cudaMemPool_t pool, const cudaMemPoolPtrExportData* data);

}  // namespace warpgrind::semantics
