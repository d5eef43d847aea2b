// Streams, events, pinned memory, asynchronous copies, a host function.
#include "check.h"

__global__ void square(float* p, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] *= p[i];
}

void CUDART_CB done(void* flag) {
  *static_cast<int*>(flag) += 1;
}

int main() {
  const int streams = 4, n = 4096;
  float *host, *device;
  int finished = 0;
  CHECK(cudaMallocHost(&host, streams * n * sizeof(float)));
  CHECK(cudaMalloc(&device, streams * n * sizeof(float)));
  for (int i = 0; i < streams * n; i++) host[i] = float(i % 100);
  cudaStream_t stream[streams];
  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreateWithFlags(&stop, cudaEventDefault));
  CHECK(cudaEventRecord(start));
  for (int s = 0; s < streams; s++) {
    CHECK(cudaStreamCreateWithFlags(&stream[s], cudaStreamNonBlocking));
    float* d = device + s * n;
    CHECK(cudaMemcpyAsync(d, host + s * n, n * sizeof(float), cudaMemcpyHostToDevice, stream[s]));
    square<<<n / 256, 256, 0, stream[s]>>>(d, n);
    CHECK(cudaMemcpyAsync(host + s * n, d, n * sizeof(float), cudaMemcpyDeviceToHost, stream[s]));
  }
  CHECK(cudaLaunchHostFunc(stream[0], done, &finished));
  for (cudaStream_t s : stream) CHECK(cudaStreamSynchronize(s));
  CHECK(cudaEventRecord(stop));
  CHECK(cudaEventSynchronize(stop));
  float ms = -1;
  CHECK(cudaEventElapsedTime(&ms, start, stop));
  expect(ms >= 0, "milliseconds", 0, ms, 0);
  expect_equal("host function", 0, finished, 1);
  for (int i = 0; i < streams * n; i++) expect_equal("host", i, host[i], double(i % 100) * (i % 100));
  for (cudaStream_t s : stream) CHECK(cudaStreamDestroy(s));
  CHECK(cudaFreeHost(host));
  std::printf("streams and events: right\n");
}
