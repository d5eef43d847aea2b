// Streams and stream capture.
#pragma once

#include "semantics/graph.h"
#include "semantics/operation.h"

namespace warpgrind::semantics {

inline constexpr int kGreatestPriority = -5;  // as reported by GPUs since compute capability 7; 0 is the least

cudaError_t create_stream(cudaStream_t* out, unsigned flags, int priority);  // flags: cudaStreamNonBlocking
cudaError_t destroy_stream(cudaStream_t handle);                             // returns at once; its work goes on
// First check of calls with a stream, before their other arguments: cudaErrorInvalidResourceHandle,
// cudaErrorStreamCaptureImplicit, cudaErrorStreamCaptureInvalidated.
cudaError_t takes_calls(const StreamRef& stream);
// First check of calls that are not allowed on a capturing stream: there they invalidate the capture.
cudaError_t usable(const StreamRef& stream);
cudaError_t synchronize_stream(cudaStream_t handle);
cudaError_t query_stream(cudaStream_t handle);
int priority_of(Stream& stream);
cudaError_t wait_event(cudaStream_t handle, cudaEvent_t event, unsigned flags);  // cudaEventWaitExternal

// into: graph to capture into, where the first node depends on `dependencies`; null: a new graph.
cudaError_t begin_capture(cudaStream_t handle, Graph* into, const cudaGraphNode_t* dependencies, std::size_t count,
                          cudaStreamCaptureMode mode);
cudaError_t end_capture(cudaStream_t handle, cudaGraph_t* out);
cudaError_t is_capturing(cudaStream_t handle, cudaStreamCaptureStatus* status);
// The legacy default stream waits for blocking streams, and they for it. While one of them is captured, calls with the
// legacy stream return cudaErrorStreamCaptureImplicit. `invalidates`: the call invalidates the capture.
cudaError_t implicit_dependency(const Stream& stream, bool invalidates = true);
// All but `status` may be null.
cudaError_t capture_info(cudaStream_t handle, cudaStreamCaptureStatus* status, unsigned long long* id,
                         cudaGraph_t* graph, const cudaGraphNode_t** dependencies, const cudaGraphEdgeData** edges,
                         std::size_t* count);
// Check for calls that may wait for work of streams (allocation, free, unload, queries). A capture in progress may
// forbid them: they then return cudaErrorStreamCaptureUnsupported and invalidate it (CUDA runtime API,
// cudaThreadExchangeStreamCaptureMode).
cudaError_t forbidden_by_captures();
// Check for calls on all streams of the device: they invalidate the captures there, in every mode.
cudaError_t no_captures(int device);
cudaError_t update_capture(cudaStream_t handle, cudaGraphNode_t* nodes, std::size_t count, unsigned flags);

// ---- The runtime API's functions of the same names.
cudaError_t device_get_stream_priority_range(int* least, int* greatest);
cudaError_t launch_host_function(cudaStream_t stream, cudaHostFn_t function, void* data);
cudaError_t stream_add_callback(cudaStream_t handle, cudaStreamCallback_t callback, void* data, unsigned flags);
cudaError_t stream_set_attribute(cudaStream_t handle, cudaLaunchAttributeID id, const cudaLaunchAttributeValue* value);
cudaError_t stream_get_attribute(cudaStream_t handle, cudaLaunchAttributeID id, cudaLaunchAttributeValue* value);
cudaError_t stream_copy_attributes(cudaStream_t to, cudaStream_t from);
cudaError_t stream_begin_capture_to_graph(cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t* nodes,
                                          std::size_t count, cudaStreamCaptureMode mode);
cudaError_t thread_exchange_stream_capture_mode(cudaStreamCaptureMode* mode);

}  // namespace warpgrind::semantics
