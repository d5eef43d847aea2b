// What a launch costs the host, apart from what the kernel does: empty kernels in loops, and graphs of them.
//
//   launches WAY COUNT [NODES]
//
// stream: COUNT launches, then one cudaDeviceSynchronize(). synchronized: one after each. graph: COUNT launches of a
// graph of NODES kernels, one after the other. kernel: one launch, `none`: only cudaFree(0) (for what a start takes).
// Prints WAY,COUNT,NODES,seconds,CPU seconds,peak memory in KiB; the first launch is not in them.
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#define CHECK(call)                                                       \
  do {                                                                    \
    const cudaError_t error = (call);                                     \
    if (error != cudaSuccess) {                                           \
      std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error)); \
      std::exit(1);                                                       \
    }                                                                     \
  } while (0)

__global__ void empty() {}

__global__ void add_one(int* count) {
  ++*count;
}

static double seconds_of(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

static void launch_into_stream(int count, bool synchronized) {
  for (int i = 0; i < count; ++i) {
    empty<<<1, 32>>>();
    if (synchronized) CHECK(cudaDeviceSynchronize());
  }
  CHECK(cudaDeviceSynchronize());
}

// Each node adds one, so that what ran can be counted.
static cudaGraphExec_t chain_of(int nodes, int* counter) {
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  for (int i = 0; i < nodes; ++i) add_one<<<1, 1, 0, stream>>>(counter);
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphDestroy(graph));
  return exec;
}

int main(int argc, char** argv) {
  const char* way = argc > 1 ? argv[1] : "";
  const int count = argc > 2 ? std::atoi(argv[2]) : 1, nodes = argc > 3 ? std::atoi(argv[3]) : 1;
  CHECK(cudaFree(nullptr));
  if (!std::strcmp(way, "none")) return 0;
  empty<<<1, 32>>>();
  CHECK(cudaDeviceSynchronize());
  if (!std::strcmp(way, "kernel")) return 0;
  const bool graphs = !std::strcmp(way, "graph"), synchronized = !std::strcmp(way, "synchronized");
  int* counter = nullptr;
  CHECK(cudaMalloc(&counter, sizeof(int)));
  CHECK(cudaMemset(counter, 0, sizeof(int)));
  cudaGraphExec_t chain = nullptr;
  if (graphs) {
    chain = chain_of(nodes, counter);
    CHECK(cudaGraphLaunch(chain, nullptr));
    CHECK(cudaDeviceSynchronize());
  }
  const double wall = seconds_of(CLOCK_MONOTONIC), cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
  if (graphs) {
    for (int i = 0; i < count; ++i) CHECK(cudaGraphLaunch(chain, nullptr));
    CHECK(cudaDeviceSynchronize());
  } else {
    launch_into_stream(count, synchronized);
  }
  const double wall_seconds = seconds_of(CLOCK_MONOTONIC) - wall,
               cpu_seconds = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - cpu;
  int ran = 0;
  CHECK(cudaMemcpy(&ran, counter, sizeof ran, cudaMemcpyDeviceToHost));
  if (ran != (graphs ? nodes * (count + 1) : 0)) {
    std::fprintf(stderr, "%d nodes ran\n", ran);
    return 1;
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("%s,%d,%d,%.6f,%.6f,%ld\n", way, count, nodes, wall_seconds, cpu_seconds, usage.ru_maxrss);
  return 0;
}
