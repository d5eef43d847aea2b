// Right: work of several streams, of graphs and of the host that is ordered, or does not touch the same.
#include "cases.h"

__global__ void writer(int* data) {
  data[threadIdx.x] = threadIdx.x;
}
__global__ void reader(const int* data, int* out) {
  out[threadIdx.x] = data[63 - threadIdx.x];
}

struct Streams {
  explicit Streams(unsigned flags = cudaStreamNonBlocking) {
    for (cudaStream_t& stream : each) cudaStreamCreateWithFlags(&stream, flags);
  }
  ~Streams() {
    for (cudaStream_t stream : each) cudaStreamDestroy(stream);
  }
  cudaStream_t each[3];
};

//! C138 clean
CASE(C138, "two non-blocking streams on two halves of one allocation") {  // trap_two_streams_disjoint
  Streams streams;
  int* data = cases::zeros<int>(128);
  cudaDeviceSynchronize();
  writer<<<1, 64, 0, streams.each[0]>>>(data);
  writer<<<1, 64, 0, streams.each[1]>>>(data + 64);
  cudaDeviceSynchronize();
  cudaFree(data);
}

//! C139 clean
CASE(C139, "two streams read the same input") {  // trap_read_read_streams
  Streams streams;
  int *data = cases::zeros<int>(64), *out = cases::zeros<int>(128);
  cudaDeviceSynchronize();
  reader<<<1, 64, 0, streams.each[0]>>>(data, out);
  reader<<<1, 64, 0, streams.each[1]>>>(data, out + 64);
  cudaDeviceSynchronize();
  cudaFree(data);
  cudaFree(out);
}

//! C140 clean
CASE(C140, "three streams chained by events") {  // trap_event_chain
  Streams streams;
  int *a = cases::zeros<int>(64), *b = cases::zeros<int>(64), *c = cases::zeros<int>(64);
  cudaEvent_t first, second;
  cudaEventCreateWithFlags(&first, cudaEventDisableTiming);
  cudaEventCreateWithFlags(&second, cudaEventDisableTiming);
  cudaDeviceSynchronize();
  writer<<<1, 64, 0, streams.each[0]>>>(a);
  cudaEventRecord(first, streams.each[0]);
  cudaStreamWaitEvent(streams.each[1], first, 0);
  reader<<<1, 64, 0, streams.each[1]>>>(a, b);
  cudaEventRecord(second, streams.each[1]);
  cudaStreamWaitEvent(streams.each[2], second, 0);
  reader<<<1, 64, 0, streams.each[2]>>>(b, c);
  reader<<<1, 64, 0, streams.each[2]>>>(a, c);
  cudaDeviceSynchronize();
  cudaEventDestroy(first);
  cudaEventDestroy(second);
  cudaFree(a);
  cudaFree(b);
  cudaFree(c);
}

//! C141 clean
CASE(C141, "blocking streams ordered through the default stream") {  // trap_blocking_streams_default
  Streams streams(cudaStreamDefault);
  int *a = cases::zeros<int>(64), *b = cases::zeros<int>(64), *c = cases::zeros<int>(64);
  cudaDeviceSynchronize();
  writer<<<1, 64, 0, streams.each[0]>>>(a);
  reader<<<1, 64>>>(a, b);
  reader<<<1, 64, 0, streams.each[1]>>>(b, c);
  cudaDeviceSynchronize();
  cudaFree(a);
  cudaFree(b);
  cudaFree(c);
}

//! C142 clean
CASE(C142, "cudaMemcpyAsync from pageable memory, host reuses the buffer at once") {  // trap_pageable_async_copy
  Streams streams;
  int *data = cases::zeros<int>(64), host[64] = {};
  cudaDeviceSynchronize();
  cudaMemcpyAsync(data, host, sizeof host, cudaMemcpyHostToDevice, streams.each[0]);
  for (int& value : host) *static_cast<volatile int*>(&value) = 1;
  cudaDeviceSynchronize();
  cudaFree(data);
}

static void add_up(void* host) {
  int sum = 0;
  for (int i = 0; i < 64; ++i) sum += static_cast<const volatile int*>(host)[i];
  std::printf("%d\n", sum);
}
//! C143 clean
CASE(C143, "cudaLaunchHostFunc reads a pinned buffer after the copy in the same stream") {  // trap_callback_order
  Streams streams;
  int *data = cases::zeros<int>(64), *host;
  cudaMallocHost(&host, 64 * sizeof(int));
  cudaDeviceSynchronize();
  writer<<<1, 64, 0, streams.each[0]>>>(data);
  cudaMemcpyAsync(host, data, 64 * sizeof(int), cudaMemcpyDeviceToHost, streams.each[0]);
  cudaLaunchHostFunc(streams.each[0], add_up, host);
  cudaDeviceSynchronize();
  cudaFreeHost(host);
  cudaFree(data);
}

//! C144 clean
CASE(C144, "captured fork/join graph launched twice in one stream") {  // trap_graph_replay
  Streams streams;
  int *a = cases::zeros<int>(64), *b = cases::zeros<int>(64), *c = cases::zeros<int>(64);
  cudaEvent_t fork, join;
  cudaEventCreateWithFlags(&fork, cudaEventDisableTiming);
  cudaEventCreateWithFlags(&join, cudaEventDisableTiming);
  cudaDeviceSynchronize();
  cudaStreamBeginCapture(streams.each[0], cudaStreamCaptureModeGlobal);
  writer<<<1, 64, 0, streams.each[0]>>>(a);
  cudaEventRecord(fork, streams.each[0]);
  cudaStreamWaitEvent(streams.each[1], fork, 0);
  reader<<<1, 64, 0, streams.each[0]>>>(a, b);
  reader<<<1, 64, 0, streams.each[1]>>>(a, c);
  cudaEventRecord(join, streams.each[1]);
  cudaStreamWaitEvent(streams.each[0], join, 0);
  reader<<<1, 64, 0, streams.each[0]>>>(c, a);
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  cudaStreamEndCapture(streams.each[0], &graph);
  cudaGraphInstantiate(&executable, graph, 0);
  cudaGraphLaunch(executable, streams.each[2]);
  cudaGraphLaunch(executable, streams.each[2]);
  cudaDeviceSynchronize();
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
  cudaEventDestroy(fork);
  cudaEventDestroy(join);
  cudaFree(a);
  cudaFree(b);
  cudaFree(c);
}

//! C145 clean
CASE(C145, "use, FreeAsync, MallocAsync in one stream, same address again") {  // trap_free_async_same_stream
  Streams streams;
  int *first, *second;
  cudaMallocAsync(&first, 256, streams.each[0]);
  writer<<<1, 64, 0, streams.each[0]>>>(first);
  cudaFreeAsync(first, streams.each[0]);
  cudaMallocAsync(&second, 256, streams.each[0]);
  writer<<<1, 64, 0, streams.each[0]>>>(second);
  std::printf("%s address\n", first == second ? "the same" : "another");
  cudaFreeAsync(second, streams.each[0]);
  cudaDeviceSynchronize();
}
