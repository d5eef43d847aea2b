// Small cases that are checked by their output.
//   misc KIND
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>

__global__ void hello() {
  printf("hello from block %d thread %d\n", (int)blockIdx.x, (int)threadIdx.x);
}
__global__ void touch(char* data, size_t at) {
  data[at] = 1;
}
__global__ void unused(float* data) {
  data[threadIdx.x] += 1;
}
__global__ void two_way(int* out) {
  if (threadIdx.x % 2)
    for (int i = 0; i < 10; ++i) out[threadIdx.x] += atomicAdd(&out[40], 1);
  else
    for (int i = 0; i < 20; ++i) out[threadIdx.x] -= atomicAdd(&out[41], 1);
}

static long resident_kib() {
  std::FILE* status = std::fopen("/proc/self/status", "r");
  char line[256];
  long kib = 0;
  while (std::fgets(line, sizeof line, status)) std::sscanf(line, "VmRSS: %ld", &kib);
  std::fclose(status);
  return kib;
}

// 4 GiB cost only the pages that are touched. Earlier use (the JIT, a sanitizer's tables) is not counted.
static int big() {
  char* data;
  const size_t bytes = size_t(4) << 30;
  if (cudaMalloc(&data, 1) != cudaSuccess) return 1;
  touch<<<1, 1>>>(data, 0);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  const long before = resident_kib();
  if (cudaMalloc(&data, bytes) != cudaSuccess) return 1;
  touch<<<1, 1>>>(data, bytes - 1);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  const long more = resident_kib() - before;
  std::printf("resident: %s 64 MB more\n", more < 64 * 1024 ? "under" : "over");
  std::fprintf(stderr, "resident %ld KiB more than %ld\n", more, before);
  return 0;
}

// Its destructor runs after those of the main thread's thread_locals, which include ours.
struct FreedAfterMain {
  void* memory = nullptr;
  ~FreedAfterMain() {
    if (!memory) return;
    int device = -1;
    cudaGetDevice(&device);
    const cudaError_t error = cudaFree(memory);
    std::printf("after main: device %d, %s\n", device, cudaGetErrorName(error));
  }
};
static FreedAfterMain after_main;

int main(int argc, char** argv) {
  const char* kind = argc > 1 ? argv[1] : "";
  if (!std::strcmp(kind, "after_main")) cudaSetDevice(1), cudaMalloc(&after_main.memory, 1000);
  if (!std::strcmp(kind, "hello")) hello<<<2, 2>>>();
  if (!std::strcmp(kind, "big")) return big();
  if (!std::strcmp(kind, "diverge")) {
    int* out;
    cudaMalloc(&out, 64 * sizeof(int));
    cudaMemset(out, 0, 64 * sizeof(int));
    two_way<<<1, 32>>>(out);
  }
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("done: %s\n", cudaGetErrorName(error));
  return error != cudaSuccess;
}
