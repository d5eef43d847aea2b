// Broken on purpose: docs/debugging.md finds the mistake. A graph copies 64 values and doubles them, three times.
#include <cstdio>

__global__ void twice(const int* in, int* out) {
  int i = threadIdx.x;
  int value = in[i];
  out[i] = 2 * value;
}

void fill(int* values, int n, int round) {
  for (int i = 0; i < n; ++i) values[i] = 100 * round + i;
}

int main() {
  const int n = 64;
  int *host, *in, *out, result[n], wrong = 0;
  cudaStream_t copies, kernels;
  cudaGraph_t graph;
  cudaGraphExec_t step;
  cudaMallocHost(&host, sizeof result);
  cudaMalloc(&in, sizeof result);
  cudaMalloc(&out, sizeof result);
  cudaStreamCreate(&copies);
  cudaStreamCreate(&kernels);

  fill(host, n, 1);
  cudaStreamBeginCapture(kernels, cudaStreamCaptureModeGlobal);
  cudaMemcpyAsync(in, host, sizeof result, cudaMemcpyHostToDevice, copies);
  twice<<<1, n, 0, kernels>>>(in, out);
  cudaStreamEndCapture(kernels, &graph);
  cudaGraphInstantiate(&step, graph, 0);
  cudaDeviceSynchronize();

  for (int round = 1; round <= 3; ++round) {
    fill(host, n, round);
    cudaGraphLaunch(step, kernels);
    cudaStreamSynchronize(kernels);
    cudaMemcpy(result, out, sizeof result, cudaMemcpyDeviceToHost);
    printf("round %d: twice %d is %d\n", round, host[7], result[7]);
    wrong += result[7] != 2 * host[7];
  }
  return wrong != 0;
}
