// Graphs: nodes of every kind, their parameters, edges, clones, execution, updates, user objects.
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

#include "api_test.h"

namespace warpgrind::runtime {

namespace {

const cudaGraphNode_t kNoNode = reinterpret_cast<cudaGraphNode_t>(0x1234);

struct Fixture {
  cudaGraph_t graph = nullptr;
  test::Words d{16};
  unsigned* p = d;
  unsigned value = 5;
  void* parameters[2] = {&p, &value};
  Fixture() { OK(cudaGraphCreate(&graph, 0)); }
  ~Fixture() { OK(cudaGraphDestroy(graph)); }
  cudaKernelNodeParams kernel() { return {&test::fill, {1, 1, 1}, {16, 1, 1}, 0, parameters, nullptr}; }
  void run() {
    cudaGraphExec_t exec = nullptr;
    OK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, nullptr));
    OK(cudaDeviceSynchronize());
    OK(cudaGraphExecDestroy(exec));
  }
};

}  // namespace

TEST(Graphs, KernelNodes) {
  Fixture f;
  cudaGraphNode_t node = nullptr;
  cudaKernelNodeParams p = f.kernel(), seen{};
  OK(cudaGraphAddKernelNode(&node, f.graph, nullptr, 0, &p));
  f.run();
  EXPECT_EQ(f.d.read()[15], 5u);
  OK(cudaGraphKernelNodeGetParams(node, &seen));
  EXPECT_EQ(seen.func, &test::fill);
  EXPECT_EQ(*static_cast<unsigned*>(seen.kernelParams[1]), 5u);
  f.value = 6;
  OK(cudaGraphKernelNodeSetParams(node, &p));
  f.run();
  EXPECT_EQ(f.d.read()[15], 6u);
  cudaGraphExec_t exec = nullptr;
  OK(cudaGraphInstantiate(&exec, f.graph, 0));
  f.value = 7;
  OK(cudaGraphExecKernelNodeSetParams(exec, node, &p));
  OK(cudaGraphLaunch(exec, nullptr));
  OK(cudaDeviceSynchronize());
  EXPECT_EQ(f.d.read()[15], 7u);
  unsigned enabled = 9;
  OK(cudaGraphNodeSetEnabled(exec, node, 0));
  OK(cudaGraphNodeGetEnabled(exec, node, &enabled));
  EXPECT_EQ(enabled, 0u);
  OK(cudaMemset(f.d, 0, 64));
  OK(cudaGraphLaunch_ptsz(exec, nullptr));
  OK(cudaDeviceSynchronize());
  EXPECT_EQ(f.d.read()[15], 0u);
  FAILS(cudaErrorInvalidValue, cudaGraphNodeSetEnabled(exec, kNoNode, 0));
  FAILS(cudaErrorInvalidValue, cudaGraphNodeGetEnabled(exec, node, nullptr));
  FAILS(cudaErrorInvalidValue, cudaGraphExecKernelNodeSetParams(exec, kNoNode, &p));
  OK(cudaGraphExecDestroy(exec));
  FAILS(cudaErrorInvalidValue, cudaGraphExecDestroy(exec));
  FAILS(cudaErrorInvalidValue, cudaGraphLaunch(exec, nullptr));
  FAILS(cudaErrorInvalidValue, cudaGraphAddKernelNode(&node, f.graph, &kNoNode, 1, &p));
  FAILS(cudaErrorInvalidValue, cudaGraphKernelNodeGetParams(kNoNode, &seen));
  FAILS(cudaErrorInvalidValue, cudaGraphKernelNodeSetParams(kNoNode, &p));
  p.blockDim.x = 4096;
  FAILS(cudaErrorInvalidValue, cudaGraphAddKernelNode(&node, f.graph, nullptr, 0, &p));
}

TEST(Graphs, KernelNodesHaveAttributes) {
  Fixture f;
  cudaGraphNode_t node = nullptr, twin = nullptr;
  cudaKernelNodeParams p = f.kernel();
  OK(cudaGraphAddKernelNode(&node, f.graph, nullptr, 0, &p));
  OK(cudaGraphAddKernelNode(&twin, f.graph, &node, 1, &p));
  cudaLaunchAttributeValue value{};
  OK(cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributeCooperative, &value));
  EXPECT_EQ(value.cooperative, 0);
  value.cooperative = 1;
  OK(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeCooperative, &value));
  OK(cudaGraphKernelNodeCopyAttributes(twin, node));
  value = {};
  OK(cudaGraphKernelNodeGetAttribute(twin, cudaLaunchAttributeCooperative, &value));
  EXPECT_EQ(value.cooperative, 1);
  f.run();
  EXPECT_EQ(f.d.read()[15], 5u);
  // New parameters keep the cooperative attribute, so more blocks than are resident at once are refused.
  p.gridDim = {1u << 20, 1, 1};
  FAILS(cudaErrorCooperativeLaunchTooLarge, cudaGraphKernelNodeSetParams(node, &p));
  FAILS(cudaErrorInvalidValue, cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeProgrammaticEvent, &value));
  FAILS(cudaErrorInvalidValue, cudaGraphKernelNodeGetAttribute(kNoNode, cudaLaunchAttributePriority, &value));
  FAILS(cudaErrorInvalidValue, cudaGraphKernelNodeCopyAttributes(kNoNode, node));
}

TEST(Graphs, AreShownAsDot) {
  Fixture f;
  cudaGraphNode_t node = nullptr, next = nullptr;
  cudaKernelNodeParams p = f.kernel();
  OK(cudaGraphAddKernelNode(&node, f.graph, nullptr, 0, &p));
  OK(cudaGraphAddEmptyNode(&next, f.graph, &node, 1));
  const std::string path = testing::TempDir() + "warpgrind_runtime_graph.dot";
  OK(cudaGraphDebugDotPrint(f.graph, path.c_str(), cudaGraphDebugDotFlagsVerbose));
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  for (const char* part : {"digraph dot {", "KERNEL", "block 16 x 1 x 1", "EMPTY", " -> "})
    EXPECT_NE(text.str().find(part), std::string::npos) << part;
  std::remove(path.c_str());
  FAILS(cudaErrorOperatingSystem, cudaGraphDebugDotPrint(f.graph, "/nowhere/graph.dot", 0));
  FAILS(cudaErrorInvalidValue, cudaGraphDebugDotPrint(nullptr, path.c_str(), 0));
}

TEST(Graphs, CopyNodes) {
  Fixture f;
  cudaGraphNode_t a = nullptr, b = nullptr, c = nullptr;
  unsigned host[16] = {1, 2, 3}, back[16] = {};
  cudaMemcpy3DParms p{}, seen{};
  p.srcPtr = {host, 64, 64, 1};
  p.dstPtr = {f.d, 64, 64, 1};
  p.extent = {64, 1, 1};
  p.kind = cudaMemcpyHostToDevice;
  OK(cudaGraphAddMemcpyNode(&a, f.graph, nullptr, 0, &p));
  OK(cudaGraphAddMemcpyNode1D(&b, f.graph, &a, 1, back, f.d, 64, cudaMemcpyDeviceToHost));
  f.run();
  EXPECT_EQ(back[2], 3u);
  OK(cudaGraphMemcpyNodeGetParams(b, &seen));
  EXPECT_EQ(seen.dstPtr.ptr, back);
  OK(cudaGraphMemcpyNodeSetParams1D(b, back + 8, f.d, 4, cudaMemcpyDeviceToHost));
  p.extent = {4, 1, 1};
  OK(cudaGraphMemcpyNodeSetParams(a, &p));
  host[0] = 9;
  host[1] = 9;
  f.run();
  EXPECT_EQ(back[8], 9u);
  EXPECT_EQ(f.d.read()[1], 2u);
  cudaGraphExec_t exec = nullptr;
  OK(cudaGraphInstantiate(&exec, f.graph, 0));
  p.srcPtr.ptr = host + 2;
  OK(cudaGraphExecMemcpyNodeSetParams(exec, a, &p));
  OK(cudaGraphExecMemcpyNodeSetParams1D(exec, b, back + 9, f.d, 4, cudaMemcpyDeviceToHost));
  OK(cudaGraphLaunch(exec, nullptr));
  OK(cudaDeviceSynchronize());
  EXPECT_EQ(back[9], 3u);
  FAILS(cudaErrorInvalidValue, cudaGraphExecMemcpyNodeSetParams(exec, kNoNode, &p));
  FAILS(cudaErrorInvalidValue, cudaGraphExecMemcpyNodeSetParams1D(exec, kNoNode, back, f.d, 4, cudaMemcpyDeviceToHost));
  OK(cudaGraphExecDestroy(exec));
  const std::size_t negative = static_cast<std::size_t>(-4);
  FAILS(cudaErrorInvalidValue,
        cudaGraphAddMemcpyNode1D(&c, f.graph, nullptr, 0, back, f.d, negative, cudaMemcpyDeviceToHost));
  FAILS(cudaErrorInvalidValue, cudaGraphMemcpyNodeSetParams1D(b, back, f.d, negative, cudaMemcpyDeviceToHost));
  p.extent = {negative, 1, 1};
  FAILS(cudaErrorInvalidValue, cudaGraphAddMemcpyNode(&c, f.graph, nullptr, 0, &p));
  FAILS(cudaErrorInvalidValue, cudaGraphMemcpyNodeSetParams(a, &p));
  FAILS(cudaErrorInvalidValue, cudaGraphMemcpyNodeGetParams(a, nullptr));
}

TEST(Graphs, SymbolCopies) {
  Fixture f;
  cudaGraphNode_t to = nullptr, from = nullptr;
  const void* word = &test::word;
  unsigned host[4] = {21, 22, 23, 24}, back[4] = {};
  const auto up = cudaMemcpyHostToDevice, down = cudaMemcpyDeviceToHost;
  OK(cudaGraphAddMemcpyNodeToSymbol(&to, f.graph, nullptr, 0, word, host, 16, 0, up));
  OK(cudaGraphAddMemcpyNodeFromSymbol(&from, f.graph, &to, 1, back, word, 8, 8, down));
  f.run();
  EXPECT_EQ(back[1], 24u);
  OK(cudaGraphMemcpyNodeSetParamsToSymbol(to, word, host + 1, 4, 0, up));
  OK(cudaGraphMemcpyNodeSetParamsFromSymbol(from, back, word, 4, 0, down));
  f.run();
  EXPECT_EQ(back[0], 22u);
  cudaGraphExec_t exec = nullptr;
  OK(cudaGraphInstantiate(&exec, f.graph, 0));
  OK(cudaGraphExecMemcpyNodeSetParamsToSymbol(exec, to, word, host + 2, 4, 4, up));
  OK(cudaGraphExecMemcpyNodeSetParamsFromSymbol(exec, from, back, word, 4, 4, down));
  OK(cudaGraphLaunch(exec, nullptr));
  OK(cudaDeviceSynchronize());
  EXPECT_EQ(back[0], 23u);
  FAILS(cudaErrorInvalidSymbol, cudaGraphAddMemcpyNodeToSymbol(&to, f.graph, nullptr, 0, back, host, 16, 0, up));
  FAILS(cudaErrorInvalidValue, cudaGraphAddMemcpyNodeFromSymbol(&to, f.graph, nullptr, 0, back, word, 8, 12, down));
  FAILS(cudaErrorInvalidValue, cudaGraphMemcpyNodeSetParamsToSymbol(to, word, host, 32, 0, up));
  FAILS(cudaErrorInvalidValue, cudaGraphMemcpyNodeSetParamsFromSymbol(kNoNode, back, word, 4, 0, down));
  FAILS(cudaErrorInvalidValue, cudaGraphExecMemcpyNodeSetParamsToSymbol(exec, kNoNode, word, host, 4, 0, up));
  FAILS(cudaErrorInvalidSymbol, cudaGraphExecMemcpyNodeSetParamsFromSymbol(exec, from, back, back, 4, 0, down));
  OK(cudaGraphExecDestroy(exec));
}

TEST(Graphs, FillAndHostNodes) {
  Fixture f;
  cudaGraphNode_t fill = nullptr, host = nullptr, none = nullptr;
  int calls = 0, others = 0;
  cudaMemsetParams p{f.d, 0, 0x07, 4, 16, 1}, seen{};
  cudaHostNodeParams h{test::count_up, &calls}, seen_host{};
  OK(cudaGraphAddMemsetNode(&fill, f.graph, nullptr, 0, &p));
  OK(cudaGraphAddHostNode(&host, f.graph, &fill, 1, &h));
  f.run();
  EXPECT_EQ(f.d.read()[15], 7u);
  EXPECT_EQ(calls, 1);
  OK(cudaGraphMemsetNodeGetParams(fill, &seen));
  EXPECT_EQ(seen.width, 16u);
  OK(cudaGraphHostNodeGetParams(host, &seen_host));
  EXPECT_EQ(seen_host.userData, &calls);
  p.value = 8;
  h.userData = &others;
  OK(cudaGraphMemsetNodeSetParams(fill, &p));
  OK(cudaGraphHostNodeSetParams(host, &h));
  f.run();
  EXPECT_EQ(f.d.read()[15], 8u);
  EXPECT_EQ(others, 1);
  cudaGraphExec_t exec = nullptr;
  OK(cudaGraphInstantiate(&exec, f.graph, 0));
  p.value = 9;
  h.userData = &calls;
  OK(cudaGraphExecMemsetNodeSetParams(exec, fill, &p));
  OK(cudaGraphExecHostNodeSetParams(exec, host, &h));
  OK(cudaGraphLaunch(exec, nullptr));
  OK(cudaDeviceSynchronize());
  EXPECT_EQ(f.d.read()[15], 9u);
  EXPECT_EQ(calls, 2);
  FAILS(cudaErrorInvalidValue, cudaGraphExecHostNodeSetParams(exec, fill, &h));  // a node of another kind
  FAILS(cudaErrorInvalidValue, cudaGraphExecMemsetNodeSetParams(exec, host, &p));
  OK(cudaGraphExecDestroy(exec));
  FAILS(cudaErrorInvalidValue, cudaGraphMemsetNodeGetParams(host, &seen));
  FAILS(cudaErrorInvalidValue, cudaGraphHostNodeGetParams(fill, &seen_host));
  FAILS(cudaErrorInvalidValue, cudaGraphHostNodeSetParams(fill, &h));
  h.fn = nullptr;
  FAILS(cudaErrorInvalidValue, cudaGraphAddHostNode(&none, f.graph, nullptr, 0, &h));
  p.width = static_cast<std::size_t>(-1);
  FAILS(cudaErrorInvalidValue, cudaGraphAddMemsetNode(&none, f.graph, nullptr, 0, &p));
  FAILS(cudaErrorInvalidValue, cudaGraphMemsetNodeSetParams(fill, &p));
}

TEST(Graphs, EventNodes) {
  Fixture f;
  cudaEvent_t a = nullptr, b = nullptr, seen = nullptr, gone = nullptr;
  cudaGraphNode_t record = nullptr, wait = nullptr, none = nullptr;
  OK(cudaEventCreate(&a));
  OK(cudaEventCreate(&b));
  OK(cudaGraphAddEventRecordNode(&record, f.graph, nullptr, 0, a));
  OK(cudaGraphAddEventWaitNode(&wait, f.graph, &record, 1, a));
  OK(cudaGraphEventRecordNodeGetEvent(record, &seen));
  EXPECT_EQ(seen, a);
  OK(cudaGraphEventRecordNodeSetEvent(record, b));
  OK(cudaGraphEventWaitNodeSetEvent(wait, b));
  OK(cudaGraphEventWaitNodeGetEvent(wait, &seen));
  EXPECT_EQ(seen, b);
  f.run();
  OK(cudaEventQuery(b));
  cudaGraphExec_t exec = nullptr;
  OK(cudaGraphInstantiate(&exec, f.graph, 0));
  OK(cudaGraphExecEventRecordNodeSetEvent(exec, record, a));
  OK(cudaGraphExecEventWaitNodeSetEvent(exec, wait, a));
  FAILS(cudaErrorInvalidValue, cudaGraphExecEventRecordNodeSetEvent(exec, wait, a));
  FAILS(cudaErrorInvalidValue, cudaGraphExecEventWaitNodeSetEvent(exec, record, a));
  OK(cudaEventDestroy(a));
  FAILS(cudaErrorInvalidResourceHandle, cudaGraphLaunch(exec, nullptr));
  OK(cudaEventCreate(&a));
  OK(cudaGraphExecDestroy(exec));
  OK(cudaEventCreate(&gone));
  OK(cudaEventDestroy(gone));  // comes last: another event may get its handle
  FAILS(cudaErrorInvalidValue, cudaGraphAddEventRecordNode(&none, f.graph, nullptr, 0, gone));
  FAILS(cudaErrorInvalidValue, cudaGraphAddEventWaitNode(&none, f.graph, nullptr, 0, gone));
  FAILS(cudaErrorInvalidValue, cudaGraphEventRecordNodeGetEvent(wait, &seen));
  FAILS(cudaErrorInvalidValue, cudaGraphEventWaitNodeGetEvent(record, &seen));
  FAILS(cudaErrorInvalidValue, cudaGraphEventRecordNodeSetEvent(record, gone));
  FAILS(cudaErrorInvalidValue, cudaGraphEventWaitNodeSetEvent(record, a));
  OK(cudaEventDestroy(a));
  OK(cudaEventDestroy(b));
}

// The normal sequence: instantiate, destroy the graph, launch. Memory and objects are shared by all graphs made from
// one.
TEST(Graphs, ExecutablesOwnMemoryAndObjects) {
  cudaGraph_t graph = nullptr;
  cudaGraphNode_t node = nullptr, fill = nullptr, freed = nullptr;
  int destroyed = 0;
  OK(cudaGraphCreate(&graph, 0));
  cudaMemAllocNodeParams alloc{}, seen{};
  alloc.poolProps.allocType = cudaMemAllocationTypePinned;
  alloc.poolProps.location = {cudaMemLocationTypeDevice, 0};
  alloc.bytesize = 256;
  OK(cudaGraphAddMemAllocNode(&node, graph, nullptr, 0, &alloc));
  OK(cudaGraphMemAllocNodeGetParams(node, &seen));
  EXPECT_EQ(seen.dptr, alloc.dptr);
  std::uint64_t bytes = 0, zero = 0;
  OK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &bytes));
  EXPECT_EQ(bytes, 256u);
  OK(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &zero));
  OK(cudaDeviceGraphMemTrim(0));
  FAILS(cudaErrorInvalidValue, cudaDeviceGetGraphMemAttribute(0, static_cast<cudaGraphMemAttributeType>(9), &bytes));
  FAILS(cudaErrorInvalidValue, cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &zero));
  FAILS(cudaErrorInvalidDevice, cudaDeviceGraphMemTrim(9));
  unsigned* p = static_cast<unsigned*>(alloc.dptr);
  unsigned value = 77;
  void* parameters[] = {&p, &value};
  cudaKernelNodeParams kernel{&test::fill, {1, 1, 1}, {64, 1, 1}, 0, parameters, nullptr};
  OK(cudaGraphAddKernelNode(&fill, graph, &node, 1, &kernel));
  OK(cudaGraphAddMemFreeNode(&freed, graph, &fill, 1, alloc.dptr));
  void* pointer = nullptr;
  OK(cudaGraphMemFreeNodeGetParams(freed, &pointer));
  EXPECT_EQ(pointer, alloc.dptr);
  FAILS(cudaErrorInvalidValue, cudaGraphMemFreeNodeGetParams(fill, &pointer));
  FAILS(cudaErrorInvalidValue, cudaGraphMemAllocNodeGetParams(fill, &seen));
  FAILS(cudaErrorInvalidValue, cudaGraphAddMemFreeNode(&freed, graph, &kNoNode, 1, alloc.dptr));
  cudaMemAllocNodeParams wrong = alloc;
  wrong.poolProps.location.id = 9;
  FAILS(cudaErrorInvalidValue, cudaGraphAddMemAllocNode(&node, graph, nullptr, 0, &wrong));

  cudaUserObject_t object = nullptr;
  OK(cudaUserObjectCreate(&object, &destroyed, test::count_up, 2, 1));
  OK(cudaUserObjectRetain(object, 1));
  OK(cudaUserObjectRelease(object, 2));
  OK(cudaGraphRetainUserObject(graph, object, 1, 1));  // the last reference moves to the graph
  FAILS(cudaErrorInvalidValue, cudaUserObjectCreate(&object, &destroyed, test::count_up, 0, 1));
  FAILS(cudaErrorInvalidValue, cudaUserObjectRetain(object, 0));
  FAILS(cudaErrorInvalidValue, cudaUserObjectRelease(object, 5));
  FAILS(cudaErrorInvalidValue, cudaGraphRetainUserObject(graph, reinterpret_cast<cudaUserObject_t>(&destroyed), 1, 0));
  FAILS(cudaErrorInvalidValue, cudaGraphReleaseUserObject(graph, object, 2));
  EXPECT_EQ(destroyed, 0);

  cudaGraphExec_t exec = nullptr;
  OK(cudaGraphInstantiate(&exec, graph, 0));
  OK(cudaGraphDestroy(graph));
  EXPECT_EQ(destroyed, 0);
  for (int i = 0; i < 2; ++i) {
    OK(cudaGraphLaunch(exec, nullptr));
    OK(cudaDeviceSynchronize());
  }
  OK(cudaMemcpy(&value, p + 63, 4, cudaMemcpyDeviceToHost));
  EXPECT_EQ(value, 77u);
  OK(cudaGraphExecDestroy(exec));
  EXPECT_EQ(destroyed, 1);
  FAILS(cudaErrorInvalidValue, cudaMemcpy(&value, p, 4, cudaMemcpyDeviceToHost));  // the memory is freed now

  OK(cudaUserObjectCreate(&object, &destroyed, test::count_up, 1, 1));
  OK(cudaGraphCreate(&graph, 0));
  OK(cudaGraphRetainUserObject(graph, object, 1, 1));
  OK(cudaGraphReleaseUserObject(graph, object, 1));
  EXPECT_EQ(destroyed, 2);
  OK(cudaGraphDestroy(graph));
}

// As in the sample graphMemoryNodes: memory that the graph does not free may be freed outside of it, and each launch
// allocates it again at the same address.
TEST(Graphs, MemoryIsFreedOutsideAndAllocatedByTheNextLaunch) {
  cudaGraph_t graph = nullptr, freeing = nullptr;
  cudaGraphNode_t node = nullptr, fill = nullptr, freed = nullptr;
  cudaMemAllocNodeParams alloc{};
  alloc.poolProps.allocType = cudaMemAllocationTypePinned;
  alloc.poolProps.location = {cudaMemLocationTypeDevice, 0};
  alloc.bytesize = 256;
  OK(cudaGraphCreate(&graph, 0));
  OK(cudaGraphAddMemAllocNode(&node, graph, nullptr, 0, &alloc));
  unsigned* p = static_cast<unsigned*>(alloc.dptr);
  unsigned value = 77, seen = 0;
  void* parameters[] = {&p, &value};
  cudaKernelNodeParams kernel{&test::fill, {1, 1, 1}, {64, 1, 1}, 0, parameters, nullptr};
  OK(cudaGraphAddKernelNode(&fill, graph, &node, 1, &kernel));
  OK(cudaGraphCreate(&freeing, 0));
  OK(cudaGraphAddMemFreeNode(&freed, freeing, nullptr, 0, p));
  cudaGraphExec_t exec = nullptr, exec_freeing = nullptr;
  OK(cudaGraphInstantiate(&exec, graph, 0));
  OK(cudaGraphInstantiate(&exec_freeing, freeing, 0));
  OK(cudaGraphDestroy(graph));
  OK(cudaGraphDestroy(freeing));
  for (int how = 0; how < 3; ++how) {
    OK(cudaGraphLaunch(exec, nullptr));
    OK(cudaMemcpyAsync(&seen, p + 63, 4, cudaMemcpyDeviceToHost, nullptr));
    if (how == 0) OK(cudaFree(p));
    if (how == 1) OK(cudaFreeAsync(p, nullptr));
    if (how == 2) OK(cudaGraphLaunch(exec_freeing, nullptr));
    OK(cudaDeviceSynchronize());
    EXPECT_EQ(seen, 77u);
    seen = 0;
    FAILS(cudaErrorInvalidValue, cudaFree(p));
    FAILS(cudaErrorInvalidValue, cudaFreeAsync(p, nullptr));
  }
  // The memory outlives its graph until it is freed.
  OK(cudaGraphLaunch(exec, nullptr));
  OK(cudaDeviceSynchronize());
  OK(cudaGraphExecDestroy(exec));
  OK(cudaGraphExecDestroy(exec_freeing));
  OK(cudaMemcpy(&seen, p, 4, cudaMemcpyDeviceToHost));
  EXPECT_EQ(seen, 77u);
  OK(cudaFree(p));
  FAILS(cudaErrorInvalidValue, cudaFree(p));
}

TEST(Graphs, EdgesAndQueries) {
  Fixture f;
  cudaGraphNode_t a = nullptr, b = nullptr, c = nullptr, list[4] = {}, to[4] = {};
  OK(cudaGraphAddEmptyNode(&a, f.graph, nullptr, 0));
  OK(cudaGraphAddEmptyNode(&b, f.graph, &a, 1));
  OK(cudaGraphAddEmptyNode(&c, f.graph, nullptr, 0));
  OK(cudaGraphAddDependencies(f.graph, &b, &c, nullptr, 1));
  FAILS(cudaErrorInvalidValue, cudaGraphAddDependencies(f.graph, &b, &c, nullptr, 1));  // the same edge twice
  FAILS(cudaErrorInvalidValue, cudaGraphAddDependencies(f.graph, &b, &kNoNode, nullptr, 1));
  FAILS(cudaErrorInvalidValue, cudaGraphAddEmptyNode(&c, f.graph, &kNoNode, 1));
  std::size_t count = 4;
  OK(cudaGraphGetNodes(f.graph, list, &count));
  EXPECT_EQ(count, 3u);
  count = 4;
  OK(cudaGraphGetRootNodes(f.graph, list, &count));
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(list[0], a);
  count = 4;
  OK(cudaGraphGetEdges(f.graph, list, to, nullptr, &count));
  EXPECT_EQ(count, 2u);
  EXPECT_EQ(to[1], c);
  count = 4;
  OK(cudaGraphNodeGetDependencies(c, list, nullptr, &count));
  EXPECT_EQ(list[0], b);
  count = 4;
  OK(cudaGraphNodeGetDependentNodes(a, list, nullptr, &count));
  EXPECT_EQ(list[0], b);
  cudaGraphNodeType type{};
  OK(cudaGraphNodeGetType(a, &type));
  EXPECT_EQ(type, cudaGraphNodeTypeEmpty);
  FAILS(cudaErrorInvalidValue, cudaGraphNodeGetType(kNoNode, &type));
  FAILS(cudaErrorInvalidValue, cudaGraphGetNodes(f.graph, list, nullptr));
  FAILS(cudaErrorInvalidValue, cudaGraphGetRootNodes(nullptr, list, &count));
  FAILS(cudaErrorInvalidValue, cudaGraphGetEdges(nullptr, list, to, nullptr, &count));
  FAILS(cudaErrorInvalidValue, cudaGraphNodeGetDependencies(kNoNode, list, nullptr, &count));
  FAILS(cudaErrorInvalidValue, cudaGraphNodeGetDependentNodes(kNoNode, list, nullptr, &count));
  OK(cudaGraphAddDependencies(f.graph, &c, &a, nullptr, 1));  // a cycle
  cudaGraphExec_t exec = nullptr;
  FAILS(cudaErrorInvalidValue, cudaGraphInstantiate(&exec, f.graph, 0));
  FAILS(cudaErrorInvalidValue, cudaGraphInstantiateWithFlags(&exec, f.graph, 0));
  cudaGraph_t outer = nullptr;
  cudaGraphNode_t child = nullptr;
  OK(cudaGraphCreate(&outer, 0));
  OK(cudaGraphAddChildGraphNode(&child, outer, nullptr, 0, f.graph));
  FAILS(cudaErrorInvalidValue, cudaGraphInstantiate(&exec, outer, 0));
  OK(cudaGraphDestroy(outer));
  OK(cudaGraphRemoveDependencies(f.graph, &c, &a, nullptr, 1));
  FAILS(cudaErrorInvalidValue, cudaGraphRemoveDependencies(f.graph, &c, &a, nullptr, 1));
  OK(cudaGraphDestroyNode(b));
  FAILS(cudaErrorInvalidValue, cudaGraphDestroyNode(b));
  FAILS(cudaErrorInvalidValue, cudaGraphNodeGetType(b, &type));
  count = 4;
  OK(cudaGraphNodeGetDependencies(c, nullptr, nullptr, &count));
  EXPECT_EQ(count, 0u);
  FAILS(cudaErrorInvalidValue, cudaGraphCreate(&f.graph, 7));
  FAILS(cudaErrorInvalidValue, cudaGraphDestroy(reinterpret_cast<cudaGraph_t>(&count)));
}

TEST(Graphs, ClonesChildrenAndUpdates) {
  Fixture f;
  cudaGraphNode_t node = nullptr, twin = nullptr, child = nullptr;
  cudaKernelNodeParams p = f.kernel();
  OK(cudaGraphAddKernelNode(&node, f.graph, nullptr, 0, &p));
  cudaGraph_t copy = nullptr, parent = nullptr, inside = nullptr;
  OK(cudaGraphClone(&copy, f.graph));
  OK(cudaGraphNodeFindInClone(&twin, node, copy));
  EXPECT_NE(twin, node);
  FAILS(cudaErrorInvalidValue, cudaGraphNodeFindInClone(&twin, kNoNode, copy));
  FAILS(cudaErrorInvalidValue, cudaGraphClone(nullptr, f.graph));
  OK(cudaGraphCreate(&parent, 0));
  OK(cudaGraphAddChildGraphNode(&child, parent, nullptr, 0, copy));
  OK(cudaGraphChildGraphNodeGetGraph(child, &inside));
  EXPECT_NE(inside, nullptr);
  FAILS(cudaErrorInvalidValue, cudaGraphChildGraphNodeGetGraph(node, &inside));
  FAILS(cudaErrorInvalidValue, cudaGraphAddChildGraphNode(&child, parent, nullptr, 0, nullptr));
  cudaGraphExec_t exec = nullptr;
  cudaGraphInstantiateParams instantiate{};
  unsigned long long flags = 9;
  OK(cudaGraphInstantiateWithParams(&exec, parent, &instantiate));
  OK(cudaGraphExecGetFlags(exec, &flags));
  EXPECT_EQ(flags, 0u);
  FAILS(cudaErrorInvalidValue, cudaGraphExecGetFlags(nullptr, &flags));
  FAILS(cudaErrorInvalidValue, cudaGraphInstantiateWithParams(&exec, parent, nullptr));
  f.value = 31;
  OK(cudaGraphKernelNodeSetParams(node, &p));
  OK(cudaGraphExecChildGraphNodeSetParams(exec, child, f.graph));
  FAILS(cudaErrorInvalidValue, cudaGraphExecChildGraphNodeSetParams(exec, kNoNode, f.graph));
  OK(cudaGraphUpload(exec, nullptr));
  OK(cudaGraphUpload_ptsz(exec, nullptr));
  OK(cudaGraphLaunch(exec, nullptr));
  OK(cudaDeviceSynchronize());
  EXPECT_EQ(f.d.read()[0], 31u);
  OK(cudaGraphExecDestroy(exec));
  FAILS(cudaErrorInvalidValue, cudaGraphUpload(exec, nullptr));

  OK(cudaGraphInstantiateWithParams_ptsz(&exec, f.graph, &instantiate));
  f.value = 32;
  OK(cudaGraphKernelNodeSetParams(node, &p));
  cudaGraphExecUpdateResultInfo info{};
  OK(cudaGraphExecUpdate(exec, f.graph, &info));
  OK(cudaGraphLaunch(exec, nullptr));
  OK(cudaDeviceSynchronize());
  EXPECT_EQ(f.d.read()[0], 32u);
  FAILS(cudaErrorGraphExecUpdateFailure, cudaGraphExecUpdate(exec, parent, &info));
  EXPECT_EQ(info.result, cudaGraphExecUpdateErrorNodeTypeChanged);

  // Nodes with generic parameters.
  cudaGraphNodeParams any{};
  any.type = cudaGraphNodeTypeKernel;
  any.kernel = f.kernel();
  f.value = 33;
  OK(cudaGraphNodeSetParams(node, &any));
  OK(cudaGraphExecNodeSetParams(exec, node, &any));
  OK(cudaGraphLaunch(exec, nullptr));
  OK(cudaDeviceSynchronize());
  EXPECT_EQ(f.d.read()[0], 33u);
  cudaGraphNode_t added = nullptr;
  OK(cudaGraphAddNode(&added, f.graph, &node, nullptr, 1, &any));
  any.type = static_cast<cudaGraphNodeType>(99);
  FAILS(cudaErrorNotSupported, cudaGraphAddNode(&added, f.graph, nullptr, nullptr, 0, &any));
  FAILS(cudaErrorInvalidValue, cudaGraphNodeSetParams(kNoNode, &any));
  FAILS(cudaErrorInvalidValue, cudaGraphExecNodeSetParams(exec, kNoNode, &any));
  OK(cudaGraphExecDestroy(exec));
  OK(cudaGraphDestroy(copy));
  OK(cudaGraphDestroy(parent));
}

// Conditions that kernels set are tested in tests/driver/conditional_graphs_test.cpp.
TEST(Graphs, HaveConditionalNodes) {
  const test::Words words(1);
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  cudaGraphNode_t node = nullptr, inner = nullptr;
  cudaGraphConditionalHandle handle = 0;
  OK(cudaGraphCreate(&graph, 0));
  OK(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
  FAILS(cudaErrorInvalidValue, cudaGraphConditionalHandleCreate(&handle, nullptr, 1, 0));
  cudaGraphNodeParams p{};
  p.type = cudaGraphNodeTypeConditional;
  p.conditional.handle = handle;
  p.conditional.type = cudaGraphCondTypeIf;
  p.conditional.size = 1;
  OK(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &p));
  cudaMemsetParams fill{};
  fill.dst = words;
  fill.value = 5;
  fill.elementSize = 4;
  fill.width = fill.height = 1;
  OK(cudaGraphAddMemsetNode(&inner, p.conditional.phGraph_out[0], nullptr, 0, &fill));
  OK(cudaGraphInstantiate(&exec, graph, 0));
  OK(cudaGraphLaunch(exec, nullptr));
  EXPECT_EQ(words.read(), std::vector<unsigned>{5});
  OK(cudaGraphExecDestroy(exec));
  OK(cudaGraphDestroy(graph));
  cudaGetLastError();
}

}  // namespace warpgrind::runtime
