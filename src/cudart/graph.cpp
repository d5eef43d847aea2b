#include "cudart/graph.h"

#include <algorithm>
#include <set>

#include "cudart/runtime.h"

namespace warpgrind::cudart {

Graph::~Graph() {
  for (void* pointer : memory) release(pointer);
  for (UserObject* object : user_objects) {
    if (--object->references == 0) {
      if (object->destroy) object->destroy(object->pointer);
      delete object;
    }
  }
}

cudaGraphNodeType type_of(const Operation& operation) {
  struct Visitor {
    cudaGraphNodeType operator()(const KernelOperation&) const { return cudaGraphNodeTypeKernel; }
    cudaGraphNodeType operator()(const CopyOperation&) const { return cudaGraphNodeTypeMemcpy; }
    cudaGraphNodeType operator()(const FillOperation&) const { return cudaGraphNodeTypeMemset; }
    cudaGraphNodeType operator()(const HostOperation&) const { return cudaGraphNodeTypeHost; }
    cudaGraphNodeType operator()(const EventOperation& e) const {
      return e.wait ? cudaGraphNodeTypeWaitEvent : cudaGraphNodeTypeEventRecord;
    }
    cudaGraphNodeType operator()(const EmptyOperation&) const { return cudaGraphNodeTypeEmpty; }
    cudaGraphNodeType operator()(const ChildGraphOperation&) const { return cudaGraphNodeTypeGraph; }
    cudaGraphNodeType operator()(const AllocOperation&) const { return cudaGraphNodeTypeMemAlloc; }
    cudaGraphNodeType operator()(const FreeOperation&) const { return cudaGraphNodeTypeMemFree; }
  };
  return std::visit(Visitor{}, operation);
}

GraphNode* Graph::add(Operation operation, std::vector<GraphNode*> dependencies) {
  auto node = std::make_unique<GraphNode>();
  node->graph = this;
  node->type = type_of(operation);
  node->operation = std::move(operation);
  node->dependencies = std::move(dependencies);
  nodes.push_back(std::move(node));
  return nodes.back().get();
}

std::shared_ptr<Graph> clone(const Graph& graph) {
  auto copy = std::make_shared<Graph>();
  copy->id = Runtime::instance().next_id++;
  std::map<const GraphNode*, GraphNode*> twin;
  for (const auto& node : graph.nodes) {
    Operation operation = node->operation;
    if (auto* child = std::get_if<ChildGraphOperation>(&operation)) child->graph = clone(*child->graph);
    GraphNode* made = copy->add(std::move(operation), {});
    made->enabled = node->enabled;
    made->copy_parameters = node->copy_parameters;
    made->fill_parameters = node->fill_parameters;
    twin[node.get()] = made;
    copy->clone.emplace_back(node.get(), made);
  }
  for (const auto& node : graph.nodes)
    for (GraphNode* dependency : node->dependencies) twin[node.get()]->dependencies.push_back(twin[dependency]);
  return copy;
}

GraphNode* find_in_clone(const Graph& copy, const GraphNode* original) {
  for (const auto& [from, to] : copy.clone)
    if (from == original || to == original) return to;
  return nullptr;
}

std::vector<GraphNode*> topological_order(const Graph& graph) {
  std::vector<GraphNode*> order;
  std::set<const GraphNode*> done;
  bool progress = true;
  while (progress && order.size() < graph.nodes.size()) {
    progress = false;
    for (const auto& node : graph.nodes) {
      if (done.count(node.get())) continue;
      bool ready = std::all_of(node->dependencies.begin(), node->dependencies.end(),
                               [&](GraphNode* d) { return done.count(d) != 0; });
      if (!ready) continue;
      order.push_back(node.get());
      done.insert(node.get());
      progress = true;
    }
  }
  if (order.size() < graph.nodes.size()) order.clear();
  return order;
}

// The nodes run one after the other on one stream of the timeline: branches of a graph are not overlapped there.
cudaError_t launch_nodes(const Graph& graph, Stream& stream) {
  for (GraphNode* node : topological_order(graph)) {
    if (!node->enabled) continue;
    if (cudaError_t error = execute(node->operation, stream, false)) return error;
    if (context(stream.device).sticky != cudaSuccess) return cudaSuccess;  // the next call brings the error
  }
  return cudaSuccess;
}

cudaError_t capture_operation(Stream& stream, Operation operation) {
  Capture& capture = *stream.capture;
  if (capture.invalidated) return cudaErrorStreamCaptureInvalidated;
  if (auto* e = std::get_if<EventOperation>(&operation)) {
    // Events order captured streams; they become no nodes.
    if (!e->wait) {
      e->event->capture = stream.capture;
      e->event->capture_tail = stream.capture_tail;
      return cudaSuccess;
    }
    if (e->event->capture != stream.capture) {
      capture.invalidated = true;
      return cudaErrorStreamCaptureIsolation;
    }
    for (GraphNode* node : e->event->capture_tail)
      if (std::find(stream.capture_tail.begin(), stream.capture_tail.end(), node) == stream.capture_tail.end())
        stream.capture_tail.push_back(node);
    return cudaSuccess;
  }
  stream.capture_tail = {capture.graph->add(std::move(operation), stream.capture_tail)};
  return cudaSuccess;
}

bool is_graph(const Graph* graph) {
  Runtime& r = Runtime::instance();
  std::lock_guard lock(r.mutex);
  return r.graphs.count(graph) != 0;
}

bool is_graph_exec(const GraphExec* exec) {
  Runtime& r = Runtime::instance();
  std::lock_guard lock(r.mutex);
  return r.graph_execs.count(exec) != 0;
}

}  // namespace warpgrind::cudart
