// Streams of the runtime API: streams, callbacks, capture.
#include "semantics/streams.h"

#include <algorithm>

#include "runtime/call.h"
#include "semantics/graph.h"
#include "semantics/operation.h"

namespace warpgrind::runtime {

extern "C" {

WG_API cudaError_t cudaStreamCreate(cudaStream_t* out) {
  return api([&] { return create_stream(out, 0, 0); });
}
WG_API cudaError_t cudaStreamCreateWithFlags(cudaStream_t* out, unsigned flags) {
  return api([&] { return create_stream(out, flags, 0); });
}
WG_API cudaError_t cudaStreamCreateWithPriority(cudaStream_t* out, unsigned flags, int priority) {
  return api([&] { return create_stream(out, flags, priority); });
}
WG_API cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return api([&] { return destroy_stream(stream); });
}
WG_API cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return api([&] { return device_get_stream_priority_range(least, greatest); });
}
WG_API cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return api([&] { return synchronize_stream(stream); });
}
WG_API cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return api([&] { return query_stream(stream); });
}
WG_API cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  return api([&] { return wait_event(stream, event, flags); });
}

WG_API cudaError_t cudaStreamAddCallback(cudaStream_t handle, cudaStreamCallback_t callback, void* data,
                                         unsigned flags) {
  return api([&] { return stream_add_callback(handle, callback, data, flags); });
}

// ---- Queries
#define WG_STREAM_GETTER(name, type, expression)                  \
  WG_API cudaError_t name(cudaStream_t handle, type* out) {       \
    return api([&]() -> cudaError_t {                             \
      const StreamRef stream = resolve(handle);                   \
      if (!stream || !out) return cudaErrorInvalidResourceHandle; \
      *out = expression;                                          \
      return cudaSuccess;                                         \
    });                                                           \
  }
WG_STREAM_GETTER(cudaStreamGetPriority, int, priority_of(*stream))
WG_STREAM_GETTER(cudaStreamGetFlags, unsigned, stream->flags)
WG_STREAM_GETTER(cudaStreamGetId, unsigned long long, stream->unique_id)
WG_STREAM_GETTER(cudaStreamGetDevice, int, stream->device)
#undef WG_STREAM_GETTER
WG_API cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return api([&] { return is_capturing(stream, status); });
}

WG_API cudaError_t cudaStreamSetAttribute(cudaStream_t handle, cudaLaunchAttributeID id,
                                          const cudaLaunchAttributeValue* value) {
  return api([&] { return stream_set_attribute(handle, id, value); });
}
WG_API cudaError_t cudaStreamGetAttribute(cudaStream_t handle, cudaLaunchAttributeID id,
                                          cudaLaunchAttributeValue* value) {
  return api([&] { return stream_get_attribute(handle, id, value); });
}
WG_API cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
  return api([&] { return stream_copy_attributes(to, from); });
}
WG_API cudaError_t cudaCtxResetPersistingL2Cache() {
  return api([] { return cudaSuccess; });
}

WG_API cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return api([&] { return begin_capture(stream, nullptr, nullptr, 0, mode); });
}
WG_API cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t* nodes,
                                                 const cudaGraphEdgeData*, std::size_t count,
                                                 cudaStreamCaptureMode mode) {
  return api([&] { return stream_begin_capture_to_graph(stream, graph, nodes, count, mode); });
}
WG_API cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* out) {
  return api([&] { return end_capture(stream, out); });
}
WG_API cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                            unsigned long long* id, cudaGraph_t* graph, const cudaGraphNode_t** nodes,
                                            const cudaGraphEdgeData** edges, std::size_t* count) {
  return api([&] { return capture_info(stream, status, id, graph, nodes, edges, count); });
}
WG_API cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* nodes,
                                                       const cudaGraphEdgeData*, std::size_t count, unsigned flags) {
  return api([&] { return update_capture(stream, nodes, count, flags); });
}
WG_API cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return api([&] { return thread_exchange_stream_capture_mode(mode); });
}

}  // extern "C"

}  // namespace warpgrind::runtime
