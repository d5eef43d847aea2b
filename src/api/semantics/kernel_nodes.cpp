// Kernel nodes of graphs: their launch parameters and attributes.
#include <algorithm>

#include "semantics/graph_nodes.h"
#include "semantics/state.h"
#include "semantics/streams.h"

namespace warpgrind::semantics {

namespace {

// CUDA runtime API, cudaKernelNodeAttribute*.
bool of_kernel_nodes(cudaLaunchAttributeID id) {
  switch (id) {
    case cudaLaunchAttributeAccessPolicyWindow:
    case cudaLaunchAttributeCooperative:
    case cudaLaunchAttributeClusterDimension:
    case cudaLaunchAttributeClusterSchedulingPolicyPreference:
    case cudaLaunchAttributePriority:
    case cudaLaunchAttributeMemSyncDomainMap:
    case cudaLaunchAttributeMemSyncDomain:
    case cudaLaunchAttributePreferredClusterDimension:
    case cudaLaunchAttributeDeviceUpdatableKernelNode:
    case cudaLaunchAttributePreferredSharedMemoryCarveout:
      return true;
    default:
      return false;
  }
}

dim3 to_dim3(const Dim3& d) {
  return {d.x, d.y, d.z};
}

// The launch arguments of the node. The kernel's parameters still belong to the operation.
LaunchArguments launch_of(const KernelOperation& op) {
  LaunchArguments a;
  a.function = op.kernel->host_function ? op.kernel->host_function : op.kernel;
  a.grid = to_dim3(op.config.grid);
  a.block = to_dim3(op.config.block);
  a.shared = op.config.dynamic_shared;
  a.packed = op.parameters.bytes;
  a.cooperative = op.config.cooperative;
  a.early = op.early;
  a.carveout_percent = op.carveout_percent;
  return a;
}

void put_into(LaunchArguments& a, const std::map<cudaLaunchAttributeID, cudaLaunchAttributeValue>& attributes) {
  for (const auto& [id, value] : attributes) {
    if (id == cudaLaunchAttributeCooperative)
      a.cooperative = value.cooperative != 0;
    else if (id == cudaLaunchAttributeClusterDimension)
      a.cluster = {value.clusterDim.x, value.clusterDim.y, value.clusterDim.z};
    else if (id == cudaLaunchAttributePreferredSharedMemoryCarveout)
      a.carveout_percent = static_cast<int>(value.sharedMemCarveout);
  }
}

KernelOperation* kernel_of(GraphNode* node) {
  return is_node(node) ? std::get_if<KernelOperation>(&node->operation) : nullptr;
}

cudaError_t check_attribute(cudaLaunchAttributeID id, cudaLaunchAttributeValue& value) {
  if (!of_kernel_nodes(id)) return cudaErrorInvalidValue;
  if (id == cudaLaunchAttributePriority) value.priority = std::clamp(value.priority, kGreatestPriority, 0);
  if (id == cudaLaunchAttributePreferredSharedMemoryCarveout && value.sharedMemCarveout > 100 &&
      value.sharedMemCarveout != static_cast<unsigned>(cudaSharedmemCarveoutDefault))
    return cudaErrorInvalidValue;
  if (id == cudaLaunchAttributeDeviceUpdatableKernelNode && value.deviceUpdatableKernelNode.deviceUpdatable)
    return not_supported("graph nodes that kernels change (cudaLaunchAttributeDeviceUpdatableKernelNode)");
  return cudaSuccess;
}

}  // namespace

cudaError_t set_kernel(GraphNode* node, LaunchArguments a) {
  if (!kernel_of(node)) return cudaErrorInvalidValue;
  put_into(a, node->attributes);
  KernelOperation op;
  if (cudaError_t error = make_kernel(a, op)) return error;
  return replace_operation<KernelOperation>(node, std::move(op));
}

cudaError_t kernel_node_set_attribute(GraphNode* node, cudaLaunchAttributeID id,
                                      const cudaLaunchAttributeValue* value) {
  const KernelOperation* op = kernel_of(node);
  if (!op || !value) return cudaErrorInvalidValue;
  cudaLaunchAttributeValue checked = *value;
  if (cudaError_t error = check_attribute(id, checked)) return error;
  auto attributes = node->attributes;
  attributes[id] = checked;
  // The launch must be valid with the attribute, too.
  const KernelOperation before = *op;
  LaunchArguments a = launch_of(before);
  put_into(a, attributes);
  KernelOperation after;
  if (cudaError_t error = make_kernel(a, after)) return error;
  node->operation = std::move(after);
  node->attributes = std::move(attributes);
  return cudaSuccess;
}

cudaError_t kernel_node_get_attribute(const GraphNode* node, cudaLaunchAttributeID id,
                                      cudaLaunchAttributeValue* value) {
  const auto* op = is_node(node) ? std::get_if<KernelOperation>(&node->operation) : nullptr;
  if (!op || !value || !of_kernel_nodes(id)) return cudaErrorInvalidValue;
  *value = {};
  if (const auto set = node->attributes.find(id); set != node->attributes.end())
    *value = set->second;
  else if (id == cudaLaunchAttributeCooperative)  // from a captured launch
    value->cooperative = op->config.cooperative;
  else if (id == cudaLaunchAttributeClusterDimension && op->config.cluster.count() > 1)
    value->clusterDim = {op->config.cluster.x, op->config.cluster.y, op->config.cluster.z};
  else if (id == cudaLaunchAttributePreferredSharedMemoryCarveout)
    value->sharedMemCarveout = static_cast<unsigned>(op->carveout_percent);
  return cudaSuccess;
}

cudaError_t kernel_node_copy_attributes(GraphNode* to, const GraphNode* from) {
  if (!kernel_of(to) || !is_node(from) || !std::holds_alternative<KernelOperation>(from->operation))
    return cudaErrorInvalidValue;
  for (const auto& [id, value] : std::map(from->attributes))
    if (cudaError_t error = kernel_node_set_attribute(to, id, &value)) return error;
  return cudaSuccess;
}

}  // namespace warpgrind::semantics
