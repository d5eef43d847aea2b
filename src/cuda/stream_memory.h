// The driver API's batches of stream memory operations, as host has them.
#pragma once

#include "cuda/host_calls.h"
#include "host/operation.h"

namespace warpgrind::cuda {

inline constexpr unsigned kMostMemoryOperations =
    256;  // "Must be less than 256": those of one batch, and the next fails

// Operations that the device has not are CUDA_ERROR_NOT_SUPPORTED.
CUresult memory_operation(const CUstreamBatchMemOpParams* parameters, unsigned count, unsigned flags,
                          host::MemoryOperation& out);

}  // namespace warpgrind::cuda
