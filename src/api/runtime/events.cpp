// Events of the runtime API: marks on the virtual timeline. Elapsed times are estimates.
#include "semantics/events.h"

#include "runtime/call.h"
#include "semantics/operation.h"

namespace warpgrind::runtime {

extern "C" {

WG_API cudaError_t cudaEventCreateWithFlags(cudaEvent_t* out, unsigned flags) {
  return api([&] { return create_event(out, flags); });
}
WG_API cudaError_t cudaEventCreate(cudaEvent_t* out) {
  return cudaEventCreateWithFlags(out, 0);
}

WG_API cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return api([&] { return destroy_event(event); });
}

WG_API cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return api([&] { return record_event(event, stream, cudaEventRecordDefault); });
}
WG_API cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  return api([&] { return record_event(event, stream, flags); });
}

WG_API cudaError_t cudaEventQuery(cudaEvent_t handle) {
  return api([&] { return query_event(handle); });
}

WG_API cudaError_t cudaEventSynchronize(cudaEvent_t handle) {
  return api([&] { return synchronize_event(handle); });
}

WG_API cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start_handle, cudaEvent_t end_handle) {
  return api([&] { return elapsed_time(milliseconds, start_handle, end_handle); });
}

}  // extern "C"

}  // namespace warpgrind::runtime
