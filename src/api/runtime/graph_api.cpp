// Graphs of the runtime API: adding nodes and edges, reading and setting node parameters.
#include <algorithm>
#include <cstring>

#include "runtime/call.h"
#include "semantics/arrays.h"
#include "semantics/graph.h"
#include "semantics/graph_nodes.h"

namespace warpgrind::runtime {

namespace {

template <class T>
cudaError_t give(T* out, const T& value) {
  if (!out) return cudaErrorInvalidValue;
  *out = value;
  return cudaSuccess;
}

template <class Kind, class Body>
cudaError_t with_node(GraphNode* node, Body body, const char* call = __builtin_FUNCTION()) {
  return graph_api(
      [&]() -> cudaError_t {
        auto* op = is_node(node) ? std::get_if<Kind>(&node->operation) : nullptr;
        return op ? body(*op) : cudaErrorInvalidValue;
      },
      call);
}

}  // namespace

extern "C" {

WG_API cudaError_t cudaGraphCreate(cudaGraph_t* out, unsigned flags) {
  return graph_api([&] { return flags ? cudaErrorInvalidValue : create_graph(out); });
}
WG_API cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* out, cudaGraph_t graph,
                                                    unsigned initial, unsigned flags) {
  return graph_api([&] { return create_conditional_handle(out, graph, initial, flags); });
}
WG_API cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return graph_api([&] { return graph_destroy(graph); });
}

// ---- Nodes
#define WG_NODE_PARAMETERS cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *d, std::size_t n

WG_API cudaError_t cudaGraphAddNode(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* d,
                                    const cudaGraphEdgeData* edges, std::size_t n, cudaGraphNodeParams* p) {
  return graph_api([&] { return add_by_parameters(out, graph, d, edges, n, p); });
}
WG_API cudaError_t cudaGraphAddKernelNode(WG_NODE_PARAMETERS, const cudaKernelNodeParams* p) {
  return graph_api([&] { return graph_add_kernel_node(out, graph, d, n, p); });
}
WG_API cudaError_t cudaGraphAddMemcpyNode(WG_NODE_PARAMETERS, const cudaMemcpy3DParms* p) {
  return graph_api([&]() -> cudaError_t { return add_copy(out, graph, d, n, p); });
}
WG_API cudaError_t cudaGraphAddMemcpyNode1D(WG_NODE_PARAMETERS, void* to, const void* from, std::size_t count,
                                            cudaMemcpyKind kind) {
  const cudaMemcpy3DParms p = linear_parameters(to, from, count, kind);
  return graph_api([&] { return add_copy(out, graph, d, n, &p); });
}
WG_API cudaError_t cudaGraphAddMemcpyNodeToSymbol(WG_NODE_PARAMETERS, const void* symbol, const void* from,
                                                  std::size_t count, std::size_t offset, cudaMemcpyKind kind) {
  return graph_api([&] { return add_symbol_copy(out, graph, d, n, symbol, offset, from, count, kind, true); });
}
WG_API cudaError_t cudaGraphAddMemcpyNodeFromSymbol(WG_NODE_PARAMETERS, void* to, const void* symbol, std::size_t count,
                                                    std::size_t offset, cudaMemcpyKind kind) {
  return graph_api([&] { return add_symbol_copy(out, graph, d, n, symbol, offset, to, count, kind, false); });
}
WG_API cudaError_t cudaGraphAddMemsetNode(WG_NODE_PARAMETERS, const cudaMemsetParams* p) {
  return graph_api([&] { return graph_add_memset_node(out, graph, d, n, p); });
}
WG_API cudaError_t cudaGraphAddHostNode(WG_NODE_PARAMETERS, const cudaHostNodeParams* p) {
  return graph_api([&] { return graph_add_host_node(out, graph, d, n, p); });
}
WG_API cudaError_t cudaGraphAddChildGraphNode(WG_NODE_PARAMETERS, cudaGraph_t child) {
  return graph_api([&] { return graph_add_child_graph_node(out, graph, d, n, child); });
}
WG_API cudaError_t cudaGraphAddEmptyNode(WG_NODE_PARAMETERS) {
  return graph_api([&] { return add_node(out, graph, d, n, EmptyOperation{}); });
}
WG_API cudaError_t cudaGraphAddEventRecordNode(WG_NODE_PARAMETERS, cudaEvent_t event) {
  return graph_api([&] { return graph_add_event_record_node(out, graph, d, n, event); });
}
WG_API cudaError_t cudaGraphAddEventWaitNode(WG_NODE_PARAMETERS, cudaEvent_t event) {
  return graph_api([&] { return graph_add_event_wait_node(out, graph, d, n, event); });
}
WG_API cudaError_t cudaGraphAddMemAllocNode(WG_NODE_PARAMETERS, cudaMemAllocNodeParams* p) {
  return graph_api([&] { return graph_add_mem_alloc_node(out, graph, d, n, p); });
}
WG_API cudaError_t cudaGraphAddMemFreeNode(WG_NODE_PARAMETERS, void* pointer) {
  return graph_api([&] { return add_node(out, graph, d, n, FreeOperation{pointer}); });
}

WG_API cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) {
  return graph_api([&] { return graph_destroy_node(node); });
}

// ---- Parameters of nodes
WG_API cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* p) {
  return with_node<KernelOperation>(node, [&](KernelOperation& op) -> cudaError_t {
    if (!p) return cudaErrorInvalidValue;
    node->parameter_pointers = op.pointers();
    auto to_dim3 = [](const Dim3& d) { return dim3{d.x, d.y, d.z}; };
    const void* function = op.kernel->host_function ? op.kernel->host_function : op.kernel;
    *p = {const_cast<void*>(function),     to_dim3(op.config.grid),
          to_dim3(op.config.block),        static_cast<unsigned>(op.config.dynamic_shared),
          node->parameter_pointers.data(), nullptr};
    return cudaSuccess;
  });
}
WG_API cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams* p) {
  return graph_api([&] { return set_kernel(node, p); });
}
WG_API cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID id,
                                                   const cudaLaunchAttributeValue* value) {
  return graph_api([&] { return kernel_node_set_attribute(node, id, value); });
}
WG_API cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID id,
                                                   cudaLaunchAttributeValue* value) {
  return graph_api([&] { return kernel_node_get_attribute(node, id, value); });
}
WG_API cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t to, cudaGraphNode_t from) {
  return graph_api([&] { return kernel_node_copy_attributes(to, from); });
}
WG_API cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms* p) {
  return with_node<CopyOperation>(node, [&](CopyOperation&) { return give(p, node->copy_parameters); });
}
WG_API cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const cudaMemcpy3DParms* p) {
  return graph_api([&] { return set_copy(node, p); });
}
WG_API cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* to, const void* from, std::size_t count,
                                                  cudaMemcpyKind kind) {
  return graph_api([&] { return set_linear_copy(node, to, from, count, kind); });
}
WG_API cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void* symbol, const void* from,
                                                        std::size_t count, std::size_t offset, cudaMemcpyKind kind) {
  return graph_api([&] { return set_symbol_copy(node, symbol, offset, from, count, kind, true); });
}
WG_API cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void* to, const void* symbol,
                                                          std::size_t count, std::size_t offset, cudaMemcpyKind kind) {
  return graph_api([&] { return set_symbol_copy(node, symbol, offset, to, count, kind, false); });
}
WG_API cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams* p) {
  return with_node<FillOperation>(node, [&](FillOperation&) { return give(p, node->fill_parameters); });
}
WG_API cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* p) {
  return graph_api([&] { return set_fill(node, p); });
}
WG_API cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams* p) {
  return with_node<HostOperation>(node, [&](HostOperation& op) {
    return give(p, cudaHostNodeParams{op.function, op.data});
  });
}
WG_API cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams* p) {
  return graph_api([&] { return set_host(node, p); });
}
WG_API cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* out) {
  return with_node<ChildGraphOperation>(node, [&](ChildGraphOperation& op) { return give(out, op.graph.get()); });
}
WG_API cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* out) {
  return with_node<EventOperation>(node,
                                   [&](EventOperation& op) { return give(op.wait ? nullptr : out, op.event.get()); });
}
WG_API cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* out) {
  return with_node<EventOperation>(node,
                                   [&](EventOperation& op) { return give(op.wait ? out : nullptr, op.event.get()); });
}
WG_API cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return graph_api([&] { return set_event(node, event, false); });
}
WG_API cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return graph_api([&] { return set_event(node, event, true); });
}
WG_API cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, cudaMemAllocNodeParams* p) {
  return with_node<AllocOperation>(node, [&](AllocOperation& op) -> cudaError_t {
    if (!p) return cudaErrorInvalidValue;
    *p = {};
    p->poolProps.allocType = cudaMemAllocationTypePinned;
    p->poolProps.location = {cudaMemLocationTypeDevice, op.device};
    p->bytesize = op.bytes;
    p->dptr = op.pointer;
    return cudaSuccess;
  });
}
WG_API cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* out) {
  return with_node<FreeOperation>(node, [&](FreeOperation& op) { return give(static_cast<void**>(out), op.pointer); });
}
WG_API cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, cudaGraphNodeParams* p) {
  return graph_api([&] { return set_parameters(node, p); });
}

// ---- Parameters of nodes of an instantiated graph. A node is identified by its handle in the original graph.
WG_API cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                    const cudaKernelNodeParams* p) {
  return graph_api([&] { return set_kernel(executable_node(exec, node), p); });
}
WG_API cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                    const cudaMemcpy3DParms* p) {
  return graph_api([&] { return set_copy(executable_node(exec, node), p); });
}
WG_API cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void* to,
                                                      const void* from, std::size_t count, cudaMemcpyKind kind) {
  return graph_api([&] { return set_linear_copy(executable_node(exec, node), to, from, count, kind); });
}
WG_API cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                            const void* symbol, const void* from, std::size_t count,
                                                            std::size_t offset, cudaMemcpyKind kind) {
  return graph_api(
      [&] { return set_symbol_copy(executable_node(exec, node), symbol, offset, from, count, kind, true); });
}
WG_API cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t exec, cudaGraphNode_t node, void* to,
                                                              const void* symbol, std::size_t count, std::size_t offset,
                                                              cudaMemcpyKind kind) {
  return graph_api(
      [&] { return set_symbol_copy(executable_node(exec, node), symbol, offset, to, count, kind, false); });
}
WG_API cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                    const cudaMemsetParams* p) {
  return graph_api([&] { return set_fill(executable_node(exec, node), p); });
}
WG_API cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                  const cudaHostNodeParams* p) {
  return graph_api([&] { return set_host(executable_node(exec, node), p); });
}
WG_API cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t event) {
  return graph_api([&] { return set_event(executable_node(exec, node), event, false); });
}
WG_API cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t event) {
  return graph_api([&] { return set_event(executable_node(exec, node), event, true); });
}
WG_API cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraph_t child) {
  return graph_api([&] { return graph_exec_child_graph_node_set_params(exec, node, child); });
}
WG_API cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraphNodeParams* p) {
  return graph_api([&] { return set_parameters(executable_node(exec, node), p); });
}

}  // extern "C"

}  // namespace warpgrind::runtime
