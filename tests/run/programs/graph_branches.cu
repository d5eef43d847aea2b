// Two independent kernels, captured from two streams: the graph runs them at the same time. One after the other they
// would take twice as long. Runs on one GPU, and on two if there are two.
#include "harness/cuda.h"

__global__ void work(float* out) {
  float x = threadIdx.x;
  for (int i = 0; i < 20000; ++i) x = x * 0.999f + 1.0f;
  out[threadIdx.x] = x;
}

namespace {

float elapsed(bool second, int device) {
  float *a = nullptr, *b = nullptr;
  cudaStream_t first, other;
  cudaEvent_t fork, join, begin, end;
  CHECK_CUDA(cudaSetDevice(device));
  CHECK_CUDA(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  CHECK_CUDA(cudaEventCreate(&join));
  CHECK_CUDA(cudaMalloc(&b, 128));
  CHECK_CUDA(cudaSetDevice(0));
  CHECK_CUDA(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
  for (cudaEvent_t* event : {&fork, &begin, &end}) CHECK_CUDA(cudaEventCreate(event));
  CHECK_CUDA(cudaMalloc(&a, 128));

  CHECK_CUDA(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
  CHECK_CUDA(cudaEventRecord(fork, first));
  CHECK_CUDA(cudaStreamWaitEvent(other, fork, 0));
  work<<<1, 32, 0, first>>>(a);
  CHECK_CUDA(cudaSetDevice(device));
  if (second) work<<<1, 32, 0, other>>>(b);
  CHECK_CUDA(cudaEventRecord(join, other));
  CHECK_CUDA(cudaSetDevice(0));
  CHECK_CUDA(cudaStreamWaitEvent(first, join, 0));
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  CHECK_CUDA(cudaStreamEndCapture(first, &graph));
  CHECK_CUDA(cudaGraphInstantiate(&ready, graph, 0));

  CHECK_CUDA(cudaEventRecord(begin, first));
  CHECK_CUDA(cudaGraphLaunch(ready, first));
  CHECK_CUDA(cudaEventRecord(end, first));
  CHECK_CUDA(cudaEventSynchronize(end));
  float ms = 0;
  CHECK_CUDA(cudaEventElapsedTime(&ms, begin, end));
  return ms;
}

}  // namespace

int main() {
  int devices = 0;
  CHECK_CUDA(cudaGetDeviceCount(&devices));
  const int other = devices > 1 ? 1 : 0;
  elapsed(true, other);
  const float one = elapsed(false, other), both = elapsed(true, other);
  std::printf("device %d: one %.3f ms, both %.3f ms: %s\n", other, one, both,
              both < 1.5f * one ? "side by side" : "one after the other");
  return both < 1.5f * one ? 0 : lab::kExitWrong;
}
