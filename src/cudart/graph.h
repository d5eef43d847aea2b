// Graphs: nodes that hold operations, edges between them, and captures that grow a graph from stream calls.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "cudart/operation.h"

namespace warpgrind::cudart {

struct GraphNode {
  Graph* graph = nullptr;
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  Operation operation;
  std::vector<GraphNode*> dependencies;
  int device = -1;  // of the stream it was captured from; -1: that of the launch
  bool enabled = true;
  // What the API's "get params" gives back for kernel nodes: pointers into the operation's own copy of the arguments.
  std::vector<void*> parameter_pointers;
  cudaMemcpy3DParms copy_parameters{};  // memcpy nodes
  cudaMemsetParams fill_parameters{};   // memset nodes
};

struct UserObject {
  void* pointer = nullptr;
  cudaHostFn_t destroy = nullptr;
  std::atomic<unsigned> references{0};
};

struct Graph {
  std::uint64_t id = 0;
  std::vector<std::unique_ptr<GraphNode>> nodes;         // in order of creation: an order that respects all edges
  std::vector<std::pair<GraphNode*, GraphNode*>> clone;  // in a clone: original node, its copy
  std::vector<void*> memory;                             // of alloc nodes, freed with the graph
  std::vector<UserObject*> user_objects;
  ~Graph();
  GraphNode* add(Operation operation, std::vector<GraphNode*> dependencies);
};

struct GraphExec {
  std::shared_ptr<Graph> graph;  // a clone, so that the original may change
  unsigned long long flags = 0;
};

cudaGraphNodeType type_of(const Operation& operation);
// A deep copy of nodes and edges. Memory of alloc nodes stays with the original.
std::shared_ptr<Graph> clone(const Graph& graph);
GraphNode* find_in_clone(const Graph& clone, const GraphNode* original);
// Nodes so that every one comes after what it depends on; empty when there is a cycle in a graph with nodes.
std::vector<GraphNode*> topological_order(const Graph& graph);
// Runs all enabled nodes, after what is in the stream and before what comes next in it.
cudaError_t launch_nodes(const Graph& graph, Stream& stream);

// The stream's call becomes a node.
cudaError_t capture_operation(Stream& stream, Operation operation);
bool is_graph(const Graph* graph);
bool is_graph_exec(const GraphExec* exec);

}  // namespace warpgrind::cudart
