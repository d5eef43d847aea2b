// Reductions of ranges of memory (cp.reduce.async.bulk, cp.reduce.async.bulk.tensor).
#pragma once

#include "device/access/access.h"
#include "gpu/tensor_map.h"
#include "jit/atomic_operation.h"

namespace warpgrind::device {

// The type of an operation on elements of a tensor; none: the operation does not exist for them.
ptx::ScalarType reduction_type(TensorElement element, jit::AtomicOperation operation);
// Whether a reduction of such elements flushes denormals to zero.
bool reduction_flushes(TensorElement element);
// atomics.cpp: each element is one atomic operation, in global memory also for other threads. `to`: from a Place.
// `bytes`: a multiple of the type's. `flushes`: f32 denormals to zero. False: the operation does not exist for the
// type.
bool reduce_bytes(jit::AtomicOperation operation, ptx::ScalarType type, std::uint8_t* to, const std::uint8_t* from,
                  std::size_t bytes, bool shared, bool flushes);

}  // namespace warpgrind::device
