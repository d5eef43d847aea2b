// Streams, host functions in them, and stream capture.
#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include "driver_test.h"

namespace warpgrind::driver {

namespace {

using Streams = test::WithContext;

const auto kNoStream = reinterpret_cast<CUstream>(0x1234);
const auto kNoEvent = reinterpret_cast<CUevent>(0x1234);

struct OwnStream {
  explicit OwnStream(unsigned flags = CU_STREAM_NON_BLOCKING) { OK(cuStreamCreate(&handle, flags)); }
  ~OwnStream() { OK(cuStreamDestroy(handle)); }
  OwnStream(const OwnStream&) = delete;
  OwnStream& operator=(const OwnStream&) = delete;
  CUstream handle = nullptr;
};

// Work that ends when the gate is opened.
struct Gate {
  std::atomic<bool> open{false};
  static void wait(void* gate) {
    while (!static_cast<Gate*>(gate)->open) std::this_thread::yield();
  }
};
void add_one(void* number) {
  ++*static_cast<std::atomic<int>*>(number);
}
void CUDA_CB note_status(CUstream, CUresult status, void* out) {
  *static_cast<CUresult*>(out) = status;
}
CUstreamCaptureStatus capturing(CUstream stream) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
  OK(cuStreamIsCapturing(stream, &status));
  return status;
}

}  // namespace

TEST_F(Streams, AreMadeAndDestroyed) {
  CUstream stream = nullptr;
  OK(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
  unsigned flags = 9;
  OK(cuStreamGetFlags(stream, &flags));
  EXPECT_EQ(flags, CU_STREAM_DEFAULT);
  OK(cuStreamDestroy(stream));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuStreamDestroy(stream));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuStreamDestroy(CU_STREAM_LEGACY));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuStreamCreate(nullptr, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuStreamCreate(&stream, 2));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuStreamCreateWithPriority(&stream, 8, 0));
#undef cuStreamDestroy
  OK(cuStreamCreate(&stream, 0));
  OK(cuStreamDestroy(stream));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuStreamDestroy(stream));
#define cuStreamDestroy cuStreamDestroy_v2
  CUcontext none = nullptr;
  OK(cuCtxPopCurrent(&none));
  FAILS(CUDA_ERROR_INVALID_CONTEXT, cuStreamCreate(&stream, 0));
  OK(cuCtxPushCurrent(none));
}

TEST_F(Streams, SayWhatTheyAre) {
  CUstream stream = nullptr;
  OK(cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, -99));
  int least = 0, greatest = 0, priority = 0;
  OK(cuCtxGetStreamPriorityRange(&least, &greatest));
  OK(cuStreamGetPriority(stream, &priority));
  EXPECT_EQ(priority, greatest);
  unsigned flags = 0;
  OK(cuStreamGetFlags(stream, &flags));
  EXPECT_EQ(flags, CU_STREAM_NON_BLOCKING);
  unsigned long long id = 0, other = 0;
  OK(cuStreamGetId(stream, &id));
  OK(cuStreamGetId(nullptr, &other));
  EXPECT_NE(id, other);
  CUdevice device = -1;
  OK(cuStreamGetDevice(stream, &device));
  EXPECT_EQ(device, 0);
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuStreamGetPriority(kNoStream, &priority));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuStreamGetPriority(stream, nullptr));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuStreamGetFlags(kNoStream, &flags));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuStreamGetId(kNoStream, &id));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuStreamGetDevice(kNoStream, &device));
  OK(cuStreamDestroy(stream));
}

TEST_F(Streams, BelongToTheContextTheyWereMadeIn) {
  OwnStream stream;
  CUcontext other = nullptr, of = nullptr;
  OK(cuCtxCreate(&other, nullptr, 0, 1));
  OK(cuStreamGetCtx(stream.handle, &of));
  EXPECT_EQ(of, context);
  OK(cuStreamGetCtx(nullptr, &of));
  EXPECT_EQ(of, other);
  CUgreenCtx green = reinterpret_cast<CUgreenCtx>(&of);
  OK(cuStreamGetCtx_v2(stream.handle, &of, &green));
  EXPECT_EQ(of, context);
  EXPECT_EQ(green, nullptr);
  CUdevice device = -1;
  OK(cuStreamGetDevice(CU_STREAM_LEGACY, &device));
  EXPECT_EQ(device, 1);
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuStreamGetCtx(kNoStream, &of));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuStreamGetCtx_v2(stream.handle, nullptr, &green));
  OK(cuCtxDestroy(other));
}

TEST_F(Streams, KeepAttributes) {
  OwnStream a, b;
  CUstreamAttrValue value{};
  value.syncPolicy = CU_SYNC_POLICY_YIELD;
  OK(cuStreamSetAttribute(a.handle, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
  OK(cuStreamCopyAttributes(b.handle, a.handle));
  value = {};
  OK(cuStreamGetAttribute(b.handle, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
  EXPECT_EQ(value.syncPolicy, CU_SYNC_POLICY_YIELD);
  value.priority = -2;
  OK(cuStreamSetAttribute(a.handle, CU_STREAM_ATTRIBUTE_PRIORITY, &value));
  int priority = 0;
  OK(cuStreamGetPriority(a.handle, &priority));
  EXPECT_EQ(priority, -2);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuStreamSetAttribute(a.handle, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuStreamGetAttribute(a.handle, CU_STREAM_ATTRIBUTE_PRIORITY, nullptr));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuStreamCopyAttributes(a.handle, kNoStream));
}

TEST_F(Streams, AreInOrderAndCanBeAsked) {
  OwnStream stream;
  Gate gate;
  std::atomic<int> number{0};
  OK(cuLaunchHostFunc(stream.handle, Gate::wait, &gate));
  OK(cuLaunchHostFunc(stream.handle, add_one, &number));
  FAILS(CUDA_ERROR_NOT_READY, cuStreamQuery(stream.handle));
  EXPECT_EQ(number, 0);
  gate.open = true;
  OK(cuStreamSynchronize(stream.handle));
  EXPECT_EQ(number, 1);
  OK(cuStreamQuery(stream.handle));
  CUresult status = CUDA_ERROR_UNKNOWN;
  OK(cuStreamAddCallback(stream.handle, note_status, &status, 0));
  OK(cuCtxSynchronize());
  EXPECT_EQ(status, CUDA_SUCCESS);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuStreamAddCallback(stream.handle, note_status, &status, 1));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuLaunchHostFunc(stream.handle, nullptr, nullptr));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuStreamSynchronize(kNoStream));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuStreamQuery(kNoStream));
}

TEST_F(Streams, HostFunctionsMayNotCall) {
  CUresult error = CUDA_SUCCESS;
  OK(cuLaunchHostFunc(
      nullptr, [](void* out) { *static_cast<CUresult*>(out) = cuStreamQuery(nullptr); }, &error));
  OK(cuStreamSynchronize(nullptr));
  EXPECT_EQ(error, CUDA_ERROR_NOT_PERMITTED);
}

TEST_F(Streams, WaitForEventsOfOtherStreams) {
  OwnStream first, second;
  Gate gate;
  std::atomic<int> number{0};
  CUevent event = nullptr;
  OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  OK(cuLaunchHostFunc(first.handle, Gate::wait, &gate));
  OK(cuEventRecord(event, first.handle));
  OK(cuStreamWaitEvent(second.handle, event, CU_EVENT_WAIT_DEFAULT));
  OK(cuLaunchHostFunc(second.handle, add_one, &number));
  FAILS(CUDA_ERROR_NOT_READY, cuStreamQuery(second.handle));
  EXPECT_EQ(number, 0);
  gate.open = true;
  OK(cuStreamSynchronize(second.handle));
  EXPECT_EQ(number, 1);
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuStreamWaitEvent(second.handle, kNoEvent, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuStreamWaitEvent(second.handle, event, 2));
  // The flag is allowed only in a capture, where the wait becomes a node.
  FAILS(CUDA_ERROR_ILLEGAL_STATE, cuStreamWaitEvent(second.handle, event, CU_EVENT_WAIT_EXTERNAL));
  OK(cuEventDestroy(event));
}

// The thread's own default stream, by its handle and by the _ptsz twins that programs compiled for it call.
TEST_F(Streams, PerThreadDefault) {
  Gate gate;
  OK(cuLaunchHostFunc(CU_STREAM_PER_THREAD, Gate::wait, &gate));
  FAILS(CUDA_ERROR_NOT_READY, cuStreamQuery(CU_STREAM_PER_THREAD));
  EXPECT_EQ(cuStreamQuery_ptsz(nullptr), CUDA_ERROR_NOT_READY);
  std::thread([&] {
    OK(cuCtxSetCurrent(context));
    OK(cuStreamSynchronize(CU_STREAM_PER_THREAD));  // another stream in another thread
  }).join();
  gate.open = true;
  OK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
  unsigned long long own = 0, twin = 0;
  OK(cuStreamGetId(CU_STREAM_PER_THREAD, &own));
  EXPECT_EQ(cuStreamGetId_ptsz(nullptr, &twin), CUDA_SUCCESS);
  EXPECT_EQ(own, twin);
}

TEST_F(Streams, AttachMemory) {
  OwnStream stream;
  int memory = 0;
  const auto pointer = reinterpret_cast<CUdeviceptr>(&memory);
  OK(cuStreamAttachMemAsync(stream.handle, pointer, 0, CU_MEM_ATTACH_GLOBAL));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuStreamAttachMemAsync(stream.handle, pointer, 0, 0));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuStreamAttachMemAsync(kNoStream, pointer, 0, CU_MEM_ATTACH_SINGLE));
}

// ---- Capture
TEST_F(Streams, CaptureIntoAGraph) {
  OwnStream stream;
  std::atomic<int> number{0};
  OK(cuStreamBeginCapture(stream.handle, CU_STREAM_CAPTURE_MODE_GLOBAL));
  FAILS(CUDA_ERROR_ILLEGAL_STATE, cuStreamBeginCapture(stream.handle, CU_STREAM_CAPTURE_MODE_GLOBAL));
  EXPECT_EQ(capturing(stream.handle), CU_STREAM_CAPTURE_STATUS_ACTIVE);
  OK(cuLaunchHostFunc(stream.handle, add_one, &number));
  CUstreamCaptureStatus status{};
  cuuint64_t id = 0, same = 0;
  CUgraph graph = nullptr, inside = nullptr;
  const CUgraphNode* dependencies = nullptr;
  const CUgraphEdgeData* edges = nullptr;
  size_t count = 0;
  OK(cuStreamGetCaptureInfo(stream.handle, &status, &id, &inside, &dependencies, &edges, &count));
  EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
  ASSERT_EQ(count, 1u);
  EXPECT_EQ(edges[0].type, CU_GRAPH_DEPENDENCY_TYPE_DEFAULT);
  OK(cuStreamGetCaptureInfo_v2(stream.handle, &status, &same, &inside, &dependencies, &count));
  EXPECT_EQ(id, same);
  CUgraphNode tail = dependencies[0];
  OK(cuStreamUpdateCaptureDependencies(stream.handle, &tail, nullptr, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuStreamUpdateCaptureDependencies(stream.handle, nullptr, nullptr, 1, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuStreamUpdateCaptureDependencies(stream.handle, &tail, nullptr, 1, 7));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuStreamEndCapture(stream.handle, nullptr));
  OK(cuStreamEndCapture(stream.handle, &graph));
  EXPECT_EQ(graph, inside);
  EXPECT_EQ(number, 0);
  EXPECT_EQ(capturing(stream.handle), CU_STREAM_CAPTURE_STATUS_NONE);
  FAILS(CUDA_ERROR_ILLEGAL_STATE, cuStreamEndCapture(stream.handle, &graph));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuStreamGetCaptureInfo(kNoStream, &status, &id, nullptr, nullptr, nullptr, nullptr));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuStreamGetCaptureInfo_v2(kNoStream, &status, &id, nullptr, nullptr, nullptr));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuStreamIsCapturing(kNoStream, &status));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuStreamIsCapturing(stream.handle, nullptr));
}

// The names of CUDA 10 and 11.
TEST_F(Streams, CaptureOfEarlierVersions) {
#undef cuStreamBeginCapture
#undef cuStreamGetCaptureInfo
#undef cuStreamUpdateCaptureDependencies
  OwnStream stream;
  OK(cuStreamBeginCapture(stream.handle));
  FAILS(CUDA_ERROR_ILLEGAL_STATE, cuStreamBeginCapture(stream.handle));
  CUstreamCaptureStatus status{};
  cuuint64_t id = 0;
  OK(cuStreamGetCaptureInfo(stream.handle, &status, &id));
  EXPECT_NE(id, 0u);
  OK(cuStreamUpdateCaptureDependencies(stream.handle, nullptr, 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuStreamUpdateCaptureDependencies(stream.handle, nullptr, 0, 2));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuStreamGetCaptureInfo(stream.handle, nullptr, &id));
  CUgraph graph = nullptr;
  OK(cuStreamEndCapture(stream.handle, &graph));
#define cuStreamBeginCapture cuStreamBeginCapture_v2
}

TEST_F(Streams, CaptureEndsWhereItBegan) {
  OwnStream stream;
  CUgraph graph = nullptr;
  const auto end_elsewhere = [&] {
    CUresult error = CUDA_SUCCESS;
    std::thread([&] {
      OK(cuCtxSetCurrent(context));
      error = cuStreamEndCapture(stream.handle, &graph);
    }).join();
    return error;
  };
  OK(cuStreamBeginCapture(stream.handle, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  EXPECT_EQ(end_elsewhere(), CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
  OK(cuStreamEndCapture(stream.handle, &graph));
  OK(cuStreamBeginCapture(stream.handle, CU_STREAM_CAPTURE_MODE_RELAXED));
  EXPECT_EQ(end_elsewhere(), CUDA_SUCCESS);
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  OK(cuThreadExchangeStreamCaptureMode(&mode));
  EXPECT_EQ(mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
  OK(cuThreadExchangeStreamCaptureMode(&mode));
  EXPECT_EQ(mode, CU_STREAM_CAPTURE_MODE_RELAXED);
  mode = static_cast<CUstreamCaptureMode>(3);  // accepted, as on an H200
  OK(cuThreadExchangeStreamCaptureMode(&mode));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuThreadExchangeStreamCaptureMode(nullptr));
}

TEST_F(Streams, CaptureForbidsWaiting) {
  OwnStream stream;
  CUgraph graph = nullptr;
  OK(cuStreamBeginCapture(stream.handle, CU_STREAM_CAPTURE_MODE_GLOBAL));
  FAILS(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamSynchronize(stream.handle));
  EXPECT_EQ(capturing(stream.handle), CU_STREAM_CAPTURE_STATUS_INVALIDATED);
  FAILS(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(stream.handle, &graph));
  EXPECT_EQ(graph, nullptr);
  FAILS(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamBeginCapture(nullptr, CU_STREAM_CAPTURE_MODE_GLOBAL));
}

// Calls that may wait for work of any stream. Both the capture's mode and the thread's mode decide whether a capture
// forbids them.
TEST_F(Streams, CaptureForbidsCallsThatMayWait) {
  OwnStream stream, other;
  CUdeviceptr memory = 0, more = 0;
  CUgraph graph = nullptr;
  CUevent event = nullptr;
  OK(cuMemAlloc(&memory, 64));
  OK(cuEventCreate(&event, 0));
  const std::pair<const char*, std::function<CUresult()>> calls[] = {
      {"cuMemAlloc", [&] { return cuMemAlloc(&more, 64); }},
      {"cuMemAllocAsync", [&] { return cuMemAllocAsync(&more, 64, other.handle); }},
      {"cuMemFree", [&] { return cuMemFree(memory); }},
      {"cuEventQuery", [&] { return cuEventQuery(event); }},
      {"cuEventSynchronize", [&] { return cuEventSynchronize(event); }},
      {"cuStreamSynchronize", [&] { return cuStreamSynchronize(other.handle); }}};
  for (const auto& [name, call] : calls) {
    for (const CUstreamCaptureMode mode : {CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL}) {
      OK(cuStreamBeginCapture(stream.handle, mode));
      EXPECT_EQ(call(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED) << name;
      FAILS(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(stream.handle, &graph));
    }
  }
  // Allowed: in another thread during a thread-local capture, in a thread of relaxed mode, and in a relaxed capture.
  CUresult elsewhere = CUDA_SUCCESS;
  const auto ask_elsewhere = [&] {
    std::thread([&] { elsewhere = cuEventQuery(event); }).join();
    return elsewhere;
  };
  OK(cuStreamBeginCapture(stream.handle, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  EXPECT_EQ(ask_elsewhere(), CUDA_SUCCESS);
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  OK(cuThreadExchangeStreamCaptureMode(&mode));
  OK(cuEventQuery(event));
  OK(cuThreadExchangeStreamCaptureMode(&mode));
  OK(cuStreamEndCapture(stream.handle, &graph));
  OK(cuGraphDestroy(graph));
  OK(cuStreamBeginCapture(stream.handle, CU_STREAM_CAPTURE_MODE_GLOBAL));
  EXPECT_EQ(ask_elsewhere(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  FAILS(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(stream.handle, &graph));
  OK(cuStreamBeginCapture(stream.handle, CU_STREAM_CAPTURE_MODE_RELAXED));
  OK(cuEventQuery(event));
  FAILS(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuCtxSynchronize());  // includes that stream
  FAILS(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(stream.handle, &graph));
  OK(cuEventDestroy(event));
  OK(cuMemFree(memory));
}

// The legacy default stream waits for blocking streams. A call with it would be a dependency that no graph can have.
TEST_F(Streams, CaptureIsNoneOfTheDefaultStreams) {
  OwnStream blocking(CU_STREAM_DEFAULT), other;
  CUgraph graph = nullptr;
  CUstreamCaptureStatus status{};
  std::atomic<int> number{0};
  OK(cuStreamBeginCapture(other.handle, CU_STREAM_CAPTURE_MODE_RELAXED));
  OK(cuLaunchHostFunc(nullptr, add_one, &number));
  OK(cuStreamEndCapture(other.handle, &graph));
  OK(cuGraphDestroy(graph));
  OK(cuStreamBeginCapture(blocking.handle, CU_STREAM_CAPTURE_MODE_RELAXED));
  FAILS(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, cuStreamIsCapturing(CU_STREAM_LEGACY, &status));
  EXPECT_EQ(capturing(blocking.handle), CU_STREAM_CAPTURE_STATUS_ACTIVE);
  FAILS(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, cuLaunchHostFunc(nullptr, add_one, &number));
  EXPECT_EQ(capturing(blocking.handle), CU_STREAM_CAPTURE_STATUS_INVALIDATED);
  FAILS(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, cuStreamSynchronize(nullptr));
  OK(cuStreamSynchronize(other.handle));
  FAILS(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(blocking.handle, &graph));
  OK(cuLaunchHostFunc(nullptr, add_one, &number));
  OK(cuStreamSynchronize(nullptr));
  EXPECT_EQ(number, 2);
}

TEST_F(Streams, CaptureGrowsAGraph) {
  OwnStream stream;
  std::atomic<int> number{0};
  CUgraph graph = nullptr, same = nullptr;
  OK(cuStreamBeginCapture(stream.handle, CU_STREAM_CAPTURE_MODE_GLOBAL));
  OK(cuLaunchHostFunc(stream.handle, add_one, &number));
  OK(cuStreamEndCapture(stream.handle, &graph));
  OK(cuStreamBeginCaptureToGraph(stream.handle, graph, nullptr, nullptr, 0, CU_STREAM_CAPTURE_MODE_GLOBAL));
  OK(cuLaunchHostFunc(stream.handle, add_one, &number));
  OK(cuStreamEndCapture(stream.handle, &same));
  EXPECT_EQ(graph, same);
  FAILS(CUDA_ERROR_INVALID_VALUE,
        cuStreamBeginCaptureToGraph(stream.handle, nullptr, nullptr, nullptr, 0, CU_STREAM_CAPTURE_MODE_GLOBAL));
}

}  // namespace warpgrind::driver
