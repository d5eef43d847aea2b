// Events of the driver API: marks on the virtual timeline. Elapsed times are estimates.
#include "semantics/events.h"

#include "driver/host_calls.h"

namespace warpgrind::driver {

CUresult cuEventCreate(CUevent* event, unsigned int flags) {
  return host_call([&] { return semantics::create_event(event, flags); });
}
CUresult cuEventDestroy_v2(CUevent event) {
  return driver_of(event, [&] { return driver_error(semantics::destroy_event(event)); });
}
CUresult cuEventDestroy(CUevent event) {
  return cuEventDestroy_v2(event);
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
  return call_in(stream, [&] { return semantics::record_event(event, stream, cudaEventRecordDefault); });
}
CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned int flags) {
  return call_in(stream, [&] { return semantics::record_event(event, stream, flags); });
}
// Records an event after the work of all streams of a context, which are the streams of its device.
CUresult cuCtxRecordEvent(CUcontext context, CUevent event) {
  return driver_without_context([&]() -> CUresult {
    if (const CUresult error = check(context); error != CUDA_SUCCESS) return error;
    return driver_error(semantics::record_device(event, context->device));
  });
}
CUresult cuCtxWaitEvent(CUcontext context, CUevent event) {
  return driver_without_context([&]() -> CUresult {
    if (const CUresult error = check(context); error != CUDA_SUCCESS) return error;
    return driver_error(semantics::wait_on_device(event, context->device));
  });
}
CUresult cuEventQuery(CUevent event) {
  return driver_of(event, [&] { return driver_error(semantics::query_event(event)); });
}
CUresult cuEventSynchronize(CUevent event) {
  return driver_of(event, [&] { return driver_error(semantics::synchronize_event(event)); });
}
CUresult cuEventElapsedTime_v2(float* milliseconds, CUevent start, CUevent end) {
  return driver_of(start && end ? start : nullptr,
                   [&] { return driver_error(semantics::elapsed_time(milliseconds, start, end)); });
}
CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  return cuEventElapsedTime_v2(milliseconds, start, end);
}

}  // namespace warpgrind::driver
