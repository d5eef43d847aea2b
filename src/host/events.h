// Events: marks on the timeline. Elapsed times are estimated.
#pragma once

#include "host/operation.h"

namespace warpgrind::host {

cudaError_t create_event(cudaEvent_t* out, unsigned flags);  // cudaEventDefault and its like
// One that another process has made.
cudaError_t adopt_event(cudaEvent_t* out, unsigned flags, std::shared_ptr<SharedEvent> shared);
cudaError_t destroy_event(cudaEvent_t event);
cudaError_t record_event(cudaEvent_t event, cudaStream_t stream, unsigned flags);  // cudaEventRecordExternal
// All that the device's streams hold by now; all that they get from now on.
cudaError_t record_device(cudaEvent_t event, int device);
cudaError_t wait_on_device(cudaEvent_t event, int device);
cudaError_t query_event(cudaEvent_t event);
cudaError_t synchronize_event(cudaEvent_t event);
cudaError_t elapsed_time(float* milliseconds, cudaEvent_t start, cudaEvent_t end);

}  // namespace warpgrind::host
