// Batches of copies, prefetches and discards (cudaMemcpyBatchAsync and its kin), for both APIs. The null stream and
// streams that are being captured are not allowed here. Errors are an H200's.
#pragma once

#include <cstddef>

#include "semantics/copies.h"

namespace warpgrind::semantics {

// attributes[i] apply to the copies from firsts[i] on. failed (may be null): index of the copy that failed; SIZE_MAX:
// no particular one. It is not written if the stream is wrong.
cudaError_t copy_batch(void* const* to, const void* const* from, const std::size_t* sizes, std::size_t count,
                       const cudaMemcpyAttributes* attributes, const std::size_t* firsts, std::size_t attribute_count,
                       std::size_t* failed, cudaStream_t stream);
// rowLength and layerHeight are in elements (of the array, if the other operand is one); 0 means the extent.
cudaError_t copy_3d_batch(std::size_t count, const cudaMemcpy3DBatchOp* operations, std::size_t* failed,
                          unsigned long long flags, cudaStream_t stream);

// Ranges of managed memory. locations[i] apply to the ranges from firsts[i] on.
struct PrefetchBatch {
  void* const* pointers = nullptr;
  const std::size_t* sizes = nullptr;
  std::size_t count = 0;
  const cudaMemLocation* locations = nullptr;
  const std::size_t* firsts = nullptr;
  std::size_t location_count = 0;
};
cudaError_t prefetch_batch(const PrefetchBatch& batch, unsigned long long flags, cudaStream_t stream);
// The contents of a discarded range are indeterminate. Here they stay as they are.
cudaError_t discard_batch(void* const* pointers, const std::size_t* sizes, std::size_t count, unsigned long long flags,
                          cudaStream_t stream);

}  // namespace warpgrind::semantics
