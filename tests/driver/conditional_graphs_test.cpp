// Conditional nodes of graphs: kernels set which graph runs, and how often.
#include <vector>

#include "code.h"

namespace warpgrind::driver {

namespace {

// count(p, handle, most): p[0] += 1, and the condition is p[0] < most; set(handle, value): the condition is the value;
// add(p, n): p[0] += n
constexpr const char* kConditionCode = R"(.version 8.0
.target sm_52
.address_size 64
.extern .func cudaGraphSetConditional (.param .b64 handle, .param .b32 value);
.visible .entry count(.param .u64 p, .param .u64 handle, .param .u32 most)
{
  .reg .u64 %rd<3>;
  .reg .u32 %r<5>;
  .reg .pred %p1;
  ld.param.u64 %rd1, [p];
  ld.param.u64 %rd2, [handle];
  ld.param.u32 %r1, [most];
  ld.global.u32 %r2, [%rd1];
  add.u32 %r3, %r2, 1;
  st.global.u32 [%rd1], %r3;
  setp.lt.u32 %p1, %r3, %r1;
  selp.u32 %r4, 1, 0, %p1;
  {
    .param .b64 a0;
    .param .b32 a1;
    st.param.b64 [a0], %rd2;
    st.param.b32 [a1], %r4;
    call.uni cudaGraphSetConditional, (a0, a1);
  }
  ret;
}
.visible .entry set(.param .u64 handle, .param .u32 value)
{
  .reg .u64 %rd1;
  .reg .u32 %r1;
  ld.param.u64 %rd1, [handle];
  ld.param.u32 %r1, [value];
  {
    .param .b64 a0;
    .param .b32 a1;
    st.param.b64 [a0], %rd1;
    st.param.b32 [a1], %r1;
    call.uni cudaGraphSetConditional, (a0, a1);
  }
  ret;
}
.visible .entry add(.param .u64 p, .param .u32 n)
{
  .reg .u64 %rd1;
  .reg .u32 %r<4>;
  ld.param.u64 %rd1, [p];
  ld.param.u32 %r1, [n];
  ld.global.u32 %r2, [%rd1];
  add.u32 %r3, %r2, %r1;
  st.global.u32 [%rd1], %r3;
  ret;
}
)";

class Conditional : public test::WithContext {
 protected:
  Conditional() {
    OK(cuModuleLoadData(&module, kConditionCode));
    OK(cuGraphCreate(&graph, 0));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  }
  ~Conditional() override {
    OK(cuStreamDestroy(stream));
    OK(cuGraphDestroy(graph));
    OK(cuModuleUnload(module));
  }
  CUgraphNode kernel(CUgraph in, const char* name, void** arguments, CUgraphNode after = nullptr) const {
    CUDA_KERNEL_NODE_PARAMS p{};
    OK(cuModuleGetFunction(&p.func, module, name));
    p.gridDimX = p.gridDimY = p.gridDimZ = p.blockDimX = p.blockDimY = p.blockDimZ = 1;
    p.kernelParams = arguments;
    CUgraphNode out = nullptr;
    OK(cuGraphAddKernelNode(&out, in, &after, after ? 1 : 0, &p));
    return out;
  }
  // Adds a conditional node and returns its body graphs.
  std::vector<CUgraph> conditional(CUgraph in, CUgraphConditionalHandle handle, CUgraphConditionalNodeType type,
                                   unsigned size, CUgraphNode after = nullptr, CUgraphNode* out = nullptr) const {
    CUgraphNodeParams p{};
    p.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    p.conditional.handle = handle;
    p.conditional.type = type;
    p.conditional.size = size;
    p.conditional.ctx = context;
    CUgraphNode node = nullptr;
    OK(cuGraphAddNode(&node, in, &after, nullptr, after ? 1 : 0, &p));
    if (out) *out = node;
    return {p.conditional.phGraph_out, p.conditional.phGraph_out + size};
  }
  CUgraphConditionalHandle handle(unsigned initial, unsigned flags = CU_GRAPH_COND_ASSIGN_DEFAULT) const {
    CUgraphConditionalHandle out = 0;
    OK(cuGraphConditionalHandleCreate(&out, graph, context, initial, flags));
    return out;
  }
  void launch(unsigned times = 1) const {
    CUgraphExec exec = nullptr;
    OK(cuGraphInstantiate(&exec, graph, 0));
    for (unsigned k = 0; k < times; k++) OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    OK(cuGraphExecDestroy(exec));
  }
  CUmodule module = nullptr;
  CUgraph graph = nullptr;
  CUstream stream = nullptr;
};

}  // namespace

TEST_F(Conditional, LoopsWhileKernelsSaySo) {
  const test::Words words(2);
  CUdeviceptr p = words.data(), after_p = words.data() + 4;
  CUgraphConditionalHandle condition = handle(1);
  unsigned most = 7, hundred = 100;
  CUgraphNode loop = nullptr;
  const auto bodies = conditional(graph, condition, CU_GRAPH_COND_TYPE_WHILE, 1, nullptr, &loop);
  void* counting[] = {&p, &condition, &most};
  void* adding[] = {&after_p, &hundred};
  kernel(bodies[0], "count", counting);
  kernel(graph, "add", adding, loop);
  CUgraphNodeType type{};
  OK(cuGraphNodeGetType(loop, &type));
  EXPECT_EQ(type, CU_GRAPH_NODE_TYPE_CONDITIONAL);
  launch();
  EXPECT_EQ(words.read(), (std::vector<unsigned>{7, 100}));
  launch(2);  // the condition is 1 again at each launch
  EXPECT_EQ(words.read(), (std::vector<unsigned>{9, 300}));
}

TEST_F(Conditional, ChoosesBetweenIfAndElse) {
  const test::Words words(1);
  CUdeviceptr p = words.data();
  CUgraphConditionalHandle condition = handle(0);
  unsigned value = 5, one = 1, ten = 10;
  void* setting[] = {&condition, &value};
  void* if_true[] = {&p, &one};
  void* if_false[] = {&p, &ten};
  const CUgraphNode set = kernel(graph, "set", setting);
  const auto bodies = conditional(graph, condition, CU_GRAPH_COND_TYPE_IF, 2, set);
  kernel(bodies[0], "add", if_true);
  kernel(bodies[1], "add", if_false);
  launch();
  EXPECT_EQ(words.read()[0], 1u);
  CUDA_KERNEL_NODE_PARAMS changed{};
  OK(cuGraphKernelNodeGetParams(set, &changed));
  value = 0;
  changed.kernelParams = setting;
  OK(cuGraphKernelNodeSetParams(set, &changed));
  launch();
  EXPECT_EQ(words.read()[0], 11u);
}

TEST_F(Conditional, SwitchesAndNests) {
  const test::Words words(1);
  CUdeviceptr p = words.data();
  const CUgraphConditionalHandle third = handle(2), inner = handle(1), none = handle(9);
  unsigned one = 1, ten = 10, hundred = 100;
  void* adding[][2] = {{&p, &one}, {&p, &ten}, {&p, &hundred}};
  const auto bodies = conditional(graph, third, CU_GRAPH_COND_TYPE_SWITCH, 3);
  for (unsigned k = 0; k < 3; k++) {
    CUgraph in = bodies[k];
    if (k == 2) in = conditional(in, inner, CU_GRAPH_COND_TYPE_IF, 1)[0];
    kernel(in, "add", adding[k]);
  }
  const auto never = conditional(graph, none, CU_GRAPH_COND_TYPE_SWITCH, 2);
  kernel(never[0], "add", adding[0]);
  kernel(never[1], "add", adding[0]);
  launch();
  EXPECT_EQ(words.read()[0], 100u);
}

TEST_F(Conditional, NeedsAHandleAndASize) {
  CUgraphConditionalHandle condition = 0;
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphConditionalHandleCreate(nullptr, graph, context, 0, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphConditionalHandleCreate(&condition, nullptr, context, 0, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphConditionalHandleCreate(&condition, graph, context, 0, 8));
  CUgraphNodeParams p{};
  CUgraphNode node = nullptr;
  p.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  p.conditional.handle = 12345;
  p.conditional.type = CU_GRAPH_COND_TYPE_IF;
  p.conditional.size = 1;
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &p));
  p.conditional.handle = handle(0, 0);
  p.conditional.type = CU_GRAPH_COND_TYPE_WHILE;
  p.conditional.size = 2;
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &p));
  p.conditional.size = 0;
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &p));
}

}  // namespace warpgrind::driver
