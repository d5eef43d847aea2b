#include "semantics/batches.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "semantics/memory.h"
#include "semantics/state.h"
#include "semantics/streams.h"

namespace warpgrind::semantics {

namespace {

// One copy of a batch. `order`: when the source may be read.
struct BatchedCopy {
  CopyOperation copy;
  cudaMemcpySrcAccessOrder order = cudaMemcpySrcAccessOrderStream;
};

bool valid(cudaMemcpySrcAccessOrder order) {
  return order >= cudaMemcpySrcAccessOrderStream && order <= cudaMemcpySrcAccessOrderAny;
}
bool valid_flags(unsigned flags) {
  return flags <= cudaMemcpyFlagPreferOverlapWithCompute;
}
bool valid_hint(const cudaMemLocation& hint) {
  if (hint.type == cudaMemLocationTypeDevice) return valid_device(hint.id);
  return static_cast<unsigned>(hint.type) <= cudaMemLocationTypeHostNumaCurrent;
}
bool valid(const cudaMemcpyAttributes& a) {
  return valid(a.srcAccessOrder) && valid_flags(a.flags) && valid_hint(a.srcLocHint) && valid_hint(a.dstLocHint);
}

// Checks that the indexes rise from 0 and stay below `count`.
bool valid_firsts(const std::size_t* firsts, std::size_t number, std::size_t count) {
  if (!firsts || number == 0 || number > count || firsts[0] != 0) return false;
  for (std::size_t i = 1; i < number; i++)
    if (firsts[i] <= firsts[i - 1] || firsts[i] >= count) return false;
  return true;
}

cudaError_t check_stream(cudaStream_t stream) {
  const StreamRef resolved = resolve(stream);
  if (!resolved) return cudaErrorInvalidResourceHandle;
  if (resolved == context(resolved->device).legacy)
    return refuse(cudaErrorInvalidValue, "a batch cannot use the null stream");
  return resolved->capturing ? cudaErrorStreamCaptureUnsupported : cudaSuccess;
}

// Issues the copies before an invalid one, as an H200 does.
cudaError_t issue(const std::vector<BatchedCopy>& copies, std::size_t* failed, cudaStream_t stream) {
  for (std::size_t i = 0; i < copies.size(); i++) {
    const CopyOperation& copy = copies[i].copy;
    cudaError_t error = copy.width == 0 ? cudaErrorInvalidValue : check(copy);
    // With this order, the program may change the source as soon as the call returns.
    const bool host_blocks = copies[i].order == cudaMemcpySrcAccessOrderDuringApiCall;
    if (error == cudaSuccess) error = issue_copy(copy, stream, host_blocks);
    if (error == cudaSuccess) continue;
    if (failed) *failed = i;
    return error;
  }
  return cudaSuccess;
}

cudaError_t operand_of(const cudaMemcpy3DOperand& operand, const cudaExtent& extent, std::size_t element,
                       CopySide& out) {
  if (operand.type == cudaMemcpyOperandTypeArray) {
    const auto& a = operand.op.array;
    out = in_array(a.array, a.offset.x * element, a.offset.y);
    out.z = a.offset.z;
    return cudaSuccess;
  }
  if (operand.type != cudaMemcpyOperandTypePointer) return cudaErrorInvalidValue;
  const auto& p = operand.op.ptr;
  const std::size_t row = p.rowLength ? p.rowLength : extent.width,
                    rows = p.layerHeight ? p.layerHeight : extent.height;
  if (row < extent.width || rows < extent.height) return cudaErrorInvalidValue;
  out = in_memory(p.ptr, row * element, rows);
  return cudaSuccess;
}

cudaError_t batched_box(const cudaMemcpy3DBatchOp& operation, BatchedCopy& out) {
  std::size_t element = 0;
  for (const cudaMemcpy3DOperand* operand : {&operation.src, &operation.dst}) {
    if (operand->type != cudaMemcpyOperandTypeArray) continue;
    const auto array = array_of(operand->op.array.array);
    if (!array) return cudaErrorInvalidResourceHandle;
    if (element && element != array->element_bytes()) return cudaErrorInvalidValue;
    element = array->element_bytes();
  }
  if (!element) element = 1;
  const cudaExtent& extent = operation.extent;
  if (!extent.width || !extent.height || !extent.depth) return cudaErrorInvalidValue;
  if (!valid(operation.srcAccessOrder) || !valid_flags(operation.flags)) return cudaErrorInvalidValue;
  CopyOperation& c = out.copy;
  if (const cudaError_t error = operand_of(operation.src, extent, element, c.from)) return error;
  if (const cudaError_t error = operand_of(operation.dst, extent, element, c.to)) return error;
  c.width = extent.width * element;
  c.height = extent.height;
  c.depth = extent.depth;
  out.order = operation.srcAccessOrder;
  return cudaSuccess;
}

// Indexes may repeat here, unlike those of copies.
bool valid_places(const PrefetchBatch& b) {
  if (!b.firsts || b.location_count == 0 || b.location_count > b.count || b.firsts[0] != 0) return false;
  for (std::size_t i = 1; i < b.location_count; i++)
    if (b.firsts[i] < b.firsts[i - 1] || b.firsts[i] >= b.count) return false;
  return std::all_of(b.locations, b.locations + b.location_count,
                     [](const cudaMemLocation& at) { return at.type != cudaMemLocationTypeInvalid && valid_hint(at); });
}

void no_particular(std::size_t* failed) {
  if (failed) *failed = std::numeric_limits<std::size_t>::max();
}

}  // namespace

cudaError_t copy_batch(void* const* to, const void* const* from, const std::size_t* sizes, std::size_t count,
                       const cudaMemcpyAttributes* attributes, const std::size_t* firsts, std::size_t attribute_count,
                       std::size_t* failed, cudaStream_t stream) {
  if (const cudaError_t error = check_stream(stream)) return error;
  no_particular(failed);
  if (!to || !from || !sizes || !attributes || !valid_firsts(firsts, attribute_count, count))
    return cudaErrorInvalidValue;
  if (!std::all_of(attributes, attributes + attribute_count, [](const cudaMemcpyAttributes& a) { return valid(a); }))
    return cudaErrorInvalidValue;
  std::vector<BatchedCopy> copies(count);
  for (std::size_t i = 0, set = 0; i < count; i++) {
    if (set + 1 < attribute_count && firsts[set + 1] == i) ++set;
    copies[i].copy = linear_copy(to[i], from[i], sizes[i], cudaMemcpyDefault);
    copies[i].order = attributes[set].srcAccessOrder;
  }
  return issue(copies, failed, stream);
}

cudaError_t copy_3d_batch(std::size_t count, const cudaMemcpy3DBatchOp* operations, std::size_t* failed,
                          unsigned long long flags, cudaStream_t stream) {
  if (const cudaError_t error = check_stream(stream)) return error;
  no_particular(failed);
  if (!operations || flags || count == 0) return cudaErrorInvalidValue;
  std::vector<BatchedCopy> copies(count);
  for (std::size_t i = 0; i < count; i++) {
    const cudaError_t error = batched_box(operations[i], copies[i]);
    if (error == cudaSuccess) continue;
    if (failed) *failed = i;
    return error;
  }
  return issue(copies, nullptr, stream);  // which one is wrong is not said
}

cudaError_t prefetch_batch(const PrefetchBatch& b, unsigned long long flags, cudaStream_t stream) {
  if (const cudaError_t error = usable(resolve(stream))) return error;  // unlike a copy, it invalidates a capture
  if (const cudaError_t error = check_stream(stream)) return error;
  if (flags || !b.pointers || !b.sizes || !b.locations || !valid_places(b)) return cudaErrorInvalidValue;
  std::vector<cudaMemLocation> to(b.count);
  for (std::size_t i = 0, set = 0; i < b.count; i++) {
    while (set + 1 < b.location_count && b.firsts[set + 1] == i) ++set;
    to[i] = b.locations[set];
    if (const cudaError_t error = check_prefetch(b.pointers[i], b.sizes[i], to[i])) return error;
  }
  for (std::size_t i = 0; i < b.count; i++)
    if (const cudaError_t error = prefetch_managed(b.pointers[i], b.sizes[i], to[i], stream)) return error;
  return cudaSuccess;
}

cudaError_t discard_batch(void* const* pointers, const std::size_t* sizes, std::size_t count, unsigned long long flags,
                          cudaStream_t stream) {
  if (const cudaError_t error = usable(resolve(stream))) return error;
  if (const cudaError_t error = check_stream(stream)) return error;
  if (flags || !pointers || !sizes || count == 0) return cudaErrorInvalidValue;
  for (std::size_t i = 0; i < count; i++)
    if (const cudaError_t error = check_prefetch(pointers[i], sizes[i], {cudaMemLocationTypeHost, 0})) return error;
  return cudaSuccess;
}

}  // namespace warpgrind::semantics
