// Stream memory operations: a stream writes a word in memory, or waits for its value. Another stream, a running kernel
// or the host may write the word that a wait is for.
#pragma once

#include "semantics/operation.h"

namespace warpgrind::semantics {

// Checks the arguments: the device must be able to access the memory, and addresses must be multiples of the word size.
cudaError_t check(const MemoryOperation& operation);
cudaError_t issue_memory_operation(MemoryOperation operation, cudaStream_t stream);

}  // namespace warpgrind::semantics
