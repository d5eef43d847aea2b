// Streams, events, callbacks, stream capture.
#include "api_test.h"

namespace warpgrind::runtime {

namespace {

void count_stream(cudaStream_t, cudaError_t, void* data) {
  ++*static_cast<int*>(data);
}
const cudaStream_t kNoStream = reinterpret_cast<cudaStream_t>(0x1234);

// A stream that the destructor destroys if the test has not.
struct OwnStream {
  cudaStream_t handle = nullptr;
  OwnStream() { EXPECT_EQ(cudaStreamCreate(&handle), cudaSuccess); }
  ~OwnStream() { EXPECT_EQ(cudaStreamDestroy(handle), cudaSuccess); }
};
}  // namespace

TEST(Streams, CreateAndAsk) {
  cudaStream_t stream = nullptr, other = nullptr;
  OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  OK(cudaStreamCreateWithPriority(&other, 0, -3));
  FAILS(cudaErrorInvalidValue, cudaStreamCreate(nullptr));
  FAILS(cudaErrorInvalidValue, cudaStreamCreateWithFlags(&stream, 99));
  FAILS(cudaErrorInvalidValue, cudaStreamCreateWithPriority(nullptr, 0, 0));
  unsigned flags = 0;
  int priority = 0, device = -1, least = -1, greatest = 1;
  unsigned long long id = 0, id_own = 0, id_legacy = 1;
  OK(cudaStreamGetFlags(stream, &flags));
  EXPECT_EQ(flags, cudaStreamNonBlocking);
  OK(cudaStreamGetPriority(other, &priority));
  EXPECT_EQ(priority, -3);
  OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  EXPECT_EQ(least, 0);
  EXPECT_LE(greatest, -3);
  OK(cudaStreamGetDevice(stream, &device));
  EXPECT_EQ(device, 0);
  OK(cudaStreamGetId(stream, &id));
  OK(cudaStreamGetId_ptsz(nullptr, &id_own));
  OK(cudaStreamGetId(nullptr, &id_legacy));
  EXPECT_NE(id_own, id_legacy);  // the twin's null stream is the thread's own
  EXPECT_NE(id, id_own);
  OK(cudaStreamGetFlags_ptsz(nullptr, &flags));
  OK(cudaStreamGetPriority_ptsz(nullptr, &priority));
  OK(cudaStreamGetDevice_ptsz(nullptr, &device));
  FAILS(cudaErrorInvalidResourceHandle, cudaStreamGetFlags(kNoStream, &flags));
  FAILS(cudaErrorInvalidResourceHandle, cudaStreamGetPriority(kNoStream, &priority));
  FAILS(cudaErrorInvalidResourceHandle, cudaStreamGetDevice(kNoStream, &device));
  FAILS(cudaErrorInvalidResourceHandle, cudaStreamGetId(kNoStream, &id));
  cudaLaunchAttributeValue value{};
  value.priority = -2;
  OK(cudaStreamSetAttribute(stream, cudaLaunchAttributePriority, &value));
  OK(cudaStreamCopyAttributes(other, stream));
  OK(cudaStreamCopyAttributes_ptsz(nullptr, stream));
  value.priority = 0;
  OK(cudaStreamGetAttribute(stream, cudaLaunchAttributePriority, &value));
  EXPECT_EQ(value.priority, -2);
  OK(cudaStreamSetAttribute_ptsz(nullptr, cudaLaunchAttributePriority, &value));
  OK(cudaStreamGetAttribute_ptsz(nullptr, cudaLaunchAttributePriority, &value));
  FAILS(cudaErrorInvalidValue, cudaStreamSetAttribute(stream, cudaLaunchAttributeMax, &value));
  FAILS(cudaErrorInvalidValue, cudaStreamGetAttribute(stream, cudaLaunchAttributePriority, nullptr));
  FAILS(cudaErrorInvalidResourceHandle, cudaStreamCopyAttributes(kNoStream, stream));
  OK(cudaStreamDestroy(stream));
  OK(cudaStreamDestroy(other));
  FAILS(cudaErrorInvalidResourceHandle, cudaStreamDestroy(stream));
  FAILS(cudaErrorInvalidResourceHandle, cudaStreamDestroy(kNoStream));
}

TEST(Streams, WorkAndWait) {
  OwnStream s;
  test::Words d(4);
  OK(test::launch_fill(d, 3, 4, s.handle));
  OK(cudaStreamSynchronize(s.handle));
  OK(cudaStreamQuery(s.handle));
  EXPECT_EQ(d.read()[3], 3u);
  OK(cudaStreamSynchronize_ptsz(nullptr));
  OK(cudaStreamQuery_ptsz(nullptr));
  FAILS(cudaErrorInvalidResourceHandle, cudaStreamSynchronize(kNoStream));
  FAILS(cudaErrorInvalidResourceHandle, cudaStreamQuery(kNoStream));
  int calls = 0;
  OK(cudaLaunchHostFunc(s.handle, test::count_up, &calls));
  OK(cudaLaunchHostFunc_ptsz(nullptr, test::count_up, &calls));
  OK(cudaStreamAddCallback(s.handle, count_stream, &calls, 0));
  OK(cudaStreamAddCallback_ptsz(nullptr, count_stream, &calls, 0));
  OK(cudaDeviceSynchronize());
  EXPECT_EQ(calls, 4);
  FAILS(cudaErrorInvalidValue, cudaLaunchHostFunc(s.handle, nullptr, &calls));
  FAILS(cudaErrorInvalidValue, cudaStreamAddCallback(s.handle, nullptr, &calls, 0));
}

TEST(Events, RecordAndMeasure) {
  OwnStream s;
  cudaEvent_t a = nullptr, b = nullptr, untimed = nullptr;
  float ms = -1;
  OK(cudaEventCreate(&a));
  OK(cudaEventCreateWithFlags(&b, cudaEventBlockingSync));
  OK(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
  FAILS(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, a, b));  // not recorded
  FAILS(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, nullptr, nullptr));
  test::Words d(32);
  OK(cudaEventRecord(a, s.handle));
  OK(test::launch_fill(d, 1, 32, s.handle));
  OK(cudaEventRecordWithFlags(b, s.handle, 0));
  OK(cudaEventSynchronize(b));
  OK(cudaEventQuery(b));
  OK(cudaEventElapsedTime(&ms, a, b));
  EXPECT_GT(ms, 0);
  OK(cudaEventRecord_ptsz(a, nullptr));
  OK(cudaEventRecordWithFlags_ptsz(untimed, nullptr, 0));
  OK(cudaStreamWaitEvent(s.handle, untimed, 0));
  OK(cudaStreamWaitEvent_ptsz(nullptr, untimed, 0));
  OK(cudaDeviceSynchronize());
  FAILS(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, a, untimed));
  FAILS(cudaErrorInvalidValue, cudaEventCreate(nullptr));
  FAILS(cudaErrorInvalidValue, cudaEventCreateWithFlags(&a, 4));  // interprocess events must not be timed
  FAILS(cudaErrorInvalidResourceHandle, cudaEventRecord(a, kNoStream));
  FAILS(cudaErrorInvalidResourceHandle, cudaEventRecordWithFlags(nullptr, s.handle, 0));
  FAILS(cudaErrorInvalidValue, cudaStreamWaitEvent(s.handle, a, 77));
  OK(cudaEventDestroy(a));
  OK(cudaEventDestroy(b));
  OK(cudaEventDestroy(untimed));
  FAILS(cudaErrorInvalidResourceHandle, cudaEventDestroy(a));
  FAILS(cudaErrorInvalidResourceHandle, cudaEventQuery(a));
  FAILS(cudaErrorInvalidResourceHandle, cudaEventSynchronize(a));
}

TEST(Capture, GraphOfCalls) {
  OwnStream s;
  test::Words d(4);
  cudaGraph_t graph = nullptr;
  cudaStreamCaptureStatus status{};
  unsigned long long id = 0;
  const cudaGraphNode_t* nodes = nullptr;
  const cudaGraphEdgeData* edges = nullptr;
  std::size_t count = 0;
  OK(cudaStreamBeginCapture(s.handle, cudaStreamCaptureModeGlobal));
  FAILS(cudaErrorIllegalState, cudaStreamBeginCapture(s.handle, cudaStreamCaptureModeGlobal));
  OK(test::launch_fill(d, 3, 4, s.handle));
  OK(cudaStreamIsCapturing(s.handle, &status));
  EXPECT_EQ(status, cudaStreamCaptureStatusActive);
  OK(cudaStreamGetCaptureInfo(s.handle, &status, &id, &graph, &nodes, &edges, &count));
  EXPECT_EQ(count, 1u);
  EXPECT_NE(id, 0u);
  cudaGraphNode_t tail = nodes[0];
  OK(cudaStreamUpdateCaptureDependencies(s.handle, &tail, nullptr, 1, 1));
  cudaGraphNode_t wrong = reinterpret_cast<cudaGraphNode_t>(&count);
  FAILS(cudaErrorInvalidValue, cudaStreamUpdateCaptureDependencies(s.handle, &wrong, nullptr, 1, 0));
  OK(cudaStreamEndCapture(s.handle, &graph));
  FAILS(cudaErrorIllegalState, cudaStreamEndCapture(s.handle, &graph));
  EXPECT_EQ(d.read()[0], 0u);  // nothing has run yet
  cudaGraphExec_t exec = nullptr;
  OK(cudaGraphInstantiate(&exec, graph, 0));
  OK(cudaGraphLaunch(exec, s.handle));
  OK(cudaStreamSynchronize(s.handle));
  EXPECT_EQ(d.read()[0], 3u);
  OK(cudaGraphExecDestroy(exec));

  OK(cudaStreamBeginCaptureToGraph(s.handle, graph, nullptr, nullptr, 0, cudaStreamCaptureModeRelaxed));
  OK(test::launch_fill(d, 4, 4, s.handle));
  cudaGraph_t same = nullptr;
  OK(cudaStreamEndCapture(s.handle, &same));
  EXPECT_EQ(same, graph);
  OK(cudaGraphGetNodes(graph, nullptr, &count));
  EXPECT_EQ(count, 2u);
  // Without a place for the graph, as an H200 takes it.
  OK(cudaStreamBeginCaptureToGraph(s.handle, graph, nullptr, nullptr, 0, cudaStreamCaptureModeRelaxed));
  OK(test::launch_fill(d, 5, 4, s.handle));
  OK(cudaStreamEndCapture(s.handle, nullptr));
  OK(cudaGraphGetNodes(graph, nullptr, &count));
  EXPECT_EQ(count, 3u);
  OK(cudaStreamBeginCapture(s.handle, cudaStreamCaptureModeRelaxed));
  OK(test::launch_fill(d, 6, 4, s.handle));
  OK(cudaStreamEndCapture(s.handle, nullptr));
  OK(cudaStreamIsCapturing(s.handle, &status));
  EXPECT_EQ(status, cudaStreamCaptureStatusNone);
  FAILS(cudaErrorIllegalState, cudaStreamEndCapture(s.handle, nullptr));
  EXPECT_EQ(d.read()[0], 3u);
  FAILS(cudaErrorInvalidValue, cudaStreamBeginCaptureToGraph(s.handle, reinterpret_cast<cudaGraph_t>(&count), nullptr,
                                                             nullptr, 0, cudaStreamCaptureModeRelaxed));
  OK(cudaGraphDestroy(graph));

  // The _ptsz twins work on the thread's own stream.
  OK(cudaStreamBeginCapture_ptsz(nullptr, cudaStreamCaptureModeRelaxed));
  OK(cudaStreamIsCapturing_ptsz(nullptr, &status));
  EXPECT_EQ(status, cudaStreamCaptureStatusActive);
  OK(cudaStreamGetCaptureInfo_ptsz(nullptr, &status, &id, &graph, &nodes, &edges, &count));
  OK(cudaStreamUpdateCaptureDependencies_ptsz(nullptr, nullptr, nullptr, 0, 0));
  OK(cudaStreamEndCapture_ptsz(nullptr, &graph));
  OK(cudaStreamBeginCaptureToGraph_ptsz(nullptr, graph, nullptr, nullptr, 0, cudaStreamCaptureModeRelaxed));
  OK(cudaStreamEndCapture_ptsz(nullptr, &graph));
  OK(cudaGraphDestroy(graph));
  FAILS(cudaErrorInvalidResourceHandle, cudaStreamIsCapturing(kNoStream, &status));
  FAILS(cudaErrorInvalidResourceHandle,
        cudaStreamGetCaptureInfo(kNoStream, &status, &id, &graph, &nodes, &edges, &count));
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  OK(cudaThreadExchangeStreamCaptureMode(&mode));
  EXPECT_EQ(mode, cudaStreamCaptureModeGlobal);
  OK(cudaThreadExchangeStreamCaptureMode(&mode));
  FAILS(cudaErrorInvalidValue, cudaThreadExchangeStreamCaptureMode(nullptr));
}

// Freeing nothing is a call that a capture forbids, as an H200 does (a test of NVIDIA Warp).
TEST(Capture, FreeOfNull) {
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  OK(cudaStreamCreate(&stream));
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  OK(cudaFree(nullptr));
  OK(cudaStreamEndCapture(stream, &graph));
  OK(cudaGraphDestroy(graph));
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  FAILS(cudaErrorStreamCaptureUnsupported, cudaFree(nullptr));
  FAILS(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(stream, &graph));
  OK(cudaStreamDestroy(stream));
}

// A captured stream is destroyed: the capture cannot end successfully.
TEST(Capture, StreamDestroyed) {
  for (bool origin : {false, true}) {
    cudaStream_t a = nullptr, b = nullptr;
    cudaEvent_t fork = nullptr;
    cudaGraph_t graph = nullptr;
    test::Words d(4);
    OK(cudaStreamCreate(&a));
    OK(cudaStreamCreate(&b));
    OK(cudaEventCreate(&fork));
    OK(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
    OK(cudaEventRecord(fork, a));
    OK(cudaStreamWaitEvent(b, fork, 0));
    OK(test::launch_fill(d, 1, 4, b));
    cudaStream_t gone = origin ? a : b, left = origin ? b : a;
    OK(cudaStreamDestroy(gone));
    FAILS(origin ? cudaErrorStreamCaptureInvalidated : cudaErrorStreamCaptureUnjoined,
          cudaStreamEndCapture(left, &graph));
    OK(test::launch_fill(d, 2, 4, left));  // an ordinary stream again
    OK(cudaStreamSynchronize(left));
    EXPECT_EQ(d.read()[0], 2u);
    OK(cudaStreamDestroy(left));
    OK(cudaEventDestroy(fork));
  }
}

// Ending a capture at a stream that only joined it does not end it, but invalidates it.
TEST(Capture, EndedAtAStreamThatJoined) {
  cudaStream_t a = nullptr, b = nullptr;
  cudaEvent_t fork = nullptr;
  cudaGraph_t graph = nullptr;
  test::Words d(4);
  OK(cudaStreamCreate(&a));
  OK(cudaStreamCreate(&b));
  OK(cudaEventCreate(&fork));
  OK(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
  FAILS(cudaErrorIllegalState, cudaStreamEndCapture(b, &graph));  // not part of a capture: invalidates nothing
  OK(cudaEventRecord(fork, a));
  OK(cudaStreamWaitEvent(b, fork, 0));
  OK(test::launch_fill(d, 1, 4, b));
  FAILS(cudaErrorStreamCaptureUnmatched, cudaStreamEndCapture(b, &graph));
  FAILS(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(a, &graph));
  EXPECT_EQ(graph, nullptr);
  OK(test::launch_fill(d, 2, 4, b));  // ordinary streams again
  OK(cudaStreamSynchronize(b));
  EXPECT_EQ(d.read()[0], 2u);
  OK(cudaStreamDestroy(a));
  OK(cudaStreamDestroy(b));
  OK(cudaEventDestroy(fork));
}

// If the origin waits for a stream, its work stays in the capture after the stream is destroyed.
TEST(Capture, StreamDestroyedAfterItsJoin) {
  cudaStream_t a = nullptr, b = nullptr;
  cudaEvent_t event = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  test::Words d(4);
  OK(cudaStreamCreate(&a));
  OK(cudaStreamCreate(&b));
  OK(cudaEventCreate(&event));
  OK(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
  OK(cudaEventRecord(event, a));
  OK(cudaStreamWaitEvent(b, event, 0));
  OK(test::launch_fill(d, 3, 4, b));
  OK(cudaEventRecord(event, b));
  OK(cudaStreamWaitEvent(a, event, 0));
  OK(cudaStreamDestroy(b));
  OK(cudaEventDestroy(event));
  OK(cudaStreamEndCapture(a, &graph));
  OK(cudaGraphInstantiate(&executable, graph, 0));
  OK(cudaGraphLaunch(executable, a));
  OK(cudaStreamSynchronize(a));
  EXPECT_EQ(d.read()[0], 3u);
  OK(cudaGraphExecDestroy(executable));
  OK(cudaGraphDestroy(graph));
  OK(cudaStreamDestroy(a));
}

}  // namespace warpgrind::runtime
