// Graphs: nodes that hold operations, edges between them, and captures that grow a graph from stream calls.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "base/host_stack.h"
#include "host/operation.h"

namespace warpgrind::host {

struct GraphNode {
  GraphNode();
  ~GraphNode();
  GraphNode(const GraphNode&) = delete;
  GraphNode& operator=(const GraphNode&) = delete;

  std::uint64_t id = 0;  // never used again, so that a clone knows its original when that is gone
  Graph* graph = nullptr;
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  Operation operation;
  std::vector<GraphNode*> dependencies;
  std::shared_ptr<const HostStack> made;  // the call that made it, in a check of races
  int device = -1;                        // of the stream it was captured from; -1: that of the launch
  bool enabled = true;
  // What the API's "get params" gives back for kernel nodes: pointers into the operation's own copy of the arguments.
  std::vector<void*> parameter_pointers;
  cudaMemcpy3DParms copy_parameters{};  // memcpy nodes
  cudaMemsetParams fill_parameters{};   // memset nodes
  // Edges from nodes it depends on that are not of the default kind: they may begin it early, which we never do.
  std::map<const GraphNode*, cudaGraphEdgeData> edges;
  // Of kernel nodes, those that were set; what decides the launch is in the operation.
  std::map<cudaLaunchAttributeID, cudaLaunchAttributeValue> attributes;

  cudaGraphEdgeData edge_from(const GraphNode* node) const {
    const auto found = edges.find(node);
    return found == edges.end() ? cudaGraphEdgeData{} : found->second;
  }
};
bool is_node(const GraphNode* node);  // a node of a graph that lives

// What cudaUserObjectCreate made: destroyed with its last reference.
struct UserObject {
  void* pointer = nullptr;
  cudaHostFn_t destroy = nullptr;
  unsigned references = 0;
};
cudaError_t create_user_object(cudaUserObject_t* out, void* pointer, cudaHostFn_t destroy, unsigned count);
cudaError_t retain(UserObject* object, unsigned count);
cudaError_t release(UserObject* object, unsigned count);

// References that a graph holds; its clones and executable graphs share them, and the last one gives them back.
struct UserReferences {
  UserObject* object = nullptr;
  unsigned count = 0;
  UserReferences(UserObject* o, unsigned n) : object(o), count(n) {}
  ~UserReferences();
  UserReferences(const UserReferences&) = delete;
  UserReferences& operator=(const UserReferences&) = delete;
};

// Memory of an alloc node, shared likewise.
struct GraphMemory {
  void* pointer = nullptr;
  std::size_t bytes = 0;
  int device = 0;
  GraphMemory(void* p, std::size_t n, int d) : pointer(p), bytes(n), device(d) {}
  ~GraphMemory();
  GraphMemory(const GraphMemory&) = delete;
  GraphMemory& operator=(const GraphMemory&) = delete;
};

struct Graph {
  Graph();
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  std::uint64_t id = 0;
  std::vector<std::unique_ptr<GraphNode>> nodes;            // in order of creation: an order that respects all edges
  std::vector<std::pair<std::uint64_t, GraphNode*>> clone;  // in a clone: id of the original node, its copy
  std::vector<std::shared_ptr<GraphMemory>> memory;
  std::vector<std::shared_ptr<UserReferences>> user_objects;
  struct Condition {
    std::uint64_t handle = 0;
    std::uint32_t initial = 0;
    bool at_launch = false;  // each launch begins with the initial value
  };
  std::vector<Condition> conditions;  // handles that the graph made
  GraphNode* add(Operation operation, std::vector<GraphNode*> dependencies);
  void remove(GraphNode* node);
};

struct GraphExec {
  std::shared_ptr<Graph> graph;  // a clone, so that the original may change
  unsigned long long flags = 0;
};

// CU_GRAPH_NODE_TYPE_BATCH_MEM_OP of the driver API: the runtime has no name for it.
inline constexpr auto kMemoryNode = static_cast<cudaGraphNodeType>(12);
cudaGraphNodeType type_of(const Operation& operation);
ConditionalOperation make_conditional(ConditionalOperation::Kind kind, std::uint64_t handle,
                                      std::vector<std::shared_ptr<Graph>> bodies);
// A deep copy of nodes and edges. Memory of alloc nodes and user objects are shared with the original.
std::unique_ptr<Graph> clone(const Graph& graph);
GraphNode* find_in_clone(const Graph& clone, const GraphNode* original);
// Nodes so that every one comes after what it depends on; empty when there is a cycle in a graph with nodes.
std::vector<GraphNode*> topological_order(const Graph& graph);
// What launch_graph() would compile, under GraphsLock: to be compiled before, without it.
std::vector<KernelShape> kernel_shapes(const Graph& graph, int device);
// Issues all enabled nodes, after what is in the stream and before what comes next in it. The graph may change or go
// afterwards. A conditional node is waited for here: what runs then is issued in its order, so that it has its place on
// the timeline (whose host does not wait).
cudaError_t launch_graph(const Graph& graph, const StreamRef& stream);

// The stream's call becomes a node.
cudaError_t capture_operation(Stream& stream, Operation operation);  // under GraphsLock
bool is_graph(const Graph* graph);                                   // also one within a graph
bool owns_graph(const Graph* graph);                                 // one that the program has to destroy
bool is_graph_exec(const GraphExec* exec);

}  // namespace warpgrind::host
