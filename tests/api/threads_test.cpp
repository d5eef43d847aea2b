// Several host threads at once: they share streams, captures, graphs, pools and devices. ThreadSanitizer runs these
// tests (ctest -L workers); each test also checks the effects of its calls.
#include <atomic>
#include <barrier>
#include <thread>

#include "api_test.h"

namespace warpgrind::runtime {

namespace {

constexpr int kThreads = 4, kTimes = 50;
constexpr unsigned kYield = 2;                                      // cudaDeviceScheduleYield
const cudaStream_t kPerThread = reinterpret_cast<cudaStream_t>(2);  // cudaStreamPerThread

// Runs body(number of the thread) in all threads at the same time.
template <class Body>
void in_threads(Body body) {
  std::barrier begin(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; t++)
    threads.emplace_back([&, t] {
      begin.arrive_and_wait();
      body(t);
    });
  for (std::thread& thread : threads) thread.join();
}

struct Streams {
  cudaStream_t of[kThreads];
  Streams() {
    for (cudaStream_t& s : of) OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  }
  ~Streams() {
    for (cudaStream_t s : of) OK(cudaStreamDestroy(s));
  }
};

std::size_t nodes_of(cudaGraph_t graph) {
  std::size_t count = 0;
  OK(cudaGraphGetNodes(graph, nullptr, &count));
  return count;
}

}  // namespace

// One capture: each stream adds a branch to it from its own thread.
TEST(Threads, GrowOneCapture) {
  Streams streams;
  test::Words d(kThreads);
  cudaEvent_t fork = nullptr, join[kThreads];
  OK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
  OK(cudaStreamBeginCapture(streams.of[0], cudaStreamCaptureModeRelaxed));
  OK(cudaEventRecord(fork, streams.of[0]));
  for (int t = 1; t < kThreads; t++) OK(cudaStreamWaitEvent(streams.of[t], fork, 0));
  in_threads([&](int t) {
    for (int i = 1; i <= kTimes; i++) {
      OK(test::launch_fill(d + t, static_cast<unsigned>(i), 1, streams.of[t]));
      cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
      OK(cudaStreamIsCapturing(streams.of[t], &status));
      EXPECT_EQ(status, cudaStreamCaptureStatusActive);
    }
  });
  for (int t = 1; t < kThreads; t++) {
    OK(cudaEventCreateWithFlags(&join[t], cudaEventDisableTiming));
    OK(cudaEventRecord(join[t], streams.of[t]));
    OK(cudaStreamWaitEvent(streams.of[0], join[t], 0));
  }
  cudaGraph_t graph = nullptr;
  OK(cudaStreamEndCapture(streams.of[0], &graph));
  EXPECT_EQ(nodes_of(graph), static_cast<std::size_t>(kThreads * kTimes));
  cudaGraphExec_t exec = nullptr;
  OK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
  OK(cudaGraphLaunch(exec, streams.of[0]));
  OK(cudaStreamSynchronize(streams.of[0]));
  EXPECT_EQ(d.read(), std::vector<unsigned>(kThreads, kTimes));
  OK(cudaGraphExecDestroy(exec));
  OK(cudaGraphDestroy(graph));
  for (int t = 1; t < kThreads; t++) OK(cudaEventDestroy(join[t]));
  OK(cudaEventDestroy(fork));
}

// One thread queries a stream, while another one captures, launches to and ends it.
TEST(Threads, AskForAStreamThatAnotherOneCaptures) {
  cudaStream_t stream = nullptr;
  OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  test::Words d(1);
  std::atomic<bool> over{false};
  std::thread asks([&] {
    while (!over) {
      cudaStreamCaptureStatus status = cudaStreamCaptureStatusInvalidated;
      unsigned long long id = 0;
      OK(cudaStreamIsCapturing(stream, &status));
      EXPECT_NE(status, cudaStreamCaptureStatusInvalidated);
      OK(cudaStreamGetCaptureInfo(stream, &status, &id, nullptr, nullptr, nullptr, nullptr));
    }
  });
  for (int i = 0; i < kTimes; i++) {
    cudaGraph_t graph = nullptr;
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    OK(test::launch_fill(d, 7, 1, stream));
    OK(cudaStreamEndCapture(stream, &graph));
    EXPECT_EQ(nodes_of(graph), 1u);
    OK(cudaGraphDestroy(graph));
  }
  over = true;
  asks.join();
  OK(cudaStreamDestroy(stream));
}

TEST(Threads, AddNodesToOneGraph) {
  cudaGraph_t graph = nullptr;
  OK(cudaGraphCreate(&graph, 0));
  in_threads([&](int) {
    cudaGraphNode_t last = nullptr;
    for (int i = 0; i < kTimes; i++) {
      cudaGraphNode_t node = nullptr;
      OK(cudaGraphAddEmptyNode(&node, graph, &last, i ? 1 : 0));
      last = node;
      std::size_t count = 0;
      OK(cudaGraphGetNodes(graph, nullptr, &count));
      EXPECT_GE(count, static_cast<std::size_t>(i + 1));
    }
    OK(cudaGraphDestroyNode(last));
  });
  EXPECT_EQ(nodes_of(graph), static_cast<std::size_t>(kThreads * (kTimes - 1)));
  OK(cudaGraphDestroy(graph));
}

// Each thread instantiates and launches the same graph. Its user object is released with the last of them.
TEST(Threads, LaunchGraphsOfOneGraph) {
  Streams streams;
  test::Words d(kThreads);
  unsigned* p = d;
  void* parameters[] = {&p};
  cudaKernelNodeParams kernel{&test::add, {1, 1, 1}, {1, 1, 1}, 0, parameters, nullptr};
  static std::atomic<int> destroyed;
  destroyed = 0;
  cudaUserObject_t object = nullptr;
  OK(cudaUserObjectCreate(
      &object, &destroyed, [](void*) { ++destroyed; }, 1, 1));
  cudaGraph_t graph = nullptr;
  cudaGraphNode_t node = nullptr;
  OK(cudaGraphCreate(&graph, 0));
  OK(cudaGraphRetainUserObject(graph, object, 1, 1));
  OK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &kernel));
  cudaGraphExec_t execs[kThreads];
  in_threads([&](int t) {
    OK(cudaGraphInstantiateWithFlags(&execs[t], graph, 0));
    unsigned* mine = d + t;
    void* own[] = {&mine};
    cudaKernelNodeParams other = kernel;
    other.kernelParams = own;
    OK(cudaGraphExecKernelNodeSetParams(execs[t], node, &other));
    for (int i = 0; i < kTimes; i++) OK(cudaGraphLaunch(execs[t], streams.of[t]));
    OK(cudaStreamSynchronize(streams.of[t]));
  });
  EXPECT_EQ(d.read(), std::vector<unsigned>(kThreads, kTimes));
  OK(cudaGraphDestroy(graph));
  EXPECT_EQ(destroyed, 0);
  in_threads([&](int t) { OK(cudaGraphExecDestroy(execs[t])); });
  OK(cudaDeviceSynchronize());
  EXPECT_EQ(destroyed, 1);
}

TEST(Threads, AllocateFromOnePool) {
  Streams streams;
  cudaMemPool_t pool = nullptr;
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {cudaMemLocationTypeDevice, 0};
  OK(cudaMemPoolCreate(&pool, &properties));
  constexpr std::size_t kBytes = 4096;
  in_threads([&](int t) {
    for (int i = 0; i < kTimes; i++) {
      void* p = nullptr;
      OK(cudaMallocFromPoolAsync(&p, kBytes, pool, streams.of[t]));
      OK(test::launch_fill(static_cast<unsigned*>(p), 3, 4, streams.of[t]));
      OK(cudaFreeAsync(p, streams.of[t]));
      OK(cudaDeviceSetMemPool(0, pool));
      cudaMemPool_t current = nullptr;
      OK(cudaDeviceGetMemPool(&current, 0));
      EXPECT_EQ(current, pool);
      unsigned long long threshold = kBytes;
      OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
    }
    OK(cudaStreamSynchronize(streams.of[t]));
  });
  unsigned long long used = 1, high = 0;
  OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
  OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &high));
  EXPECT_EQ(used, 0u);
  EXPECT_GE(high, kBytes);
  EXPECT_LE(high, kThreads * kBytes);
  OK(cudaMemPoolDestroy(pool));
}

TEST(Threads, SetAndReadWhatAStreamAndADeviceHave) {
  Streams streams;
  in_threads([&](int t) {
    for (int i = 0; i < kTimes; i++) {
      cudaLaunchAttributeValue value{}, seen{};
      value.priority = -1 - t;
      OK(cudaStreamSetAttribute(streams.of[0], cudaLaunchAttributePriority, &value));
      OK(cudaStreamGetAttribute(streams.of[0], cudaLaunchAttributePriority, &seen));
      EXPECT_LT(seen.priority, 0);
      OK(cudaStreamCopyAttributes(streams.of[t], streams.of[0]));
      int priority = 0;
      OK(cudaStreamGetPriority(streams.of[0], &priority));
      EXPECT_LT(priority, 0);
      OK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 1 << 20));
      std::size_t limit = 0;
      OK(cudaDeviceGetLimit(&limit, cudaLimitPrintfFifoSize));
      EXPECT_EQ(limit, std::size_t{1} << 20);
      OK(cudaSetDeviceFlags(kYield));
      unsigned flags = 0;
      OK(cudaGetDeviceFlags(&flags));
      EXPECT_TRUE(flags & kYield);
    }
  });
}

// Work of several streams, ordered by events that other threads record and wait for.
TEST(Threads, WaitForEachOthersEvents) {
  Streams streams;
  test::Words d(kThreads);
  cudaEvent_t events[kThreads];
  for (cudaEvent_t& e : events) OK(cudaEventCreate(&e));
  in_threads([&](int t) {
    for (int i = 0; i < kTimes; i++) {
      OK(cudaStreamWaitEvent(streams.of[t], events[(t + 1) % kThreads], 0));
      OK(cudaMemsetAsync(d + t, i, 4, streams.of[t]));
      OK(cudaEventRecord(events[t], streams.of[t]));
      const cudaError_t ready = cudaEventQuery(events[(t + 2) % kThreads]);
      EXPECT_TRUE(ready == cudaSuccess || ready == cudaErrorNotReady);
      OK(cudaEventSynchronize(events[t]));
    }
  });
  OK(cudaDeviceSynchronize());
  EXPECT_EQ(d.read(), std::vector<unsigned>(kThreads, 0x01010101u * (kTimes - 1)));
  for (cudaEvent_t e : events) OK(cudaEventDestroy(e));
}

TEST(Threads, LaunchToTheirOwnStreams) {
  test::Words d(kThreads * 32);
  in_threads([&](int t) {
    for (int i = 1; i <= kTimes; i++) {
      OK(test::launch_fill(d + 32 * t, static_cast<unsigned>(i), 32, kPerThread));
      OK(cudaStreamSynchronize(kPerThread));
    }
  });
  EXPECT_EQ(d.read(), std::vector<unsigned>(kThreads * 32, kTimes));
}

// Local memory and malloc in launches of a kernel whose frame is smaller than the requested stack. The heap has the
// size that was set last before its first use; every later size is refused.
TEST(Threads, SetLimitsWhileOthersLaunch) {
  static char host;
  void** handle = test::register_program(R"(
.version 8.0
.target sm_90
.address_size 64
.extern .func (.param .b64 r) malloc(.param .b64 bytes);
.extern .func free(.param .b64 piece);
.visible .entry take(.param .u64 out, .param .u32 pieces) {
  .reg .u64 %rd<4>;
  .reg .u32 %r<4>;
  .reg .pred %p;
  .local .align 4 .b8 frame[64];
  ld.param.u64 %rd0, [out];
  ld.param.u32 %r1, [pieces];
  mov.u32 %r0, 0;
$next:
  { .param .b64 bytes; .param .b64 r;
    st.param.b64 [bytes], 65536;
    call.uni (r), malloc, (bytes);
    ld.param.b64 %rd1, [r]; }
  setp.eq.u64 %p, %rd1, 0;
  @%p bra $done;
  add.u32 %r0, %r0, 1;
  setp.lt.u32 %p, %r0, %r1;
  @%p bra $next;
  { .param .b64 piece;
    st.param.b64 [piece], %rd1;
    call.uni free, (piece); }
$done:
  st.local.u32 [frame+60], %r0;
  ld.local.u32 %r2, [frame+60];
  st.global.u32 [%rd0], %r2;
  ret;
}
)",
                                         "take", &host);
  const auto take = [&](unsigned* out, unsigned pieces, cudaStream_t stream) {
    void* parameters[] = {&out, &pieces};
    return cudaLaunchKernel(&host, {1, 1, 1}, {1, 1, 1}, parameters, 0, stream);
  };
  Streams streams;
  test::Words d(kThreads);
  std::size_t heap = 0;
  in_threads([&](int t) {
    for (int i = 0; i < kTimes; i++) {
      if (t > 0) {
        OK(take(d + t, 1, streams.of[t]));
        OK(cudaStreamSynchronize(streams.of[t]));
        continue;
      }
      const std::size_t requested = static_cast<std::size_t>(8 + i) << 20;
      const cudaError_t set = cudaDeviceSetLimit(cudaLimitMallocHeapSize, requested);
      EXPECT_TRUE(set == cudaSuccess || set == cudaErrorInvalidValue);
      if (set == cudaSuccess) heap = requested;
      OK(cudaDeviceSetLimit(cudaLimitStackSize, 1024 * static_cast<std::size_t>(1 + i % 8)));
    }
  });
  EXPECT_EQ(d.read(), (std::vector<unsigned>{0, 1, 1, 1}));
  std::size_t limit = 0;
  OK(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize));
  EXPECT_EQ(limit, heap ? heap : std::size_t{8} << 20);
  OK(take(d, ~0u, nullptr));
  EXPECT_EQ(d.read()[0], limit >> 16);
  __cudaUnregisterFatBinary(handle);
}

// Only one thread can have more than half of the memory. All threads together never have more than the GPU has, and all
// of it is freed.
TEST(Threads, AllocateUpToTheLimit) {
  test::Words held(1);
  OK(test::launch_fill(held, 1, 1));  // the module's variables get their memory at the first use
  std::size_t before = 0, total = 0, after = 0;
  OK(cudaMemGetInfo(&before, &total));
  constexpr int kTries = 2000;
  const std::size_t piece = before / 8 * 5;  // address space only: no thread writes to it
  std::atomic<int> holders{0}, served{0};
  in_threads([&](int) {
    for (int i = 0; i < kTries; i++) {
      void* p = nullptr;
      const cudaError_t result = cudaMalloc(&p, piece);
      if (result == cudaSuccess) {
        EXPECT_EQ(++holders, 1);
        ++served;
        std::size_t left = 0;
        OK(cudaMemGetInfo(&left, &total));
        EXPECT_EQ(left, before - piece);
        --holders;  // before another thread can allocate
        OK(cudaFree(p));
      } else {
        EXPECT_EQ(result, cudaErrorMemoryAllocation);
        FAILS(cudaErrorMemoryAllocation, cudaGetLastError());
      }
    }
  });
  EXPECT_GT(served, 0);
  OK(cudaMemGetInfo(&after, &total));
  EXPECT_EQ(after, before);
}

// A record is visible to other threads before it stands in its stream. A wait in the same stream may come to stand
// before it, and must not wait for it.
TEST(Threads, RecordAndWaitInOneStream) {
  const Streams streams;
  cudaEvent_t event = nullptr;
  OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  in_threads([&](int t) {
    for (int i = 0; i < 20 * kTimes; i++) {
      if (t % 2)
        OK(cudaStreamWaitEvent(streams.of[0], event, 0));
      else
        OK(cudaEventRecord(event, streams.of[0]));
    }
  });
  OK(cudaStreamSynchronize(streams.of[0]));
  OK(cudaEventDestroy(event));
}

TEST(Threads, CreateAndDestroy) {
  in_threads([&](int) {
    for (int i = 0; i < kTimes; i++) {
      cudaStream_t stream = nullptr;
      cudaEvent_t event = nullptr;
      void *device = nullptr, *host = nullptr;
      OK(cudaStreamCreate(&stream));
      OK(cudaEventCreate(&event));
      OK(cudaMalloc(&device, 256));
      OK(cudaMallocHost(&host, 256));
      OK(cudaMemcpyAsync(device, host, 256, cudaMemcpyHostToDevice, stream));
      OK(cudaEventRecord(event, stream));
      OK(cudaEventDestroy(event));
      OK(cudaStreamDestroy(stream));
      OK(cudaFree(device));
      OK(cudaFreeHost(host));
    }
  });
}

}  // namespace warpgrind::runtime
