// One program as several processes, and one that does not end by itself.
//   processes wait           a kernel that runs until somebody stops it; prints "running" once it does
//   processes fork N [_exit] N children, made before the parent uses CUDA; each launches a kernel, the parent none
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

__global__ void wait_for_ever(volatile int* running, volatile int* flag) {
  *running = 1;
  while (*flag == 0) {
  }
}
__global__ void of_child(int* out) {
  out[threadIdx.x] = threadIdx.x;
}

static int wait_kernel() {
  int* flags = nullptr;
  if (cudaMallocHost(&flags, 2 * sizeof(int)) != cudaSuccess) return 3;
  flags[0] = flags[1] = 0;
  std::thread([flags] {
    while (*static_cast<volatile int*>(flags) == 0) usleep(1000);
    std::printf("running\n");
    std::fflush(stdout);
  }).detach();
  wait_for_ever<<<1, 32>>>(flags, flags + 1);
  std::printf("after: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  return 4;
}

static int launch_in_child(bool hard_exit) {
  int* out = nullptr;
  if (cudaMalloc(&out, 64 * sizeof(int)) != cudaSuccess) return 3;
  of_child<<<1, 64>>>(out);
  const int code = cudaDeviceSynchronize() == cudaSuccess ? 0 : 4;
  if (hard_exit) _exit(code);  // as Python's multiprocessing ends its workers
  return code;
}

int main(int argc, char** argv) {
  if (argc > 1 && !std::strcmp(argv[1], "wait")) return wait_kernel();
  if (argc < 3 || std::strcmp(argv[1], "fork") != 0) return 2;
  const int children = std::atoi(argv[2]);
  int bad = 0;
  for (int i = 0; i < children; ++i)
    if (fork() == 0) return launch_in_child(argc > 3);
  for (int status = 0; wait(&status) > 0;) bad += status != 0;
  return bad;
}
