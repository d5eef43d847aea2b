// Events: marks on the timeline. Elapsed times are estimated.
#pragma once

#include "semantics/operation.h"

namespace warpgrind::semantics {

cudaError_t create_event(cudaEvent_t* out, unsigned flags);  // flags: cudaEventDefault etc.
// An event that another process has created.
cudaError_t adopt_event(cudaEvent_t* out, unsigned flags, std::shared_ptr<SharedEvent> shared);
cudaError_t destroy_event(cudaEvent_t event);
cudaError_t record_event(cudaEvent_t event, cudaStream_t stream, unsigned flags);  // flags: cudaEventRecordExternal
// record_device(): the event records all work issued to the device so far. wait_on_device(): all work issued to the
// device from now on waits for the event.
cudaError_t record_device(cudaEvent_t event, int device);
cudaError_t wait_on_device(cudaEvent_t event, int device);
cudaError_t query_event(cudaEvent_t event);
cudaError_t synchronize_event(cudaEvent_t event);
cudaError_t elapsed_time(float* milliseconds, cudaEvent_t start, cudaEvent_t end);

}  // namespace warpgrind::semantics
