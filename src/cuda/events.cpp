// Events: marks on the timeline. Elapsed times are estimated.
#include "host/events.h"

#include "cuda/host_calls.h"

namespace warpgrind::cuda {

CUresult cuEventCreate(CUevent* event, unsigned int flags) {
  return host_call([&] { return host::create_event(event, flags); });
}
CUresult cuEventDestroy_v2(CUevent event) {
  return host_call([&] { return host::destroy_event(event); });
}
CUresult cuEventDestroy(CUevent event) {
  return cuEventDestroy_v2(event);
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
  return host_call([&] { return host::record_event(event, stream, cudaEventRecordDefault); });
}
CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned int flags) {
  return host_call([&] { return host::record_event(event, stream, flags); });
}
CUresult cuEventQuery(CUevent event) {
  return host_call([&] { return host::query_event(event); });
}
CUresult cuEventSynchronize(CUevent event) {
  return host_call([&] { return host::synchronize_event(event); });
}
CUresult cuEventElapsedTime_v2(float* milliseconds, CUevent start, CUevent end) {
  return host_call([&] { return host::elapsed_time(milliseconds, start, end); });
}
CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  return cuEventElapsedTime_v2(milliseconds, start, end);
}

}  // namespace warpgrind::cuda
