// Creation of graph nodes and edges, and access to node parameters.
#include "semantics/graph_nodes.h"

#include <algorithm>
#include <cstring>

#include "device/memory/conditions.h"
#include "semantics/arrays.h"
#include "semantics/graph.h"
#include "semantics/graph_exec.h"
#include "semantics/state.h"
#include "semantics/stream_memory.h"

namespace warpgrind::semantics {

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
namespace {

cudaError_t launch_arguments(const cudaKernelNodeParams* params, LaunchArguments& a) {
  if (!params) return cudaErrorInvalidValue;
  const cudaKernelNodeParams& p = *params;
  if (p.kernelParams && p.extra) return cudaErrorInvalidValue;
  a.function = p.func;
  a.grid = p.gridDim;
  a.block = p.blockDim;
  a.shared = p.sharedMemBytes;
  a.parameters = p.kernelParams;
  return p.extra ? take_packed(p.extra, a) : cudaSuccess;
}

}  // namespace

cudaError_t kernel_operation(const cudaKernelNodeParams* p, KernelOperation& out) {
  LaunchArguments a;
  if (cudaError_t error = launch_arguments(p, a)) return error;
  return make_kernel(a, out);
}

cudaError_t fill_operation(const cudaMemsetParams* p, FillOperation& out) {
  if (!p || !p->dst) return cudaErrorInvalidValue;  // null is an error even for a node that fills nothing
  out.pointer = static_cast<std::uint8_t*>(p->dst);
  out.pitch = p->pitch;
  out.value = p->value;
  out.element = p->elementSize;
  out.width = p->width;
  out.height = out.rows = std::max<std::size_t>(p->height, 1);
  return check(out);
}
namespace {

cudaError_t copy_operation(const cudaMemcpy3DParms* p, CopyOperation& out) {
  if (!p) return cudaErrorInvalidValue;
  if (cudaError_t error = make_copy(*p, out)) return error;
  return check(out);
}

}  // namespace

cudaMemcpy3DParms linear_parameters(void* to, const void* from, std::size_t count, cudaMemcpyKind kind) {
  cudaMemcpy3DParms p{};
  p.srcPtr = {const_cast<void*>(from), count, count, 1};
  p.dstPtr = {to, count, count, 1};
  p.extent = {count, 1, 1};
  p.kind = kind;
  return p;
}

cudaError_t allocation_operation(cudaMemAllocNodeParams& p, Graph& graph, AllocOperation& out) {
  if (p.poolProps.location.type != 1 || !valid_device(p.poolProps.location.id) || p.bytesize == 0)
    return cudaErrorInvalidValue;
  out.bytes = p.bytesize;
  out.device = p.poolProps.location.id;
  if (cudaError_t error = allocate(out.device, p.bytesize, &out.pointer, events::Allocation::Kind::graph)) return error;
  graph.memory.push_back(std::make_shared<GraphMemory>(out.pointer, out.bytes, out.device));
  p.dptr = out.pointer;
  return cudaSuccess;
}

GraphNode* executable_node(GraphExec* exec, GraphNode* node) {
  return is_graph_exec(exec) ? find_in_clone(*exec->graph, node) : nullptr;
}

cudaError_t set_kernel(GraphNode* node, const cudaKernelNodeParams* p) {
  LaunchArguments a;
  if (cudaError_t error = launch_arguments(p, a)) return error;
  return set_kernel(node, a);
}
cudaError_t set_copy(GraphNode* node, const cudaMemcpy3DParms* p) {
  CopyOperation op;
  if (cudaError_t error = copy_operation(p, op)) return error;
  cudaError_t error = replace_operation<CopyOperation>(node, op);
  if (!error) node->copy_parameters = *p;
  return error;
}
cudaError_t set_linear_copy(GraphNode* node, void* to, const void* from, std::size_t count, cudaMemcpyKind kind) {
  cudaMemcpy3DParms p = linear_parameters(to, from, count, kind);
  return set_copy(node, &p);
}
namespace {

// Symbols are looked up when the node is created: its parameters hold the address of the variable.
cudaError_t symbol_parameters(const void* symbol, std::size_t offset, const void* other, std::size_t count,
                              cudaMemcpyKind kind, bool to_symbol, cudaMemcpy3DParms& out) {
  CopyOperation op;
  if (cudaError_t error = symbol_copy(symbol, offset, other, count, kind, to_symbol, op)) return error;
  out = linear_parameters(op.to.pointer, op.from.pointer, count, kind);
  return cudaSuccess;
}

}  // namespace

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
  cudaError_t error = replace_operation<FillOperation>(node, op);
  if (!error) node->fill_parameters = *p;
  return error;
}
cudaError_t set_host(GraphNode* node, const cudaHostNodeParams* p) {
  if (!p || !p->fn) return cudaErrorInvalidValue;
  return replace_operation<HostOperation>(node, HostOperation{p->fn, nullptr, p->userData});
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

namespace {

// An `if` has up to two graphs (if, else), a `while` one. They are empty, and the program fills them.
cudaError_t add_conditional(cudaGraphNode_t* out, Graph* graph, const cudaGraphNode_t* d, std::size_t n,
                            cudaConditionalNodeParams& p) {
  using Kind = ConditionalOperation::Kind;
  const unsigned most = p.type == cudaGraphCondTypeIf ? 2 : p.type == cudaGraphCondTypeWhile ? 1 : 0xffff;
  if (p.type < cudaGraphCondTypeIf || p.type > cudaGraphCondTypeSwitch || p.size == 0 || p.size > most)
    return cudaErrorInvalidValue;
  if (!device::condition(p.handle)) return refuse(cudaErrorInvalidValue, "not the handle of a condition");
  std::vector<std::shared_ptr<Graph>> bodies;
  for (unsigned k = 0; k < p.size; k++) {
    bodies.push_back(std::make_shared<Graph>());
    bodies.back()->id = HostState::instance().next_id++;
  }
  ConditionalOperation op = make_conditional(static_cast<Kind>(p.type), p.handle, std::move(bodies));
  Graph** const handles = op.handles->data();
  if (cudaError_t error = add_node(out, graph, d, n, std::move(op))) return error;
  p.phGraph_out = handles;
  return cudaSuccess;
}

cudaError_t add_default_edges(cudaGraphNode_t* out, Graph* graph, const cudaGraphNode_t* d, std::size_t n,
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
      return add_child_graph(out, graph, d, n, p->graph.graph, p->graph.ownership == cudaGraphChildGraphOwnershipMove);
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
      if (cudaError_t error = allocation_operation(p->alloc, *graph, op)) return error;
      return add_node(out, graph, d, n, op);
    }
    case cudaGraphNodeTypeMemFree:
      return add_node(out, graph, d, n, FreeOperation{p->free.dptr});
    case cudaGraphNodeTypeConditional:
      return add_conditional(out, graph, d, n, p->conditional);
    default:
      return not_supported("a graph node of this type (external semaphore)");
  }
}

}  // namespace

cudaError_t with_edges(cudaError_t added, cudaGraphNode_t* out, const cudaGraphNode_t* d,
                       const cudaGraphEdgeData* edges, std::size_t n) {
  if (added) return added;
  if (cudaError_t error = check_edges(d, **out, edges, n)) {
    (*out)->graph->remove(*out);
    return error;
  }
  set_edges(d, **out, edges, n);
  return cudaSuccess;
}

cudaError_t add_by_parameters(cudaGraphNode_t* out, Graph* graph, const cudaGraphNode_t* d,
                              const cudaGraphEdgeData* edges, std::size_t n, cudaGraphNodeParams* p) {
  return with_edges(add_default_edges(out, graph, d, n, p), out, d, edges, n);
}

cudaError_t create_conditional_handle(cudaGraphConditionalHandle* out, Graph* graph, unsigned initial, unsigned flags) {
  if (!out || !is_graph(graph) || (flags & ~unsigned{cudaGraphCondAssignDefault})) return cudaErrorInvalidValue;
  *out = device::create_condition(initial);
  graph->conditions.push_back({*out, initial, (flags & cudaGraphCondAssignDefault) != 0});
  return cudaSuccess;
}

cudaError_t create_graph(cudaGraph_t* out) {
  if (!out) return cudaErrorInvalidValue;
  auto* graph = new Graph;
  HostState& r = HostState::instance();
  graph->id = r.next_id++;
  std::lock_guard lock(r.mutex);
  r.graphs.insert(graph);
  session::handles().made("graph", reinterpret_cast<std::uint64_t>(graph));
  *out = graph;
  return cudaSuccess;
}

cudaError_t graph_destroy(cudaGraph_t graph) {
  HostState& r = HostState::instance();
  {
    std::lock_guard lock(r.mutex);
    if (r.graphs.erase(graph) == 0) return cudaErrorInvalidValue;
    session::handles().destroyed(reinterpret_cast<std::uint64_t>(graph));
  }
  delete graph;
  return cudaSuccess;
}

cudaError_t graph_add_kernel_node(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* d, std::size_t n,
                                  const cudaKernelNodeParams* p) {
  KernelOperation op;
  if (cudaError_t error = kernel_operation(p, op)) return error;
  return add_node(out, graph, d, n, std::move(op));
}

cudaError_t graph_add_memset_node(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* d, std::size_t n,
                                  const cudaMemsetParams* p) {
  FillOperation op;
  if (cudaError_t error = fill_operation(p, op)) return error;
  cudaError_t error = add_node(out, graph, d, n, op);
  if (!error) (*out)->fill_parameters = *p;
  return error;
}

cudaError_t graph_add_host_node(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* d, std::size_t n,
                                const cudaHostNodeParams* p) {
  if (!p || !p->fn) return cudaErrorInvalidValue;
  return add_node(out, graph, d, n, HostOperation{p->fn, nullptr, p->userData});
}

cudaError_t graph_add_child_graph_node(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* d, std::size_t n,
                                       cudaGraph_t child) {
  return add_child_graph(out, graph, d, n, child, false);
}

cudaError_t add_child_graph(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* d, std::size_t n,
                            cudaGraph_t child, bool move) {
  if (!is_graph(child) || (move && (child == graph || !owns_graph(child)))) return cudaErrorInvalidValue;
  if (!move) return add_node(out, graph, d, n, ChildGraphOperation{clone(*child)});
  if (cudaError_t error = add_node(out, graph, d, n, ChildGraphOperation{})) return error;
  HostState& r = HostState::instance();
  {
    std::lock_guard lock(r.mutex);
    r.graphs.erase(child);
  }
  std::get<ChildGraphOperation>((*out)->operation).graph.reset(child);
  return cudaSuccess;
}

cudaError_t add_memory_node(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* d, std::size_t n,
                            MemoryOperation operation) {
  if (cudaError_t error = check(operation)) return error;
  return add_node(out, graph, d, n, std::move(operation));
}
cudaError_t set_memory_operation(GraphNode* node, MemoryOperation operation) {
  if (cudaError_t error = check(operation)) return error;
  return replace_operation<MemoryOperation>(node, std::move(operation));
}

cudaError_t graph_add_event_record_node(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* d,
                                        std::size_t n, cudaEvent_t event) {
  const EventRef found = find_event(event);
  if (!found) return cudaErrorInvalidValue;
  return add_node(out, graph, d, n, EventOperation{found, false});
}

cudaError_t graph_add_event_wait_node(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* d, std::size_t n,
                                      cudaEvent_t event) {
  const EventRef found = find_event(event);
  if (!found) return cudaErrorInvalidValue;
  return add_node(out, graph, d, n, EventOperation{found, true});
}

cudaError_t graph_add_mem_alloc_node(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* d, std::size_t n,
                                     cudaMemAllocNodeParams* p) {
  AllocOperation op;
  if (!p || !is_graph(graph)) return cudaErrorInvalidValue;
  if (cudaError_t error = allocation_operation(*p, *graph, op)) return error;
  return add_node(out, graph, d, n, op);
}

cudaError_t graph_destroy_node(cudaGraphNode_t node) {
  if (!is_node(node)) return cudaErrorInvalidValue;
  node->graph->remove(node);
  return cudaSuccess;
}

cudaError_t graph_exec_child_graph_node_set_params(cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraph_t child) {
  if (!is_graph(child)) return cudaErrorInvalidValue;
  return replace_operation<ChildGraphOperation>(executable_node(exec, node), ChildGraphOperation{clone(*child)});
}

}  // namespace warpgrind::semantics
