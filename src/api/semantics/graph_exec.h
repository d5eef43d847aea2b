// Functions on whole graphs: edges, queries, clones, instantiation, launches, updates. Call them under GraphsLock,
// except for graph_launch.
#pragma once

#include "semantics/graph.h"

namespace warpgrind::semantics {

cudaError_t instantiate(cudaGraphExec_t* out, Graph* graph, unsigned long long flags);
cudaError_t graph_upload(GraphExec* exec);
// Compiles new kernels without a lock.
cudaError_t graph_launch(GraphExec* exec, cudaStream_t stream);
// Takes over the node parameters of `graph`, which must have the same shape and kinds of node. Kernel functions may
// differ.
cudaError_t update_graph_exec(GraphExec& exec, const Graph& graph, cudaGraphExecUpdateResultInfo& info);

// ---- The runtime API's functions of the same names.
cudaError_t graph_instantiate_with_params(cudaGraphExec_t* out, cudaGraph_t graph, cudaGraphInstantiateParams* p);
cudaError_t graph_exec_get_flags(cudaGraphExec_t exec, unsigned long long* flags);
cudaError_t graph_exec_destroy(cudaGraphExec_t exec);
cudaError_t graph_exec_update(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo* info);
cudaError_t graph_clone(cudaGraph_t* out, cudaGraph_t graph);
cudaError_t graph_node_find_in_clone(cudaGraphNode_t* out, cudaGraphNode_t node, cudaGraph_t graph);
cudaError_t graph_node_get_type(cudaGraphNode_t node, cudaGraphNodeType* type);
cudaError_t graph_get_nodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count);
cudaError_t graph_get_root_nodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count);
cudaError_t graph_get_edges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, cudaGraphEdgeData* data,
                            std::size_t* count);
// Edges to a node. check_edges() checks that their kinds are valid; set_edges() stores those that are not of the
// default kind. data may be null.
cudaError_t check_edges(const cudaGraphNode_t* from, const GraphNode& to, const cudaGraphEdgeData* data,
                        std::size_t count);
void set_edges(const cudaGraphNode_t* from, GraphNode& to, const cudaGraphEdgeData* data, std::size_t count);
// data: may be null if all edges are of the default kind, else cudaErrorLossyQuery.
cudaError_t graph_node_get_dependencies(cudaGraphNode_t node, cudaGraphNode_t* out, cudaGraphEdgeData* data,
                                        std::size_t* count);
cudaError_t graph_node_get_dependent_nodes(cudaGraphNode_t node, cudaGraphNode_t* out, cudaGraphEdgeData* data,
                                           std::size_t* count);
cudaError_t graph_add_dependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                   const cudaGraphEdgeData* data, std::size_t count);
cudaError_t graph_remove_dependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                      const cudaGraphEdgeData* data, std::size_t count);
cudaError_t graph_node_set_enabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned enabled);
cudaError_t graph_node_get_enabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned* enabled);
cudaError_t device_get_graph_mem_attribute(int device, cudaGraphMemAttributeType attribute, void* value);
cudaError_t device_set_graph_mem_attribute(int device, cudaGraphMemAttributeType attribute, void* value);
cudaError_t user_object_create(cudaUserObject_t* out, void* pointer, cudaHostFn_t destroy, unsigned count);
cudaError_t graph_retain_user_object(cudaGraph_t graph, cudaUserObject_t object, unsigned count, unsigned flags);
cudaError_t graph_release_user_object(cudaGraph_t graph, cudaUserObject_t object, unsigned count);

}  // namespace warpgrind::semantics
