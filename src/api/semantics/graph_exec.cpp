// Functions on whole graphs: edges, queries, clones, instantiation, launches, updates.
#include "semantics/graph_exec.h"

#include <algorithm>

#include "base/assert.h"
#include "base/element.h"
#include "device/memory/device_graphs.h"
#include "semantics/device_graphs.h"
#include "semantics/state.h"
#include "semantics/streams.h"

namespace warpgrind::semantics {

namespace {

// One row of a list query: a node, or an edge and its kind.
struct Listed {
  GraphNode *node = nullptr, *to = nullptr;
  cudaGraphEdgeData edge{};
};
bool is_default(const cudaGraphEdgeData& edge) {
  return edge.type == cudaGraphDependencyTypeDefault && edge.from_port == 0 && edge.to_port == 0;
}

// The size-then-fill protocol of the API's list queries. Lists that are not requested are null.
cudaError_t give_list(const std::vector<Listed>& list, cudaGraphNode_t* out, cudaGraphNode_t* to,
                      cudaGraphEdgeData* data, std::size_t* count) {
  if (!count) return cudaErrorInvalidValue;
  if (!out) {
    *count = list.size();
    return cudaSuccess;
  }
  for (std::size_t i = 0; i < std::min(*count, list.size()); i++)
    if (!data && !is_default(list[i].edge)) return cudaErrorLossyQuery;
  for (std::size_t i = 0; i < *count; i++) {
    const Listed row = i < list.size() ? list[i] : Listed{};
    out[i] = row.node;
    if (to) to[i] = row.to;
    if (data) data[i] = row.edge;
  }
  *count = std::min(*count, list.size());
  return cudaSuccess;
}

bool are_edges(const Graph* graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to, std::size_t count) {
  if (!is_graph(graph) || (count && (!from || !to))) return false;
  for (std::size_t i = 0; i < count; i++)
    if (!is_node(from[i]) || !is_node(to[i]) || from[i]->graph != graph || to[i]->graph != graph || from[i] == to[i])
      return false;
  return true;
}
// Only kernel nodes have outgoing edges that are not of the default kind.
bool valid(const cudaGraphEdgeData& edge, const GraphNode& from, const GraphNode& to) {
  const bool programmatic = edge.type == cudaGraphDependencyTypeProgrammatic;
  if (edge.to_port || edge.type > cudaGraphDependencyTypeProgrammatic ||
      edge.from_port > cudaGraphKernelNodePortLaunchCompletion)
    return false;
  if (std::any_of(std::begin(edge.reserved), std::end(edge.reserved), [](unsigned char c) { return c != 0; }))
    return false;
  if (edge.from_port && from.type != cudaGraphNodeTypeKernel) return false;
  if (edge.from_port == cudaGraphKernelNodePortProgrammatic && !programmatic) return false;
  return !programmatic || (edge.from_port && to.type == cudaGraphNodeTypeKernel);
}
bool has_edge(const GraphNode* from, const GraphNode* to) {
  return std::find(to->dependencies.begin(), to->dependencies.end(), from) != to->dependencies.end();
}

}  // namespace

namespace {

// What only instantiation finds: a cycle, and fills of wrong memory, which a capture does not check. In all graphs
// inside, too.
cudaError_t check(const Graph& graph) {
  if (!graph.nodes.empty() && topological_order(graph).empty()) return cudaErrorInvalidValue;
  for (const auto& node : graph.nodes) {
    if (const auto* fill = std::get_if<FillOperation>(&node->operation))
      if (cudaError_t error = check(*fill)) return error;
    if (const auto* child = std::get_if<ChildGraphOperation>(&node->operation))
      if (cudaError_t error = check(*child->graph)) return error;
    if (const auto* conditional = std::get_if<ConditionalOperation>(&node->operation))
      for (const auto& body : *conditional->bodies)
        if (cudaError_t error = check(*body)) return error;
  }
  return cudaSuccess;
}

}  // namespace

namespace {

// Kernels may launch the graph from now on, if it was made for that.
void upload(const GraphExec* exec) {
  if (exec->flags & cudaGraphInstantiateFlagDeviceLaunch)
    device::add_device_graph(reinterpret_cast<std::uint64_t>(exec));
}

}  // namespace

cudaError_t graph_upload(GraphExec* exec) {
  if (!is_graph_exec(exec)) return cudaErrorInvalidValue;
  upload(exec);
  return cudaSuccess;
}

cudaError_t instantiate(cudaGraphExec_t* out, Graph* graph, unsigned long long flags) {
  constexpr unsigned long long kAll = cudaGraphInstantiateFlagAutoFreeOnLaunch | cudaGraphInstantiateFlagUpload |
                                      cudaGraphInstantiateFlagDeviceLaunch | cudaGraphInstantiateFlagUseNodePriority;
  if (!out || (flags & ~kAll)) return cudaErrorInvalidValue;
  if (cudaError_t error = forbidden_by_captures()) return error;
  if (!is_graph(graph)) return cudaErrorInvalidValue;
  if (cudaError_t error = check(*graph)) return error;
  if ((flags & cudaGraphInstantiateFlagDeviceLaunch) &&
      (graph->nodes.empty() || (flags & cudaGraphInstantiateFlagAutoFreeOnLaunch) || not_for_device(*graph)))
    return cudaErrorInvalidValue;
  auto* exec = new GraphExec;
  exec->graph = clone(*graph);
  exec->flags = flags;
  if (flags & cudaGraphInstantiateFlagUpload) upload(exec);
  HostState& r = HostState::instance();
  std::lock_guard lock(r.mutex);
  r.graph_execs.insert(exec);
  session::handles().made("graph", reinterpret_cast<std::uint64_t>(exec));
  *out = exec;
  return cudaSuccess;
}

namespace {

cudaError_t launch_on(GraphExec* exec, const StreamRef& stream) {
  if (cudaError_t error = implicit_dependency(*stream)) return error;
  std::vector<KernelShape> shapes;
  {
    const GraphsLock lock;
    if (stream->capture && (stream->capture->invalidated || !is_graph_exec(exec)))
      return cudaErrorStreamCaptureUnsupported;
    if (!is_graph_exec(exec)) return cudaErrorInvalidValue;
    if (stream->capture) return submit(stream, ChildGraphOperation{clone(*exec->graph)}, false);
    shapes = kernel_shapes(*exec->graph, stream->device);
  }
  // Compiled without the lock, so that other threads can use their graphs.
  for (const KernelShape& shape : shapes)
    if (cudaError_t error = compile(shape)) return error;
  const GraphsLock lock;
  if (!is_graph_exec(exec)) return cudaErrorInvalidValue;
  upload(exec);
  return launch_graph(*exec, stream);
}

}  // namespace

cudaError_t graph_launch(GraphExec* exec, cudaStream_t handle) {
  const StreamRef stream = resolve(handle);
  if (!stream) return cudaErrorInvalidResourceHandle;
  return note_refused_launch(stream->device, launch_on(exec, stream));
}

// Takes over the new parameters. The shape and the kinds of node must be the same; kernel functions may differ.
cudaError_t update_graph_exec(GraphExec& exec, const Graph& graph, cudaGraphExecUpdateResultInfo& info) {
  info = {cudaGraphExecUpdateSuccess, nullptr, nullptr};
  auto fail = [&](cudaGraphExecUpdateResult why, GraphNode* node) {
    info.result = why;
    info.errorNode = node;
    return cudaErrorGraphExecUpdateFailure;
  };
  Graph& mine = *exec.graph;
  WG_ASSERT(mine.clone.size() == mine.nodes.size());
  if (mine.nodes.size() != graph.nodes.size()) return fail(cudaGraphExecUpdateErrorTopologyChanged, nullptr);
  std::map<const GraphNode*, std::size_t> index, my_index;
  for (std::size_t i = 0; i < graph.nodes.size(); i++) {
    WG_ASSERT(mine.clone[i].second ==
              mine.nodes[i].get());  // clone() keeps the order, and no node of an exec is removed
    index[graph.nodes[i].get()] = i;
    my_index[mine.nodes[i].get()] = i;
  }
  for (std::size_t i = 0; i < graph.nodes.size(); i++) {
    const GraphNode &a = *mine.nodes[i], &b = *graph.nodes[i];
    if (a.type != b.type) return fail(cudaGraphExecUpdateErrorNodeTypeChanged, graph.nodes[i].get());
    std::set<std::size_t> before, after;
    for (const GraphNode* d : a.dependencies) before.insert(element(my_index, d));
    for (const GraphNode* d : b.dependencies) after.insert(element(index, d));
    if (before != after) return fail(cudaGraphExecUpdateErrorTopologyChanged, graph.nodes[i].get());
  }
  for (std::size_t i = 0; i < graph.nodes.size(); i++) {
    mine.nodes[i]->operation = graph.nodes[i]->operation;
    mine.nodes[i]->copy_parameters = graph.nodes[i]->copy_parameters;
    mine.nodes[i]->fill_parameters = graph.nodes[i]->fill_parameters;
    mine.nodes[i]->attributes = graph.nodes[i]->attributes;
    mine.clone[i] = {graph.nodes[i]->id, mine.nodes[i].get()};
  }
  mine.memory = graph.memory;
  mine.user_objects = graph.user_objects;
  return cudaSuccess;
}

cudaError_t graph_instantiate_with_params(cudaGraphExec_t* out, cudaGraph_t graph, cudaGraphInstantiateParams* p) {
  if (!p) return cudaErrorInvalidValue;
  cudaError_t error = instantiate(out, graph, p->flags);
  p->result_out = error ? cudaGraphInstantiateError : cudaGraphInstantiateSuccess;
  p->errNode_out = nullptr;
  if (error && (p->flags & cudaGraphInstantiateFlagDeviceLaunch) && is_graph(graph)) {
    p->errNode_out = not_for_device(*graph);
    if (p->errNode_out) p->result_out = cudaGraphInstantiateNodeOperationNotSupported;
  }
  return error;
}

cudaError_t graph_exec_get_flags(cudaGraphExec_t exec, unsigned long long* flags) {
  if (!is_graph_exec(exec) || !flags) return cudaErrorInvalidValue;
  *flags = exec->flags;
  return cudaSuccess;
}

cudaError_t graph_exec_destroy(cudaGraphExec_t exec) {
  if (cudaError_t error = forbidden_by_captures()) return error;
  HostState& r = HostState::instance();
  {
    std::lock_guard lock(r.mutex);
    if (r.graph_execs.erase(exec) == 0) return cudaErrorInvalidValue;
    session::handles().destroyed(reinterpret_cast<std::uint64_t>(exec));
  }
  device::remove_device_graph(reinterpret_cast<std::uint64_t>(exec));
  delete exec;
  return cudaSuccess;
}

cudaError_t graph_exec_update(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo* info) {
  if (!is_graph_exec(exec) || !is_graph(graph)) return cudaErrorInvalidValue;
  cudaGraphExecUpdateResultInfo unused;
  return update_graph_exec(*exec, *graph, info ? *info : unused);
}

cudaError_t graph_clone(cudaGraph_t* out, cudaGraph_t graph) {
  if (!out || !is_graph(graph)) return cudaErrorInvalidValue;
  Graph* copy = clone(*graph).release();
  HostState& r = HostState::instance();
  std::lock_guard lock(r.mutex);
  r.graphs.insert(copy);
  session::handles().made("graph", reinterpret_cast<std::uint64_t>(copy));
  *out = copy;
  return cudaSuccess;
}

cudaError_t graph_node_find_in_clone(cudaGraphNode_t* out, cudaGraphNode_t node, cudaGraph_t graph) {
  if (!out || !is_graph(graph)) return cudaErrorInvalidValue;
  *out = find_in_clone(*graph, node);
  return *out ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t graph_node_get_type(cudaGraphNode_t node, cudaGraphNodeType* type) {
  if (!is_node(node) || !type) return cudaErrorInvalidValue;
  *type = node->type;
  return cudaSuccess;
}

cudaError_t graph_get_nodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
  if (!is_graph(graph)) return cudaErrorInvalidValue;
  std::vector<Listed> all;
  for (const auto& node : graph->nodes) all.push_back({node.get(), nullptr, {}});
  return give_list(all, nodes, nullptr, nullptr, count);
}

cudaError_t graph_get_root_nodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
  if (!is_graph(graph)) return cudaErrorInvalidValue;
  std::vector<Listed> roots;
  for (const auto& node : graph->nodes)
    if (node->dependencies.empty()) roots.push_back({node.get(), nullptr, {}});
  return give_list(roots, nodes, nullptr, nullptr, count);
}

cudaError_t graph_get_edges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, cudaGraphEdgeData* data,
                            std::size_t* count) {
  if (!is_graph(graph)) return cudaErrorInvalidValue;
  std::vector<Listed> edges;
  for (const auto& node : graph->nodes)
    for (GraphNode* d : node->dependencies) edges.push_back({d, node.get(), node->edge_from(d)});
  return give_list(edges, to ? from : nullptr, to, data, count);
}

cudaError_t graph_node_get_dependencies(cudaGraphNode_t node, cudaGraphNode_t* out, cudaGraphEdgeData* data,
                                        std::size_t* count) {
  if (!is_node(node)) return cudaErrorInvalidValue;
  std::vector<Listed> before;
  for (GraphNode* d : node->dependencies) before.push_back({d, nullptr, node->edge_from(d)});
  return give_list(before, out, nullptr, data, count);
}

cudaError_t graph_node_get_dependent_nodes(cudaGraphNode_t node, cudaGraphNode_t* out, cudaGraphEdgeData* data,
                                           std::size_t* count) {
  if (!is_node(node)) return cudaErrorInvalidValue;
  std::vector<Listed> after;
  for (const auto& other : node->graph->nodes)
    if (has_edge(node, other.get())) after.push_back({other.get(), nullptr, other->edge_from(node)});
  return give_list(after, out, nullptr, data, count);
}

cudaError_t check_edges(const cudaGraphNode_t* from, const GraphNode& to, const cudaGraphEdgeData* data,
                        std::size_t count) {
  for (std::size_t i = 0; data && i < count; i++)
    if (!valid(data[i], *from[i], to)) return cudaErrorInvalidValue;
  return cudaSuccess;
}

void set_edges(const cudaGraphNode_t* from, GraphNode& to, const cudaGraphEdgeData* data, std::size_t count) {
  for (std::size_t i = 0; data && i < count; i++)
    if (!is_default(data[i])) to.edges[from[i]] = data[i];
}

cudaError_t graph_add_dependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                   const cudaGraphEdgeData* data, std::size_t count) {
  if (!are_edges(graph, from, to, count)) return cudaErrorInvalidValue;
  for (std::size_t i = 0; i < count; i++)
    if (has_edge(from[i], to[i]) || (data && !valid(data[i], *from[i], *to[i]))) return cudaErrorInvalidValue;
  for (std::size_t i = 0; i < count; i++) {
    to[i]->dependencies.push_back(from[i]);
    if (data) set_edges(from + i, *to[i], data + i, 1);
  }
  return cudaSuccess;
}

// Removes only edges that have the given kind.
cudaError_t graph_remove_dependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                      const cudaGraphEdgeData* data, std::size_t count) {
  if (!are_edges(graph, from, to, count)) return cudaErrorInvalidValue;
  for (std::size_t i = 0; i < count; i++) {
    const cudaGraphEdgeData wanted = data ? data[i] : cudaGraphEdgeData{}, edge = to[i]->edge_from(from[i]);
    const bool same = wanted.type == edge.type && wanted.from_port == edge.from_port && wanted.to_port == edge.to_port;
    if (!has_edge(from[i], to[i]) || !same) return cudaErrorInvalidValue;
  }
  for (std::size_t i = 0; i < count; i++) {
    std::erase(to[i]->dependencies, from[i]);
    to[i]->edges.erase(from[i]);
  }
  return cudaSuccess;
}

cudaError_t graph_node_set_enabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned enabled) {
  GraphNode* mine = is_graph_exec(exec) ? find_in_clone(*exec->graph, node) : nullptr;
  if (!mine) return cudaErrorInvalidValue;
  mine->enabled = enabled != 0;
  return cudaSuccess;
}

cudaError_t graph_node_get_enabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned* enabled) {
  GraphNode* mine = is_graph_exec(exec) ? find_in_clone(*exec->graph, node) : nullptr;
  if (!mine || !enabled) return cudaErrorInvalidValue;
  *enabled = mine->enabled;
  return cudaSuccess;
}

cudaError_t device_get_graph_mem_attribute(int device, cudaGraphMemAttributeType attribute, void* value) {
  if (!valid_device(device) || !value || attribute > cudaGraphMemAttrReservedMemHigh) return cudaErrorInvalidValue;
  std::uint64_t bytes = 0;
  HostState& r = HostState::instance();
  std::lock_guard lock(r.mutex);
  for (const Graph* graph : r.graphs)
    for (const auto& node : graph->nodes)
      if (auto* op = std::get_if<AllocOperation>(&node->operation); op && op->device == device) bytes += op->bytes;
  *static_cast<std::uint64_t*>(value) = bytes;
  return cudaSuccess;
}

cudaError_t device_set_graph_mem_attribute(int device, cudaGraphMemAttributeType attribute, void* value) {
  if (!valid_device(device)) return cudaErrorInvalidDevice;
  // Only the high watermarks can be set, and only back to zero.
  if (!value || (attribute != cudaGraphMemAttrUsedMemHigh && attribute != cudaGraphMemAttrReservedMemHigh) ||
      *static_cast<std::uint64_t*>(value))
    return cudaErrorInvalidValue;
  return cudaSuccess;
}

cudaError_t user_object_create(cudaUserObject_t* out, void* pointer, cudaHostFn_t destroy, unsigned count) {
  if (!out || count == 0) return cudaErrorInvalidValue;
  return create_user_object(out, pointer, destroy, count);
}

cudaError_t graph_retain_user_object(cudaGraph_t graph, cudaUserObject_t object, unsigned count, unsigned flags) {
  constexpr unsigned kMove = 1;  // cudaGraphUserObjectMove: the caller's references become the graph's
  if (!is_graph(graph) || count == 0 || (flags & ~kMove)) return cudaErrorInvalidValue;
  // A move takes no new reference, but retain() checks that the object is valid.
  if (cudaError_t error = retain(object, count)) return error;
  if (flags & kMove)
    if (cudaError_t error = release(object, count)) return error;
  graph->user_objects.push_back(std::make_shared<UserReferences>(object, count));
  return cudaSuccess;
}

cudaError_t graph_release_user_object(cudaGraph_t graph, cudaUserObject_t object, unsigned count) {
  if (!is_graph(graph) || count == 0) return cudaErrorInvalidValue;
  unsigned held = 0;
  for (const auto& r : graph->user_objects)
    if (r->object == object) held += r->count;
  if (held < count) return cudaErrorInvalidValue;
  // The remaining references become a new share, as clones keep the references that they were created with.
  std::erase_if(graph->user_objects, [&](const auto& r) { return r->object == object; });
  if (held == count) return cudaSuccess;
  if (cudaError_t error = retain(object, held - count)) return error;
  graph->user_objects.push_back(std::make_shared<UserReferences>(object, held - count));
  return cudaSuccess;
}

}  // namespace warpgrind::semantics
