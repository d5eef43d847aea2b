// Graphs: nodes that hold operations, edges between nodes, and captures that build a graph from stream calls.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "base/host_stack.h"
#include "semantics/graph_memory.h"
#include "semantics/launch.h"

namespace warpgrind::semantics {

struct GraphNode {
  GraphNode();
  ~GraphNode();
  GraphNode(const GraphNode&) = delete;
  GraphNode& operator=(const GraphNode&) = delete;

  std::uint64_t id = 0;  // never reused, so that a clone can name its original after that was destroyed
  Graph* graph = nullptr;
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  Operation operation;
  std::vector<GraphNode*> dependencies;
  std::shared_ptr<const HostStack> made;  // the call that created it, in a check of races
  int device = -1;                        // of the stream it was captured from; -1: that of the launch
  bool enabled = true;
  // Result of the API's "get params" for kernel nodes: pointers into the operation's own copy of the arguments.
  std::vector<void*> parameter_pointers;
  cudaMemcpy3DParms copy_parameters{};  // memcpy nodes
  cudaMemsetParams fill_parameters{};   // memset nodes
  // Edges from its dependencies that are not of the default kind. They allow an early start of the node, which never
  // happens here.
  std::map<const GraphNode*, cudaGraphEdgeData> edges;
  // Attributes that were set on a kernel node. Values that the launch uses are in the operation.
  std::map<cudaLaunchAttributeID, cudaLaunchAttributeValue> attributes;

  cudaGraphEdgeData edge_from(const GraphNode* node) const {
    const auto found = edges.find(node);
    return found == edges.end() ? cudaGraphEdgeData{} : found->second;
  }
};
bool is_node(const GraphNode* node);  // a node of a graph that exists

// Object of cudaUserObjectCreate; destroyed with its last reference.
struct UserObject {
  void* pointer = nullptr;
  cudaHostFn_t destroy = nullptr;
  unsigned references = 0;
};
cudaError_t create_user_object(cudaUserObject_t* out, void* pointer, cudaHostFn_t destroy, unsigned count);
cudaError_t retain(UserObject* object, unsigned count);
cudaError_t release(UserObject* object, unsigned count);

// References that a graph holds. Its clones and executable graphs share them; the last one releases them.
struct UserReferences {
  UserObject* object = nullptr;
  unsigned count = 0;
  UserReferences(UserObject* o, unsigned n) : object(o), count(n) {}
  ~UserReferences();
  UserReferences(const UserReferences&) = delete;
  UserReferences& operator=(const UserReferences&) = delete;
};

struct Graph {
  Graph();
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  std::uint64_t id = 0;
  std::vector<std::unique_ptr<GraphNode>> nodes;            // in order of creation, which respects all edges
  std::vector<std::pair<std::uint64_t, GraphNode*>> clone;  // in a clone: id of the original node, its copy
  std::vector<std::shared_ptr<GraphMemory>> memory;
  std::vector<std::shared_ptr<UserReferences>> user_objects;
  struct Condition {
    std::uint64_t handle = 0;
    std::uint32_t initial = 0;
    bool at_launch = false;  // each launch begins with the initial value
  };
  std::vector<Condition> conditions;  // handles created for the graph
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
// Nodes, each after its dependencies; empty if the graph has a cycle (or no nodes).
std::vector<GraphNode*> topological_order(const Graph& graph);
// Kernels that launch_graph() would compile. Call under GraphsLock, then compile them without the lock.
std::vector<KernelShape> kernel_shapes(const Graph& graph, int device);
// Issues all enabled nodes, after the work in the stream and before its next work. The graph may be changed or
// destroyed afterwards. The call waits for a conditional node, so that its body is issued in order and has its place on
// the timeline. It also waits for kernels that may launch graphs (device_graphs.h). On the timeline, the host does not
// wait.
cudaError_t launch_graph(GraphExec& exec, const StreamRef& stream);

// Adds the operation of a stream call as a node of the stream's capture.
cudaError_t capture_operation(Stream& stream, Operation operation);  // under GraphsLock
bool is_graph(const Graph* graph);                                   // also for child graphs
bool owns_graph(const Graph* graph);                                 // true: the program has to destroy it
bool is_graph_exec(const GraphExec* exec);

}  // namespace warpgrind::semantics
