// Ways to measure a launch: `host_clocks HOW`. The report must name only those that read the host's clock before and
// after and wait for the GPU.
#include <sys/time.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

__global__ void work(float* p) {
  p[threadIdx.x] += 1;
}

static void launch(float* p) {
  work<<<1, 32>>>(p);
}

int main(int, char** argv) {
  const char* how = argv[1];
  const auto is = [&](const char* name) { return strcmp(how, name) == 0; };
  float *p, host[32];
  cudaMalloc(&p, sizeof host);
  cudaMemset(p, 0, sizeof host);
  launch(p);
  cudaDeviceSynchronize();
  for (int i = 0; i < 2; ++i) {
    if (is("chrono")) {
      const auto begin = std::chrono::high_resolution_clock::now();
      launch(p);
      cudaDeviceSynchronize();
      if (std::chrono::high_resolution_clock::now() < begin) printf("backwards\n");
    } else if (is("clock") || is("nowait")) {
      const clock_t begin = clock();
      launch(p);
      if (is("clock")) cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost);
      if (clock() < begin) printf("backwards\n");
    } else if (is("gettimeofday")) {
      timeval begin, end;
      gettimeofday(&begin, nullptr);
      launch(p);
      cudaStreamSynchronize(nullptr);
      gettimeofday(&end, nullptr);
    } else if (is("seed")) {
      if (i == 0) srand(static_cast<unsigned>(time(nullptr)));
      launch(p);
      cudaDeviceSynchronize();
    } else {
      cudaEvent_t begin, end;
      cudaEventCreate(&begin);
      cudaEventCreate(&end);
      cudaEventRecord(begin);
      launch(p);
      cudaEventRecord(end);
      cudaEventSynchronize(end);
      float ms;
      cudaEventElapsedTime(&ms, begin, end);
    }
  }
  printf("done: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
