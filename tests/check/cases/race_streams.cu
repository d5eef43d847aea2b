// Work of several streams, of a graph's branches, and of the host, without what would order it.
#include <unistd.h>

#include "cases.h"

__global__ void writer(int* data) {
  data[blockIdx.x * blockDim.x + threadIdx.x] = 1;  //! C070 C071 C072 C075 any
}
__global__ void reader(const int* data, int* out) {
  //! C070 C071 C072 C076 any
  out[blockIdx.x * blockDim.x + threadIdx.x] = data[blockIdx.x * blockDim.x + threadIdx.x];
}

struct Streams {
  Streams() {
    cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
  }
  ~Streams() {
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
  }
  cudaStream_t first, second;
};

CASE(C070, "kernel A writes buf in s1, kernel B reads in s2 (non-blocking), no event") {  // two_streams_write_read
  Streams streams;
  int *data = cases::zeros<int>(64), *out = cases::zeros<int>(64);
  cudaDeviceSynchronize();
  writer<<<1, 64, 0, streams.first>>>(data);        //! C070 ERROR race-stream message~cudaStreamWaitEvent
  reader<<<1, 64, 0, streams.second>>>(data, out);  //! C070 ERROR race-stream
  cudaDeviceSynchronize();
  cudaFree(data);
  cudaFree(out);
}

CASE(C071, "cudaStreamWaitEvent issued before cudaEventRecord") {  // event_wait_before_record
  Streams streams;
  int *data = cases::zeros<int>(64), *out = cases::zeros<int>(64);
  cudaEvent_t written;
  cudaEventCreateWithFlags(&written, cudaEventDisableTiming);
  cudaDeviceSynchronize();
  writer<<<1, 64, 0, streams.first>>>(data);  //! C071 ERROR race-stream message~record
  cudaStreamWaitEvent(streams.second, written, 0);
  cudaEventRecord(written, streams.first);
  reader<<<1, 64, 0, streams.second>>>(data, out);  //! C071 ERROR race-stream
  cudaDeviceSynchronize();
  cudaEventDestroy(written);
  cudaFree(data);
  cudaFree(out);
}

CASE(C072, "default-stream kernel writes, non-blocking stream kernel reads") {  // legacy_and_nonblocking
  Streams streams;
  int *data = cases::zeros<int>(64), *out = cases::zeros<int>(64);
  cudaDeviceSynchronize();
  writer<<<1, 64>>>(data);                         //! C072 ERROR race-stream
  reader<<<1, 64, 0, streams.first>>>(data, out);  //! C072 ERROR race-stream
  cudaDeviceSynchronize();
  cudaFree(data);
  cudaFree(out);
}

CASE(C073, "cudaMemcpyAsync D2H to pinned memory, host reads before synchronising") {  // d2h_async_read_early
  Streams streams;
  constexpr size_t kBytes = 1 << 22;
  int *data = cases::zeros<int>(kBytes / sizeof(int)), *host;
  cudaMallocHost(&host, kBytes);
  std::memset(host, 0, kBytes);
  cudaDeviceSynchronize();
  cudaMemcpyAsync(host, data, kBytes, cudaMemcpyDeviceToHost, streams.first);  //! C073 ERROR race-host
  const int early = *static_cast<volatile int*>(host);                         //! C073 ERROR race-host access=read
  std::printf("%d\n", early);
  cudaDeviceSynchronize();
  cudaFreeHost(host);
  cudaFree(data);
}

CASE(C074, "cudaMemcpyAsync H2D from pinned, host overwrites before synchronising") {  // pinned_source_reused
  Streams streams;
  constexpr size_t kBytes = 1 << 22;
  int *data = cases::zeros<int>(kBytes / sizeof(int)), *host;
  cudaMallocHost(&host, kBytes);
  std::memset(host, 0, kBytes);
  cudaDeviceSynchronize();
  cudaMemcpyAsync(data, host, kBytes, cudaMemcpyHostToDevice, streams.first);  //! C074 ERROR race-host
  *static_cast<volatile int*>(host) = 1;                                       //! C074 ERROR race-host access=write
  cudaDeviceSynchronize();
  cudaFreeHost(host);
  cudaFree(data);
}

CASE(C075, "host writes managed array after launch") {  // managed_write_while_running
  int* data;
  cudaMallocManaged(&data, 64 * sizeof(int));
  writer<<<1, 64>>>(data);                //! C075 any
  *static_cast<volatile int*>(data) = 2;  //! C075 ERROR race-managed access=write
  cudaDeviceSynchronize();
  cudaFree(data);
}

CASE(C076, "cudaFreeAsync(p,s1) while s2 still uses p") {  // free_async_other_stream
  Streams streams;
  int *data, *out = cases::zeros<int>(64);
  cudaMallocAsync(&data, 64 * sizeof(int), streams.first);
  cudaMemsetAsync(data, 0, 64 * sizeof(int), streams.first);
  cudaDeviceSynchronize();
  reader<<<1, 64, 0, streams.second>>>(data, out);  //! C076 ERROR use-after-free-stream
  usleep(200000);                      // else the free may come first, and the kernel's read is an error of its own
  cudaFreeAsync(data, streams.first);  //! C076 ERROR use-after-free-stream
  cudaDeviceSynchronize();
  cudaFree(out);
}

CASE(C077, "two memset nodes without edge on overlapping ranges") {  // graph_parallel_nodes
  Streams streams;
  char* data = cases::zeros<char>(1024);
  cudaGraph_t graph;
  cudaGraphNode_t nodes[2];
  cudaGraphCreate(&graph, 0);
  cudaMemsetParams fill{};
  fill.elementSize = 1;
  fill.height = 1;
  fill.width = 640;
  fill.dst = data;
  fill.value = 1;
  cudaGraphAddMemsetNode(&nodes[0], graph, nullptr, 0, &fill);  //! C077 ERROR race-graph
  fill.dst = data + 384;
  fill.value = 2;
  cudaGraphAddMemsetNode(&nodes[1], graph, nullptr, 0, &fill);  //! C077 ERROR race-graph
  cudaGraphExec_t executable;
  cudaGraphInstantiate(&executable, graph, 0);
  cudaDeviceSynchronize();
  cudaGraphLaunch(executable, streams.first);  //! C077 any
  cudaDeviceSynchronize();
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
  cudaFree(data);
}

// The second grid may start as soon as every block of the first has said so, and does not wait for its end.
__global__ void pdl_first(int* data) {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  data[threadIdx.x] = 1;  //! C078 any
}
__global__ void pdl_no_wait(const int* data, int* out) {
  out[threadIdx.x] = data[threadIdx.x];  //! C078 any
}
CASE(C078, "programmatic dependent launch, second kernel reads without griddepcontrol.wait") {
  Streams streams;
  int *data = cases::zeros<int>(64), *out = cases::zeros<int>(64);
  cudaDeviceSynchronize();
  pdl_first<<<1, 64, 0, streams.first>>>(data);  //! C078 ERROR race-stream message~griddepcontrol.wait
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = 1;
  config.blockDim = 64;
  config.stream = streams.first;
  config.attrs = &early;
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, pdl_no_wait, static_cast<const int*>(data), out);  //! C078 ERROR race-stream
  cudaDeviceSynchronize();
  cudaFree(data);
  cudaFree(out);
}

// Launches that may begin before the kernel before them has ended.
struct Early {
  explicit Early(cudaStream_t stream) {
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    config.gridDim = 1;
    config.blockDim = 64;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
  }
  cudaLaunchAttribute attribute{};
  cudaLaunchConfig_t config{};
};
__global__ void pdl_starts(int* data) {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  data[threadIdx.x] = 1;  //! C376 C377 any
}
__global__ void pdl_middle(int* other) {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  asm volatile("griddepcontrol.wait;" ::: "memory");
  other[threadIdx.x] = 2;
}
__global__ void pdl_reads_early(const int* data, int* out) {
  const int early = data[threadIdx.x];  //! C376 C377 any
  asm volatile("griddepcontrol.wait;" ::: "memory");
  out[threadIdx.x] = early;
}
__global__ void pdl_reads_late(const int* data, int* out) {
  asm volatile("griddepcontrol.wait;" ::: "memory");
  out[threadIdx.x] = data[threadIdx.x];
}

CASE(C376, "programmatic edge of a graph, second kernel reads before griddepcontrol.wait") {
  Streams streams;
  Early early(streams.first);
  int *data = cases::zeros<int>(64), *out = cases::zeros<int>(64);
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  cudaDeviceSynchronize();
  cudaStreamBeginCapture(streams.first, cudaStreamCaptureModeGlobal);
  pdl_starts<<<1, 64, 0, streams.first>>>(data);  //! C376 ERROR race-graph message~griddepcontrol.wait
  cudaLaunchKernelEx(&early.config, pdl_reads_early, static_cast<const int*>(data), out);  //! C376 ERROR race-graph
  cudaStreamEndCapture(streams.first, &graph);
  cudaGraphInstantiate(&executable, graph, 0);
  cudaGraphLaunch(executable, streams.first);  //! C376 any
  cudaDeviceSynchronize();
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
  cudaFree(data);
  cudaFree(out);
}

// The middle kernel starts the last one before it has itself waited for the first.
CASE(C377, "programmatic dependent launch, third kernel reads what the first writes before griddepcontrol.wait") {
  Streams streams;
  Early early(streams.first);
  int *data = cases::zeros<int>(64), *out = cases::zeros<int>(64), *other = cases::zeros<int>(64);
  cudaDeviceSynchronize();
  pdl_starts<<<1, 64, 0, streams.first>>>(data);  //! C377 ERROR race-stream message~griddepcontrol.wait
  cudaLaunchKernelEx(&early.config, pdl_middle, other);
  cudaLaunchKernelEx(&early.config, pdl_reads_early, static_cast<const int*>(data), out);  //! C377 ERROR race-stream
  cudaDeviceSynchronize();
  cudaFree(data);
  cudaFree(out);
  cudaFree(other);
}

CASE(C378, "programmatic dependent launches that wait before they read, in a stream and in a graph") {
  //! C378 clean
  Streams streams;
  Early early(streams.first);
  int *data = cases::zeros<int>(64), *out = cases::zeros<int>(64), *other = cases::zeros<int>(64);
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  cudaDeviceSynchronize();
  pdl_starts<<<1, 64, 0, streams.first>>>(data);
  cudaLaunchKernelEx(&early.config, pdl_middle, other);
  cudaLaunchKernelEx(&early.config, pdl_reads_late, static_cast<const int*>(data), out);
  cudaStreamBeginCapture(streams.first, cudaStreamCaptureModeGlobal);
  pdl_starts<<<1, 64, 0, streams.first>>>(data);
  cudaLaunchKernelEx(&early.config, pdl_reads_late, static_cast<const int*>(data), out);
  cudaStreamEndCapture(streams.first, &graph);
  cudaGraphInstantiate(&executable, graph, 0);
  cudaGraphLaunch(executable, streams.first);
  cudaDeviceSynchronize();
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
  cudaFree(data);
  cudaFree(out);
  cudaFree(other);
}

// Atomics of both sides: the order does not matter. The first read before a compare-and-swap may return any value.
__global__ void counts(int* count) {
  atomicAdd(count, 1);
  int seen = count[1], expected;
  do {
    expected = seen;
    seen = atomicCAS(count + 1, expected, expected + 2);
  } while (seen != expected);
}
__global__ void counts_in_block(int* count) {
  atomicAdd_block(count, 1);  //! C476 any
}
CASE(C476, "two nodes of a graph without an edge change one word, one by an atomic that only its block sees") {
  Streams streams;
  int* count = cases::zeros<int>(2);
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  cudaGraphNode_t nodes[2];
  void* arguments[] = {&count};
  cudaKernelNodeParams node{};
  node.gridDim = 1;
  node.blockDim = 64;
  node.kernelParams = arguments;
  cudaGraphCreate(&graph, 0);
  node.func = reinterpret_cast<void*>(counts);
  cudaGraphAddKernelNode(&nodes[0], graph, nullptr, 0, &node);  //! C476 ERROR race-graph
  node.func = reinterpret_cast<void*>(counts_in_block);
  cudaGraphAddKernelNode(&nodes[1], graph, nullptr, 0, &node);  //! C476 ERROR race-graph
  cudaGraphInstantiate(&executable, graph, 0);
  cudaDeviceSynchronize();
  cudaGraphLaunch(executable, streams.first);  //! C476 any
  cudaDeviceSynchronize();
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
  cudaFree(count);
}

CASE(C477, "two nodes of a graph without an edge, and two streams, change words by atomics only") {
  //! C477 clean
  Streams streams;
  int* count = cases::zeros<int>(2);
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  cudaGraphNode_t nodes[2];
  void* arguments[] = {&count};
  cudaKernelNodeParams node{};
  node.func = reinterpret_cast<void*>(counts);
  node.gridDim = 1;
  node.blockDim = 64;
  node.kernelParams = arguments;
  cudaGraphCreate(&graph, 0);
  for (cudaGraphNode_t& n : nodes) cudaGraphAddKernelNode(&n, graph, nullptr, 0, &node);
  cudaGraphInstantiate(&executable, graph, 0);
  cudaDeviceSynchronize();
  cudaGraphLaunch(executable, streams.first);
  counts<<<1, 64, 0, streams.second>>>(count);
  cudaDeviceSynchronize();
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
  cudaFree(count);
}

struct Particle {
  int mass, charge, spin, color;
};
__global__ void charge(Particle* all) {
  all[blockIdx.x * blockDim.x + threadIdx.x].charge = 1;  //! C478 any
}
__global__ void weigh(Particle* all) {
  all[blockIdx.x * blockDim.x + threadIdx.x].mass = 2;
}
__global__ void sum_charges(const Particle* all, int* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = all[256 + i].charge;  //! C478 any
}

CASE(C478, "kernel A writes a member of structures in s1, kernel B reads it of some in s2, no event") {
  Streams streams;
  auto* all = cases::zeros<Particle>(512);
  int* out = cases::zeros<int>(256);
  cudaDeviceSynchronize();
  charge<<<8, 64, 0, streams.first>>>(all);             //! C478 ERROR race-stream
  sum_charges<<<4, 64, 0, streams.second>>>(all, out);  //! C478 ERROR race-stream
  cudaDeviceSynchronize();
  cudaFree(all);
  cudaFree(out);
}

CASE(C479, "two streams write different members of the same structures") {
  //! C479 clean
  Streams streams;
  auto* all = cases::zeros<Particle>(512);
  cudaDeviceSynchronize();
  charge<<<8, 64, 0, streams.first>>>(all);
  weigh<<<8, 64, 0, streams.second>>>(all);
  cudaDeviceSynchronize();
  cudaFree(all);
}
