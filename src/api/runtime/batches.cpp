// Batches of copies, prefetches and discards.
#include "semantics/batches.h"

#include "runtime/call.h"

namespace warpgrind::runtime {

extern "C" {

WG_API cudaError_t cudaMemcpyBatchAsync(void* const* to, const void* const* from, const std::size_t* sizes,
                                        std::size_t count, cudaMemcpyAttributes* attributes, std::size_t* indices,
                                        std::size_t attribute_count, cudaStream_t stream) {
  return api([&] { return copy_batch(to, from, sizes, count, attributes, indices, attribute_count, nullptr, stream); });
}
WG_API cudaError_t cudaMemcpy3DBatchAsync(std::size_t count, cudaMemcpy3DBatchOp* operations, unsigned long long flags,
                                          cudaStream_t stream) {
  return api([&] { return copy_3d_batch(count, operations, nullptr, flags, stream); });
}

WG_API cudaError_t cudaMemPrefetchBatchAsync(void** pointers, std::size_t* sizes, std::size_t count,
                                             cudaMemLocation* locations, std::size_t* indices,
                                             std::size_t location_count, unsigned long long flags,
                                             cudaStream_t stream) {
  return api([&] {
    return prefetch_batch({pointers, sizes, count, locations, indices, location_count}, flags, stream);
  });
}
WG_API cudaError_t cudaMemDiscardBatchAsync(void** pointers, std::size_t* sizes, std::size_t count,
                                            unsigned long long flags, cudaStream_t stream) {
  return api([&] { return discard_batch(pointers, sizes, count, flags, stream); });
}
// The prefetch brings back the range, whose contents are indeterminate.
WG_API cudaError_t cudaMemDiscardAndPrefetchBatchAsync(void** pointers, std::size_t* sizes, std::size_t count,
                                                       cudaMemLocation* locations, std::size_t* indices,
                                                       std::size_t location_count, unsigned long long flags,
                                                       cudaStream_t stream) {
  return api([&] {
    return prefetch_batch({pointers, sizes, count, locations, indices, location_count}, flags, stream);
  });
}

}  // extern "C"

}  // namespace warpgrind::runtime
