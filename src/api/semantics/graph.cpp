// Graphs and their nodes, launches of graphs on the timeline, and captures.
#include "semantics/graph.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/assert.h"
#include "base/element.h"
#include "device/memory/conditions.h"
#include "device/memory/device_graphs.h"
#include "semantics/device_graphs.h"
#include "semantics/executor.h"
#include "semantics/state.h"

namespace warpgrind::semantics {

namespace {

// Valid handles of nodes, graphs and user objects, as programs may pass any pointer.
struct LiveHandles {
  std::mutex mutex;
  std::set<const GraphNode*> nodes;
  std::set<const Graph*> graphs;
  std::set<const UserObject*> user_objects;
};
LiveHandles& live_handles() {
  static auto* l = new LiveHandles;
  return *l;
}

// One lock for all graphs, as they are built and launched rarely.
std::recursive_mutex& graphs_mutex() {
  static auto* m = new std::recursive_mutex;
  return *m;
}

void destroy(UserObject* object) {
  WG_ASSERT(object->references == 0);
  if (object->destroy) object->destroy(object->pointer);
  delete object;
}

}  // namespace

GraphsLock::GraphsLock() {
  graphs_mutex().lock();
  ++thread_state().graphs_locks;
}

GraphsLock::~GraphsLock() {
  ThreadState& thread = thread_state();
  WG_ASSERT(thread.graphs_locks > 0);
  const bool last = --thread.graphs_locks == 0;
  graphs_mutex().unlock();
  if (last)
    for (UserObject* object : std::exchange(thread.ended_objects, {})) destroy(object);
}

Capture::Capture() = default;
Capture::~Capture() = default;

GraphNode::GraphNode() : id(HostState::instance().next_id++) {
  std::lock_guard lock(live_handles().mutex);
  live_handles().nodes.insert(this);
}

GraphNode::~GraphNode() {
  std::lock_guard lock(live_handles().mutex);
  const std::size_t known = live_handles().nodes.erase(this);
  WG_ASSERT(known == 1);
}

bool is_node(const GraphNode* node) {
  std::lock_guard lock(live_handles().mutex);
  return live_handles().nodes.count(node) != 0;
}

Graph::Graph() {
  std::lock_guard lock(live_handles().mutex);
  live_handles().graphs.insert(this);
}

Graph::~Graph() {
  std::lock_guard lock(live_handles().mutex);
  const std::size_t known = live_handles().graphs.erase(this);
  WG_ASSERT(known == 1);
}

UserReferences::~UserReferences() {
  release(object, count);
}

cudaError_t create_user_object(cudaUserObject_t* out, void* pointer, cudaHostFn_t destroy, unsigned count) {
  auto* object = new UserObject{pointer, destroy, count};
  std::lock_guard lock(live_handles().mutex);
  live_handles().user_objects.insert(object);
  *out = object;
  return cudaSuccess;
}

cudaError_t retain(UserObject* object, unsigned count) {
  std::lock_guard lock(live_handles().mutex);
  if (!live_handles().user_objects.count(object) || count == 0 || count > ~0u - object->references)
    return cudaErrorInvalidValue;
  object->references += count;
  return cudaSuccess;
}

cudaError_t release(UserObject* object, unsigned count) {
  {
    std::lock_guard lock(live_handles().mutex);
    if (!live_handles().user_objects.count(object) || count == 0 || object->references < count)
      return cudaErrorInvalidValue;
    object->references -= count;
    if (object->references) return cudaSuccess;
    live_handles().user_objects.erase(object);
  }
  // The program's destroy function may wait for threads that need the lock.
  if (ThreadState& thread = thread_state(); thread.graphs_locks)
    thread.ended_objects.push_back(object);
  else
    destroy(object);
  return cudaSuccess;
}

cudaGraphNodeType type_of(const Operation& operation) {
  struct Visitor {
    cudaGraphNodeType operator()(const KernelOperation&) const { return cudaGraphNodeTypeKernel; }
    cudaGraphNodeType operator()(const CopyOperation&) const { return cudaGraphNodeTypeMemcpy; }
    cudaGraphNodeType operator()(const FillOperation&) const { return cudaGraphNodeTypeMemset; }
    cudaGraphNodeType operator()(const HostOperation&) const { return cudaGraphNodeTypeHost; }
    cudaGraphNodeType operator()(const LibraryOperation&) const { return cudaGraphNodeTypeHost; }
    cudaGraphNodeType operator()(const EventOperation& e) const {
      return e.wait ? cudaGraphNodeTypeWaitEvent : cudaGraphNodeTypeEventRecord;
    }
    cudaGraphNodeType operator()(const EmptyOperation&) const { return cudaGraphNodeTypeEmpty; }
    cudaGraphNodeType operator()(const ChildGraphOperation&) const { return cudaGraphNodeTypeGraph; }
    cudaGraphNodeType operator()(const ConditionalOperation&) const { return cudaGraphNodeTypeConditional; }
    cudaGraphNodeType operator()(const AllocOperation&) const { return cudaGraphNodeTypeMemAlloc; }
    cudaGraphNodeType operator()(const FreeOperation&) const { return cudaGraphNodeTypeMemFree; }
    cudaGraphNodeType operator()(const MemoryOperation&) const { return kMemoryNode; }
  };
  return std::visit(Visitor{}, operation);
}

const Graph* ConditionalOperation::chosen(std::uint32_t value) const {
  const auto body = [&](std::size_t k) { return k < bodies->size() ? (*bodies)[k].get() : nullptr; };
  switch (kind) {
    case Kind::if_else:
      return body(value ? 0 : 1);
    case Kind::while_true:
      return value ? body(0) : nullptr;
    case Kind::one_of:
      return body(value);
  }
  return nullptr;
}

ConditionalOperation make_conditional(ConditionalOperation::Kind kind, std::uint64_t handle,
                                      std::vector<std::shared_ptr<Graph>> bodies) {
  ConditionalOperation op{kind, handle, nullptr, std::make_shared<std::vector<Graph*>>()};
  for (const auto& body : bodies) op.handles->push_back(body.get());
  op.bodies = std::make_shared<std::vector<std::shared_ptr<Graph>>>(std::move(bodies));
  return op;
}

GraphNode* Graph::add(Operation operation, std::vector<GraphNode*> dependencies) {
  WG_ASSERT(std::all_of(dependencies.begin(), dependencies.end(), [&](GraphNode* d) { return d->graph == this; }));
  auto node = std::make_unique<GraphNode>();
  node->graph = this;
  node->type = type_of(operation);
  node->operation = std::move(operation);
  node->dependencies = std::move(dependencies);
  if (session::options().checks.races) node->made = std::make_shared<HostStack>(host_stack());
  nodes.push_back(std::move(node));
  return nodes.back().get();
}

void Graph::remove(GraphNode* node) {
  WG_ASSERT(node->graph == this);
  for (auto& other : nodes) {
    std::erase(other->dependencies, node);
    other->edges.erase(node);
  }
  std::erase_if(clone, [&](const auto& pair) { return pair.second == node; });
  std::erase_if(nodes, [&](const auto& n) { return n.get() == node; });
}

std::unique_ptr<Graph> clone(const Graph& graph) {
  auto copy = std::make_unique<Graph>();
  copy->id = HostState::instance().next_id++;
  copy->memory = graph.memory;
  copy->user_objects = graph.user_objects;
  copy->conditions = graph.conditions;
  std::map<const GraphNode*, GraphNode*> twin;
  for (const auto& node : graph.nodes) {
    Operation operation = node->operation;
    if (auto* child = std::get_if<ChildGraphOperation>(&operation)) child->graph = clone(*child->graph);
    if (auto* conditional = std::get_if<ConditionalOperation>(&operation)) {
      std::vector<std::shared_ptr<Graph>> bodies;
      for (const auto& body : *conditional->bodies) bodies.push_back(clone(*body));
      *conditional = make_conditional(conditional->kind, conditional->handle, std::move(bodies));
    }
    GraphNode* made = copy->add(std::move(operation), {});
    made->made = node->made;
    made->device = node->device;
    made->enabled = node->enabled;
    made->copy_parameters = node->copy_parameters;
    made->fill_parameters = node->fill_parameters;
    made->attributes = node->attributes;
    twin[node.get()] = made;
    copy->clone.emplace_back(node->id, made);
  }
  for (const auto& node : graph.nodes)
    for (GraphNode* dependency : node->dependencies) {
      WG_ASSERT(twin.contains(dependency));  // a removed node is no dependency any more
      twin[node.get()]->dependencies.push_back(twin[dependency]);
      if (const auto edge = node->edges.find(dependency); edge != node->edges.end())
        twin[node.get()]->edges[twin[dependency]] = edge->second;
    }
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

// A chain of nodes that follow each other on one GPU; a stream of the timeline.
struct Branch {
  int device = 0;
  timing::StreamId stream = 0;
  const GraphNode* last = nullptr;
};

// One launch of a graph. Its work keeps it alive until the whole launch is placed. A node continues the branch of a
// dependency if that is the branch's last node, else it opens a new branch. The host pays for the launch, not for each
// node.
class GraphLaunch : public std::enable_shared_from_this<GraphLaunch> {
 public:
  explicit GraphLaunch(const Target& target, StreamRef stream = nullptr)
      : stream_(std::move(stream)), target_(target), time_(session::timeline()) {}

  // prepare() creates the work of each node. issue() issues a begin mark, the nodes in order, and an end mark, and
  // returns the end mark.
  cudaError_t prepare(const Graph& graph);
  WorkPtr issue(Stream* stream, const std::vector<WorkPtr>& before);

 private:
  struct Node {
    const GraphNode* node = nullptr;        // valid until it is issued
    std::vector<std::size_t> dependencies;  // indices into nodes_
    std::size_t branch = 0;
    WorkPtr work;  // null for child graphs and conditional nodes
    std::shared_ptr<GraphLaunch> nested;
    std::optional<ConditionalOperation> conditional;
    double ended = 0;  // virtual time, set when the node is placed
  };
  std::size_t branch_for(const GraphNode& node, int device);
  cudaError_t prepare(const GraphNode& node);
  WorkPtr issue_conditional(const Node& node, WorkPtr before);
  void place_begin(const Node& node);
  void place_end(Node& node);

  const StreamRef stream_;  // kept alive while its timeline stream is needed
  const Target target_;
  timing::Timeline& time_;
  double begin_ = 0, end_ = 0;
  std::vector<Branch> branches_;
  std::vector<Node> nodes_;
  std::map<const GraphNode*, std::size_t> index_;
  std::vector<Graph::Condition> conditions_;
  // The graph may be destroyed while this runs.
  std::vector<std::shared_ptr<GraphMemory>> memory_;
  std::vector<std::shared_ptr<UserReferences>> user_objects_;
};

std::size_t GraphLaunch::branch_for(const GraphNode& node, int device) {
  for (std::size_t i = 0; i < branches_.size(); i++)
    if (branches_[i].device == device &&
        std::find(node.dependencies.begin(), node.dependencies.end(), branches_[i].last) != node.dependencies.end())
      return i;
  branches_.push_back({device, time_.add_stream(device, timing::StreamKind::graph), nullptr});
  return branches_.size() - 1;
}

void GraphLaunch::place_begin(const Node& node) {
  const timing::StreamId stream = branches_[node.branch].stream;
  time_.wait(stream, begin_);
  for (std::size_t before : node.dependencies) {
    const int device = branches_[nodes_[before].branch].device;
    time_.wait(stream, nodes_[before].ended, device != branches_[node.branch].device);
  }
  if (!node.dependencies.empty()) time_.chain(stream);
}

void GraphLaunch::place_end(Node& node) {
  node.ended = time_.work(branches_[node.branch].stream, *target_.host.clock, 0).end;
  end_ = std::max(end_, node.ended);
}

cudaError_t GraphLaunch::prepare(const GraphNode& graph_node) {
  Node node;
  node.node = &graph_node;
  const int device = graph_node.device < 0 ? target_.device : graph_node.device;
  node.branch = branch_for(graph_node, device);
  branches_[node.branch].last = &graph_node;
  const Target target{device, branches_[node.branch].stream, {target_.host.clock, 0}, nullptr, target_.run};
  Operation operation = graph_node.operation;  // a copy: the node may change or be destroyed during the launch
  if (const auto* allocates = std::get_if<AllocOperation>(&operation)) note_graph_allocation(allocates->pointer);
  if (const auto* frees = std::get_if<FreeOperation>(&operation)) note_graph_free(frees->pointer);
  const auto* child = std::get_if<ChildGraphOperation>(&operation);
  if (child && graph_node.enabled) {
    node.nested = std::make_shared<GraphLaunch>(target);
    if (cudaError_t error = node.nested->prepare(*child->graph)) return error;
  } else if (const auto* conditional = std::get_if<ConditionalOperation>(&operation);
             conditional && graph_node.enabled) {
    node.conditional = *conditional;
  } else if (!graph_node.enabled) {
    node.work = std::make_shared<Work>();
  } else if (cudaError_t error = make_work(operation, target, false, node.work)) {
    return error;
  }
  if (node.work) {
    node.work->device = device;
    node.work->made = graph_node.made;
  }
  for (const GraphNode* d : graph_node.dependencies) {
    const auto found = index_.find(d);
    WG_ASSERT(found != index_.end());  // topological_order() puts it before this node
    node.dependencies.push_back(found->second);
  }
  index_[&graph_node] = nodes_.size();
  nodes_.push_back(std::move(node));
  return cudaSuccess;
}

cudaError_t GraphLaunch::prepare(const Graph& graph) {
  memory_ = graph.memory;
  user_objects_ = graph.user_objects;
  conditions_ = graph.conditions;
  for (const GraphNode* node : topological_order(graph))
    if (cudaError_t error = prepare(*node)) return error;
  return cudaSuccess;
}

WorkPtr GraphLaunch::issue_conditional(const Node& node, WorkPtr before) {
  Executor& executor = Executor::instance();
  const Branch& branch = branches_[node.branch];
  const Target target{branch.device, branch.stream, {target_.host.clock, 0}, nullptr, target_.run};
  const bool again = node.conditional->kind == ConditionalOperation::Kind::while_true;
  do {
    executor.wait(before);
    if (executor.ends() || context(target_.device).runs_nothing()) break;
    const Graph* const body = node.conditional->chosen(device::condition(node.conditional->handle).value_or(0));
    if (!body) break;
    auto launch = std::make_shared<GraphLaunch>(target);
    if (launch->prepare(*body) != cudaSuccess) break;  // the reason was reported
    before = launch->issue(nullptr, {before});
  } while (again);
  return before;
}

WorkPtr GraphLaunch::issue(Stream* stream, const std::vector<WorkPtr>& before) {
  Executor& executor = Executor::instance();
  const auto put = [&](const WorkPtr& work, const std::vector<WorkPtr>& others) {
    work->device = target_.device;
    if (stream)
      executor.issue(*stream, work, others);
    else
      executor.issue({{work, others}});
  };
  const auto self = shared_from_this();
  auto begin = std::make_shared<Work>(), end = std::make_shared<Work>();
  begin->place = [self] {
    self->target_.host.pay();
    self->begin_ = self->end_ = self->time_.work(self->target_.stream, *self->target_.host.clock, 0).end;
  };
  begin->run = [conditions = conditions_] {
    for (const Graph::Condition& condition : conditions)
      if (condition.at_launch) device::set_condition(condition.handle, condition.initial);
  };
  put(begin, before);
  std::vector<WorkPtr> all{begin}, ends;
  std::vector<Executor::Issue> works;
  const auto issue_works = [&] { executor.issue(std::exchange(works, {})); };
  for (std::size_t i = 0; i < nodes_.size(); i++) {
    Node& node = nodes_[i];
    std::vector<WorkPtr> after;
    for (std::size_t d : node.dependencies) after.push_back(element(ends, d));
    if (after.empty()) after.push_back(begin);
    const auto* event = std::get_if<EventOperation>(&node.node->operation);
    if (node.work && node.work->kind == Work::Kind::grid)
      for (std::size_t d : node.dependencies)
        if (node.node->edge_from(nodes_[d].node).from_port != cudaGraphKernelNodePortDefault)
          node.work->early_after.push_back(element(ends, d));
    if (event && event->wait && node.node->enabled)
      if (auto mark = event->event->latest()) after.push_back(mark->work);
    if (node.nested || node.conditional) {
      auto first = std::make_shared<Work>(), last = std::make_shared<Work>();
      first->device = last->device = target_.device;
      first->place = [self, i] { self->place_begin(self->nodes_[i]); };
      last->place = [self, i] { self->place_end(self->nodes_[i]); };
      works.push_back({first, std::move(after)});
      issue_works();
      works.push_back({last, {node.nested ? node.nested->issue(nullptr, {first}) : issue_conditional(node, first)}});
      ends.push_back(last);
    } else {
      WG_ASSERT(node.work);
      node.work->place = [self, i, inner = std::move(node.work->place)] {
        self->place_begin(self->nodes_[i]);
        if (inner) inner();
        self->place_end(self->nodes_[i]);
      };
      works.push_back({node.work, std::move(after)});
      ends.push_back(std::move(node.work));
    }
  }
  issue_works();
  end->place = [self] {
    self->time_.wait(self->target_.stream, self->end_);
    for (const Branch& branch : self->branches_) self->time_.remove_stream(branch.stream);
  };
  all.insert(all.end(), ends.begin(), ends.end());
  put(end, all);
  return end;
}

}  // namespace

std::vector<KernelShape> kernel_shapes(const Graph& graph, int device) {
  WG_ASSERT(thread_state().graphs_locks > 0);
  std::vector<KernelShape> shapes;
  for (const auto& node : graph.nodes) {
    if (!node->enabled) continue;
    const int on = node->device < 0 ? device : node->device;
    if (const auto* op = std::get_if<KernelOperation>(&node->operation)) {
      shapes.push_back({op->kernel, op->entry, op->config, op->carveout_percent, on});
    } else if (const auto* child = std::get_if<ChildGraphOperation>(&node->operation)) {
      const std::vector<KernelShape> inner = kernel_shapes(*child->graph, on);
      shapes.insert(shapes.end(), inner.begin(), inner.end());
    } else if (const auto* conditional = std::get_if<ConditionalOperation>(&node->operation)) {
      for (const auto& body : *conditional->bodies) {
        const std::vector<KernelShape> inner = kernel_shapes(*body, on);
        shapes.insert(shapes.end(), inner.begin(), inner.end());
      }
    }
  }
  return shapes;
}

cudaError_t launch_graph(GraphExec& exec, const StreamRef& stream) {
  WG_ASSERT(thread_state().graphs_locks > 0);
  charge_host(session::model().timing.host_launch_ns);
  Target target = target_of(*stream);
  RequestedGraphs requested;
  Executor& executor = Executor::instance();
  for (GraphExec* next = &exec; next; next = requested.next()) {
    const auto handle = reinterpret_cast<std::uint64_t>(next);
    const bool from_device = (next->flags & cudaGraphInstantiateFlagDeviceLaunch) != 0;
    target.run = std::make_shared<GraphRun>(from_device ? handle : 0);
    device::begin_device_graph(handle);
    auto launch = std::make_shared<GraphLaunch>(target, stream);
    if (cudaError_t error = launch->prepare(*next->graph)) return error;
    const WorkPtr end = launch->issue(stream.get(), {});
    if (next == &exec && !launches_graphs(*next->graph)) break;
    executor.wait(end);
    if (executor.ends() || context(target.device).runs_nothing()) break;
    requested.add(target.run->take());
    target.host = {target.host.clock, 0};
  }
  return cudaSuccess;
}

cudaError_t capture_operation(Stream& stream, Operation operation) {
  WG_ASSERT(thread_state().graphs_locks > 0 && stream.capture);
  Capture& capture = *stream.capture;
  if (!capture.own_graph && !is_graph(capture.graph)) capture.invalidated = true;  // the caller destroyed it
  if (capture.invalidated) return cudaErrorStreamCaptureInvalidated;
  std::erase_if(stream.capture_tail, [](const GraphNode* node) { return !is_node(node); });
  if (auto* e = std::get_if<EventOperation>(&operation); e && !e->external) {
    // Events only order captured streams; they become no nodes.
    std::shared_ptr<Capture> before;  // released without the event's lock
    const std::lock_guard lock(e->event->mutex);
    if (!e->wait) {
      before = std::exchange(e->event->capture, stream.capture);
      e->event->capture_tail = stream.capture_tail;
      return cudaSuccess;
    }
    if (!e->event->mark && !e->event->capture) return cudaSuccess;  // never recorded: nothing to wait for
    if (e->event->capture != stream.capture) {
      capture.invalidated = true;
      return cudaErrorStreamCaptureIsolation;
    }
    for (GraphNode* node : e->event->capture_tail)
      if (std::find(stream.capture_tail.begin(), stream.capture_tail.end(), node) == stream.capture_tail.end())
        stream.capture_tail.push_back(node);
    return cudaSuccess;
  }
  const auto* kernel = std::get_if<KernelOperation>(&operation);
  const bool early = kernel && kernel->early;
  GraphNode* const node = capture.graph->add(std::move(operation), stream.capture_tail);
  node->device = stream.device;
  if (early)
    for (const GraphNode* before : stream.capture_tail)
      if (before->type == cudaGraphNodeTypeKernel)
        node->edges[before] = {cudaGraphKernelNodePortProgrammatic, 0, cudaGraphDependencyTypeProgrammatic, {}};
  stream.capture_tail = {node};
  return cudaSuccess;
}

bool is_graph(const Graph* graph) {
  std::lock_guard lock(live_handles().mutex);
  return live_handles().graphs.count(graph) != 0;
}

bool owns_graph(const Graph* graph) {
  HostState& r = HostState::instance();
  std::lock_guard lock(r.mutex);
  return r.graphs.count(graph) != 0;
}

bool is_graph_exec(const GraphExec* exec) {
  HostState& r = HostState::instance();
  std::lock_guard lock(r.mutex);
  return r.graph_execs.count(exec) != 0;
}

}  // namespace warpgrind::semantics
