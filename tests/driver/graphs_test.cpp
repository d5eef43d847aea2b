// Graphs as a whole: nodes and edges, clones, executable graphs, and objects that they retain.
#include <atomic>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "driver_test.h"

namespace warpgrind::driver {

namespace {

using Graphs = test::WithContext;

const auto kNoGraph = reinterpret_cast<CUgraph>(0x1234);
const auto kNoNode = reinterpret_cast<CUgraphNode>(0x1234);
const auto kNoExec = reinterpret_cast<CUgraphExec>(0x1234);
const auto kNoStream = reinterpret_cast<CUstream>(0x1234);

// Host functions that record their order.
struct Order {
  std::vector<int> seen;
};
struct Step {
  Order* order;
  int number;
};
void note(void* step) {
  const auto* s = static_cast<Step*>(step);
  s->order->seen.push_back(s->number);
}

struct OwnGraph {
  OwnGraph() { OK(cuGraphCreate(&handle, 0)); }
  ~OwnGraph() { OK(cuGraphDestroy(handle)); }
  OwnGraph(const OwnGraph&) = delete;
  OwnGraph& operator=(const OwnGraph&) = delete;
  CUgraphNode host(Step& step, const std::vector<CUgraphNode>& after = {}) const {
    const CUDA_HOST_NODE_PARAMS parameters{note, &step};
    CUgraphNode node = nullptr;
    OK(cuGraphAddHostNode(&node, handle, after.data(), after.size(), &parameters));
    return node;
  }
  CUgraph handle = nullptr;
};

CUgraphExec executable(CUgraph graph, unsigned long long flags = 0) {
  CUgraphExec exec = nullptr;
  OK(cuGraphInstantiate(&exec, graph, flags));
  return exec;
}
void run(CUgraphExec exec) {
  OK(cuGraphLaunch(exec, nullptr));
  OK(cuCtxSynchronize());
}
size_t node_count(CUgraph graph) {
  size_t count = 0;
  OK(cuGraphGetNodes(graph, nullptr, &count));
  return count;
}

}  // namespace

TEST_F(Graphs, RunInTheOrderOfTheirEdges) {
  OwnGraph graph;
  Order order;
  Step one{&order, 1}, two{&order, 2}, three{&order, 3};
  const CUgraphNode a = graph.host(three), b = graph.host(two), c = graph.host(one);
  const CUgraphNode from[] = {c, b}, to[] = {b, a};
  OK(cuGraphAddDependencies(graph.handle, from, to, nullptr, 2));
  const CUgraphExec exec = executable(graph.handle, CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY);
  cuuint64_t flags = 0;
  OK(cuGraphExecGetFlags(exec, &flags));
  EXPECT_EQ(flags, CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY);
  OK(cuGraphUpload(exec, nullptr));
  EXPECT_TRUE(order.seen.empty());
  run(exec);
  EXPECT_EQ(order.seen, (std::vector<int>{1, 2, 3}));
  run(exec);
  EXPECT_EQ(order.seen.size(), 6u);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphLaunch(kNoExec, nullptr));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuGraphLaunch(exec, kNoStream));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphUpload(kNoExec, nullptr));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphExecGetFlags(exec, nullptr));
  OK(cuGraphExecDestroy(exec));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphExecDestroy(exec));
}

TEST_F(Graphs, AreMadeAndDestroyed) {
  CUgraph graph = nullptr;
  OK(cuGraphCreate(&graph, 0));
  CUgraphNode node = nullptr, same = nullptr;
  OK(cuGraphAddEmptyNode(&node, graph, nullptr, 0));
  CUgraphNodeType type{};
  OK(cuGraphNodeGetType(node, &type));
  EXPECT_EQ(type, CU_GRAPH_NODE_TYPE_EMPTY);
  CUgraph clone = nullptr;
  OK(cuGraphClone(&clone, graph));
  OK(cuGraphNodeFindInClone(&same, node, clone));
  EXPECT_NE(same, node);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphNodeFindInClone(&same, kNoNode, clone));
  OK(cuGraphDestroyNode(node));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphDestroyNode(node));
  EXPECT_EQ(node_count(graph), 0u);
  EXPECT_EQ(node_count(clone), 1u);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphNodeGetType(node, &type));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphClone(&clone, kNoGraph));
  OK(cuGraphDestroy(clone));
  OK(cuGraphDestroy(graph));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphDestroy(graph));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphCreate(&graph, 1));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphCreate(nullptr, 0));
}

TEST_F(Graphs, ListTheirNodesAndEdges) {
  OwnGraph graph;
  Order order;
  Step step{&order, 0};
  const CUgraphNode a = graph.host(step), b = graph.host(step, {a}), c = graph.host(step, {a, b});
  CUgraphNode nodes[4] = {}, to[4] = {};
  CUgraphEdgeData edges[4] = {};
  size_t count = 4;
  OK(cuGraphGetNodes(graph.handle, nodes, &count));
  EXPECT_EQ(count, 3u);
  EXPECT_EQ(nodes[1], b);
  EXPECT_EQ(nodes[3], nullptr);
  count = 4;
  OK(cuGraphGetRootNodes(graph.handle, nodes, &count));
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(nodes[0], a);
  count = 2;  // of three nodes
  OK(cuGraphGetEdges(graph.handle, nodes, to, edges, &count));
  EXPECT_EQ(count, 2u);
  OK(cuGraphGetEdges(graph.handle, nullptr, nullptr, nullptr, &count));
  EXPECT_EQ(count, 3u);
  count = 4;
  OK(cuGraphNodeGetDependencies(c, nodes, edges, &count));
  EXPECT_EQ(count, 2u);
  EXPECT_EQ(nodes[1], b);
  count = 4;
  OK(cuGraphNodeGetDependentNodes(a, nodes, edges, &count));
  EXPECT_EQ(count, 2u);
  EXPECT_EQ(nodes[1], c);
  OK(cuGraphRemoveDependencies(graph.handle, &b, &c, nullptr, 1));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphRemoveDependencies(graph.handle, &b, &c, nullptr, 1));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphAddDependencies(graph.handle, &a, &c, nullptr, 1));  // the edge exists already
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphAddDependencies(graph.handle, &a, &a, nullptr, 1));
  // Only kernels may let dependent nodes start early.
  const CUgraphEdgeData early{CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC, 0, CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC, {}};
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphAddDependencies(graph.handle, &b, &c, &early, 1));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphGetNodes(graph.handle, nodes, nullptr));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphGetRootNodes(kNoGraph, nodes, &count));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphGetEdges(kNoGraph, nodes, to, edges, &count));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphNodeGetDependencies(kNoNode, nodes, edges, &count));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphNodeGetDependentNodes(kNoNode, nodes, edges, &count));
}

TEST_F(Graphs, Instantiate) {
  OwnGraph graph;
  Order order;
  Step step{&order, 0};
  const CUgraphNode a = graph.host(step), b = graph.host(step, {a});
  CUgraphExec exec = nullptr;
  CUDA_GRAPH_INSTANTIATE_PARAMS parameters{};
  parameters.flags = CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD;
  parameters.result_out = CUDA_GRAPH_INSTANTIATE_ERROR;
  OK(cuGraphInstantiateWithParams(&exec, graph.handle, &parameters));
  EXPECT_EQ(parameters.result_out, CUDA_GRAPH_INSTANTIATE_SUCCESS);
  run(exec);
  EXPECT_EQ(order.seen.size(), 2u);
  OK(cuGraphExecDestroy(exec));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiateWithParams(&exec, graph.handle, nullptr));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiateWithFlags(&exec, graph.handle, 1ull << 40));
  OK(cuGraphAddDependencies(graph.handle, &b, &a, nullptr, 1));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiateWithFlags(&exec, graph.handle, 0));  // a cycle
}

TEST_F(Graphs, AreUpdated) {
  OwnGraph first, second, third;
  Order order;
  Step one{&order, 1}, two{&order, 2};
  const CUgraphNode node = first.host(one);
  second.host(two);
  third.host(two);
  third.host(two);
  const CUgraphExec exec = executable(first.handle);
  CUgraphExecUpdateResultInfo info{};
  OK(cuGraphExecUpdate(exec, second.handle, &info));
  EXPECT_EQ(info.result, CU_GRAPH_EXEC_UPDATE_SUCCESS);
  run(exec);
  EXPECT_EQ(order.seen, std::vector<int>{2});
  FAILS(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate(exec, third.handle, &info));
  EXPECT_EQ(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
  OK(cuGraphExecDestroy(exec));
  // A disabled node does nothing.
  const CUgraphExec other = executable(first.handle);
  unsigned enabled = 9;
  OK(cuGraphNodeSetEnabled(other, node, 0));
  OK(cuGraphNodeGetEnabled(other, node, &enabled));
  EXPECT_EQ(enabled, 0u);
  run(other);
  EXPECT_EQ(order.seen.size(), 1u);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphNodeSetEnabled(other, kNoNode, 1));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphNodeGetEnabled(other, node, nullptr));
  OK(cuGraphExecDestroy(other));
}

TEST_F(Graphs, AreShownAsDot) {
  OwnGraph graph, child;
  Order order;
  Step step{&order, 0};
  const CUgraphNode a = graph.host(step);
  CUgraphNode node = nullptr;
  OK(cuGraphAddEmptyNode(&node, child.handle, nullptr, 0));
  OK(cuGraphAddChildGraphNode(&node, graph.handle, &a, 1, child.handle));
  const std::string path = testing::TempDir() + "warpgrind_driver_graph.dot";
  OK(cuGraphDebugDotPrint(graph.handle, path.c_str(), CU_GRAPH_DEBUG_DOT_FLAGS_HOST_NODE_PARAMS));
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_EQ(text.str().rfind("digraph dot {", 0), 0u);
  for (const char* part : {"HOST", "GRAPH", "EMPTY", " -> ", "data "})
    EXPECT_NE(text.str().find(part), std::string::npos) << part;
  std::remove(path.c_str());
  FAILS(CUDA_ERROR_OPERATING_SYSTEM, cuGraphDebugDotPrint(graph.handle, "/nowhere/graph.dot", 0));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphDebugDotPrint(graph.handle, nullptr, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphDebugDotPrint(kNoGraph, path.c_str(), 0));
}

TEST_F(Graphs, HoldObjects) {
  CUgraph graph = nullptr;
  OK(cuGraphCreate(&graph, 0));
  std::atomic<int> destroyed{0};
  const auto destroy = [](void* count) { ++*static_cast<std::atomic<int>*>(count); };
  CUuserObject object = nullptr;
  OK(cuUserObjectCreate(&object, &destroyed, destroy, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  OK(cuUserObjectRetain(object, 1));
  OK(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
  OK(cuGraphRetainUserObject(graph, object, 2, 0));
  OK(cuGraphReleaseUserObject(graph, object, 2));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphReleaseUserObject(graph, object, 2));
  OK(cuUserObjectRelease(object, 1));
  EXPECT_EQ(destroyed, 0);
  OK(cuGraphDestroy(graph));
  EXPECT_EQ(destroyed, 1);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuUserObjectRetain(object, 1));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuUserObjectRelease(object, 1));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuUserObjectCreate(&object, &destroyed, destroy, 1, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphRetainUserObject(kNoGraph, object, 1, 0));
}

TEST_F(Graphs, SayWhatMemoryTheyHold) {
  OwnGraph graph;
  CUDA_MEM_ALLOC_NODE_PARAMS parameters{};
  parameters.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  parameters.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  parameters.bytesize = 1 << 20;
  CUgraphNode node = nullptr;
  OK(cuGraphAddMemAllocNode(&node, graph.handle, nullptr, 0, &parameters));
  cuuint64_t bytes = 0;
  OK(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &bytes));
  EXPECT_EQ(bytes, 1u << 20);
  bytes = 0;
  OK(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &bytes));
  OK(cuDeviceGraphMemTrim(0));
  FAILS(CUDA_ERROR_INVALID_DEVICE, cuDeviceGraphMemTrim(7));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &bytes));
  FAILS(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetGraphMemAttribute(9, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &bytes));
}

// The names of CUDA 10 to 12.2.
TEST_F(Graphs, OfEarlierVersions) {
#undef cuGraphInstantiate
#undef cuGraphGetEdges
#undef cuGraphNodeGetDependencies
#undef cuGraphNodeGetDependentNodes
#undef cuGraphAddDependencies
#undef cuGraphRemoveDependencies
#undef cuGraphExecUpdate
  OwnGraph graph;
  Order order;
  Step step{&order, 0};
  const CUgraphNode a = graph.host(step), b = graph.host(step);
  OK(cuGraphAddDependencies(graph.handle, &a, &b, 1));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphAddDependencies(graph.handle, &a, &b, 1));
  CUgraphNode from = nullptr, to = nullptr, error_node = a;
  size_t count = 1;
  OK(cuGraphGetEdges(graph.handle, &from, &to, &count));
  EXPECT_EQ(from, a);
  EXPECT_EQ(to, b);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphGetEdges(graph.handle, &from, &to, nullptr));
  OK(cuGraphNodeGetDependencies(b, &from, &count));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphNodeGetDependencies(b, &from, nullptr));
  OK(cuGraphNodeGetDependentNodes(a, &to, &count));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphNodeGetDependentNodes(a, &to, nullptr));
  CUgraphExec exec = nullptr, other = nullptr;
  char log[8] = "log";
  OK(cuGraphInstantiate(&exec, graph.handle, &error_node, log, sizeof log));
  EXPECT_EQ(error_node, nullptr);
  EXPECT_EQ(log[0], 0);
  OK(cuGraphInstantiate_v2(&other, graph.handle, nullptr, nullptr, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiate(&other, kNoGraph, nullptr, nullptr, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiate_v2(&other, kNoGraph, nullptr, nullptr, 0));
  CUgraphExecUpdateResult result{};
  OK(cuGraphExecUpdate(exec, graph.handle, &error_node, &result));
  EXPECT_EQ(result, CU_GRAPH_EXEC_UPDATE_SUCCESS);
  OK(cuGraphRemoveDependencies(graph.handle, &a, &b, 1));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphRemoveDependencies(graph.handle, &a, &b, 1));
  FAILS(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate(exec, graph.handle, &error_node, &result));
  EXPECT_EQ(result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
  OK(cuGraphExecDestroy(exec));
  OK(cuGraphExecDestroy(other));
}

}  // namespace warpgrind::driver
