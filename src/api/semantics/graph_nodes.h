// Creation of graph nodes, and changes of their parameters. Call all functions under GraphsLock.
#pragma once

#include <utility>

#include "semantics/copies.h"
#include "semantics/graph.h"
#include "semantics/launch.h"

namespace warpgrind::semantics {

// Creates a handle for the value of a condition, which kernels set. flags: cudaGraphCondAssignDefault.
cudaError_t create_conditional_handle(cudaGraphConditionalHandle* out, Graph* graph, unsigned initial, unsigned flags);
cudaError_t create_graph(cudaGraph_t* out);
cudaError_t add_node(cudaGraphNode_t* out, Graph* graph, const cudaGraphNode_t* dependencies, std::size_t count,
                     Operation operation);
cudaError_t kernel_operation(const cudaKernelNodeParams* parameters, KernelOperation& out);
cudaError_t fill_operation(const cudaMemsetParams* parameters, FillOperation& out);
cudaMemcpy3DParms linear_parameters(void* to, const void* from, std::size_t count, cudaMemcpyKind kind);
// Allocates the memory of an alloc node. The graph owns it; its address is stored in the parameters.
cudaError_t allocation_operation(cudaMemAllocNodeParams& parameters, Graph& graph, AllocOperation& out);
GraphNode* executable_node(GraphExec* exec, GraphNode* node);  // null: there is none

// Set parameters of an existing node.
cudaError_t set_kernel(GraphNode* node, const cudaKernelNodeParams* parameters);
cudaError_t set_kernel(GraphNode* node, LaunchArguments arguments);  // attributes stay
cudaError_t set_copy(GraphNode* node, const cudaMemcpy3DParms* parameters);
cudaError_t set_linear_copy(GraphNode* node, void* to, const void* from, std::size_t count, cudaMemcpyKind kind);
cudaError_t set_symbol_copy(GraphNode* node, const void* symbol, std::size_t offset, const void* other,
                            std::size_t count, cudaMemcpyKind kind, bool to_symbol);
cudaError_t set_fill(GraphNode* node, const cudaMemsetParams* parameters);
cudaError_t set_host(GraphNode* node, const cudaHostNodeParams* parameters);
cudaError_t set_event(GraphNode* node, Event* event, bool wait);
cudaError_t set_parameters(GraphNode* node, const cudaGraphNodeParams* parameters);

cudaError_t add_copy(cudaGraphNode_t* out, Graph* graph, const cudaGraphNode_t* dependencies, std::size_t count,
                     const cudaMemcpy3DParms* parameters);
cudaError_t add_symbol_copy(cudaGraphNode_t* out, Graph* graph, const cudaGraphNode_t* dependencies, std::size_t count,
                            const void* symbol, std::size_t offset, const void* other, std::size_t bytes,
                            cudaMemcpyKind kind, bool to_symbol);

cudaError_t add_by_parameters(cudaGraphNode_t* out, Graph* graph, const cudaGraphNode_t* dependencies,
                              const cudaGraphEdgeData* edges, std::size_t count, cudaGraphNodeParams* parameters);
// Stores the kinds of the edges to the node that was just added. If they are invalid, removes the node again.
cudaError_t with_edges(cudaError_t added, cudaGraphNode_t* out, const cudaGraphNode_t* dependencies,
                       const cudaGraphEdgeData* edges, std::size_t count);

// Replaces the operation of a node by one of the same kind.
template <class Kind>
cudaError_t replace_operation(GraphNode* node, Operation operation) {
  if (!is_node(node) || !std::holds_alternative<Kind>(node->operation)) return cudaErrorInvalidValue;
  node->operation = std::move(operation);
  return cudaSuccess;
}

// ---- The runtime API's functions of the same names.
cudaError_t graph_destroy(cudaGraph_t graph);
cudaError_t graph_add_kernel_node(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* d, std::size_t n,
                                  const cudaKernelNodeParams* p);
cudaError_t graph_add_memset_node(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* d, std::size_t n,
                                  const cudaMemsetParams* p);
cudaError_t graph_add_host_node(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* d, std::size_t n,
                                const cudaHostNodeParams* p);
cudaError_t graph_add_child_graph_node(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* d, std::size_t n,
                                       cudaGraph_t child);
cudaError_t graph_add_event_record_node(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* d,
                                        std::size_t n, cudaEvent_t event);
cudaError_t graph_add_event_wait_node(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* d, std::size_t n,
                                      cudaEvent_t event);
cudaError_t graph_add_mem_alloc_node(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* d, std::size_t n,
                                     cudaMemAllocNodeParams* p);
// move: the parent takes over the graph itself, which the program must own.
cudaError_t add_child_graph(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* d, std::size_t n,
                            cudaGraph_t child, bool move);
cudaError_t add_memory_node(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* d, std::size_t n,
                            MemoryOperation operation);
cudaError_t set_memory_operation(GraphNode* node, MemoryOperation operation);
cudaError_t graph_destroy_node(cudaGraphNode_t node);
// Attributes of kernel nodes (kernel_nodes.cpp).
cudaError_t kernel_node_set_attribute(GraphNode* node, cudaLaunchAttributeID id, const cudaLaunchAttributeValue* value);
cudaError_t kernel_node_get_attribute(const GraphNode* node, cudaLaunchAttributeID id, cudaLaunchAttributeValue* value);
cudaError_t kernel_node_copy_attributes(GraphNode* to, const GraphNode* from);
cudaError_t graph_exec_child_graph_node_set_params(cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraph_t child);

}  // namespace warpgrind::semantics
