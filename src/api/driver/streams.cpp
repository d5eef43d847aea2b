// Streams of the driver API: properties, waits, callbacks, capture.
#include "semantics/streams.h"

#include "driver/host_calls.h"
#include "semantics/memory.h"

namespace warpgrind::driver {

namespace {

CUresult create(CUstream* out, unsigned flags, int priority, const char* call = __builtin_FUNCTION()) {
  if (!out || flags & ~static_cast<unsigned>(CU_STREAM_NON_BLOCKING))  // before all other checks
    return leave(CUDA_ERROR_INVALID_VALUE, call);
  return driver(
      [&]() -> CUresult {
        if (const cudaError_t error = semantics::create_stream(out, flags, priority)) return driver_error(error);
        (*out)->made_in = current_context();
        return CUDA_SUCCESS;
      },
      call);
}

// Answers a query about a stream.
template <class Value, class Question>
CUresult ask(CUstream handle, Value* out, Question question, const char* call = __builtin_FUNCTION()) {
  return driver_in(
      handle,
      [&]() -> CUresult {
        const semantics::StreamRef stream = semantics::resolve(handle);
        if (const cudaError_t error = semantics::takes_calls(stream)) return driver_error(error);
        if (!out) return CUDA_ERROR_INVALID_VALUE;
        *out = static_cast<Value>(question(*stream));
        return CUDA_SUCCESS;
      },
      call);
}

// Context in which the stream was created. For the default streams it is the current context.
CUresult context_of(CUstream handle, CUcontext* out, const char* call = __builtin_FUNCTION()) {
  return driver_in(
      handle,
      [&]() -> CUresult {
        const semantics::StreamRef stream = semantics::resolve(handle);
        if (!stream) return CUDA_ERROR_INVALID_HANDLE;
        if (!out) return CUDA_ERROR_INVALID_VALUE;
        const bool is_default = handle == nullptr || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD;
        auto* const made_in = static_cast<Context*>(const_cast<void*>(stream->made_in));
        if (is_default)
          *out = current_context();
        else
          *out = made_in ? made_in : &primary_context(stream->device);
        return check(*out);
      },
      call);
}

}  // namespace

CUresult cuStreamCreate(CUstream* stream, unsigned int flags) {
  return create(stream, flags, 0);
}
CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned int flags, int priority) {
  return create(stream, flags, priority);
}
CUresult cuStreamDestroy_v2(CUstream stream) {
  return driver_of(stream, [&] { return driver_error(semantics::destroy_stream(stream)); });
}
CUresult cuStreamDestroy(CUstream stream) {
  return cuStreamDestroy_v2(stream);
}
CUresult cuStreamSynchronize(CUstream stream) {
  return call_in(stream, [&] { return semantics::synchronize_stream(stream); });
}
CUresult cuStreamQuery(CUstream stream) {
  return call_in(stream, [&] { return semantics::query_stream(stream); });
}

// ---- Properties
CUresult cuStreamGetPriority(CUstream stream, int* priority) {
  return ask(stream, priority, [](semantics::Stream& s) { return semantics::priority_of(s); });
}
CUresult cuStreamGetDevice(CUstream stream, CUdevice* device) {
  return ask(stream, device, [](semantics::Stream& s) { return s.device; });
}
CUresult cuStreamGetFlags(CUstream stream, unsigned int* flags) {
  return ask(stream, flags, [](semantics::Stream& s) { return s.flags; });
}
CUresult cuStreamGetId(CUstream stream, unsigned long long* id) {
  return ask(stream, id, [](semantics::Stream& s) { return s.unique_id; });
}
CUresult cuStreamGetCtx(CUstream stream, CUcontext* context) {
  return context_of(stream, context);
}
// The green context is always null: no stream here has one.
CUresult cuStreamGetCtx_v2(CUstream stream, CUcontext* context, CUgreenCtx* green) {
  const CUresult error = context_of(stream, context);
  if (error == CUDA_SUCCESS && green) *green = nullptr;
  return error;
}

CUresult cuStreamSetAttribute(CUstream stream, CUstreamAttrID attribute, const CUstreamAttrValue* value) {
  return call_in(stream, [&] {
    return semantics::stream_set_attribute(stream, static_cast<cudaLaunchAttributeID>(attribute),
                                           as<const cudaLaunchAttributeValue>(value));
  });
}
CUresult cuStreamGetAttribute(CUstream stream, CUstreamAttrID attribute, CUstreamAttrValue* value) {
  return call_in(stream, [&] {
    return semantics::stream_get_attribute(stream, static_cast<cudaLaunchAttributeID>(attribute),
                                           as<cudaLaunchAttributeValue>(value));
  });
}
CUresult cuStreamCopyAttributes(CUstream to, CUstream from) {
  return host_call([&] { return semantics::stream_copy_attributes(to, from); });
}

// ---- Waits, callbacks, host functions
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags) {
  return call_in(stream, [&] { return semantics::wait_event(stream, event, flags); });
}
CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void* data, unsigned int flags) {
  // The callback's error type may be cast: errors after a kernel's fault have the same numbers in both APIs.
  return host_call([&] {
    return semantics::stream_add_callback(stream, reinterpret_cast<cudaStreamCallback_t>(callback), data, flags);
  });
}
CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
  return call_in(stream, [&] { return semantics::launch_host_function(stream, function, data); });
}
CUresult cuStreamAttachMemAsync(CUstream stream, CUdeviceptr pointer, size_t, unsigned int flags) {
  return call_in(stream, [&]() -> cudaError_t {
    const semantics::Memory memory = semantics::place_of(reinterpret_cast<const void*>(pointer)).memory;
    if (memory != semantics::Memory::managed && memory != semantics::Memory::pageable) return cudaErrorInvalidValue;
    return semantics::stream_attach_mem_async(stream, flags);
  });
}

// ---- Capture
CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode) {
  return host_call(
      [&] { return semantics::begin_capture(stream, nullptr, nullptr, 0, static_cast<cudaStreamCaptureMode>(mode)); });
}
CUresult cuStreamBeginCapture(CUstream stream) {
  return cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
}
CUresult cuStreamBeginCaptureToGraph(CUstream stream, CUgraph graph, const CUgraphNode* dependencies,
                                     const CUgraphEdgeData*, size_t count, CUstreamCaptureMode mode) {
  return call_in(stream, [&] {
    return semantics::stream_begin_capture_to_graph(stream, graph, dependencies, count,
                                                    static_cast<cudaStreamCaptureMode>(mode));
  });
}
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  return host_call([&] { return semantics::thread_exchange_stream_capture_mode(as<cudaStreamCaptureMode>(mode)); });
}
CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  return call_in(stream, [&] { return graph ? semantics::end_capture(stream, graph) : cudaErrorInvalidValue; });
}
CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  return call_in(stream, [&] { return semantics::is_capturing(stream, as<cudaStreamCaptureStatus>(status)); });
}

namespace {

CUresult capture_info(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph,
                      const CUgraphNode** dependencies, const CUgraphEdgeData** edges, size_t* count,
                      const char* call = __builtin_FUNCTION()) {
  return host_call(
      [&]() -> cudaError_t {
        unsigned long long number = 0;
        const cudaError_t error = semantics::capture_info(stream, as<cudaStreamCaptureStatus>(status), &number, graph,
                                                          dependencies, as<const cudaGraphEdgeData*>(edges), count);
        if (!error && id && *status == CU_STREAM_CAPTURE_STATUS_ACTIVE) *id = number;
        return error;
      },
      call);
}

CUresult update_dependencies(CUstream stream, CUgraphNode* dependencies, size_t count, unsigned int flags,
                             const char* call = __builtin_FUNCTION()) {
  return host_call([&] { return semantics::update_capture(stream, dependencies, count, flags); }, call);
}

}  // namespace

CUresult cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id) {
  return capture_info(stream, status, id, nullptr, nullptr, nullptr, nullptr);
}
CUresult cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph,
                                   const CUgraphNode** dependencies, size_t* count) {
  return capture_info(stream, status, id, graph, dependencies, nullptr, count);
}
CUresult cuStreamGetCaptureInfo_v3(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph,
                                   const CUgraphNode** dependencies, const CUgraphEdgeData** edges, size_t* count) {
  return capture_info(stream, status, id, graph, dependencies, edges, count);
}
CUresult cuStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode* dependencies, size_t count,
                                           unsigned int flags) {
  return update_dependencies(stream, dependencies, count, flags);
}
CUresult cuStreamUpdateCaptureDependencies_v2(CUstream stream, CUgraphNode* dependencies, const CUgraphEdgeData*,
                                              size_t count, unsigned int flags) {
  return update_dependencies(stream, dependencies, count, flags);
}

}  // namespace warpgrind::driver
