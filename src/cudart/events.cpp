// Events: marks on the timeline. Elapsed times are estimated.
#include "cudart/operation.h"
#include "cudart/runtime.h"

namespace warpgrind::cudart {

namespace {

cudaError_t record(cudaEvent_t event, cudaStream_t handle, bool per_thread) {
  return api([&]() -> cudaError_t {
    Stream* stream = resolve(handle, per_thread);
    if (!stream || !is_event(event)) return cudaErrorInvalidResourceHandle;
    return submit(stream, EventOperation{event, false}, false);
  });
}

}  // namespace

extern "C" {

WG_API cudaError_t cudaEventCreateWithFlags(cudaEvent_t* out, unsigned flags) {
  return api([&]() -> cudaError_t {
    constexpr unsigned kAll = cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
    if (!out || (flags & ~kAll)) return cudaErrorInvalidValue;
    if ((flags & cudaEventInterprocess) && !(flags & cudaEventDisableTiming)) return cudaErrorInvalidValue;
    auto* event = new Event;
    event->device = thread_state().device;
    event->flags = flags;
    Runtime& r = Runtime::instance();
    std::lock_guard lock(r.mutex);
    r.events.insert(event);
    *out = event;
    return cudaSuccess;
  });
}
WG_API cudaError_t cudaEventCreate(cudaEvent_t* out) {
  return cudaEventCreateWithFlags(out, 0);
}

WG_API cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return api([&]() -> cudaError_t {
    Runtime& r = Runtime::instance();
    std::lock_guard lock(r.mutex);
    if (r.events.erase(event) == 0) return cudaErrorInvalidResourceHandle;
    delete event;
    return cudaSuccess;
  });
}

WG_API cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return record(event, stream, false);
}
WG_API cudaError_t cudaEventRecord_ptsz(cudaEvent_t event, cudaStream_t stream) {
  return record(event, stream, true);
}
WG_API cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned) {
  return record(event, stream, false);
}
WG_API cudaError_t cudaEventRecordWithFlags_ptsz(cudaEvent_t event, cudaStream_t stream, unsigned) {
  return record(event, stream, true);
}

WG_API cudaError_t cudaEventQuery(cudaEvent_t event) {
  return api([&]() -> cudaError_t {
    if (!is_event(event)) return cudaErrorInvalidResourceHandle;
    if (event->capture) return cudaErrorCapturedEvent;
    timing::Timeline& time = the_session().timeline();
    time.host_work(kHostCallNs);  // a program that polls sees the end after a while
    if (event->recorded && event->time_ns > time.host_now()) return cudaErrorNotReady;
    return context(event->device).sticky;
  });
}

WG_API cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return api([&]() -> cudaError_t {
    if (!is_event(event)) return cudaErrorInvalidResourceHandle;
    if (event->capture) return cudaErrorCapturedEvent;
    session::Session& s = the_session();
    if (s.device_in_use(event->device)) s.device(event->device).flush_output();
    s.timeline().host_work(kHostCallNs);
    if (event->recorded) s.timeline().synchronize_time(event->time_ns);
    return context(event->device).sticky;
  });
}

WG_API cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return api([&]() -> cudaError_t {
    if (!milliseconds) return cudaErrorInvalidValue;
    if (!is_event(start) || !is_event(end)) return cudaErrorInvalidResourceHandle;
    if ((start->flags | end->flags) & cudaEventDisableTiming) return cudaErrorInvalidResourceHandle;
    if (!start->recorded || !end->recorded) return cudaErrorInvalidResourceHandle;
    double now = the_session().timeline().host_now();
    if (start->time_ns > now || end->time_ns > now) return cudaErrorNotReady;
    *milliseconds = static_cast<float>((end->time_ns - start->time_ns) / 1e6);
    return cudaSuccess;
  });
}

}  // extern "C"

}  // namespace warpgrind::cudart
