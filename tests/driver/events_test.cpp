// Events: order, queries, and elapsed times.
#include <atomic>
#include <thread>

#include "driver_test.h"

namespace warpgrind::driver {

namespace {

using Events = test::WithContext;

const auto kNoEvent = reinterpret_cast<CUevent>(0x1234);
const auto kNoStream = reinterpret_cast<CUstream>(0x1234);

void wait_for(void* flag) {
  while (!*static_cast<std::atomic<bool>*>(flag)) std::this_thread::yield();
}
void nothing(void*) {}

CUevent made(unsigned flags = CU_EVENT_DEFAULT) {
  CUevent event = nullptr;
  OK(cuEventCreate(&event, flags));
  return event;
}

}  // namespace

TEST_F(Events, AreMadeAndDestroyed) {
  CUevent event = made(CU_EVENT_BLOCKING_SYNC);
  OK(cuEventDestroy(event));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuEventDestroy(event));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuEventCreate(nullptr, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuEventCreate(&event, 0x40));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuEventCreate(&event, CU_EVENT_INTERPROCESS));
#undef cuEventDestroy
  event = made();
  OK(cuEventDestroy(event));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuEventDestroy(event));
#define cuEventDestroy cuEventDestroy_v2
}

TEST_F(Events, PassInTurn) {
  CUevent event = made();
  OK(cuEventQuery(event));  // never recorded
  OK(cuEventSynchronize(event));
  std::atomic<bool> open{false};
  OK(cuLaunchHostFunc(nullptr, wait_for, &open));
  OK(cuEventRecord(event, nullptr));
  FAILS(CUDA_ERROR_NOT_READY, cuEventQuery(event));
  open = true;
  OK(cuEventSynchronize(event));
  OK(cuEventQuery(event));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuEventRecord(kNoEvent, nullptr));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuEventRecord(event, kNoStream));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuEventQuery(kNoEvent));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuEventSynchronize(kNoEvent));
  OK(cuEventDestroy(event));
}

TEST_F(Events, HaveTimes) {
  CUevent start = made(), end = made(), without = made(CU_EVENT_DISABLE_TIMING);
  float milliseconds = -1;
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(&milliseconds, start, end));
  OK(cuEventRecord(start, nullptr));
  OK(cuLaunchHostFunc(nullptr, nothing, nullptr));
  OK(cuEventRecord(end, nullptr));
  OK(cuEventRecord(without, nullptr));
  OK(cuCtxSynchronize());
  OK(cuEventElapsedTime(&milliseconds, start, end));
  EXPECT_GT(milliseconds, 0);
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(&milliseconds, start, without));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuEventElapsedTime(nullptr, start, end));
#undef cuEventElapsedTime
  float same = -1;
  OK(cuEventElapsedTime(&same, start, end));
  EXPECT_EQ(same, milliseconds);
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(&same, kNoEvent, end));
  for (CUevent event : {start, end, without}) OK(cuEventDestroy(event));
}

TEST_F(Events, BelongToADevice) {
  CUevent event = made();
  CUcontext other = nullptr;
  OK(cuCtxCreate(&other, nullptr, 0, 1));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuEventRecord(event, nullptr));
  OK(cuCtxDestroy(other));
  OK(cuEventRecord(event, nullptr));
  OK(cuEventDestroy(event));
}

TEST_F(Events, OfContexts) {
  CUstream stream = nullptr, later = nullptr;
  CUevent event = made();
  std::atomic<bool> open{false}, passed{false};
  const auto pass = [](void* flag) { *static_cast<std::atomic<bool>*>(flag) = true; };
  OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  OK(cuLaunchHostFunc(stream, wait_for, &open));
  OK(cuCtxRecordEvent(context, event));
  FAILS(CUDA_ERROR_NOT_READY, cuEventQuery(event));
  OK(cuCtxWaitEvent(context, event));
  OK(cuStreamCreate(&later, CU_STREAM_NON_BLOCKING));
  OK(cuLaunchHostFunc(later, pass, &passed));
  FAILS(CUDA_ERROR_NOT_READY, cuStreamQuery(later));
  EXPECT_FALSE(passed);
  open = true;
  OK(cuEventSynchronize(event));
  OK(cuStreamSynchronize(later));
  EXPECT_TRUE(passed);
  FAILS(CUDA_ERROR_INVALID_CONTEXT, cuCtxRecordEvent(nullptr, event));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuCtxRecordEvent(context, kNoEvent));
  FAILS(CUDA_ERROR_INVALID_CONTEXT, cuCtxWaitEvent(nullptr, event));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuCtxWaitEvent(context, kNoEvent));
  OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  FAILS(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuCtxRecordEvent(context, event));
  CUgraph graph = nullptr;
  FAILS(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(stream, &graph));
  OK(cuStreamDestroy(stream));
  OK(cuStreamDestroy(later));
  OK(cuEventDestroy(event));
}

// An event recorded in a capture orders its streams. With the flag it becomes a node, which the graph's launch records.
TEST_F(Events, OfCaptures) {
  CUevent event = made(), node_event = made();
  CUstream stream = nullptr;
  OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  OK(cuEventRecordWithFlags(event, stream, CU_EVENT_RECORD_DEFAULT));
  FAILS(CUDA_ERROR_ILLEGAL_STATE, cuEventRecordWithFlags(event, stream, CU_EVENT_RECORD_EXTERNAL));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuEventRecordWithFlags(event, stream, 2));
  OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  OK(cuEventRecord(event, stream));
  FAILS(CUDA_ERROR_CAPTURED_EVENT, cuEventQuery(event));
  FAILS(CUDA_ERROR_CAPTURED_EVENT, cuEventSynchronize(event));
  size_t count = 9;
  CUstreamCaptureStatus status{};
  OK(cuStreamGetCaptureInfo(stream, &status, nullptr, nullptr, nullptr, nullptr, &count));
  EXPECT_EQ(count, 0u);
  OK(cuEventRecordWithFlags(node_event, stream, CU_EVENT_RECORD_EXTERNAL));
  OK(cuStreamWaitEvent(stream, node_event, CU_EVENT_WAIT_EXTERNAL));
  OK(cuEventQuery(node_event));
  OK(cuStreamGetCaptureInfo(stream, &status, nullptr, nullptr, nullptr, nullptr, &count));
  EXPECT_EQ(count, 1u);
  CUgraph graph = nullptr;
  OK(cuStreamEndCapture(stream, &graph));
  OK(cuStreamDestroy(stream));
  for (CUevent e : {event, node_event}) OK(cuEventDestroy(e));
}

}  // namespace warpgrind::driver
