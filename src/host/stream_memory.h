// Stream memory operations: words in memory that a stream writes when its turn has come, or waits for. Who writes the
// word that a wait is for may be another stream, a kernel that runs, or the host.
#pragma once

#include "host/operation.h"

namespace warpgrind::host {

// Errors of the call: no memory that the device reaches, or an address that is not a multiple of the word's bytes.
cudaError_t check(const MemoryOperation& operation);
cudaError_t issue_memory_operation(MemoryOperation operation, cudaStream_t stream);

}  // namespace warpgrind::host
