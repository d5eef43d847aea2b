// A program of several processes for processes_test.py. Each process launches `add` with a number of its own.
//   processes worker N        this process alone.
//   processes children N      N children of a fork, numbers 1 to N; the parent uses no CUDA.
//   processes later           child 1; then, when it has ended, the parent as 100.
//   processes exec            becomes `worker 9` without having used CUDA.
//   processes used-exec       1, then becomes `worker 9`.
//   processes spawn           child 1 closes all inherited files, as Python's subprocess does, and becomes `worker 1`.
//   processes forked          uses CUDA as 1, then forks a child that may not, and tries.
//   processes shared          a child launches the kernel on memory of the parent (cudaIpc).
//   processes spin            two children whose kernels never end.
//   processes turns           two children: each waits for the other's first launch before its second.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

__global__ void add(int* out, int by) {
  int i = threadIdx.x;
  out[i] += by;
}

__global__ void spin(volatile int* out) {
  while (*out != 0) {
  }
}

static int run_for_ever() {
  int* out = nullptr;
  if (cudaMallocManaged(&out, sizeof(int)) != cudaSuccess) return 1;
  *out = 1;
  spin<<<1, 1>>>(out);
  return cudaDeviceSynchronize() != cudaSuccess;
}

static int work(int by) {
  int* out = nullptr;
  cudaError_t error = cudaMallocManaged(&out, 32 * sizeof(int));
  if (error != cudaSuccess) {
    std::printf("number %d: %s\n", by, cudaGetErrorString(error));
    std::fflush(stdout);
    return 1;
  }
  for (int i = 0; i < 32; ++i) out[i] = 1;
  add<<<1, 32>>>(out, by);
  error = cudaDeviceSynchronize();
  std::printf("number %d: %d\n", by, out[5]);
  std::fflush(stdout);
  return error != cudaSuccess;
}

static void become_worker(int number) {
  const std::string text = std::to_string(number);
  execl("/proc/self/exe", "processes", "worker", text.c_str(), nullptr);
  std::_Exit(3);
}

static int wait_for_all() {
  int status = 0, bad = 0;
  while (wait(&status) > 0) bad |= status != 0;
  return bad;
}

static int take_turns() {
  int pipes[2][2];
  for (auto& one : pipes)
    if (pipe(one) != 0) return 1;
  for (int me = 0; me < 2; ++me) {
    if (fork() != 0) continue;
    char byte = 0;
    int bad = work(10 + me);
    bad |= write(pipes[me][1], &byte, 1) != 1;
    bad |= read(pipes[1 - me][0], &byte, 1) != 1;
    std::exit(bad | work(20 + me));
  }
  return wait_for_all();
}

static int use_memory_of_parent() {
  int handles[2], ends[2];
  if (pipe(handles) != 0 || pipe(ends) != 0) return 1;
  cudaIpcMemHandle_t handle;
  int* memory = nullptr;
  if (fork() == 0) {
    bool good = read(handles[0], &handle, sizeof handle) == sizeof handle;
    good = good && cudaIpcOpenMemHandle(reinterpret_cast<void**>(&memory), handle, cudaIpcMemLazyEnablePeerAccess) == cudaSuccess;
    add<<<1, 32>>>(memory, 7);
    std::exit(!(good && cudaDeviceSynchronize() == cudaSuccess));
  }
  int value = 0;
  bool good = cudaMalloc(&memory, 32 * sizeof(int)) == cudaSuccess && cudaMemset(memory, 0, 32 * sizeof(int)) == cudaSuccess &&
              cudaIpcGetMemHandle(&handle, memory) == cudaSuccess && write(handles[1], &handle, sizeof handle) == sizeof handle;
  good = good && wait_for_all() == 0 && cudaMemcpy(&value, memory, sizeof value, cudaMemcpyDeviceToHost) == cudaSuccess;
  std::printf("the child has written %d\n", value);
  return !good;
}

int main(int count, char** words) {
  const std::string mode = count > 1 ? words[1] : "worker";
  const int number = count > 2 ? std::atoi(words[2]) : 1;
  if (mode == "worker") return work(number);
  if (mode == "shared") return use_memory_of_parent();
  if (mode == "turns") return take_turns();
  if (mode == "exec") become_worker(9);
  if (mode == "used-exec" && work(1) == 0) become_worker(9);
  if (mode == "forked") work(1);
  const int children = mode == "children" ? number : mode == "spin" ? 2 : 1;
  for (int child = 1; child <= children; ++child) {
    if (fork() != 0) continue;
    if (mode == "spawn") {
      for (int file = 3; file < 1024; ++file) close(file);
      become_worker(child);
    }
    std::exit(mode == "spin" ? run_for_ever() : work(child));
  }
  const int bad = wait_for_all();
  return mode == "later" ? work(100) : mode == "forked" ? bad == 0 : bad;
}
