// C++ part of the runtime API (CUDA Runtime API reference, "C++ API Routines"): typed pointers, kernels and symbols.
#pragma once

#define WG_CXX static inline __host__ __attribute__((unused)) cudaError_t

// ---- Memory
template <class T>
WG_CXX cudaMalloc(T** pointer, size_t size) {
  return ::cudaMalloc((void**)(void*)pointer, size);
}
template <class T>
WG_CXX cudaMallocHost(T** pointer, size_t size, unsigned int flags = 0) {
  return ::cudaHostAlloc((void**)(void*)pointer, size, flags);
}
WG_CXX cudaMallocHost(void** pointer, size_t size, unsigned int flags) {
  return ::cudaHostAlloc(pointer, size, flags);
}
template <class T>
WG_CXX cudaHostAlloc(T** pointer, size_t size, unsigned int flags) {
  return ::cudaHostAlloc((void**)(void*)pointer, size, flags);
}
template <class T>
WG_CXX cudaHostGetDevicePointer(T** device, void* host, unsigned int flags) {
  return ::cudaHostGetDevicePointer((void**)(void*)device, host, flags);
}
template <class T>
WG_CXX cudaMallocManaged(T** pointer, size_t size, unsigned int flags = cudaMemAttachGlobal) {
  return ::cudaMallocManaged((void**)(void*)pointer, size, flags);
}
template <class T>
WG_CXX cudaMallocPitch(T** pointer, size_t* pitch, size_t width, size_t height) {
  return ::cudaMallocPitch((void**)(void*)pointer, pitch, width, height);
}
template <class T>
WG_CXX cudaMallocAsync(T** pointer, size_t size, cudaStream_t stream) {
  return ::cudaMallocAsync((void**)(void*)pointer, size, stream);
}
WG_CXX cudaMallocAsync(void** pointer, size_t size, cudaMemPool_t pool, cudaStream_t stream) {
  return ::cudaMallocFromPoolAsync(pointer, size, pool, stream);
}
template <class T>
WG_CXX cudaMallocAsync(T** pointer, size_t size, cudaMemPool_t pool, cudaStream_t stream) {
  return ::cudaMallocFromPoolAsync((void**)(void*)pointer, size, pool, stream);
}
template <class T>
WG_CXX cudaMallocFromPoolAsync(T** pointer, size_t size, cudaMemPool_t pool, cudaStream_t stream) {
  return ::cudaMallocFromPoolAsync((void**)(void*)pointer, size, pool, stream);
}
template <class T>
WG_CXX cudaStreamAttachMemAsync(cudaStream_t stream, T* pointer, size_t length = 0,
                                unsigned int flags = cudaMemAttachSingle) {
  return ::cudaStreamAttachMemAsync(stream, (void*)pointer, length, flags);
}

// ---- Device variables
template <class T>
WG_CXX cudaMemcpyToSymbol(const T& symbol, const void* from, size_t count, size_t offset = 0,
                          cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  return ::cudaMemcpyToSymbol((const void*)&symbol, from, count, offset, kind);
}
template <class T>
WG_CXX cudaMemcpyToSymbolAsync(const T& symbol, const void* from, size_t count, size_t offset = 0,
                               cudaMemcpyKind kind = cudaMemcpyHostToDevice, cudaStream_t stream = 0) {
  return ::cudaMemcpyToSymbolAsync((const void*)&symbol, from, count, offset, kind, stream);
}
template <class T>
WG_CXX cudaMemcpyFromSymbol(void* to, const T& symbol, size_t count, size_t offset = 0,
                            cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  return ::cudaMemcpyFromSymbol(to, (const void*)&symbol, count, offset, kind);
}
template <class T>
WG_CXX cudaMemcpyFromSymbolAsync(void* to, const T& symbol, size_t count, size_t offset = 0,
                                 cudaMemcpyKind kind = cudaMemcpyDeviceToHost, cudaStream_t stream = 0) {
  return ::cudaMemcpyFromSymbolAsync(to, (const void*)&symbol, count, offset, kind, stream);
}
template <class T>
WG_CXX cudaGetSymbolAddress(void** pointer, const T& symbol) {
  return ::cudaGetSymbolAddress(pointer, (const void*)&symbol);
}
template <class T, class U>
WG_CXX cudaGetSymbolAddress(U** pointer, const T& symbol) {
  return ::cudaGetSymbolAddress((void**)(void*)pointer, (const void*)&symbol);
}
template <class T>
WG_CXX cudaGetSymbolSize(size_t* size, const T& symbol) {
  return ::cudaGetSymbolSize(size, (const void*)&symbol);
}

// ---- Kernels
template <class T>
WG_CXX cudaLaunchKernel(T* function, dim3 grid, dim3 block, void** arguments, size_t shared = 0,
                        cudaStream_t stream = 0) {
  return ::cudaLaunchKernel((const void*)function, grid, block, arguments, shared, stream);
}
template <class T>
WG_CXX cudaLaunchCooperativeKernel(T* function, dim3 grid, dim3 block, void** arguments, size_t shared = 0,
                                   cudaStream_t stream = 0) {
  return ::cudaLaunchCooperativeKernel((const void*)function, grid, block, arguments, shared, stream);
}
template <class T>
WG_CXX cudaFuncSetCacheConfig(T* function, cudaFuncCache config) {
  return ::cudaFuncSetCacheConfig((const void*)function, config);
}
template <class T>
WG_CXX cudaFuncSetSharedMemConfig(T* function, cudaSharedMemConfig config) {
  return ::cudaFuncSetSharedMemConfig((const void*)function, config);
}
template <class T>
WG_CXX cudaFuncGetAttributes(cudaFuncAttributes* out, T* function) {
  return ::cudaFuncGetAttributes(out, (const void*)function);
}
template <class T>
WG_CXX cudaFuncSetAttribute(T* function, cudaFuncAttribute attribute, int value) {
  return ::cudaFuncSetAttribute((const void*)function, attribute, value);
}
template <class T>
WG_CXX cudaFuncGetName(const char** name, T* function) {
  return ::cudaFuncGetName(name, (const void*)function);
}
template <class T>
WG_CXX cudaGetKernel(cudaKernel_t* kernel, T* function) {
  return ::cudaGetKernel(kernel, (const void*)function);
}
template <class T>
WG_CXX cudaGetFuncBySymbol(cudaFunction_t* out, T* function) {
  return ::cudaGetFuncBySymbol(out, (const void*)function);
}
#if __cplusplus >= 201103L
// The arguments are converted to the kernel's parameters, as in kernel<<<...>>>(arguments).
template <class... Parameters, class... Arguments>
WG_CXX cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...), Arguments&&... arguments) {
  return [&](Parameters... converted) {
    void* addresses[] = {(void*)&converted..., nullptr};
    return ::cudaLaunchKernelExC(config, (const void*)kernel, addresses);
  }(static_cast<Arguments&&>(arguments)...);
}
#endif

// ---- Occupancy
template <class T>
WG_CXX cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, T kernel, int block_size, size_t shared) {
  return ::cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, (const void*)kernel, block_size, shared);
}
template <class T>
WG_CXX cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, T kernel, int block_size, size_t shared,
                                                              unsigned int flags) {
  return ::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, (const void*)kernel, block_size, shared,
                                                                  flags);
}
template <class T>
WG_CXX cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, T* kernel, int blocks, int block_size) {
  return ::cudaOccupancyAvailableDynamicSMemPerBlock(bytes, (const void*)kernel, blocks, block_size);
}
template <class T>
WG_CXX cudaOccupancyMaxPotentialClusterSize(int* size, T* kernel, const cudaLaunchConfig_t* config) {
  return ::cudaOccupancyMaxPotentialClusterSize(size, (const void*)kernel, config);
}
template <class T>
WG_CXX cudaOccupancyMaxActiveClusters(int* clusters, T* kernel, const cudaLaunchConfig_t* config) {
  return ::cudaOccupancyMaxActiveClusters(clusters, (const void*)kernel, config);
}
// Block size with the most resident threads on an SM. Tries the multiples of the warp size from the largest down; of
// equally good sizes the largest wins.
template <class SharedOfBlock, class T>
WG_CXX cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(int* grid, int* block, T kernel,
                                                               SharedOfBlock shared_of_block, int limit = 0,
                                                               unsigned int flags = 0) {
  if (!grid || !block) return cudaErrorInvalidValue;
  int device, sms, warp, per_sm;
  cudaFuncAttributes attributes;
  cudaError_t error = ::cudaGetDevice(&device);
  if (!error) error = ::cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  if (!error) error = ::cudaDeviceGetAttribute(&warp, cudaDevAttrWarpSize, device);
  if (!error) error = ::cudaDeviceGetAttribute(&per_sm, cudaDevAttrMaxThreadsPerMultiProcessor, device);
  if (!error) error = ::cudaFuncGetAttributes(&attributes, (const void*)kernel);
  if (error) return error;
  int largest = attributes.maxThreadsPerBlock;
  if (limit > 0 && limit < largest) largest = limit;
  int best = 0;
  for (int size = (largest + warp - 1) / warp * warp; size > 0; size -= warp) {
    const int threads = size < largest ? size : largest;
    int blocks;
    error = ::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, (const void*)kernel, threads,
                                                                     shared_of_block(threads), flags);
    if (error) return error;
    if (blocks * threads > best) {
      best = blocks * threads;
      *block = threads;
      *grid = blocks * sms;
      if (best >= per_sm) break;
    }
  }
  if (!best) *grid = *block = 0;
  return cudaSuccess;
}
template <class SharedOfBlock, class T>
WG_CXX cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* grid, int* block, T kernel, SharedOfBlock shared_of_block,
                                                      int limit = 0) {
  return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(grid, block, kernel, shared_of_block, limit, 0);
}
namespace wg_launch {
struct FixedShared {
  size_t bytes;
  size_t operator()(int) const { return bytes; }
};
}  // namespace wg_launch
template <class T>
WG_CXX cudaOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, T kernel, size_t shared = 0, int limit = 0,
                                                   unsigned int flags = 0) {
  const wg_launch::FixedShared fixed = {shared};
  return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(grid, block, kernel, fixed, limit, flags);
}
template <class T>
WG_CXX cudaOccupancyMaxPotentialBlockSize(int* grid, int* block, T kernel, size_t shared = 0, int limit = 0) {
  return cudaOccupancyMaxPotentialBlockSizeWithFlags(grid, block, kernel, shared, limit, 0);
}

// ---- Events, graphs
WG_CXX cudaEventCreate(cudaEvent_t* event, unsigned int flags) {
  return ::cudaEventCreateWithFlags(event, flags);
}
template <class T>
WG_CXX cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                      size_t count, const T& symbol, const void* from, size_t bytes, size_t offset,
                                      cudaMemcpyKind kind) {
  return ::cudaGraphAddMemcpyNodeToSymbol(node, graph, dependencies, count, (const void*)&symbol, from, bytes, offset,
                                          kind);
}
template <class T>
WG_CXX cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                        size_t count, void* to, const T& symbol, size_t bytes, size_t offset,
                                        cudaMemcpyKind kind) {
  return ::cudaGraphAddMemcpyNodeFromSymbol(node, graph, dependencies, count, to, (const void*)&symbol, bytes, offset,
                                            kind);
}
template <class T>
WG_CXX cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const T& symbol, const void* from, size_t bytes,
                                            size_t offset, cudaMemcpyKind kind) {
  return ::cudaGraphMemcpyNodeSetParamsToSymbol(node, (const void*)&symbol, from, bytes, offset, kind);
}
template <class T>
WG_CXX cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void* to, const T& symbol, size_t bytes,
                                              size_t offset, cudaMemcpyKind kind) {
  return ::cudaGraphMemcpyNodeSetParamsFromSymbol(node, to, (const void*)&symbol, bytes, offset, kind);
}
template <class T>
WG_CXX cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t exec, cudaGraphNode_t node, const T& symbol,
                                                const void* from, size_t bytes, size_t offset, cudaMemcpyKind kind) {
  return ::cudaGraphExecMemcpyNodeSetParamsToSymbol(exec, node, (const void*)&symbol, from, bytes, offset, kind);
}
template <class T>
WG_CXX cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t exec, cudaGraphNode_t node, void* to, const T& symbol,
                                                  size_t bytes, size_t offset, cudaMemcpyKind kind) {
  return ::cudaGraphExecMemcpyNodeSetParamsFromSymbol(exec, node, to, (const void*)&symbol, bytes, offset, kind);
}
#undef WG_CXX
