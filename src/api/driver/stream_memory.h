// Conversion of the driver API's stream memory operations to the host layer's.
#pragma once

#include "driver/host_calls.h"
#include "semantics/operation.h"

namespace warpgrind::driver {

// Maximum number of operations in one batch. The manual says "Must be less than 256"; 257 is the first that fails.
inline constexpr unsigned kMostMemoryOperations = 256;

// CUDA_ERROR_NOT_SUPPORTED for operations that no virtual GPU supports.
CUresult memory_operation(const CUstreamBatchMemOpParams* parameters, unsigned count, unsigned flags,
                          semantics::MemoryOperation& out);

}  // namespace warpgrind::driver
