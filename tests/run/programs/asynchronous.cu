// Launches return before the kernel ends: kernels that wait for the host, for a copy or for each other, and the order
// of streams. `asynchronous CASE` prints one line; the expected lines are in cases/asynchronous.toml.
#include <cuda_runtime.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#define CHECK(call)                                             \
  do {                                                          \
    cudaError_t error_ = (call);                                \
    if (error_ != cudaSuccess) {                                \
      std::printf("%s: %s\n", #call, cudaGetErrorName(error_)); \
      std::exit(3);                                             \
    }                                                           \
  } while (0)

__global__ void wait_for(volatile int* flag, int* out) {
  while (*flag == 0) {
  }
  *out = *flag + 41;
}

__global__ void raise_and_wait(volatile int* mine, volatile int* other) {
  *mine = 1;
  while (*other == 0) {
  }
}

__global__ void add(int* p, int v) {
  *p += v;
}
__global__ void scale(int* p, int v) {
  *p *= v;
}
__global__ void slow(int* p, int n, int v) {
  int x = v;
  for (int i = 0; i < n; i++) x = x * 1664525 + 1013904223;
  if (blockIdx.x == 0 && threadIdx.x == 0) *p = x == 12345 ? 0 : v;
}
__global__ void fault(int* p) {
  *p = 1;
}
__global__ void say(int i) {
  std::printf("kernel %d\n", i);
}

static int* device_int(int value = 0) {
  int* p = nullptr;
  CHECK(cudaMalloc(&p, sizeof(int)));
  CHECK(cudaMemcpy(p, &value, sizeof value, cudaMemcpyHostToDevice));
  return p;
}
static int read(const int* p) {
  int value = -1;
  CHECK(cudaMemcpy(&value, p, sizeof value, cudaMemcpyDeviceToHost));
  return value;
}
static cudaStream_t stream(unsigned flags = cudaStreamNonBlocking) {
  cudaStream_t s;
  CHECK(cudaStreamCreateWithFlags(&s, flags));
  return s;
}

// The host sets a flag that a kernel waits for.
static int host_flag(bool managed) {
  int* flag = nullptr;
  if (managed)
    CHECK(cudaMallocManaged(&flag, sizeof(int)));
  else
    CHECK(cudaHostAlloc(&flag, sizeof(int), cudaHostAllocMapped));
  *flag = 0;
  int* out = device_int();
  for (int round = 0; round < 3; round++) {  // the second and third time, the kernel's speed is known
    *(volatile int*)flag = 0;
    wait_for<<<1, 1>>>(flag, out);
    *(volatile int*)flag = round + 1;
    CHECK(cudaDeviceSynchronize());
  }
  return read(out);
}

// A copy in another stream sets the flag.
static int copied_flag() {
  int *flag = device_int(), *out = device_int(), *one = nullptr;
  CHECK(cudaMallocHost(&one, sizeof(int)));
  *one = 1;
  cudaStream_t a = stream(), b = stream();
  wait_for<<<1, 32, 0, a>>>(flag, out);
  CHECK(cudaMemcpyAsync(flag, one, sizeof(int), cudaMemcpyHostToDevice, b));
  CHECK(cudaStreamSynchronize(a));
  return read(out);
}

// Pageable memory that changes right after the call: the copy must have the values at the call.
static int staged() {
  int *flag = device_int(), *out = device_int();
  int one = 1;
  cudaStream_t a = stream(), b = stream();
  wait_for<<<1, 32, 0, a>>>(flag, out);
  CHECK(cudaMemcpyAsync(flag, &one, sizeof(int), cudaMemcpyHostToDevice, b));
  one = 0;
  CHECK(cudaStreamSynchronize(a));
  return read(out);
}

static int each_other(int blocks) {
  int *x = device_int(), *y = device_int();
  cudaStream_t a = stream(), b = stream();
  raise_and_wait<<<blocks, 32, 0, a>>>(x, y);
  raise_and_wait<<<blocks, 32, 0, b>>>(y, x);
  CHECK(cudaDeviceSynchronize());
  return read(x) + read(y);
}

// Kernels that fill the GPU and wait for each other.
static void too_large() {
  int blocks = 0, sms = 0;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, raise_and_wait, 1024, 0));
  CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  int *x = device_int(), *y = device_int();
  cudaStream_t a = stream(), b = stream();
  raise_and_wait<<<blocks * sms, 1024, 0, a>>>(x, y);
  raise_and_wait<<<blocks * sms, 1024, 0, b>>>(y, x);
  CHECK(cudaDeviceSynchronize());
}

// The program ends while its kernel waits.
static void abandoned() {
  int *flag = device_int(), *out = device_int();
  wait_for<<<1, 1>>>(flag, out);
  std::printf("abandoned\n");
}

// The second warp of each block waits for ever.
__global__ void second_warp_waits(volatile int* flag) {
  if (threadIdx.x >= 32)
    while (*flag == 0) {
    }
}
static void stuck() {
  second_warp_waits<<<2, 64>>>(device_int());
  cudaDeviceSynchronize();  // the program ignores the error
}
static void many() {
  int* p = device_int();
  for (int i = 0; i < 1000000000; i++) {
    slow<<<1, 32>>>(p, 20000, 1);
    if (cudaDeviceSynchronize() != cudaSuccess) return;
  }
  std::printf("many: ended\n");
}
static void host_sleeps() {
  slow<<<1, 32>>>(device_int(), 1000, 1);
  cudaDeviceSynchronize();
  for (;;) sleep(1);
}

// An event of one stream orders a slow kernel before a reader in another stream. The legacy default stream and the
// blocking streams wait for each other.
static int order() {
  int* p = device_int(1);
  cudaStream_t a = stream(), b = stream(), c = stream(cudaStreamDefault);
  cudaEvent_t done;
  CHECK(cudaEventCreate(&done));
  slow<<<1, 32, 0, a>>>(p, 300000, 5);
  CHECK(cudaEventRecord(done, a));
  CHECK(cudaStreamWaitEvent(b, done, 0));
  add<<<1, 1, 0, b>>>(p, 2);  // 7
  CHECK(cudaEventRecord(done, b));
  CHECK(cudaStreamWaitEvent(c, done, 0));
  slow<<<1, 32, 0, c>>>(p, 300000, 7);
  scale<<<1, 1>>>(p, 3);        // 21, after c
  add<<<1, 1, 0, c>>>(p, 4);    // 25, after the default stream
  CHECK(cudaStreamDestroy(c));  // returns at once; the stream's work continues
  scale<<<1, 1>>>(p, 2);        // 50
  return read(p);
}

struct Note {
  int* from;
  int seen;
};
static void note(void* data) {
  auto* n = static_cast<Note*>(data);
  n->seen = *n->from;
}
static void set(void* data) {
  *static_cast<volatile int*>(data) = 1;
}

// Host functions run in stream order, not on the calling thread. One sets the flag that another stream's kernel needs.
static int host_function() {
  int *shared = nullptr, *flag = nullptr;
  CHECK(cudaMallocManaged(&shared, sizeof(int)));
  CHECK(cudaHostAlloc(&flag, sizeof(int), cudaHostAllocMapped));
  *shared = 1;
  *flag = 0;
  cudaStream_t a = stream(), b = stream();
  Note before{shared, 0}, after{shared, 0};
  int* out = device_int();
  wait_for<<<1, 1, 0, b>>>(flag, out);
  CHECK(cudaLaunchHostFunc(a, note, &before));
  slow<<<1, 32, 0, a>>>(shared, 100000, 30);
  CHECK(cudaLaunchHostFunc(a, note, &after));
  CHECK(cudaLaunchHostFunc(a, set, flag));
  CHECK(cudaDeviceSynchronize());
  return before.seen * 100 + after.seen + read(out);
}

// The compilation of one graph's kernel never ends (by the run's options). Other graphs must still run.
static int slow_graph() {
  int* out = device_int();
  cudaStream_t a = stream();
  CHECK(cudaStreamBeginCapture(a, cudaStreamCaptureModeThreadLocal));
  add<<<1, 1, 0, a>>>(out, 1);
  cudaGraph_t captured;
  CHECK(cudaStreamEndCapture(a, &captured));
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, captured, 0));
  int said[2];
  if (pipe(said) != 0 || dup2(said[1], 2) < 0) return 0;
  std::thread([=] { cudaGraphLaunch(exec, a); }).detach();
  std::string text;
  while (text.find("compiling") == std::string::npos) {
    char part[256];
    const ssize_t got = read(said[0], part, sizeof part);
    if (got <= 0) return 0;
    text.append(part, static_cast<std::size_t>(got));
  }
  cudaGraph_t other;
  cudaGraphNode_t node;
  CHECK(cudaGraphCreate(&other, 0));
  CHECK(cudaGraphAddEmptyNode(&node, other, nullptr, 0));
  CHECK(cudaGraphDestroy(other));
  std::printf("slow_graph: went on\n");
  std::fflush(stdout);
  kill(getpid(), SIGKILL);  // the other thread never ends
  return 0;
}

// Nodes of a graph run in the order of its edges and beside other streams: one of its copies sets a flag.
static int graph() {
  int *flag = device_int(), *out = device_int(), *one = nullptr;
  CHECK(cudaMallocHost(&one, sizeof(int)));
  *one = 1;
  cudaStream_t a = stream(), b = stream(), c = stream();
  cudaEvent_t fork, join;
  CHECK(cudaEventCreate(&fork));
  CHECK(cudaEventCreate(&join));
  CHECK(cudaStreamBeginCapture(a, cudaStreamCaptureModeThreadLocal));
  CHECK(cudaEventRecord(fork, a));
  CHECK(cudaStreamWaitEvent(b, fork, 0));
  wait_for<<<1, 1, 0, b>>>(flag, out);
  CHECK(cudaMemcpyAsync(flag, one, sizeof(int), cudaMemcpyHostToDevice, a));
  CHECK(cudaEventRecord(join, b));
  CHECK(cudaStreamWaitEvent(a, join, 0));
  add<<<1, 1, 0, a>>>(out, 100);
  cudaGraph_t captured;
  CHECK(cudaStreamEndCapture(a, &captured));
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, captured, 0));
  CHECK(cudaGraphLaunch(exec, c));
  CHECK(cudaGraphExecDestroy(exec));  // while it runs
  CHECK(cudaGraphDestroy(captured));
  CHECK(cudaStreamSynchronize(c));
  return read(out);
}

// Polling returns, even if the stream's kernel waits for the host.
static int polling() {
  int* flag = nullptr;
  CHECK(cudaHostAlloc(&flag, sizeof(int), cudaHostAllocMapped));
  *flag = 0;
  int* out = device_int();
  cudaStream_t a = stream();
  cudaEvent_t done;
  CHECK(cudaEventCreate(&done));
  wait_for<<<1, 1, 0, a>>>(flag, out);
  CHECK(cudaEventRecord(done, a));
  int polls = 0;
  while (cudaEventQuery(done) == cudaErrorNotReady && cudaStreamQuery(a) == cudaErrorNotReady)
    if (++polls == 2) *(volatile int*)flag = 1;
  CHECK(cudaDeviceSynchronize());
  return polls >= 2 ? read(out) : -1;
}

static void errors() {
  int* bad = nullptr;
  fault<<<1, 1>>>(bad);
  std::printf("launch: %s", cudaGetErrorName(cudaGetLastError()));
  std::printf(", synchronize: %s", cudaGetErrorName(cudaDeviceSynchronize()));
  std::printf(", afterwards: %s\n", cudaGetErrorName(cudaFree(nullptr)));
}

static void output() {
  for (int i = 0; i < 3; i++) say<<<1, 1>>>(i);
  std::printf("host\n");
  CHECK(cudaDeviceSynchronize());
  std::printf("end\n");
}

// The same virtual times in every run, for any real order of work.
static void times() {
  int *p = device_int(), *q = device_int();
  cudaStream_t a = stream(), b = stream();
  cudaEvent_t e[6];
  for (auto& event : e) CHECK(cudaEventCreate(&event));
  CHECK(cudaEventRecord(e[0], a));
  slow<<<4, 64, 0, a>>>(p, 200000, 1);
  CHECK(cudaEventRecord(e[1], a));
  CHECK(cudaEventRecord(e[2], b));
  for (int i = 0; i < 40; i++) slow<<<1, 32, 0, b>>>(q, 1000 + 100 * i, 1);
  CHECK(cudaEventRecord(e[3], b));
  CHECK(cudaStreamWaitEvent(a, e[3], 0));
  add<<<1, 1, 0, a>>>(p, 1);
  CHECK(cudaEventRecord(e[4], a));
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaEventRecord(e[5], b));
  CHECK(cudaEventSynchronize(e[5]));
  float ms[5];
  for (int i = 0; i < 5; i++) CHECK(cudaEventElapsedTime(&ms[i], e[0], e[i + 1]));
  std::printf("times: %.9g %.9g %.9g %.9g %.9g\n", ms[0], ms[1], ms[2], ms[3], ms[4]);
}

int main(int argc, char** argv) {
  const std::string which = argc > 1 ? argv[1] : "";
  const struct {
    const char* name;
    int (*run)();
  } values[] = {
      {"mapped", [] { return host_flag(false); }},
      {"managed", [] { return host_flag(true); }},
      {"copied", copied_flag},
      {"staged", staged},
      {"each_other", [] { return each_other(1) + each_other(64); }},
      {"order", order},
      {"host_function", host_function},
      {"graph", graph},
      {"polling", polling},
      {"slow_graph", slow_graph},
  };
  const struct {
    const char* name;
    void (*run)();
  } others[] = {
      {"too_large", too_large}, {"abandoned", abandoned}, {"errors", errors}, {"output", output},
      {"times", times},         {"stuck", stuck},         {"many", many},     {"host_sleeps", host_sleeps},
  };
  for (const auto& c : values)
    if (which == c.name) return std::printf("%s: %d\n", c.name, c.run()), 0;
  for (const auto& c : others)
    if (which == c.name) return c.run(), 0;
  return 2;
}
