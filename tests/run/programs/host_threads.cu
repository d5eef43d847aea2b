// Several host threads, and processes that fork. `host_threads CASE` prints text that cases/asynchronous.toml checks.
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#define CHECK(call)                                             \
  do {                                                          \
    cudaError_t error_ = (call);                                \
    if (error_ != cudaSuccess) {                                \
      std::printf("%s: %s\n", #call, cudaGetErrorName(error_)); \
      std::exit(3);                                             \
    }                                                           \
  } while (0)

__global__ void add(int* p, int v) {
  p[threadIdx.x] += v;
}
__global__ void count(int* p) {
  atomicAdd(p, 1);
}
// A separate word for each thread, because ThreadSanitizer sees the kernels' writes too.
__global__ void slow(int* p, int n) {
  int x = threadIdx.x;
  for (int i = 0; i < n; i++) x = x * 1664525 + 1013904223;
  p[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

// Each thread has its own streams, events and memory, but all count into one word. Handles are created and destroyed.
static void stress() {
  constexpr int kThreads = 8, kRounds = 60;
  int* total = nullptr;
  CHECK(cudaMalloc(&total, sizeof(int)));
  CHECK(cudaMemset(total, 0, sizeof(int)));
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; t++)
    threads.emplace_back([&, t] {
      for (int round = 0; round < kRounds; round++) {
        cudaStream_t a, b;
        cudaEvent_t e;
        int *p = nullptr, host[32] = {};
        CHECK(cudaStreamCreate(&a));
        CHECK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
        CHECK(cudaEventCreate(&e));
        CHECK(cudaMallocAsync(&p, sizeof host, a));
        CHECK(cudaMemsetAsync(p, 0, sizeof host, a));
        add<<<1, 32, 0, a>>>(p, t);
        CHECK(cudaEventRecord(e, a));
        CHECK(cudaStreamWaitEvent(b, e, 0));
        add<<<1, 32, 0, b>>>(p, round);
        count<<<2, 32, 0, b>>>(total);
        CHECK(cudaMemcpyAsync(host, p, sizeof host, cudaMemcpyDeviceToHost, b));
        CHECK(cudaStreamSynchronize(b));
        for (int v : host) wrong += v != t + round;
        if (round % 4 == 0) count<<<1, 32>>>(total);
        CHECK(cudaFreeAsync(p, a));
        CHECK(cudaEventDestroy(e));
        CHECK(cudaStreamDestroy(a));
        CHECK(cudaStreamDestroy(b));
      }
    });
  for (auto& thread : threads) thread.join();
  int sum = 0;
  CHECK(cudaMemcpy(&sum, total, sizeof sum, cudaMemcpyDeviceToHost));
  std::printf("stress: %d wrong, %d counted\n", wrong.load(), sum - kThreads * (kRounds * 64 + kRounds / 4 * 32));
}

// One thread uses a stream while another destroys it: an error or success, never a crash.
static void handles() {
  for (int round = 0; round < 200; round++) {
    cudaStream_t s;
    cudaEvent_t e;
    CHECK(cudaStreamCreate(&s));
    CHECK(cudaEventCreate(&e));
    std::atomic<bool> begun{false};
    std::thread user([&] {
      for (int i = 0; i < 20; i++) {
        begun = true;
        cudaEventRecord(e, s);
        cudaStreamWaitEvent(s, e, 0);
        cudaStreamQuery(s);
        cudaEventQuery(e);
      }
    });
    while (!begun) {
    }
    cudaStreamSynchronize(s);
    cudaEventDestroy(e);
    cudaStreamDestroy(s);
    user.join();
  }
  cudaGetLastError();
  std::printf("handles: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}

// A thread's calls cost time only in that thread: two threads on two devices measure the same times as alone.
static float times_on(int device, int kernels, bool graph) {
  CHECK(cudaSetDevice(device));
  cudaStream_t s;
  CHECK(cudaStreamCreate(&s));
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  int* p = nullptr;
  CHECK(cudaMalloc(&p, 32 * sizeof(int)));
  CHECK(cudaDeviceSynchronize());
  cudaGraphExec_t exec = nullptr;
  if (graph) {
    cudaGraph_t g;
    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < 16; i++) add<<<1, 32, 0, s>>>(p, i);
    CHECK(cudaStreamEndCapture(s, &g));
    CHECK(cudaGraphInstantiate(&exec, g, 0));
  }
  CHECK(cudaEventRecord(begin, s));
  for (int i = 0; i < kernels; i++) {
    if (graph) CHECK(cudaGraphLaunch(exec, s));
    slow<<<1, 32, 0, s>>>(p, 10 + i);
    if (i % 3 == 0) CHECK(cudaStreamSynchronize(s));
  }
  CHECK(cudaEventRecord(end, s));
  CHECK(cudaEventSynchronize(end));
  float ms = 0;
  CHECK(cudaEventElapsedTime(&ms, begin, end));
  return ms;
}
static void clocks() {
  float alone[2], together[2];
  // The first launches also load the code of the kernels.
  std::thread([&] { times_on(0, 100, false); }).join();
  std::thread([&] { times_on(1, 30, true); }).join();
  std::thread([&] { alone[0] = times_on(0, 100, false); }).join();
  std::thread([&] { alone[1] = times_on(1, 30, true); }).join();
  std::thread a([&] { together[0] = times_on(0, 100, false); }), b([&] { together[1] = times_on(1, 30, true); });
  a.join();
  b.join();
  std::printf("clocks: %s %s\n", alone[0] == together[0] ? "same" : "different",
              alone[1] == together[1] ? "same" : "different");
}

// A thread that only reads its clock does not include another thread's waits. The threads run one after the other.
static void own_clock() {
  CHECK(cudaSetDevice(1));
  cudaStream_t s;
  cudaEvent_t begin, end;
  CHECK(cudaStreamCreate(&s));
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  CHECK(cudaEventRecord(begin, s));
  std::atomic<bool> done{false};
  std::thread other([&] {
    int* p = nullptr;
    CHECK(cudaMalloc(&p, 32 * sizeof(int)));
    for (int i = 0; i < 10; i++) {
      slow<<<1, 32>>>(p, 100000);
      CHECK(cudaDeviceSynchronize());
    }
    done = true;
  });
  while (!done) {
  }
  CHECK(cudaEventRecord(end, s));
  CHECK(cudaEventSynchronize(end));
  other.join();
  float ms = 0;
  CHECK(cudaEventElapsedTime(&ms, begin, end));
  std::printf("own_clock: %s\n", ms < 0.1F ? "its own" : "another thread's too");
}

// A new thread's clock starts at the time of the thread that creates it, not earlier.
static void clock_of_a_new_thread() {
  int* p = nullptr;
  cudaEvent_t before, after;
  CHECK(cudaMalloc(&p, 32 * sizeof(int)));
  CHECK(cudaEventCreate(&before));
  CHECK(cudaEventCreate(&after));
  slow<<<1, 32>>>(p, 1000000);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaEventRecord(before));
  CHECK(cudaEventSynchronize(before));
  std::thread([&] {
    CHECK(cudaSetDevice(1));  // an idle device: its stream is at the thread's own time
    cudaStream_t s;
    CHECK(cudaStreamCreate(&s));
    cudaEvent_t own;
    CHECK(cudaEventCreate(&own));
    CHECK(cudaEventRecord(own, s));
    CHECK(cudaEventSynchronize(own));
    CHECK(cudaSetDevice(0));
    CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    CHECK(cudaEventRecord(after, s));
    CHECK(cudaEventSynchronize(after));
  }).join();
  float ms = -1;
  CHECK(cudaEventElapsedTime(&ms, before, after));
  std::printf("new_thread: %s\n", ms >= 0 && ms < 0.1F ? "after its maker" : "at another time");
}

static void fork_after_use() {
  int* p = nullptr;
  CHECK(cudaMalloc(&p, 1 << 16));
  slow<<<64, 32>>>(p, 1000);
  CHECK(cudaDeviceSynchronize());
  std::fflush(stdout);
  if (pid_t child = fork(); child == 0) {
    int n = 0;
    std::printf("child: %s", cudaGetErrorName(cudaMalloc(&p, 16)));
    add<<<1, 1>>>(p, 1);
    std::printf(" %s", cudaGetErrorName(cudaGetLastError()));
    std::printf(" %s", cudaGetErrorName(cudaDeviceSynchronize()));
    std::printf(" %s\n", cudaGetErrorName(cudaGetDeviceCount(&n)));
    std::exit(0);
  } else {
    waitpid(child, nullptr, 0);
  }
  slow<<<64, 32>>>(p, 1000);
  CHECK(cudaDeviceSynchronize());
  std::printf("parent: ok\n");
}

static void fork_before_use() {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child) waitpid(child, nullptr, 0);
  int* p = nullptr;
  CHECK(cudaMalloc(&p, 1 << 16));
  slow<<<64, 32>>>(p, 1000);
  CHECK(cudaDeviceSynchronize());
  std::printf("%s: ok\n", child ? "parent" : "child");
}

int main(int argc, char** argv) {
  const std::string which = argc > 1 ? argv[1] : "";
  const struct {
    const char* name;
    void (*run)();
  } cases[] = {{"stress", stress},
               {"handles", handles},
               {"clocks", clocks},
               {"own_clock", own_clock},
               {"new_thread", clock_of_a_new_thread},
               {"fork_after_use", fork_after_use},
               {"fork_before_use", fork_before_use}};
  for (const auto& c : cases)
    if (which == c.name) return c.run(), 0;
  return 2;
}
