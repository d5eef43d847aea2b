// Nodes of graphs, of each type: their effect, their parameters, and those of executable graphs.
#include <atomic>
#include <vector>

#include "code.h"

namespace warpgrind::driver::test {

namespace {

using GraphNodes = WithModule;

const auto kNoNode = reinterpret_cast<CUgraphNode>(0x1234);
const auto kNoGraph = reinterpret_cast<CUgraph>(0x1234);
const auto kNoEvent = reinterpret_cast<CUevent>(0x1234);
const auto kNoContext = reinterpret_cast<CUcontext>(0x1234);

struct OwnGraph {
  OwnGraph() { OK(cuGraphCreate(&handle, 0)); }
  ~OwnGraph() {
    if (exec) {
      OK(cuGraphExecDestroy(exec));
    }
    OK(cuGraphDestroy(handle));
  }
  OwnGraph(const OwnGraph&) = delete;
  OwnGraph& operator=(const OwnGraph&) = delete;
  // The first call instantiates the graph; later changes to it have no effect here.
  void run() {
    make();
    OK(cuGraphLaunch(exec, nullptr));
    OK(cuCtxSynchronize());
  }
  void make() {
    if (!exec) {
      OK(cuGraphInstantiate(&exec, handle, 0));
    }
  }
  CUgraph handle = nullptr;
  CUgraphExec exec = nullptr;
};

void add_one(void* number) {
  ++*static_cast<std::atomic<int>*>(number);
}

CUDA_KERNEL_NODE_PARAMS adding(CUfunction add_step, void** parameters, unsigned blocks) {
  CUDA_KERNEL_NODE_PARAMS p{};
  p.func = add_step;
  p.gridDimX = blocks, p.gridDimY = p.gridDimZ = 1;
  p.blockDimX = 32, p.blockDimY = p.blockDimZ = 1;
  p.kernelParams = parameters;
  return p;
}

CUDA_MEMCPY3D copy_to_host(void* to, CUdeviceptr from, size_t bytes) {
  CUDA_MEMCPY3D p{};
  p.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  p.srcDevice = from;
  p.dstMemoryType = CU_MEMORYTYPE_HOST;
  p.dstHost = to;
  p.WidthInBytes = bytes;
  p.Height = p.Depth = 1;
  return p;
}

}  // namespace

TEST_F(GraphNodes, OfKernels) {
  const Words words(64), others(64);
  CUdeviceptr at = words.data(), elsewhere = others.data();
  void *parameters[] = {&at}, *changed[] = {&elsewhere};
  OwnGraph graph;
  CUgraphNode node = nullptr;
  auto p = adding(function("add_step"), parameters, 1);
  OK(cuGraphAddKernelNode(&node, graph.handle, nullptr, 0, &p));
  graph.run();
  auto expected = std::vector<unsigned>(64, 0);
  std::fill_n(expected.begin(), 32, 3);
  EXPECT_EQ(words.read(), expected);
  CUDA_KERNEL_NODE_PARAMS read{};
  OK(cuGraphKernelNodeGetParams(node, &read));
  EXPECT_EQ(read.func, p.func);
  EXPECT_EQ(read.blockDimX, 32u);
  EXPECT_EQ(*static_cast<CUdeviceptr*>(read.kernelParams[0]), at);
  // Changes the executable graph only.
  auto wide = adding(function("add_step"), changed, 2);
  OK(cuGraphExecKernelNodeSetParams(graph.exec, node, &wide));
  graph.run();
  EXPECT_EQ(words.read(), expected);
  EXPECT_EQ(others.read(), std::vector<unsigned>(64, 3));
  OK(cuGraphKernelNodeSetParams(node, &wide));
  OK(cuGraphKernelNodeGetParams(node, &read));
  EXPECT_EQ(read.gridDimX, 2u);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphAddKernelNode(&node, kNoGraph, nullptr, 0, &p));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphKernelNodeGetParams(kNoNode, &read));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphExecKernelNodeSetParams(graph.exec, kNoNode, &p));
  p.blockDimX = 4096;
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphKernelNodeSetParams(node, &p));
  p.func = nullptr;
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphKernelNodeSetParams(node, &p));
}

// Kernel arguments in one buffer.
TEST_F(GraphNodes, OfKernelsWithExtra) {
  const Words words(32);
  CUdeviceptr at = words.data();
  size_t bytes = sizeof at;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &at, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
  auto p = adding(function("add_step"), nullptr, 1);
  p.extra = extra;
  OwnGraph graph;
  CUgraphNode node = nullptr;
  OK(cuGraphAddKernelNode(&node, graph.handle, nullptr, 0, &p));
  at = 0;  // the node has a copy
  graph.run();
  EXPECT_EQ(words.read(), std::vector<unsigned>(32, 3));
  bytes = 4;
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphAddKernelNode(&node, graph.handle, nullptr, 0, &p));
}

TEST_F(GraphNodes, KernelsHaveAttributes) {
  const Words words(64);
  CUdeviceptr at = words.data();
  void* parameters[] = {&at};
  OwnGraph graph;
  CUgraphNode node = nullptr, twin = nullptr;
  auto p = adding(function("add_step"), parameters, 2);
  OK(cuGraphAddKernelNode(&node, graph.handle, nullptr, 0, &p));
  OK(cuGraphAddKernelNode(&twin, graph.handle, &node, 1, &p));
  CUkernelNodeAttrValue value{};
  value.clusterDim = {2, 1, 1};
  OK(cuGraphKernelNodeSetAttribute(node, CU_KERNEL_NODE_ATTRIBUTE_CLUSTER_DIMENSION, &value));
  value = {};
  value.priority = -3;
  OK(cuGraphKernelNodeSetAttribute(node, CU_KERNEL_NODE_ATTRIBUTE_PRIORITY, &value));
  OK(cuGraphKernelNodeCopyAttributes(twin, node));
  OK(cuGraphKernelNodeGetAttribute(twin, CU_KERNEL_NODE_ATTRIBUTE_PRIORITY, &value));
  EXPECT_EQ(value.priority, -3);
  OK(cuGraphKernelNodeGetAttribute(twin, CU_KERNEL_NODE_ATTRIBUTE_CLUSTER_DIMENSION, &value));
  EXPECT_EQ(value.clusterDim.x, 2u);
  graph.run();
  EXPECT_EQ(words.read(), std::vector<unsigned>(64, 6));
  value.clusterDim = {3, 1, 1};  // does not divide the grid
  FAILS(CUDA_ERROR_INVALID_CLUSTER_SIZE,
        cuGraphKernelNodeSetAttribute(node, CU_KERNEL_NODE_ATTRIBUTE_CLUSTER_DIMENSION, &value));
  FAILS(CUDA_ERROR_INVALID_VALUE,
        cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphKernelNodeGetAttribute(kNoNode, CU_KERNEL_NODE_ATTRIBUTE_PRIORITY, &value));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphKernelNodeCopyAttributes(twin, kNoNode));
}

TEST_F(GraphNodes, EdgesThatLetKernelsBeginEarly) {
  const Words words(32);
  CUdeviceptr at = words.data();
  void* parameters[] = {&at};
  OwnGraph graph;
  CUgraphNode first = nullptr, second = nullptr, from = nullptr;
  CUgraphNodeParams p{};
  p.type = CU_GRAPH_NODE_TYPE_KERNEL;
  const auto kernel = adding(function("add_step"), parameters, 1);
  p.kernel = {kernel.func, 1, 1, 1, 32, 1, 1, 0, parameters, nullptr, nullptr, nullptr};
  OK(cuGraphAddNode(&first, graph.handle, nullptr, nullptr, 0, &p));
  CUgraphEdgeData early{}, read{};
  early.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
  early.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
  OK(cuGraphAddNode(&second, graph.handle, &first, &early, 1, &p));
  size_t count = 1;
  OK(cuGraphNodeGetDependencies(second, &from, &read, &count));
  EXPECT_EQ(read.type, CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC);
  EXPECT_EQ(read.from_port, CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC);
  FAILS(CUDA_ERROR_LOSSY_QUERY, cuGraphNodeGetDependencies(second, &from, nullptr, &count));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphRemoveDependencies(graph.handle, &first, &second, nullptr, 1));
  graph.run();
  EXPECT_EQ(words.read(), std::vector<unsigned>(32, 6));
  OK(cuGraphRemoveDependencies(graph.handle, &first, &second, &early, 1));
  p.type = CU_GRAPH_NODE_TYPE_EMPTY;
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphAddNode(&second, graph.handle, &first, &early, 1, &p));
  count = 0;
  OK(cuGraphGetNodes(graph.handle, nullptr, &count));
  EXPECT_EQ(count, 2u);  // the refused node was not added
}

TEST_F(GraphNodes, OfCopies) {
  const Words words(4);
  unsigned out[4] = {9, 9, 9, 9}, other[4] = {9, 9, 9, 9};
  OwnGraph graph;
  CUgraphNode node = nullptr;
  auto p = copy_to_host(out, words.data(), sizeof out);
  OK(cuGraphAddMemcpyNode(&node, graph.handle, nullptr, 0, &p, context));
  graph.run();
  EXPECT_EQ(out[3], 0u);
  CUDA_MEMCPY3D read{};
  OK(cuGraphMemcpyNodeGetParams(node, &read));
  EXPECT_EQ(read.srcMemoryType, CU_MEMORYTYPE_DEVICE);
  EXPECT_EQ(read.srcDevice, words.data());
  EXPECT_EQ(read.dstHost, out);
  EXPECT_EQ(read.WidthInBytes, sizeof out);
  p = copy_to_host(other, words.data(), 8);
  OK(cuGraphExecMemcpyNodeSetParams(graph.exec, node, &p, context));
  graph.run();
  EXPECT_EQ(other[1], 0u);
  EXPECT_EQ(other[2], 9u);
  OK(cuGraphMemcpyNodeSetParams(node, &p));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphMemcpyNodeGetParams(kNoNode, &read));
  FAILS(CUDA_ERROR_INVALID_CONTEXT, cuGraphAddMemcpyNode(&node, graph.handle, nullptr, 0, &p, kNoContext));
  p.srcMemoryType = static_cast<CUmemorytype>(9);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphMemcpyNodeSetParams(node, &p));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphExecMemcpyNodeSetParams(graph.exec, node, &p, context));
}

TEST_F(GraphNodes, OfFills) {
  const Words words(8);
  OwnGraph graph;
  CUgraphNode node = nullptr;
  CUDA_MEMSET_NODE_PARAMS p{};
  p.dst = words.data();
  p.value = 7;
  p.elementSize = 4;
  p.width = 4;
  p.height = 1;
  OK(cuGraphAddMemsetNode(&node, graph.handle, nullptr, 0, &p, context));
  graph.run();
  EXPECT_EQ(words.read(), (std::vector<unsigned>{7, 7, 7, 7, 0, 0, 0, 0}));
  CUDA_MEMSET_NODE_PARAMS read{};
  OK(cuGraphMemsetNodeGetParams(node, &read));
  EXPECT_EQ(read.value, 7u);
  p.width = 8;
  OK(cuGraphExecMemsetNodeSetParams(graph.exec, node, &p, context));
  graph.run();
  EXPECT_EQ(words.read(), std::vector<unsigned>(8, 7));
  OK(cuGraphMemsetNodeSetParams(node, &p));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphMemsetNodeGetParams(node, nullptr));
  p.elementSize = 3;
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphAddMemsetNode(&node, graph.handle, nullptr, 0, &p, context));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphMemsetNodeSetParams(node, &p));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphExecMemsetNodeSetParams(graph.exec, node, &p, context));
}

TEST_F(GraphNodes, OfHostFunctions) {
  std::atomic<int> first{0}, second{0};
  OwnGraph graph;
  CUgraphNode node = nullptr;
  CUDA_HOST_NODE_PARAMS p{add_one, &first}, read{};
  OK(cuGraphAddHostNode(&node, graph.handle, nullptr, 0, &p));
  graph.make();
  p.userData = &second;
  OK(cuGraphExecHostNodeSetParams(graph.exec, node, &p));
  graph.run();
  EXPECT_EQ(first, 0);
  EXPECT_EQ(second, 1);
  OK(cuGraphHostNodeGetParams(node, &read));
  EXPECT_EQ(read.userData, &first);
  OK(cuGraphHostNodeSetParams(node, &p));
  p.fn = nullptr;
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphAddHostNode(&node, graph.handle, nullptr, 0, &p));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphHostNodeGetParams(kNoNode, &read));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphHostNodeSetParams(node, &p));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphExecHostNodeSetParams(graph.exec, node, &p));
}

TEST_F(GraphNodes, OfGraphs) {
  std::atomic<int> number{0};
  OwnGraph graph, child, other;
  CUgraphNode node = nullptr, inner = nullptr;
  const CUDA_HOST_NODE_PARAMS p{add_one, &number};
  OK(cuGraphAddHostNode(&inner, child.handle, nullptr, 0, &p));
  OK(cuGraphAddHostNode(&inner, other.handle, nullptr, 0, &p));
  OK(cuGraphAddChildGraphNode(&node, graph.handle, nullptr, 0, child.handle));
  graph.run();
  EXPECT_EQ(number, 1);
  CUgraph inside = nullptr;
  OK(cuGraphChildGraphNodeGetGraph(node, &inside));
  EXPECT_NE(inside, child.handle);  // a clone
  size_t count = 0;
  OK(cuGraphGetNodes(inside, nullptr, &count));
  EXPECT_EQ(count, 1u);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphDestroy(inside));  // it belongs to the parent graph
  OK(cuGraphExecChildGraphNodeSetParams(graph.exec, node, other.handle));
  graph.run();
  EXPECT_EQ(number, 2);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphAddChildGraphNode(&node, graph.handle, nullptr, 0, kNoGraph));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphChildGraphNodeGetGraph(kNoNode, &inside));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphExecChildGraphNodeSetParams(graph.exec, node, kNoGraph));
  CUgraph moved = nullptr;
  OK(cuGraphCreate(&moved, 0));
  CUgraphNodeParams any{};
  any.type = CU_GRAPH_NODE_TYPE_GRAPH;
  any.graph = {moved, CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE};
  OK(cuGraphAddNode(&node, graph.handle, nullptr, nullptr, 0, &any));
  OK(cuGraphChildGraphNodeGetGraph(node, &inside));
  EXPECT_EQ(inside, moved);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphDestroy(moved));
}

TEST_F(GraphNodes, OfNothing) {
  OwnGraph graph;
  CUgraphNode first = nullptr, second = nullptr;
  OK(cuGraphAddEmptyNode(&first, graph.handle, nullptr, 0));
  const CUgraphNode twice[] = {first, first};
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphAddEmptyNode(&second, graph.handle, twice, 2));
  graph.run();
}

TEST_F(GraphNodes, OfEvents) {
  OwnGraph graph;
  CUevent event = nullptr, other = nullptr, read = nullptr;
  OK(cuEventCreate(&event, 0));
  OK(cuEventCreate(&other, 0));
  CUgraphNode record = nullptr, wait = nullptr;
  OK(cuGraphAddEventRecordNode(&record, graph.handle, nullptr, 0, event));
  OK(cuGraphAddEventWaitNode(&wait, graph.handle, &record, 1, event));
  graph.make();
  OK(cuGraphExecEventRecordNodeSetEvent(graph.exec, record, other));
  OK(cuGraphExecEventWaitNodeSetEvent(graph.exec, wait, other));
  graph.run();
  float milliseconds = 0;
  OK(cuEventElapsedTime(&milliseconds, other, other));  // it was recorded
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(&milliseconds, event, other));
  OK(cuGraphEventRecordNodeGetEvent(record, &read));
  EXPECT_EQ(read, event);
  OK(cuGraphEventWaitNodeGetEvent(wait, &read));
  OK(cuGraphEventRecordNodeSetEvent(record, other));
  OK(cuGraphEventWaitNodeSetEvent(wait, other));
  OK(cuGraphEventWaitNodeGetEvent(wait, &read));
  EXPECT_EQ(read, other);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphAddEventRecordNode(&record, graph.handle, nullptr, 0, kNoEvent));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphAddEventWaitNode(&wait, graph.handle, nullptr, 0, kNoEvent));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphEventRecordNodeGetEvent(wait, &read));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphEventWaitNodeGetEvent(record, &read));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphEventRecordNodeSetEvent(record, kNoEvent));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphEventWaitNodeSetEvent(wait, kNoEvent));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphExecEventRecordNodeSetEvent(graph.exec, wait, event));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphExecEventWaitNodeSetEvent(graph.exec, record, event));
  OK(cuEventDestroy(event));
  OK(cuEventDestroy(other));
}

TEST_F(GraphNodes, OfMemory) {
  unsigned out[2] = {0, 0};
  OwnGraph graph;
  CUDA_MEM_ALLOC_NODE_PARAMS p{}, read{};
  p.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  p.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  p.bytesize = sizeof out;
  CUgraphNode alloc = nullptr, fill = nullptr, copy = nullptr, free = nullptr;
  OK(cuGraphAddMemAllocNode(&alloc, graph.handle, nullptr, 0, &p));
  ASSERT_NE(p.dptr, 0u);
  CUDA_MEMSET_NODE_PARAMS set{};
  set.dst = p.dptr;
  set.value = 5;
  set.elementSize = 4;
  set.width = 2;
  set.height = 1;
  OK(cuGraphAddMemsetNode(&fill, graph.handle, &alloc, 1, &set, context));
  const auto to_host = copy_to_host(out, p.dptr, sizeof out);
  OK(cuGraphAddMemcpyNode(&copy, graph.handle, &fill, 1, &to_host, context));
  OK(cuGraphAddMemFreeNode(&free, graph.handle, &copy, 1, p.dptr));
  graph.run();
  EXPECT_EQ(out[1], 5u);
  OK(cuGraphMemAllocNodeGetParams(alloc, &read));
  EXPECT_EQ(read.bytesize, sizeof out);
  CUdeviceptr freed = 0;
  OK(cuGraphMemFreeNodeGetParams(free, &freed));
  EXPECT_EQ(freed, p.dptr);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphAddMemAllocNode(&alloc, graph.handle, nullptr, 0, nullptr));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphMemAllocNodeGetParams(free, &read));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphAddMemFreeNode(&free, graph.handle, nullptr, 0, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphMemFreeNodeGetParams(alloc, &freed));
}

TEST_F(GraphNodes, OfStreamMemoryOperations) {
  const Words words(2);
  OwnGraph graph;
  CUstreamBatchMemOpParams write[2]{};
  for (unsigned i = 0; i < 2; i++) {
    write[i].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    write[i].writeValue.address = words.data() + 4 * i;
    write[i].writeValue.value = 10 + i;
  }
  CUDA_BATCH_MEM_OP_NODE_PARAMS p{context, 2, write, 0}, read{};
  CUgraphNode node = nullptr;
  OK(cuGraphAddBatchMemOpNode(&node, graph.handle, nullptr, 0, &p));
  CUgraphNodeType type{};
  OK(cuGraphNodeGetType(node, &type));
  EXPECT_EQ(type, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
  graph.run();
  EXPECT_EQ(words.read(), (std::vector<unsigned>{10, 11}));
  write[1].writeValue.value = 12;
  OK(cuGraphBatchMemOpNodeGetParams(node, &read));
  ASSERT_EQ(read.count, 2u);
  EXPECT_EQ(read.paramArray[1].writeValue.value, 11u);
  OK(cuGraphExecBatchMemOpNodeSetParams(graph.exec, node, &p));
  graph.run();
  EXPECT_EQ(words.read()[1], 12u);
  OK(cuGraphBatchMemOpNodeSetParams(node, &p));
  p.count = 0;
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphAddBatchMemOpNode(&node, graph.handle, nullptr, 0, &p));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphBatchMemOpNodeGetParams(kNoNode, &read));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphBatchMemOpNodeSetParams(node, &p));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphExecBatchMemOpNodeSetParams(graph.exec, node, &p));
}

// Nodes of each type, through the one function that adds any type.
TEST_F(GraphNodes, OfAnyType) {
  const Words words(32);
  CUdeviceptr at = words.data();
  void* parameters[] = {&at};
  std::atomic<int> number{0};
  unsigned out[32] = {};
  OwnGraph graph;
  CUgraphNodeParams kernel{}, copy{}, fill{}, host{};
  fill.type = CU_GRAPH_NODE_TYPE_MEMSET;
  fill.memset = {at, 0, 4, 4, 32, 1, context};
  kernel.type = CU_GRAPH_NODE_TYPE_KERNEL;
  kernel.kernel = {function("add_step"), 1, 1, 1, 32, 1, 1, 0, parameters, nullptr, nullptr, nullptr};
  copy.type = CU_GRAPH_NODE_TYPE_MEMCPY;
  copy.memcpy.copyCtx = context;
  copy.memcpy.copyParams = copy_to_host(out, at, sizeof out);
  host.type = CU_GRAPH_NODE_TYPE_HOST;
  host.host = {add_one, &number};
  CUgraphNode last = nullptr, filling = nullptr;
  for (CUgraphNodeParams* p : {&fill, &kernel, &copy, &host}) {
    CUgraphNode node = nullptr;
    OK(cuGraphAddNode(&node, graph.handle, &last, nullptr, last ? 1 : 0, p));
    if (!last) filling = node;
    last = node;
  }
  graph.run();
  EXPECT_EQ(out[31], 7u);
  EXPECT_EQ(number, 1);
  fill.memset.value = 8;
  OK(cuGraphExecNodeSetParams(graph.exec, filling, &fill));
  graph.run();
  EXPECT_EQ(out[31], 11u);
  OK(cuGraphNodeSetParams(filling, &fill));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphNodeSetParams(filling, &host));  // a node of another type
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphExecNodeSetParams(graph.exec, kNoNode, &fill));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphAddNode(&last, kNoGraph, nullptr, nullptr, 0, &fill));
  fill.type = CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT;
  FAILS(CUDA_ERROR_NOT_SUPPORTED, cuGraphAddNode(&last, graph.handle, nullptr, nullptr, 0, &fill));
}

TEST_F(GraphNodes, OfCapturedLaunches) {
  const Words words(32);
  CUdeviceptr at = words.data();
  void* parameters[] = {&at};
  CUstream stream = nullptr;
  OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  OK(cuStreamWriteValue32(stream, at, 4, 0));
  OK(cuLaunchKernel(function("add_step"), 1, 1, 1, 32, 1, 1, 0, stream, parameters, nullptr));
  CUgraph graph = nullptr;
  OK(cuStreamEndCapture(stream, &graph));
  EXPECT_EQ(words.read()[0], 0u);
  CUgraphNode nodes[2] = {};
  size_t count = 2;
  OK(cuGraphGetNodes(graph, nodes, &count));
  ASSERT_EQ(count, 2u);
  CUgraphExec exec = nullptr;
  OK(cuGraphInstantiate(&exec, graph, 0));
  OK(cuGraphLaunch(exec, stream));
  OK(cuStreamSynchronize(stream));
  EXPECT_EQ(words.read()[0], 7u);
  EXPECT_EQ(words.read()[1], 3u);
  OK(cuGraphExecDestroy(exec));
  OK(cuGraphDestroy(graph));
  OK(cuStreamDestroy(stream));
}

// The names of CUDA 10 to 12.2.
TEST_F(GraphNodes, OfEarlierVersions) {
#undef cuGraphAddKernelNode
#undef cuGraphKernelNodeGetParams
#undef cuGraphKernelNodeSetParams
#undef cuGraphExecKernelNodeSetParams
#undef cuGraphAddNode
  const Words words(32);
  CUdeviceptr at = words.data();
  void* parameters[] = {&at};
  OwnGraph graph;
  CUgraphNode node = nullptr, empty = nullptr;
  CUDA_KERNEL_NODE_PARAMS_v1 p{function("add_step"), 1, 1, 1, 32, 1, 1, 0, parameters, nullptr}, read{};
  OK(cuGraphAddKernelNode(&node, graph.handle, nullptr, 0, &p));
  OK(cuGraphKernelNodeGetParams(node, &read));
  EXPECT_EQ(read.func, p.func);
  OK(cuGraphKernelNodeSetParams(node, &p));
  CUgraphNodeParams any{};
  any.type = CU_GRAPH_NODE_TYPE_EMPTY;
  OK(cuGraphAddNode(&empty, graph.handle, &node, 1, &any));
  graph.make();
  OK(cuGraphExecKernelNodeSetParams(graph.exec, node, &p));
  graph.run();
  EXPECT_EQ(words.read(), std::vector<unsigned>(32, 3));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphAddKernelNode(&node, graph.handle, nullptr, 0, nullptr));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphKernelNodeGetParams(kNoNode, &read));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphKernelNodeSetParams(kNoNode, &p));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphExecKernelNodeSetParams(graph.exec, kNoNode, &p));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphAddNode(&empty, graph.handle, &node, 1, nullptr));
}

}  // namespace warpgrind::driver::test
