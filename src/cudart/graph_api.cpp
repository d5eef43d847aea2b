// Graphs: making nodes, edges, reading and changing node parameters.
#include <algorithm>
#include <cstring>

#include "cudart/arrays.h"
#include "cudart/graph.h"
#include "cudart/runtime.h"

namespace warpgrind::cudart {

namespace {

cudaError_t add_node(cudaGraphNode_t* out, Graph* graph, const cudaGraphNode_t* dependencies, std::size_t count,
                     Operation operation) {
  if (!out || !is_graph(graph) || (count && !dependencies)) return cudaErrorInvalidValue;
  for (std::size_t i = 0; i < count; i++) {
    if (!is_node(dependencies[i]) || dependencies[i]->graph != graph) return cudaErrorInvalidValue;
    if (std::find(dependencies, dependencies + i, dependencies[i]) != dependencies + i) return cudaErrorInvalidValue;
  }
  *out = graph->add(std::move(operation), {dependencies, dependencies + count});
  return cudaSuccess;
}

LaunchArguments launch_arguments(const cudaKernelNodeParams& p) {
  LaunchArguments a;
  a.function = p.func;
  a.grid = p.gridDim;
  a.block = p.blockDim;
  a.shared = p.sharedMemBytes;
  a.parameters = p.kernelParams;
  return a;
}

cudaError_t kernel_operation(const cudaKernelNodeParams* p, KernelOperation& out) {
  if (!p) return cudaErrorInvalidValue;
  if (p->extra) return not_supported("kernel arguments through `extra` in a graph node");
  return make_kernel(launch_arguments(*p), out);
}

cudaError_t fill_operation(const cudaMemsetParams* p, FillOperation& out) {
  if (!p) return cudaErrorInvalidValue;
  out.pointer = static_cast<std::uint8_t*>(p->dst);
  out.pitch = p->pitch;
  out.value = p->value;
  out.element = p->elementSize;
  out.width = p->width;
  out.height = out.rows = std::max<std::size_t>(p->height, 1);
  return check(out);
}

cudaError_t copy_operation(const cudaMemcpy3DParms* p, CopyOperation& out) {
  if (!p) return cudaErrorInvalidValue;
  if (cudaError_t error = make_copy(*p, out)) return error;
  return check(out);
}

cudaMemcpy3DParms linear_parameters(void* to, const void* from, std::size_t count, cudaMemcpyKind kind) {
  cudaMemcpy3DParms p{};
  p.srcPtr = {const_cast<void*>(from), count, count, 1};
  p.dstPtr = {to, count, count, 1};
  p.extent = {count, 1, 1};
  p.kind = kind;
  return p;
}

cudaError_t allocation(cudaMemAllocNodeParams& p, Graph& graph, AllocOperation& out) {
  if (p.poolProps.location.type != 1 || !valid_device(p.poolProps.location.id) || p.bytesize == 0)
    return cudaErrorInvalidValue;
  out.bytes = p.bytesize;
  out.device = p.poolProps.location.id;
  if (cudaError_t error = allocate(out.device, p.bytesize, &out.pointer, events::Allocation::Kind::graph)) return error;
  graph.memory.push_back(std::make_shared<GraphMemory>(out.pointer, out.bytes, out.device));
  p.dptr = out.pointer;
  return cudaSuccess;
}

// Replaces the operation of a node by one of the same kind.
template <class Kind>
cudaError_t replace(GraphNode* node, Operation operation) {
  if (!is_node(node) || !std::holds_alternative<Kind>(node->operation)) return cudaErrorInvalidValue;
  node->operation = std::move(operation);
  return cudaSuccess;
}

GraphNode* executable_node(GraphExec* exec, GraphNode* node) {
  return is_graph_exec(exec) ? find_in_clone(*exec->graph, node) : nullptr;
}

cudaError_t set_kernel(GraphNode* node, const cudaKernelNodeParams* p) {
  KernelOperation op;
  if (cudaError_t error = kernel_operation(p, op)) return error;
  return replace<KernelOperation>(node, std::move(op));
}
cudaError_t set_copy(GraphNode* node, const cudaMemcpy3DParms* p) {
  CopyOperation op;
  if (cudaError_t error = copy_operation(p, op)) return error;
  cudaError_t error = replace<CopyOperation>(node, op);
  if (!error) node->copy_parameters = *p;
  return error;
}
cudaError_t set_linear_copy(GraphNode* node, void* to, const void* from, std::size_t count, cudaMemcpyKind kind) {
  cudaMemcpy3DParms p = linear_parameters(to, from, count, kind);
  return set_copy(node, &p);
}
// Symbols are looked up when the node is made: its parameters name the variable's memory.
cudaError_t symbol_parameters(const void* symbol, std::size_t offset, const void* other, std::size_t count,
                              cudaMemcpyKind kind, bool to_symbol, cudaMemcpy3DParms& out) {
  CopyOperation op;
  if (cudaError_t error = symbol_copy(symbol, offset, other, count, kind, to_symbol, op)) return error;
  out = linear_parameters(op.to.pointer, op.from.pointer, count, kind);
  return cudaSuccess;
}
cudaError_t set_symbol_copy(GraphNode* node, const void* symbol, std::size_t offset, const void* other,
                            std::size_t count, cudaMemcpyKind kind, bool to_symbol) {
  cudaMemcpy3DParms p;
  if (cudaError_t error = symbol_parameters(symbol, offset, other, count, kind, to_symbol, p)) return error;
  return set_copy(node, &p);
}
cudaError_t add_copy(cudaGraphNode_t* out, Graph* graph, const cudaGraphNode_t* d, std::size_t n,
                     const cudaMemcpy3DParms* p) {
  CopyOperation op;
  if (cudaError_t error = copy_operation(p, op)) return error;
  cudaError_t error = add_node(out, graph, d, n, op);
  if (!error) (*out)->copy_parameters = *p;
  return error;
}
cudaError_t add_symbol_copy(cudaGraphNode_t* out, Graph* graph, const cudaGraphNode_t* d, std::size_t n,
                            const void* symbol, std::size_t offset, const void* other, std::size_t count,
                            cudaMemcpyKind kind, bool to_symbol) {
  cudaMemcpy3DParms p;
  if (cudaError_t error = symbol_parameters(symbol, offset, other, count, kind, to_symbol, p)) return error;
  return add_copy(out, graph, d, n, &p);
}
cudaError_t set_fill(GraphNode* node, const cudaMemsetParams* p) {
  FillOperation op;
  if (cudaError_t error = fill_operation(p, op)) return error;
  cudaError_t error = replace<FillOperation>(node, op);
  if (!error) node->fill_parameters = *p;
  return error;
}
cudaError_t set_host(GraphNode* node, const cudaHostNodeParams* p) {
  if (!p || !p->fn) return cudaErrorInvalidValue;
  return replace<HostOperation>(node, HostOperation{p->fn, nullptr, p->userData});
}
cudaError_t set_event(GraphNode* node, Event* event, bool wait) {
  const EventRef found = find_event(event);
  if (!found || !is_node(node)) return cudaErrorInvalidValue;
  auto* op = std::get_if<EventOperation>(&node->operation);
  if (!op || op->wait != wait) return cudaErrorInvalidValue;
  op->event = found;
  return cudaSuccess;
}
cudaError_t set_parameters(GraphNode* node, const cudaGraphNodeParams* p) {
  if (!is_node(node) || !p) return cudaErrorInvalidValue;
  switch (p->type) {
    case cudaGraphNodeTypeKernel:
      return set_kernel(node, &p->kernel);
    case cudaGraphNodeTypeMemcpy:
      return set_copy(node, &p->memcpy.copyParams);
    case cudaGraphNodeTypeMemset:
      return set_fill(node, &p->memset);
    case cudaGraphNodeTypeHost:
      return set_host(node, &p->host);
    case cudaGraphNodeTypeWaitEvent:
      return set_event(node, p->eventWait.event, true);
    case cudaGraphNodeTypeEventRecord:
      return set_event(node, p->eventRecord.event, false);
    default:
      return not_supported("new parameters for this type of graph node");
  }
}

cudaError_t add_by_parameters(cudaGraphNode_t* out, Graph* graph, const cudaGraphNode_t* d, std::size_t n,
                              cudaGraphNodeParams* p) {
  if (!p || !is_graph(graph)) return cudaErrorInvalidValue;
  switch (p->type) {
    case cudaGraphNodeTypeKernel: {
      KernelOperation op;
      if (cudaError_t error = kernel_operation(&p->kernel, op)) return error;
      return add_node(out, graph, d, n, std::move(op));
    }
    case cudaGraphNodeTypeMemcpy:
      return add_copy(out, graph, d, n, &p->memcpy.copyParams);
    case cudaGraphNodeTypeMemset: {
      FillOperation op;
      if (cudaError_t error = fill_operation(&p->memset, op)) return error;
      cudaError_t error = add_node(out, graph, d, n, op);
      if (!error) (*out)->fill_parameters = p->memset;
      return error;
    }
    case cudaGraphNodeTypeHost:
      if (!p->host.fn) return cudaErrorInvalidValue;
      return add_node(out, graph, d, n, HostOperation{p->host.fn, nullptr, p->host.userData});
    case cudaGraphNodeTypeGraph:
      if (!is_graph(p->graph.graph)) return cudaErrorInvalidValue;
      return add_node(out, graph, d, n, ChildGraphOperation{clone(*p->graph.graph)});
    case cudaGraphNodeTypeEmpty:
      return add_node(out, graph, d, n, EmptyOperation{});
    case cudaGraphNodeTypeWaitEvent:
    case cudaGraphNodeTypeEventRecord: {
      bool wait = p->type == cudaGraphNodeTypeWaitEvent;
      Event* event = wait ? p->eventWait.event : p->eventRecord.event;
      const EventRef found = find_event(event);
      if (!found) return cudaErrorInvalidValue;
      return add_node(out, graph, d, n, EventOperation{found, wait});
    }
    case cudaGraphNodeTypeMemAlloc: {
      AllocOperation op;
      if (cudaError_t error = allocation(p->alloc, *graph, op)) return error;
      return add_node(out, graph, d, n, op);
    }
    case cudaGraphNodeTypeMemFree:
      return add_node(out, graph, d, n, FreeOperation{p->free.dptr});
    default:
      return not_supported("a graph node of this type (conditional, external semaphore)");
  }
}

template <class T>
cudaError_t give(T* out, const T& value) {
  if (!out) return cudaErrorInvalidValue;
  *out = value;
  return cudaSuccess;
}

template <class Kind, class Body>
cudaError_t with_node(GraphNode* node, Body body) {
  return graph_api([&]() -> cudaError_t {
    auto* op = is_node(node) ? std::get_if<Kind>(&node->operation) : nullptr;
    return op ? body(*op) : cudaErrorInvalidValue;
  });
}

}  // namespace

extern "C" {

WG_API cudaError_t cudaGraphCreate(cudaGraph_t* out, unsigned flags) {
  return graph_api([&]() -> cudaError_t {
    if (!out || flags) return cudaErrorInvalidValue;
    auto* graph = new Graph;
    Runtime& r = Runtime::instance();
    graph->id = r.next_id++;
    std::lock_guard lock(r.mutex);
    r.graphs.insert(graph);
    the_session().handle_made("graph", reinterpret_cast<std::uint64_t>(graph));
    *out = graph;
    return cudaSuccess;
  });
}
WG_API cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return graph_api([&]() -> cudaError_t {
    Runtime& r = Runtime::instance();
    {
      std::lock_guard lock(r.mutex);
      if (r.graphs.erase(graph) == 0) return cudaErrorInvalidValue;
      the_session().handle_destroyed(reinterpret_cast<std::uint64_t>(graph));
    }
    delete graph;
    return cudaSuccess;
  });
}

// ---- Nodes
#define WG_NODE_PARAMETERS cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *d, std::size_t n

WG_API cudaError_t cudaGraphAddNode(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* d,
                                    const cudaGraphEdgeData*, std::size_t n, cudaGraphNodeParams* p) {
  return graph_api([&] { return add_by_parameters(out, graph, d, n, p); });
}
WG_API cudaError_t cudaGraphAddKernelNode(WG_NODE_PARAMETERS, const cudaKernelNodeParams* p) {
  return graph_api([&]() -> cudaError_t {
    KernelOperation op;
    if (cudaError_t error = kernel_operation(p, op)) return error;
    return add_node(out, graph, d, n, std::move(op));
  });
}
WG_API cudaError_t cudaGraphAddMemcpyNode(WG_NODE_PARAMETERS, const cudaMemcpy3DParms* p) {
  return graph_api([&]() -> cudaError_t { return add_copy(out, graph, d, n, p); });
}
WG_API cudaError_t cudaGraphAddMemcpyNode1D(WG_NODE_PARAMETERS, void* to, const void* from, std::size_t count,
                                            cudaMemcpyKind kind) {
  cudaMemcpy3DParms p = linear_parameters(to, from, count, kind);
  return cudaGraphAddMemcpyNode(out, graph, d, n, &p);
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
  return graph_api([&]() -> cudaError_t {
    FillOperation op;
    if (cudaError_t error = fill_operation(p, op)) return error;
    cudaError_t error = add_node(out, graph, d, n, op);
    if (!error) (*out)->fill_parameters = *p;
    return error;
  });
}
WG_API cudaError_t cudaGraphAddHostNode(WG_NODE_PARAMETERS, const cudaHostNodeParams* p) {
  return graph_api([&]() -> cudaError_t {
    if (!p || !p->fn) return cudaErrorInvalidValue;
    return add_node(out, graph, d, n, HostOperation{p->fn, nullptr, p->userData});
  });
}
WG_API cudaError_t cudaGraphAddChildGraphNode(WG_NODE_PARAMETERS, cudaGraph_t child) {
  return graph_api([&]() -> cudaError_t {
    if (!is_graph(child)) return cudaErrorInvalidValue;
    return add_node(out, graph, d, n, ChildGraphOperation{clone(*child)});
  });
}
WG_API cudaError_t cudaGraphAddEmptyNode(WG_NODE_PARAMETERS) {
  return graph_api([&] { return add_node(out, graph, d, n, EmptyOperation{}); });
}
WG_API cudaError_t cudaGraphAddEventRecordNode(WG_NODE_PARAMETERS, cudaEvent_t event) {
  return graph_api([&]() -> cudaError_t {
    const EventRef found = find_event(event);
    if (!found) return cudaErrorInvalidValue;
    return add_node(out, graph, d, n, EventOperation{found, false});
  });
}
WG_API cudaError_t cudaGraphAddEventWaitNode(WG_NODE_PARAMETERS, cudaEvent_t event) {
  return graph_api([&]() -> cudaError_t {
    const EventRef found = find_event(event);
    if (!found) return cudaErrorInvalidValue;
    return add_node(out, graph, d, n, EventOperation{found, true});
  });
}
WG_API cudaError_t cudaGraphAddMemAllocNode(WG_NODE_PARAMETERS, cudaMemAllocNodeParams* p) {
  return graph_api([&]() -> cudaError_t {
    AllocOperation op;
    if (!p || !is_graph(graph)) return cudaErrorInvalidValue;
    if (cudaError_t error = allocation(*p, *graph, op)) return error;
    return add_node(out, graph, d, n, op);
  });
}
WG_API cudaError_t cudaGraphAddMemFreeNode(WG_NODE_PARAMETERS, void* pointer) {
  return graph_api([&] { return add_node(out, graph, d, n, FreeOperation{pointer}); });
}

WG_API cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) {
  return graph_api([&]() -> cudaError_t {
    if (!is_node(node)) return cudaErrorInvalidValue;
    node->graph->remove(node);
    return cudaSuccess;
  });
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

// ---- Parameters of nodes of an instantiated graph; nodes are named by those of the graph it was made from.
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
  return graph_api([&]() -> cudaError_t {
    if (!is_graph(child)) return cudaErrorInvalidValue;
    return replace<ChildGraphOperation>(executable_node(exec, node), ChildGraphOperation{clone(*child)});
  });
}
WG_API cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraphNodeParams* p) {
  return graph_api([&] { return set_parameters(executable_node(exec, node), p); });
}

}  // extern "C"

}  // namespace warpgrind::cudart
