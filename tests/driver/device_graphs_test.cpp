// Graphs that kernels launch (cudaGraphLaunch in device code): which ones run, and in which order. Errors and orders
// are an H200's (driver 580).
#include <vector>

#include "code.h"

namespace warpgrind::driver {

namespace {

// The list is [number, values ...]. mark(list, value) appends; start(list, value, graph, stream, times) appends, and
// launches the graph so often; list[63] is the last error. again(list, most): the running graph launches itself as its
// tail until the list has `most` values. which(list): list[1] = 1 if no graph for the device runs.
constexpr const char* kDeviceGraphCode = R"(.version 8.0
.target sm_52
.address_size 64
.extern .func (.param .b32 error) cudaGraphLaunch (.param .b64 graph, .param .b64 stream);
.visible .entry mark(.param .u64 list, .param .u32 value)
{
  .reg .u64 %rd<4>;
  .reg .u32 %r<4>;
  ld.param.u64 %rd1, [list];
  ld.param.u32 %r1, [value];
  atom.global.add.u32 %r2, [%rd1], 1;
  mad.wide.u32 %rd2, %r2, 4, %rd1;
  st.global.u32 [%rd2+4], %r1;
  ret;
}
.visible .entry start(.param .u64 list, .param .u32 value, .param .u64 graph, .param .u64 stream, .param .u32 times)
{
  .reg .u64 %rd<6>;
  .reg .u32 %r<6>;
  .reg .pred %p1;
  ld.param.u64 %rd1, [list];
  ld.param.u32 %r1, [value];
  ld.param.u64 %rd3, [graph];
  ld.param.u64 %rd4, [stream];
  ld.param.u32 %r3, [times];
  atom.global.add.u32 %r2, [%rd1], 1;
  mad.wide.u32 %rd2, %r2, 4, %rd1;
  st.global.u32 [%rd2+4], %r1;
NEXT:
  {
    .param .b64 a0;
    .param .b64 a1;
    .param .b32 r0;
    st.param.b64 [a0], %rd3;
    st.param.b64 [a1], %rd4;
    call.uni (r0), cudaGraphLaunch, (a0, a1);
    ld.param.b32 %r4, [r0];
  }
  st.global.u32 [%rd1+252], %r4;
  sub.u32 %r3, %r3, 1;
  setp.ne.u32 %p1, %r3, 0;
  @%p1 bra NEXT;
  ret;
}
.visible .entry again(.param .u64 list, .param .u32 most)
{
  .reg .u64 %rd<6>;
  .reg .u32 %r<6>;
  .reg .pred %p1;
  ld.param.u64 %rd1, [list];
  ld.param.u32 %r1, [most];
  atom.global.add.u32 %r2, [%rd1], 1;
  add.u32 %r3, %r2, 1;
  setp.ge.u32 %p1, %r3, %r1;
  @%p1 bra END;
  mov.u64 %rd3, %current_graph_exec;
  {
    .param .b64 a0;
    .param .b64 a1;
    .param .b32 r0;
    st.param.b64 [a0], %rd3;
    st.param.b64 [a1], 72057594037927936;
    call.uni (r0), cudaGraphLaunch, (a0, a1);
    ld.param.b32 %r4, [r0];
  }
END:
  ret;
}
.visible .entry which(.param .u64 list)
{
  .reg .u64 %rd<3>;
  .reg .u32 %r1;
  .reg .pred %p1;
  ld.param.u64 %rd1, [list];
  mov.u64 %rd2, %current_graph_exec;
  setp.eq.u64 %p1, %rd2, 0;
  selp.u32 %r1, 1, 2, %p1;
  st.global.u32 [%rd1+4], %r1;
  ret;
}
)";

constexpr std::uint64_t kTail = 0x0100000000000000, kForget = 0x0200000000000000, kSibling = 0x0300000000000000;

class DeviceGraphs : public test::WithContext {
 protected:
  DeviceGraphs() {
    OK(cuModuleLoadData(&module, kDeviceGraphCode));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  }
  ~DeviceGraphs() override {
    for (const CUgraphExec exec : execs) OK(cuGraphExecDestroy(exec));
    OK(cuStreamDestroy(stream));
    OK(cuModuleUnload(module));
  }
  CUfunction function(const char* name) const {
    CUfunction f = nullptr;
    OK(cuModuleGetFunction(&f, module, name));
    return f;
  }
  void add(CUgraph graph, const char* name, std::vector<void*> arguments) const {
    CUDA_KERNEL_NODE_PARAMS p{};
    p.func = function(name);
    p.gridDimX = p.gridDimY = p.gridDimZ = p.blockDimX = p.blockDimY = p.blockDimZ = 1;
    p.kernelParams = arguments.data();
    CUgraphNode out = nullptr;
    OK(cuGraphAddKernelNode(&out, graph, nullptr, 0, &p));
  }
  // Instantiates a graph for the device, and uploads it.
  CUgraphExec finish(CUgraph graph, unsigned long long flags = CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) {
    CUgraphExec exec = nullptr;
    OK(cuGraphInstantiate(&exec, graph, flags));
    OK(cuGraphDestroy(graph));
    OK(cuGraphUpload(exec, stream));
    execs.push_back(exec);
    return exec;
  }
  CUgraphExec marks(unsigned value) {
    CUgraph graph = nullptr;
    OK(cuGraphCreate(&graph, 0));
    add(graph, "mark", {&list, &value});
    return finish(graph);
  }
  CUgraphExec starts(unsigned value, CUgraphExec other, std::uint64_t how, unsigned times = 1) {
    CUgraph graph = nullptr;
    OK(cuGraphCreate(&graph, 0));
    auto handle = reinterpret_cast<std::uint64_t>(other);
    add(graph, "start", {&list, &value, &handle, &how, &times});
    return finish(graph);
  }
  // The list after a launch of the graph, and a kernel behind it in the stream that appends 99.
  std::vector<unsigned> after(CUgraphExec exec) {
    OK(cuMemsetD32(list, 0, 64));
    OK(cuCtxSynchronize());
    OK(cuGraphLaunch(exec, stream));
    unsigned last = 99;
    void* arguments[] = {&list, &last};
    OK(cuLaunchKernel(function("mark"), 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr));
    OK(cuStreamSynchronize(stream));
    const std::vector<unsigned> all = words.read();
    error = all[63];
    return {all.begin() + 1, all.begin() + 1 + all[0]};
  }
  using List = std::vector<unsigned>;
  CUmodule module = nullptr;
  CUstream stream = nullptr;
  std::vector<CUgraphExec> execs;
  test::Words words{64};
  CUdeviceptr list = words.data();
  unsigned error = 0;
};

}  // namespace

TEST_F(DeviceGraphs, EndBeforeTheNextWorkOfTheStream) {
  const CUgraphExec leaf = marks(10);
  for (const std::uint64_t how : {kForget, kTail, kSibling}) {
    EXPECT_EQ(after(starts(1, leaf, how)), (List{1, 10, 99}));
    EXPECT_EQ(error, 0u);
  }
}

// "Tail launches ... execute after the graph's environment is complete": its children, and theirs.
TEST_F(DeviceGraphs, TailsFollowAllChildren) {
  const CUgraphExec leaf = marks(10), last = marks(20);
  const CUgraphExec child = starts(2, leaf, kForget);
  unsigned value = 1, once = 1, twice = 2;
  std::uint64_t tail = kTail, forget = kForget;
  auto last_handle = reinterpret_cast<std::uint64_t>(last), child_handle = reinterpret_cast<std::uint64_t>(child);
  CUgraph graph = nullptr;
  OK(cuGraphCreate(&graph, 0));
  add(graph, "start", {&list, &value, &last_handle, &tail, &once});
  CUgraphExec tails = finish(graph);
  OK(cuGraphCreate(&graph, 0));
  add(graph, "start", {&list, &value, &child_handle, &forget, &twice});
  CUgraphExec children = finish(graph);
  EXPECT_EQ(after(tails), (List{1, 20, 99}));
  EXPECT_EQ(error, 0u);
  EXPECT_EQ(after(children), (List{1, 2, 10, 99}));  // the second request is refused
}

TEST_F(DeviceGraphs, AGraphRelaunchesItself) {
  CUgraph graph = nullptr;
  unsigned most = 5000;
  OK(cuGraphCreate(&graph, 0));
  add(graph, "again", {&list, &most});
  const CUgraphExec exec = finish(graph);
  OK(cuMemsetD32(list, 0, 64));
  OK(cuCtxSynchronize());
  OK(cuGraphLaunch(exec, stream));
  OK(cuStreamSynchronize(stream));
  EXPECT_EQ(words.read()[0], 5000u);
}

TEST_F(DeviceGraphs, OthersAreRefused) {
  const CUgraphExec leaf = marks(10);
  for (const std::uint64_t how : {kForget, kTail, kSibling}) {
    EXPECT_EQ(after(starts(1, leaf, how, 2)), (List{1, 10, 99}));  // again, before it has ended
    EXPECT_EQ(error, 1u);
  }
  EXPECT_EQ(after(starts(1, leaf, 0)), (List{1, 99}));  // no named stream
  EXPECT_EQ(error, 1u);
  EXPECT_EQ(after(starts(1, nullptr, kTail)), (List{1, 99}));
  EXPECT_EQ(error, 1u);
  // Not uploaded.
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  unsigned value = 1;
  OK(cuGraphCreate(&graph, 0));
  add(graph, "mark", {&list, &value});
  OK(cuGraphInstantiate(&exec, graph, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH));
  execs.push_back(exec);
  EXPECT_EQ(after(starts(1, exec, kForget)), (List{1, 99}));
  EXPECT_EQ(error, 1u);
  OK(cuGraphUpload(exec, stream));
  EXPECT_EQ(after(starts(2, exec, kForget)), (List{2, 1, 99}));
  OK(cuGraphDestroy(graph));
}

// A graph that is not for the device may launch one that is.
TEST_F(DeviceGraphs, AnyGraphMayLaunch) {
  const CUgraphExec leaf = marks(20);
  CUgraph graph = nullptr;
  unsigned value = 1, once = 1;
  std::uint64_t how = kForget;
  auto handle = reinterpret_cast<std::uint64_t>(leaf);
  OK(cuGraphCreate(&graph, 0));
  add(graph, "start", {&list, &value, &handle, &how, &once});
  EXPECT_EQ(after(finish(graph, 0)), (List{1, 20, 99}));
}

TEST_F(DeviceGraphs, SomeNodesAreNotForTheDevice) {
  CUgraph graph = nullptr;
  CUgraphNode node = nullptr, other = nullptr;
  CUgraphExec exec = nullptr;
  OK(cuGraphCreate(&graph, 0));
  CUDA_GRAPH_INSTANTIATE_PARAMS p{};
  p.flags = CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH;
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiateWithParams(&exec, graph, &p));
  EXPECT_EQ(p.result_out, CUDA_GRAPH_INSTANTIATE_ERROR);
  unsigned value = 1;
  add(graph, "mark", {&list, &value});
  p.flags = CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiateWithParams(&exec, graph, &p));
  p.flags = CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH;
  CUDA_MEMSET_NODE_PARAMS fill{};
  fill.dst = list;
  fill.elementSize = 4;
  fill.width = fill.height = 1;
  OK(cuGraphAddMemsetNode(&other, graph, nullptr, 0, &fill, context));
  OK(cuGraphInstantiateWithParams(&exec, graph, &p));
  OK(cuGraphExecDestroy(exec));
  CUDA_HOST_NODE_PARAMS host{};
  host.fn = [](void*) {};
  OK(cuGraphAddHostNode(&node, graph, nullptr, 0, &host));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiateWithParams(&exec, graph, &p));
  EXPECT_EQ(p.result_out, CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED);
  EXPECT_EQ(p.hErrNode_out, node);
  OK(cuGraphDestroy(graph));
}

TEST_F(DeviceGraphs, TheCurrentGraphIsKnown) {
  for (const bool for_device : {false, true}) {
    CUgraph graph = nullptr;
    OK(cuGraphCreate(&graph, 0));
    add(graph, "which", {&list});
    const CUgraphExec exec = finish(graph, for_device ? CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH : 0);
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    EXPECT_EQ(words.read()[1], for_device ? 2u : 1u);
  }
}

}  // namespace warpgrind::driver
