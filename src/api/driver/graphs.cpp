// Whole graphs of the driver API: edges, queries, clones, instantiation, launches, updates, memory, user objects.
#include "driver/host_calls.h"
#include "semantics/graph_dot.h"
#include "semantics/graph_exec.h"
#include "semantics/graph_nodes.h"

namespace warpgrind::driver {

namespace {

const cudaGraphEdgeData* edges(const CUgraphEdgeData* data) {
  return as<const cudaGraphEdgeData>(data);
}
cudaGraphEdgeData* edges(CUgraphEdgeData* data) {
  return as<cudaGraphEdgeData>(data);
}

}  // namespace

CUresult cuGraphCreate(CUgraph* graph, unsigned int flags) {
  return graph_call([&] { return flags ? cudaErrorInvalidValue : semantics::create_graph(graph); });
}
CUresult cuGraphDestroy(CUgraph graph) {
  return graph_call([&] { return semantics::graph_destroy(graph); });
}
CUresult cuGraphClone(CUgraph* clone, CUgraph graph) {
  return graph_call([&] { return semantics::graph_clone(clone, graph); });
}
CUresult cuGraphNodeFindInClone(CUgraphNode* node, CUgraphNode original, CUgraph clone) {
  return graph_call([&] { return semantics::graph_node_find_in_clone(node, original, clone); });
}
CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType* type) {
  return graph_call([&] { return semantics::graph_node_get_type(node, as<cudaGraphNodeType>(type)); });
}
CUresult cuGraphDestroyNode(CUgraphNode node) {
  return graph_call([&] { return semantics::graph_destroy_node(node); });
}
CUresult cuGraphDebugDotPrint(CUgraph graph, const char* path, unsigned int flags) {
  return graph_call([&] { return semantics::print_dot(graph, path, flags); });
}

// ---- Nodes and edges
CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode* nodes, size_t* count) {
  return graph_call([&] { return semantics::graph_get_nodes(graph, nodes, count); });
}
CUresult cuGraphGetRootNodes(CUgraph graph, CUgraphNode* nodes, size_t* count) {
  return graph_call([&] { return semantics::graph_get_root_nodes(graph, nodes, count); });
}
CUresult cuGraphGetEdges_v2(CUgraph graph, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* data, size_t* count) {
  return graph_call([&] { return semantics::graph_get_edges(graph, from, to, edges(data), count); });
}
CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode* from, CUgraphNode* to, size_t* count) {
  return cuGraphGetEdges_v2(graph, from, to, nullptr, count);
}
CUresult cuGraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode* dependencies, CUgraphEdgeData* data,
                                       size_t* count) {
  return graph_call([&] { return semantics::graph_node_get_dependencies(node, dependencies, edges(data), count); });
}
CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode* dependencies, size_t* count) {
  return cuGraphNodeGetDependencies_v2(node, dependencies, nullptr, count);
}
CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode node, CUgraphNode* dependents, CUgraphEdgeData* data,
                                         size_t* count) {
  return graph_call([&] { return semantics::graph_node_get_dependent_nodes(node, dependents, edges(data), count); });
}
CUresult cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode* dependents, size_t* count) {
  return cuGraphNodeGetDependentNodes_v2(node, dependents, nullptr, count);
}
CUresult cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                   const CUgraphEdgeData* data, size_t count) {
  return graph_call([&] { return semantics::graph_add_dependencies(graph, from, to, edges(data), count); });
}
CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to, size_t count) {
  return cuGraphAddDependencies_v2(graph, from, to, nullptr, count);
}
CUresult cuGraphRemoveDependencies_v2(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                      const CUgraphEdgeData* data, size_t count) {
  return graph_call([&] { return semantics::graph_remove_dependencies(graph, from, to, edges(data), count); });
}
CUresult cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to, size_t count) {
  return cuGraphRemoveDependencies_v2(graph, from, to, nullptr, count);
}

// ---- Executable graphs
CUresult cuGraphInstantiateWithFlags(CUgraphExec* exec, CUgraph graph, unsigned long long flags) {
  return graph_call([&] { return semantics::instantiate(exec, graph, flags); });
}
// CUDA 11's form. It reports no faulty node and an empty log; the cause of an error is in the finding (`reason`).
CUresult cuGraphInstantiate_v2(CUgraphExec* exec, CUgraph graph, CUgraphNode* error_node, char* log_buffer,
                               size_t buffer_size) {
  if (error_node) *error_node = nullptr;
  if (log_buffer && buffer_size) *log_buffer = 0;
  return cuGraphInstantiateWithFlags(exec, graph, 0);
}
CUresult cuGraphInstantiate(CUgraphExec* exec, CUgraph graph, CUgraphNode* error_node, char* log_buffer,
                            size_t buffer_size) {
  return cuGraphInstantiate_v2(exec, graph, error_node, log_buffer, buffer_size);
}
CUresult cuGraphInstantiateWithParams(CUgraphExec* exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS* parameters) {
  return graph_call([&] {
    return semantics::graph_instantiate_with_params(exec, graph, as<cudaGraphInstantiateParams>(parameters));
  });
}
CUresult cuGraphExecGetFlags(CUgraphExec exec, cuuint64_t* flags) {
  return graph_call([&] { return semantics::graph_exec_get_flags(exec, as<unsigned long long>(flags)); });
}
CUresult cuGraphExecDestroy(CUgraphExec exec) {
  return graph_call([&] { return semantics::graph_exec_destroy(exec); });
}
CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
  return host_call([&] { return semantics::graph_launch(exec, stream); });
}
CUresult cuGraphUpload(CUgraphExec exec, CUstream stream) {
  return graph_call([&] {
    if (!semantics::is_graph_exec(exec)) return cudaErrorInvalidValue;
    return semantics::resolve(stream) ? semantics::graph_upload(exec) : cudaErrorInvalidResourceHandle;
  });
}
CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo* result) {
  return graph_call(
      [&] { return semantics::graph_exec_update(exec, graph, as<cudaGraphExecUpdateResultInfo>(result)); });
}
CUresult cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphNode* error_node, CUgraphExecUpdateResult* result) {
  CUgraphExecUpdateResultInfo info{};
  const CUresult error = cuGraphExecUpdate_v2(exec, graph, &info);
  if (error_node) *error_node = info.errorNode;
  if (result) *result = info.result;
  return error;
}
CUresult cuGraphNodeSetEnabled(CUgraphExec exec, CUgraphNode node, unsigned int enabled) {
  return graph_call([&] { return semantics::graph_node_set_enabled(exec, node, enabled); });
}
CUresult cuGraphNodeGetEnabled(CUgraphExec exec, CUgraphNode node, unsigned int* enabled) {
  return graph_call([&] { return semantics::graph_node_get_enabled(exec, node, enabled); });
}

// ---- Memory that graphs hold, and objects that live as long as a graph
CUresult cuDeviceGraphMemTrim(CUdevice device) {
  return driver_without_context(
      [&]() -> CUresult { return valid_device(device) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE; });
}
CUresult cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute, void* value) {
  return driver_without_context([&]() -> CUresult {
    const semantics::GraphsLock lock;
    if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    const auto same = static_cast<cudaGraphMemAttributeType>(attribute);
    return driver_error(semantics::device_get_graph_mem_attribute(device, same, value));
  });
}
CUresult cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute, void* value) {
  return driver_without_context([&]() -> CUresult {
    const semantics::GraphsLock lock;
    const auto same = static_cast<cudaGraphMemAttributeType>(attribute);
    return driver_error(semantics::device_set_graph_mem_attribute(device, same, value));
  });
}

CUresult cuUserObjectCreate(CUuserObject* object, void* pointer, CUhostFn destroy, unsigned int count,
                            unsigned int flags) {
  return graph_call([&] {
    if (!destroy || flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC) return cudaErrorInvalidValue;
    return semantics::user_object_create(object, pointer, destroy, count);
  });
}
CUresult cuUserObjectRetain(CUuserObject object, unsigned int count) {
  return graph_call([&] { return semantics::retain(object, count); });
}
CUresult cuUserObjectRelease(CUuserObject object, unsigned int count) {
  return graph_call([&] { return semantics::release(object, count); });
}
CUresult cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned int count, unsigned int flags) {
  return graph_call([&] { return semantics::graph_retain_user_object(graph, object, count, flags); });
}
CUresult cuGraphReleaseUserObject(CUgraph graph, CUuserObject object, unsigned int count) {
  return graph_call([&] { return semantics::graph_release_user_object(graph, object, count); });
}

}  // namespace warpgrind::driver
