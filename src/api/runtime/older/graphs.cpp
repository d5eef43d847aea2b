// Older forms of runtime functions: graphs and captures without edge data. CUDA 12.3 added edge data under names with
// _v2; CUDA 13 has it under the plain names.
#include "runtime/call.h"
#include "runtime/older/functions.h"

namespace warpgrind::runtime {

extern "C" {

WG_API cudaError_t warpgrind_older_cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                                            const cudaGraphNode_t* to, size_t count) {
  return cudaGraphAddDependencies(graph, from, to, nullptr, count);
}
WG_API cudaError_t warpgrind_cuda12_cudaGraphAddDependencies_v2(cudaGraph_t graph, const cudaGraphNode_t* from,
                                                                const cudaGraphNode_t* to,
                                                                const cudaGraphEdgeData* edges, size_t count) {
  return cudaGraphAddDependencies(graph, from, to, edges, count);
}
WG_API cudaError_t warpgrind_older_cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                                               const cudaGraphNode_t* to, size_t count) {
  return cudaGraphRemoveDependencies(graph, from, to, nullptr, count);
}
WG_API cudaError_t warpgrind_cuda12_cudaGraphRemoveDependencies_v2(cudaGraph_t graph, const cudaGraphNode_t* from,
                                                                   const cudaGraphNode_t* to,
                                                                   const cudaGraphEdgeData* edges, size_t count) {
  return cudaGraphRemoveDependencies(graph, from, to, edges, count);
}
WG_API cudaError_t warpgrind_cuda12_cudaGraphAddNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                                     const cudaGraphNode_t* nodes, size_t count,
                                                     cudaGraphNodeParams* parameters) {
  return cudaGraphAddNode(out, graph, nodes, nullptr, count, parameters);
}
WG_API cudaError_t warpgrind_cuda12_cudaGraphAddNode_v2(cudaGraphNode_t* out, cudaGraph_t graph,
                                                        const cudaGraphNode_t* nodes, const cudaGraphEdgeData* edges,
                                                        size_t count, cudaGraphNodeParams* parameters) {
  return cudaGraphAddNode(out, graph, nodes, edges, count, parameters);
}
WG_API cudaError_t warpgrind_older_cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                                                     size_t* count) {
  return cudaGraphGetEdges(graph, from, to, nullptr, count);
}
WG_API cudaError_t warpgrind_cuda12_cudaGraphGetEdges_v2(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                                                         cudaGraphEdgeData* edges, size_t* count) {
  return cudaGraphGetEdges(graph, from, to, edges, count);
}
WG_API cudaError_t warpgrind_older_cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* out,
                                                                size_t* count) {
  return cudaGraphNodeGetDependencies(node, out, nullptr, count);
}
WG_API cudaError_t warpgrind_cuda12_cudaGraphNodeGetDependencies_v2(cudaGraphNode_t node, cudaGraphNode_t* out,
                                                                    cudaGraphEdgeData* edges, size_t* count) {
  return cudaGraphNodeGetDependencies(node, out, edges, count);
}
WG_API cudaError_t warpgrind_older_cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* out,
                                                                  size_t* count) {
  return cudaGraphNodeGetDependentNodes(node, out, nullptr, count);
}
WG_API cudaError_t warpgrind_cuda12_cudaGraphNodeGetDependentNodes_v2(cudaGraphNode_t node, cudaGraphNode_t* out,
                                                                      cudaGraphEdgeData* edges, size_t* count) {
  return cudaGraphNodeGetDependentNodes(node, out, edges, count);
}

WG_API cudaError_t warpgrind_cuda11_cudaGraphInstantiate(cudaGraphExec_t* out, cudaGraph_t graph, cudaGraphNode_t* node,
                                                         char* log, size_t size) {
  if (node) *node = nullptr;
  if (log && size) log[0] = 0;
  return cudaGraphInstantiate(out, graph, 0);
}
WG_API cudaError_t warpgrind_cuda11_cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphNode_t* node,
                                                        cudaGraphExecUpdateResult* result) {
  cudaGraphExecUpdateResultInfo info{};
  const cudaError_t error = cudaGraphExecUpdate(exec, graph, &info);
  if (node) *node = info.errorNode;
  if (result) *result = info.result;
  return error;
}

WG_API cudaError_t warpgrind_older_cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                                            unsigned long long* id) {
  return cudaStreamGetCaptureInfo(stream, status, id, nullptr, nullptr, nullptr, nullptr);
}
WG_API cudaError_t warpgrind_older_cudaStreamGetCaptureInfo_v2(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                                               unsigned long long* id, cudaGraph_t* graph,
                                                               const cudaGraphNode_t** nodes, size_t* count) {
  return cudaStreamGetCaptureInfo(stream, status, id, graph, nodes, nullptr, count);
}
WG_API cudaError_t warpgrind_cuda12_cudaStreamGetCaptureInfo_v3(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                                                unsigned long long* id, cudaGraph_t* graph,
                                                                const cudaGraphNode_t** nodes,
                                                                const cudaGraphEdgeData** edges, size_t* count) {
  return cudaStreamGetCaptureInfo(stream, status, id, graph, nodes, edges, count);
}
WG_API cudaError_t warpgrind_older_cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* nodes,
                                                                       size_t count, unsigned flags) {
  return cudaStreamUpdateCaptureDependencies(stream, nodes, nullptr, count, flags);
}
WG_API cudaError_t warpgrind_cuda12_cudaStreamUpdateCaptureDependencies_v2(cudaStream_t stream, cudaGraphNode_t* nodes,
                                                                           const cudaGraphEdgeData* edges, size_t count,
                                                                           unsigned flags) {
  return cudaStreamUpdateCaptureDependencies(stream, nodes, edges, count, flags);
}
WG_API cudaError_t warpgrind_older_cudaSignalExternalSemaphoresAsync_v2(const cudaExternalSemaphore_t* semaphores,
                                                                        const cudaExternalSemaphoreSignalParams* p,
                                                                        unsigned count, cudaStream_t stream) {
  return cudaSignalExternalSemaphoresAsync(semaphores, p, count, stream);
}
WG_API cudaError_t warpgrind_older_cudaWaitExternalSemaphoresAsync_v2(const cudaExternalSemaphore_t* semaphores,
                                                                      const cudaExternalSemaphoreWaitParams* p,
                                                                      unsigned count, cudaStream_t stream) {
  return cudaWaitExternalSemaphoresAsync(semaphores, p, count, stream);
}

}  // extern "C"

}  // namespace warpgrind::runtime
