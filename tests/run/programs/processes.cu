// One program as several processes, and one that does not end by itself.
//   processes wait           a kernel that runs until it is killed; prints "running" once it runs
//   processes host           launches a kernel with a race, prints "running", and waits in the host
//   processes fork N [HOW]   N children, forked before the parent uses CUDA; each launches a kernel, the parent none.
//                            HOW a child ends: by a return from main, by _exit, or killed (kill)
//   processes exec PROGRAM ARGUMENTS...   launches a kernel; then a child executes PROGRAM
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
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
__global__ void of_all(int* out) {
  *out = threadIdx.x;
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

static int launch_in_child(const char* how) {
  int* out = nullptr;
  if (cudaMalloc(&out, 64 * sizeof(int)) != cudaSuccess) return 3;
  of_child<<<1, 64>>>(out);
  const int code = cudaDeviceSynchronize() == cudaSuccess ? 0 : 4;
  std::printf("%s", *how ? "of an unwritten buffer\n" : "");
  if (!std::strcmp(how, "kill")) kill(getpid(), SIGKILL);
  if (!std::strcmp(how, "_exit")) _exit(code);  // Python's multiprocessing ends its workers in this way
  return code;
}

static int wait_in_host() {
  int* out = nullptr;
  if (cudaMalloc(&out, sizeof(int)) != cudaSuccess) return 3;
  of_all<<<1, 64>>>(out);
  if (cudaDeviceSynchronize() != cudaSuccess) return 4;
  std::printf("running\n");
  std::fflush(stdout);
  for (;;) pause();
}

static int exec_in_child(char** command) {
  if (launch_in_child("") != 0) return 4;
  const pid_t child = fork();
  if (child == 0) {
    execv(command[0], command);
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status != 0;
}

int main(int argc, char** argv) {
  if (argc > 1 && !std::strcmp(argv[1], "wait")) return wait_kernel();
  if (argc > 1 && !std::strcmp(argv[1], "host")) return wait_in_host();
  if (argc > 2 && !std::strcmp(argv[1], "exec")) return exec_in_child(argv + 2);
  if (argc < 3 || std::strcmp(argv[1], "fork") != 0) return 2;
  const int children = std::atoi(argv[2]);
  int bad = 0;
  for (int i = 0; i < children; ++i)
    if (fork() == 0) return launch_in_child(argc > 3 ? argv[3] : "");
  for (int status = 0; wait(&status) > 0;) bad += status != 0;
  std::printf("parent\n");
  return bad;
}
