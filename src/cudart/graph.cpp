#include "cudart/graph.h"

#include <algorithm>
#include <set>

#include "cudart/runtime.h"

namespace warpgrind::cudart {

namespace {

// Handles of nodes and user objects that live: programs give us any pointer.
struct Live {
  std::mutex mutex;
  std::set<const GraphNode*> nodes;
  std::set<const UserObject*> user_objects;
};
Live& live() {
  static auto* l = new Live;
  return *l;
}

}  // namespace

Capture::Capture() = default;
Capture::~Capture() = default;

GraphNode::GraphNode() : id(Runtime::instance().next_id++) {
  std::lock_guard lock(live().mutex);
  live().nodes.insert(this);
}

GraphNode::~GraphNode() {
  std::lock_guard lock(live().mutex);
  live().nodes.erase(this);
}

bool is_node(const GraphNode* node) {
  std::lock_guard lock(live().mutex);
  return live().nodes.count(node) != 0;
}

GraphMemory::~GraphMemory() {
  release(pointer);
}

UserReferences::~UserReferences() {
  release(object, count);
}

cudaError_t create_user_object(cudaUserObject_t* out, void* pointer, cudaHostFn_t destroy, unsigned count) {
  auto* object = new UserObject{pointer, destroy, count};
  std::lock_guard lock(live().mutex);
  live().user_objects.insert(object);
  *out = object;
  return cudaSuccess;
}

cudaError_t retain(UserObject* object, unsigned count) {
  std::lock_guard lock(live().mutex);
  if (!live().user_objects.count(object) || count == 0 || count > ~0u - object->references)
    return cudaErrorInvalidValue;
  object->references += count;
  return cudaSuccess;
}

cudaError_t release(UserObject* object, unsigned count) {
  {
    std::lock_guard lock(live().mutex);
    if (!live().user_objects.count(object) || count == 0 || object->references < count) return cudaErrorInvalidValue;
    object->references -= count;
    if (object->references) return cudaSuccess;
    live().user_objects.erase(object);
  }
  if (object->destroy) object->destroy(object->pointer);
  delete object;
  return cudaSuccess;
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

void Graph::remove(GraphNode* node) {
  for (auto& other : nodes) std::erase(other->dependencies, node);
  std::erase_if(clone, [&](const auto& pair) { return pair.second == node; });
  std::erase_if(nodes, [&](const auto& n) { return n.get() == node; });
}

std::unique_ptr<Graph> clone(const Graph& graph) {
  auto copy = std::make_unique<Graph>();
  copy->id = Runtime::instance().next_id++;
  copy->memory = graph.memory;
  copy->user_objects = graph.user_objects;
  std::map<const GraphNode*, GraphNode*> twin;
  for (const auto& node : graph.nodes) {
    Operation operation = node->operation;
    if (auto* child = std::get_if<ChildGraphOperation>(&operation)) child->graph = clone(*child->graph);
    GraphNode* made = copy->add(std::move(operation), {});
    made->device = node->device;
    made->enabled = node->enabled;
    made->copy_parameters = node->copy_parameters;
    made->fill_parameters = node->fill_parameters;
    twin[node.get()] = made;
    copy->clone.emplace_back(node->id, made);
  }
  for (const auto& node : graph.nodes)
    for (GraphNode* dependency : node->dependencies) twin[node.get()]->dependencies.push_back(twin[dependency]);
  return copy;
}

GraphNode* find_in_clone(const Graph& copy, const GraphNode* original) {
  if (!is_node(original)) return nullptr;
  for (const auto& [from, to] : copy.clone)
    if (from == original->id || to == original) return to;
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

namespace {

// A chain of nodes that follow each other on one GPU: a stream of the timeline.
struct Branch {
  Stream stream;
  const GraphNode* last = nullptr;
};

// Places the nodes of one launch of a graph: a node goes on where one that it depends on ended, if nothing did so
// before, else it opens a branch of its own. The host pays for the launch, not for each node.
class GraphLaunch {
 public:
  explicit GraphLaunch(Stream& stream) : stream_(stream), time_(the_session().timeline()) {
    time_.host_work(kHostCallNs);
    begin_ = end_ = time_.work(stream.id, 0).end;
    time_.hold_host(true);
  }
  ~GraphLaunch() {
    time_.hold_host(false);
    time_.wait(stream_.id, end_);
    for (const auto& branch : branches_) time_.remove_stream(branch->stream.id);
  }
  GraphLaunch(const GraphLaunch&) = delete;
  GraphLaunch& operator=(const GraphLaunch&) = delete;

  cudaError_t run(GraphNode& node) {
    const int device = node.device < 0 ? stream_.device : node.device;
    Branch& branch = branch_for(node, device);
    for (const GraphNode* before : node.dependencies) time_.wait(branch.stream.id, ended_[before]);
    if (node.enabled)
      if (cudaError_t error = execute(node.operation, branch.stream, false)) return error;
    branch.last = &node;
    ended_[&node] = time_.work(branch.stream.id, 0).end;
    end_ = std::max(end_, ended_[&node]);
    return cudaSuccess;
  }

 private:
  Branch& branch_for(const GraphNode& node, int device) {
    for (const auto& branch : branches_)
      if (branch->stream.device == device &&
          std::find(node.dependencies.begin(), node.dependencies.end(), branch->last) != node.dependencies.end())
        return *branch;
    branches_.push_back(std::make_unique<Branch>());
    Branch& made = *branches_.back();
    made.stream.device = device;
    made.stream.id = time_.add_stream(device, timing::StreamKind::non_blocking);
    time_.wait(made.stream.id, begin_);
    return made;
  }

  Stream& stream_;
  timing::Timeline& time_;
  double begin_ = 0, end_ = 0;
  std::vector<std::unique_ptr<Branch>> branches_;
  std::map<const GraphNode*, double> ended_;
};

}  // namespace

cudaError_t launch_nodes(const Graph& graph, Stream& stream) {
  GraphLaunch launch(stream);
  for (GraphNode* node : topological_order(graph)) {
    if (cudaError_t error = launch.run(*node)) return error;
    const int device = node->device < 0 ? stream.device : node->device;
    if (context(device).sticky != cudaSuccess) return cudaSuccess;  // the next call brings the error
  }
  return cudaSuccess;
}

cudaError_t capture_operation(Stream& stream, Operation operation) {
  Capture& capture = *stream.capture;
  if (!capture.own_graph && !is_graph(capture.graph)) capture.invalidated = true;  // the caller destroyed it
  if (capture.invalidated) return cudaErrorStreamCaptureInvalidated;
  std::erase_if(stream.capture_tail, [](const GraphNode* node) { return !is_node(node); });
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
  stream.capture_tail.front()->device = stream.device;
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
