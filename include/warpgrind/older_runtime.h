// Runtime API functions that CUDA 13 removed or gave other parameters. Programs of the last ten years call the old and
// the new forms. All are overloads and aliases; libcudart exports none.
#pragma once

#define WG_OLDER static inline __host__ __attribute__((unused)) cudaError_t

// ---- Functions with a device number where CUDA 13 has a memory location
static inline __host__ cudaMemLocation wg_location_of(int device) {
  cudaMemLocation l;
  l.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
  l.id = device == cudaCpuDeviceId ? 0 : device;
  return l;
}
WG_OLDER cudaMemPrefetchAsync(const void* pointer, size_t count, int device, cudaStream_t stream = 0) {
  return cudaMemPrefetchAsync(pointer, count, wg_location_of(device), 0u, stream);
}
WG_OLDER cudaMemPrefetchAsync_v2(const void* pointer, size_t count, cudaMemLocation location, unsigned int flags,
                                 cudaStream_t stream = 0) {
  return cudaMemPrefetchAsync(pointer, count, location, flags, stream);
}
WG_OLDER cudaMemAdvise(const void* pointer, size_t count, cudaMemoryAdvise advice, int device) {
  return cudaMemAdvise(pointer, count, advice, wg_location_of(device));
}
WG_OLDER cudaMemAdvise_v2(const void* pointer, size_t count, cudaMemoryAdvise advice, cudaMemLocation location) {
  return cudaMemAdvise(pointer, count, advice, location);
}

// ---- Threads instead of devices (before CUDA 4)
WG_OLDER cudaThreadSynchronize() {
  return cudaDeviceSynchronize();
}
WG_OLDER cudaThreadExit() {
  return cudaDeviceReset();
}
WG_OLDER cudaThreadSetLimit(cudaLimit limit, size_t value) {
  return cudaDeviceSetLimit(limit, value);
}
WG_OLDER cudaThreadGetLimit(size_t* value, cudaLimit limit) {
  return cudaDeviceGetLimit(value, limit);
}
WG_OLDER cudaThreadSetCacheConfig(cudaFuncCache config) {
  return cudaDeviceSetCacheConfig(config);
}
WG_OLDER cudaThreadGetCacheConfig(cudaFuncCache* config) {
  return cudaDeviceGetCacheConfig(config);
}
#define cudaGetDeviceProperties_v2 cudaGetDeviceProperties

// ---- Graphs without edge data (before CUDA 13)
WG_OLDER cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, cudaGraphNode_t* error_node, char* log,
                              size_t size) {
  if (error_node) *error_node = NULL;
  if (log && size) log[0] = 0;
  return cudaGraphInstantiate(exec, graph, 0ull);
}
WG_OLDER cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                  size_t count) {
  return cudaGraphAddDependencies(graph, from, to, (const cudaGraphEdgeData*)NULL, count);
}
WG_OLDER cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                     size_t count) {
  return cudaGraphRemoveDependencies(graph, from, to, (const cudaGraphEdgeData*)NULL, count);
}
WG_OLDER cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, size_t* count) {
  return cudaGraphGetEdges(graph, from, to, (cudaGraphEdgeData*)NULL, count);
}
WG_OLDER cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* dependencies, size_t* count) {
  return cudaGraphNodeGetDependencies(node, dependencies, (cudaGraphEdgeData*)NULL, count);
}
WG_OLDER cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* dependents, size_t* count) {
  return cudaGraphNodeGetDependentNodes(node, dependents, (cudaGraphEdgeData*)NULL, count);
}
WG_OLDER cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies, size_t count,
                          cudaGraphNodeParams* parameters) {
  return cudaGraphAddNode(node, graph, dependencies, (const cudaGraphEdgeData*)NULL, count, parameters);
}
WG_OLDER cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphNode_t* error_node,
                             cudaGraphExecUpdateResult* result) {
  cudaGraphExecUpdateResultInfo info;
  const cudaError_t error = cudaGraphExecUpdate(exec, graph, &info);
  if (error_node) *error_node = info.errorNode;
  if (result) *result = info.result;
  return error;
}
WG_OLDER cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
                                  cudaGraph_t* graph, const cudaGraphNode_t** dependencies, size_t* count) {
  return cudaStreamGetCaptureInfo(stream, status, id, graph, dependencies, (const cudaGraphEdgeData**)NULL, count);
}
WG_OLDER cudaStreamGetCaptureInfo_v2(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                     unsigned long long* id = NULL, cudaGraph_t* graph = NULL,
                                     const cudaGraphNode_t** dependencies = NULL, size_t* count = NULL) {
  return cudaStreamGetCaptureInfo(stream, status, id, graph, dependencies, (const cudaGraphEdgeData**)NULL, count);
}
WG_OLDER cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* dependencies, size_t count,
                                             unsigned int flags = 0) {
  return cudaStreamUpdateCaptureDependencies(stream, dependencies, (const cudaGraphEdgeData*)NULL, count, flags);
}
#undef WG_OLDER
