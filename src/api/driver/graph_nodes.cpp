// Graph nodes of the driver API: adding them, and reading and setting their parameters in graphs and executable graphs.
#include "semantics/graph_nodes.h"

#include <algorithm>

#include "driver/graph_parameters.h"
#include "driver/stream_memory.h"
#include "semantics/graph_exec.h"

namespace warpgrind::driver {

namespace {

// Graph and dependencies of a new node, and the output for its handle.
struct Spot {
  CUgraphNode* node;
  CUgraph graph;
  const CUgraphNode* dependencies;
  size_t count;
};

// Adds a node that runs on the device of `context`.
template <class Add>
CUresult add_for(const Spot& at, CUcontext context, Add add) {
  int device = -1;
  if (const CUresult error = device_of(context, device); error != CUDA_SUCCESS) return error;
  const CUresult error = driver_error(add());
  if (error == CUDA_SUCCESS) (*at.node)->device = device;
  return error;
}

// Converts older versions of the parameters to the newest. The members are the same.
template <class Old>
CUDA_KERNEL_NODE_PARAMS_v3 newest(const Old& p) {
  CUDA_KERNEL_NODE_PARAMS_v3 out{};
  out.func = p.func;
  out.gridDimX = p.gridDimX, out.gridDimY = p.gridDimY, out.gridDimZ = p.gridDimZ;
  out.blockDimX = p.blockDimX, out.blockDimY = p.blockDimY, out.blockDimZ = p.blockDimZ;
  out.sharedMemBytes = p.sharedMemBytes;
  out.kernelParams = p.kernelParams;
  out.extra = p.extra;
  if constexpr (!std::is_same_v<Old, CUDA_KERNEL_NODE_PARAMS_v1>) {
    out.kern = p.kern;
    out.ctx = p.ctx;
  }
  return out;
}

CUresult add_kernel(const Spot& at, const CUDA_KERNEL_NODE_PARAMS_v3& p) {
  semantics::LaunchArguments a;
  if (const CUresult error = launch_of(p, a); error != CUDA_SUCCESS) return error;
  return add_for(at, p.func ? nullptr : p.ctx, [&]() -> cudaError_t {
    semantics::KernelOperation op;
    if (const cudaError_t error = semantics::make_kernel(a, op)) return error;
    return semantics::add_node(at.node, at.graph, at.dependencies, at.count, std::move(op));
  });
}
CUresult set_kernel(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v3& p) {
  semantics::LaunchArguments a;
  if (const CUresult error = launch_of(p, a); error != CUDA_SUCCESS) return error;
  return driver_error(semantics::set_kernel(node, a));
}

CUresult add_copy(const Spot& at, const CUDA_MEMCPY3D* p, CUcontext context) {
  cudaMemcpy3DParms copy;
  if (const CUresult error = copy_of(p, copy); error != CUDA_SUCCESS) return error;
  return add_for(at, context, [&] { return semantics::add_copy(at.node, at.graph, at.dependencies, at.count, &copy); });
}
CUresult set_copy(CUgraphNode node, const CUDA_MEMCPY3D* p) {
  cudaMemcpy3DParms copy;
  if (const CUresult error = copy_of(p, copy); error != CUDA_SUCCESS) return error;
  return driver_error(semantics::set_copy(node, &copy));
}

// Fill: the structure with or without a context as its last member.
template <class Fill>
cudaMemsetParams fill_of(const Fill& p) {
  return {reinterpret_cast<void*>(p.dst), p.pitch, p.value, p.elementSize, p.width, p.height};
}
CUresult add_fill(const Spot& at, const cudaMemsetParams& fill, CUcontext context) {
  return add_for(at, context,
                 [&] { return semantics::graph_add_memset_node(at.node, at.graph, at.dependencies, at.count, &fill); });
}

CUresult add_memory(const Spot& at, const CUDA_BATCH_MEM_OP_NODE_PARAMS_v2& p) {
  semantics::MemoryOperation op;
  if (const CUresult error = memory_operation(p.paramArray, p.count, p.flags, op); error != CUDA_SUCCESS) return error;
  return add_for(at, p.ctx, [&] {
    return semantics::add_memory_node(at.node, at.graph, at.dependencies, at.count, std::move(op));
  });
}
CUresult set_memory(CUgraphNode node, const CUDA_BATCH_MEM_OP_NODE_PARAMS_v2& p) {
  semantics::MemoryOperation op;
  if (const CUresult error = memory_operation(p.paramArray, p.count, p.flags, op); error != CUDA_SUCCESS) return error;
  return driver_error(semantics::set_memory_operation(node, std::move(op)));
}

// Adds a node of a type whose parameters are the same in both APIs.
CUresult add_alike(const Spot& at, CUgraphNodeParams& p) {
  cudaGraphNodeParams same{};
  same.type = static_cast<cudaGraphNodeType>(p.type);
  std::copy(std::begin(p.reserved1), std::end(p.reserved1), same.reserved1);
  const CUresult error =
      driver_error(semantics::add_by_parameters(at.node, at.graph, at.dependencies, nullptr, at.count, &same));
  std::copy(std::begin(same.reserved1), std::end(same.reserved1), p.reserved1);
  return error;
}

CUresult add_any(const Spot& at, CUgraphNodeParams& p) {
  switch (p.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      return add_kernel(at, p.kernel);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return add_copy(at, &p.memcpy.copyParams, p.memcpy.copyCtx);
    case CU_GRAPH_NODE_TYPE_MEMSET:
      return add_fill(at, fill_of(p.memset), p.memset.ctx);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
      return add_memory(at, p.memOp);
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
      return not_supported("a graph node of this type (external semaphore)");
    default:
      return p.type >= 0 && p.type <= CU_GRAPH_NODE_TYPE_CONDITIONAL ? add_alike(at, p) : CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult set_any(CUgraphNode node, const CUgraphNodeParams& p) {
  switch (p.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      return set_kernel(node, p.kernel);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return set_copy(node, &p.memcpy.copyParams);
    case CU_GRAPH_NODE_TYPE_MEMSET: {
      const cudaMemsetParams fill = fill_of(p.memset);
      return driver_error(semantics::set_fill(node, &fill));
    }
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
      return set_memory(node, p.memOp);
    case CU_GRAPH_NODE_TYPE_HOST:
      return driver_error(semantics::set_host(node, as<const cudaHostNodeParams>(&p.host)));
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      return driver_error(semantics::set_event(node, p.eventWait.event, true));
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      return driver_error(semantics::set_event(node, p.eventRecord.event, false));
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
      return not_supported("new parameters for this type of graph node");
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

// graph_call() for a body that returns a CUresult.
template <class Body>
CUresult with_graphs(Body&& body, const char* call = __builtin_FUNCTION()) {
  return driver(
      [&]() -> CUresult {
        const semantics::GraphsLock lock;
        return body();
      },
      call);
}

// Calls give(operation) if the node's operation is of this kind.
template <class Kind, class Out, class Give>
CUresult read(CUgraphNode node, Out* out, Give give, const char* call = __builtin_FUNCTION()) {
  return with_graphs(
      [&]() -> CUresult {
        auto* op = semantics::is_node(node) ? std::get_if<Kind>(&node->operation) : nullptr;
        if (!op || !out) return CUDA_ERROR_INVALID_VALUE;
        return give(*op);
      },
      call);
}

template <class Params>
CUresult read_kernel(CUgraphNode node, Params* parameters, const char* call = __builtin_FUNCTION()) {
  return read<semantics::KernelOperation>(
      node, parameters,
      [&](semantics::KernelOperation& op) {
        const CUDA_KERNEL_NODE_PARAMS_v3 p = parameters_of(*node, op);
        *parameters = {};
        parameters->func = p.func;
        parameters->gridDimX = p.gridDimX, parameters->gridDimY = p.gridDimY, parameters->gridDimZ = p.gridDimZ;
        parameters->blockDimX = p.blockDimX, parameters->blockDimY = p.blockDimY, parameters->blockDimZ = p.blockDimZ;
        parameters->sharedMemBytes = p.sharedMemBytes;
        parameters->kernelParams = p.kernelParams;
        return CUDA_SUCCESS;
      },
      call);
}

CUDA_BATCH_MEM_OP_NODE_PARAMS_v2 newest(const CUDA_BATCH_MEM_OP_NODE_PARAMS& p) {
  return {p.ctx, p.count, p.paramArray, p.flags};
}

}  // namespace

// ---- Kernels
CUresult cuGraphAddKernelNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                                 const CUDA_KERNEL_NODE_PARAMS* parameters) {
  return with_graphs([&]() -> CUresult {
    return parameters ? add_kernel({node, graph, dependencies, count}, newest(*parameters)) : CUDA_ERROR_INVALID_VALUE;
  });
}
CUresult cuGraphAddKernelNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                              const CUDA_KERNEL_NODE_PARAMS_v1* parameters) {
  return with_graphs([&]() -> CUresult {
    return parameters ? add_kernel({node, graph, dependencies, count}, newest(*parameters)) : CUDA_ERROR_INVALID_VALUE;
  });
}
CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS* parameters) {
  return read_kernel(node, parameters);
}
CUresult cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v1* parameters) {
  return read_kernel(node, parameters);
}
CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS* parameters) {
  return with_graphs(
      [&]() -> CUresult { return parameters ? set_kernel(node, newest(*parameters)) : CUDA_ERROR_INVALID_VALUE; });
}
CUresult cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1* parameters) {
  return with_graphs(
      [&]() -> CUresult { return parameters ? set_kernel(node, newest(*parameters)) : CUDA_ERROR_INVALID_VALUE; });
}
CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node,
                                           const CUDA_KERNEL_NODE_PARAMS* parameters) {
  return with_graphs([&]() -> CUresult {
    return parameters ? set_kernel(semantics::executable_node(exec, node), newest(*parameters))
                      : CUDA_ERROR_INVALID_VALUE;
  });
}
CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_KERNEL_NODE_PARAMS_v1* parameters) {
  return with_graphs([&]() -> CUresult {
    return parameters ? set_kernel(semantics::executable_node(exec, node), newest(*parameters))
                      : CUDA_ERROR_INVALID_VALUE;
  });
}
CUresult cuGraphKernelNodeSetAttribute(CUgraphNode node, CUkernelNodeAttrID attribute,
                                       const CUkernelNodeAttrValue* value) {
  return graph_call([&] {
    return semantics::kernel_node_set_attribute(node, static_cast<cudaLaunchAttributeID>(attribute),
                                                as<const cudaLaunchAttributeValue>(value));
  });
}
CUresult cuGraphKernelNodeGetAttribute(CUgraphNode node, CUkernelNodeAttrID attribute, CUkernelNodeAttrValue* value) {
  return graph_call([&] {
    return semantics::kernel_node_get_attribute(node, static_cast<cudaLaunchAttributeID>(attribute),
                                                as<cudaLaunchAttributeValue>(value));
  });
}
CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode to, CUgraphNode from) {
  return graph_call([&] { return semantics::kernel_node_copy_attributes(to, from); });
}

// ---- Copies and fills
CUresult cuGraphAddMemcpyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                              const CUDA_MEMCPY3D* copy, CUcontext context) {
  return with_graphs([&] { return add_copy({node, graph, dependencies, count}, copy, context); });
}
CUresult cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D* parameters) {
  return read<semantics::CopyOperation>(node, parameters, [&](const semantics::CopyOperation&) {
    *parameters = parameters_of(node->copy_parameters);
    return CUDA_SUCCESS;
  });
}
CUresult cuGraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D* parameters) {
  return with_graphs([&] { return set_copy(node, parameters); });
}
CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D* copy,
                                        CUcontext context) {
  return with_graphs([&]() -> CUresult {
    int device = -1;
    if (const CUresult error = device_of(context, device); error != CUDA_SUCCESS) return error;
    return set_copy(semantics::executable_node(exec, node), copy);
  });
}
CUresult cuGraphAddMemsetNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                              const CUDA_MEMSET_NODE_PARAMS* fill, CUcontext context) {
  return with_graphs([&]() -> CUresult {
    return fill ? add_fill({node, graph, dependencies, count}, fill_of(*fill), context) : CUDA_ERROR_INVALID_VALUE;
  });
}
CUresult cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS* parameters) {
  return read<semantics::FillOperation>(node, parameters, [&](const semantics::FillOperation&) {
    *parameters = *as<const CUDA_MEMSET_NODE_PARAMS>(&node->fill_parameters);
    return CUDA_SUCCESS;
  });
}
CUresult cuGraphMemsetNodeSetParams(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS* parameters) {
  return graph_call([&] { return semantics::set_fill(node, as<const cudaMemsetParams>(parameters)); });
}
CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS* fill,
                                        CUcontext context) {
  return with_graphs([&]() -> CUresult {
    int device = -1;
    if (const CUresult error = device_of(context, device); error != CUDA_SUCCESS) return error;
    return driver_error(semantics::set_fill(semantics::executable_node(exec, node), as<const cudaMemsetParams>(fill)));
  });
}

// ---- Host functions, child graphs, empty nodes
CUresult cuGraphAddHostNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                            const CUDA_HOST_NODE_PARAMS* parameters) {
  return graph_call([&] {
    return semantics::graph_add_host_node(node, graph, dependencies, count, as<const cudaHostNodeParams>(parameters));
  });
}
CUresult cuGraphHostNodeGetParams(CUgraphNode node, CUDA_HOST_NODE_PARAMS* parameters) {
  return read<semantics::HostOperation>(node, parameters, [&](const semantics::HostOperation& op) {
    *parameters = {op.function, op.data};
    return CUDA_SUCCESS;
  });
}
CUresult cuGraphHostNodeSetParams(CUgraphNode node, const CUDA_HOST_NODE_PARAMS* parameters) {
  return graph_call([&] { return semantics::set_host(node, as<const cudaHostNodeParams>(parameters)); });
}
CUresult cuGraphExecHostNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_HOST_NODE_PARAMS* parameters) {
  return graph_call([&] {
    return semantics::set_host(semantics::executable_node(exec, node), as<const cudaHostNodeParams>(parameters));
  });
}
CUresult cuGraphAddChildGraphNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                                  CUgraph child) {
  return graph_call([&] { return semantics::graph_add_child_graph_node(node, graph, dependencies, count, child); });
}
CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph* graph) {
  return read<semantics::ChildGraphOperation>(node, graph, [&](const semantics::ChildGraphOperation& op) {
    *graph = op.graph.get();
    return CUDA_SUCCESS;
  });
}
CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraph child) {
  return graph_call([&] { return semantics::graph_exec_child_graph_node_set_params(exec, node, child); });
}
CUresult cuGraphAddEmptyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t count) {
  return graph_call([&] { return semantics::add_node(node, graph, dependencies, count, semantics::EmptyOperation{}); });
}

// ---- Events
CUresult cuGraphAddEventRecordNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                                   CUevent event) {
  return graph_call([&] { return semantics::graph_add_event_record_node(node, graph, dependencies, count, event); });
}
CUresult cuGraphAddEventWaitNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                                 CUevent event) {
  return graph_call([&] { return semantics::graph_add_event_wait_node(node, graph, dependencies, count, event); });
}

namespace {

CUresult event_of(CUgraphNode node, CUevent* event, bool wait) {
  return read<semantics::EventOperation>(node, event, [&](const semantics::EventOperation& op) {
    if (op.wait != wait) return CUDA_ERROR_INVALID_VALUE;
    *event = op.event.get();
    return CUDA_SUCCESS;
  });
}

}  // namespace

CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode node, CUevent* event) {
  return event_of(node, event, false);
}
CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode node, CUevent* event) {
  return event_of(node, event, true);
}
CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode node, CUevent event) {
  return graph_call([&] { return semantics::set_event(node, event, false); });
}
CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode node, CUevent event) {
  return graph_call([&] { return semantics::set_event(node, event, true); });
}
CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec exec, CUgraphNode node, CUevent event) {
  return graph_call([&] { return semantics::set_event(semantics::executable_node(exec, node), event, false); });
}
CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec exec, CUgraphNode node, CUevent event) {
  return graph_call([&] { return semantics::set_event(semantics::executable_node(exec, node), event, true); });
}

// ---- Memory
CUresult cuGraphAddMemAllocNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                                CUDA_MEM_ALLOC_NODE_PARAMS* parameters) {
  return graph_call([&] {
    return semantics::graph_add_mem_alloc_node(node, graph, dependencies, count,
                                               as<cudaMemAllocNodeParams>(parameters));
  });
}
CUresult cuGraphMemAllocNodeGetParams(CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS* parameters) {
  return read<semantics::AllocOperation>(node, parameters, [&](const semantics::AllocOperation& op) {
    *parameters = {};
    parameters->poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    parameters->poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, op.device};
    parameters->bytesize = op.bytes;
    parameters->dptr = reinterpret_cast<CUdeviceptr>(op.pointer);
    return CUDA_SUCCESS;
  });
}
CUresult cuGraphAddMemFreeNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                               CUdeviceptr pointer) {
  return graph_call([&] {
    return pointer ? semantics::add_node(node, graph, dependencies, count,
                                         semantics::FreeOperation{reinterpret_cast<void*>(pointer)})
                   : cudaErrorInvalidValue;
  });
}
CUresult cuGraphMemFreeNodeGetParams(CUgraphNode node, CUdeviceptr* pointer) {
  return read<semantics::FreeOperation>(node, pointer, [&](const semantics::FreeOperation& op) {
    *pointer = reinterpret_cast<CUdeviceptr>(op.pointer);
    return CUDA_SUCCESS;
  });
}
CUresult cuGraphAddBatchMemOpNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                                  const CUDA_BATCH_MEM_OP_NODE_PARAMS* parameters) {
  return with_graphs([&]() -> CUresult {
    return parameters ? add_memory({node, graph, dependencies, count}, newest(*parameters)) : CUDA_ERROR_INVALID_VALUE;
  });
}
CUresult cuGraphBatchMemOpNodeGetParams(CUgraphNode node, CUDA_BATCH_MEM_OP_NODE_PARAMS* parameters) {
  return read<semantics::MemoryOperation>(node, parameters, [&](const semantics::MemoryOperation& op) {
    auto* given = static_cast<CUstreamBatchMemOpParams*>(const_cast<void*>(op.given.get()));
    *parameters = {current_context(), static_cast<unsigned>(op.steps.size()), given, 0};
    return CUDA_SUCCESS;
  });
}
CUresult cuGraphBatchMemOpNodeSetParams(CUgraphNode node, const CUDA_BATCH_MEM_OP_NODE_PARAMS* parameters) {
  return with_graphs(
      [&]() -> CUresult { return parameters ? set_memory(node, newest(*parameters)) : CUDA_ERROR_INVALID_VALUE; });
}
CUresult cuGraphExecBatchMemOpNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                            const CUDA_BATCH_MEM_OP_NODE_PARAMS* parameters) {
  return with_graphs([&]() -> CUresult {
    return parameters ? set_memory(semantics::executable_node(exec, node), newest(*parameters))
                      : CUDA_ERROR_INVALID_VALUE;
  });
}

// ---- Of any type
CUresult cuGraphAddNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                           const CUgraphEdgeData* edges, size_t count, CUgraphNodeParams* parameters) {
  return with_graphs([&]() -> CUresult {
    if (!parameters) return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult error = add_any({node, graph, dependencies, count}, *parameters); error != CUDA_SUCCESS)
      return error;
    return driver_error(
        semantics::with_edges(cudaSuccess, node, dependencies, as<const cudaGraphEdgeData>(edges), count));
  });
}
CUresult cuGraphAddNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                        CUgraphNodeParams* parameters) {
  return cuGraphAddNode_v2(node, graph, dependencies, nullptr, count, parameters);
}
CUresult cuGraphNodeSetParams(CUgraphNode node, CUgraphNodeParams* parameters) {
  return with_graphs([&]() -> CUresult { return parameters ? set_any(node, *parameters) : CUDA_ERROR_INVALID_VALUE; });
}
CUresult cuGraphExecNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraphNodeParams* parameters) {
  return with_graphs([&]() -> CUresult {
    return parameters ? set_any(semantics::executable_node(exec, node), *parameters) : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle* handle, CUgraph graph, CUcontext context,
                                        unsigned int initial, unsigned int flags) {
  return with_graphs([&]() -> CUresult {
    if (const CUresult error = context ? check(context) : CUDA_SUCCESS; error != CUDA_SUCCESS) return error;
    cudaGraphConditionalHandle made = 0;
    const cudaError_t error = semantics::create_conditional_handle(&made, graph, initial, flags);
    if (error == cudaSuccess && handle) *handle = made;
    return handle ? driver_error(error) : CUDA_ERROR_INVALID_VALUE;
  });
}

}  // namespace warpgrind::driver
