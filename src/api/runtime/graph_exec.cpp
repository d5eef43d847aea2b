// Whole graphs of the runtime API: edges, queries, clones, instantiation, launches, updates.
#include "semantics/graph_exec.h"

#include <algorithm>

#include "runtime/call.h"
#include "semantics/graph.h"
#include "semantics/graph_dot.h"

namespace warpgrind::runtime {

extern "C" {

WG_API cudaError_t cudaGraphInstantiate(cudaGraphExec_t* out, cudaGraph_t graph, unsigned long long flags) {
  return graph_api([&] { return instantiate(out, graph, flags); });
}
WG_API cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* out, cudaGraph_t graph, unsigned long long flags) {
  return graph_api([&] { return instantiate(out, graph, flags); });
}
WG_API cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t* out, cudaGraph_t graph,
                                                  cudaGraphInstantiateParams* p) {
  return graph_api([&] { return graph_instantiate_with_params(out, graph, p); });
}
WG_API cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t exec, unsigned long long* flags) {
  return graph_api([&] { return graph_exec_get_flags(exec, flags); });
}
WG_API cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  return graph_api([&] { return graph_exec_destroy(exec); });
}
WG_API cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  return api([&] { return graph_launch(exec, stream); });
}
WG_API cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t) {
  return graph_api([&] { return graph_upload(exec); });
}
WG_API cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo* info) {
  return graph_api([&] { return graph_exec_update(exec, graph, info); });
}

WG_API cudaError_t cudaGraphClone(cudaGraph_t* out, cudaGraph_t graph) {
  return graph_api([&] { return graph_clone(out, graph); });
}
WG_API cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* out, cudaGraphNode_t node, cudaGraph_t graph) {
  return graph_api([&] { return graph_node_find_in_clone(out, node, graph); });
}

WG_API cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned flags) {
  return graph_api([&] { return print_dot(graph, path, flags); });
}
WG_API cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  return graph_api([&] { return graph_node_get_type(node, type); });
}
WG_API cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
  return graph_api([&] { return graph_get_nodes(graph, nodes, count); });
}
WG_API cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
  return graph_api([&] { return graph_get_root_nodes(graph, nodes, count); });
}
WG_API cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                                     cudaGraphEdgeData* data, std::size_t* count) {
  return graph_api([&] { return graph_get_edges(graph, from, to, data, count); });
}
WG_API cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* out, cudaGraphEdgeData* data,
                                                std::size_t* count) {
  return graph_api([&] { return graph_node_get_dependencies(node, out, data, count); });
}
WG_API cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* out, cudaGraphEdgeData* data,
                                                  std::size_t* count) {
  return graph_api([&] { return graph_node_get_dependent_nodes(node, out, data, count); });
}
WG_API cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                            const cudaGraphEdgeData* data, std::size_t count) {
  return graph_api([&] { return graph_add_dependencies(graph, from, to, data, count); });
}
WG_API cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                               const cudaGraphNode_t* to, const cudaGraphEdgeData* data,
                                               std::size_t count) {
  return graph_api([&] { return graph_remove_dependencies(graph, from, to, data, count); });
}
WG_API cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned enabled) {
  return graph_api([&] { return graph_node_set_enabled(exec, node, enabled); });
}
WG_API cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned* enabled) {
  return graph_api([&] { return graph_node_get_enabled(exec, node, enabled); });
}

// ---- Memory that graphs hold, and objects that live as long as a graph
WG_API cudaError_t cudaDeviceGraphMemTrim(int device) {
  return graph_api([&] { return valid_device(device) ? cudaSuccess : cudaErrorInvalidDevice; });
}
WG_API cudaError_t cudaDeviceGetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute, void* value) {
  return graph_api([&] { return device_get_graph_mem_attribute(device, attribute, value); });
}
WG_API cudaError_t cudaDeviceSetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute, void* value) {
  return graph_api([&] { return device_set_graph_mem_attribute(device, attribute, value); });
}

WG_API cudaError_t cudaUserObjectCreate(cudaUserObject_t* out, void* pointer, cudaHostFn_t destroy, unsigned count,
                                        unsigned) {
  return graph_api([&] { return user_object_create(out, pointer, destroy, count); });
}
WG_API cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned count) {
  return graph_api([&] { return retain(object, count); });
}
WG_API cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned count) {
  return graph_api([&] { return release(object, count); });
}
WG_API cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count,
                                             unsigned flags) {
  return graph_api([&] { return graph_retain_user_object(graph, object, count, flags); });
}
WG_API cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count) {
  return graph_api([&] { return graph_release_user_object(graph, object, count); });
}

}  // extern "C"

}  // namespace warpgrind::runtime
