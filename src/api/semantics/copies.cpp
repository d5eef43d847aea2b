// The many forms of cudaMemcpy and cudaMemset: each has a synchronous and an asynchronous entry.
#include "semantics/copies.h"

#include <fmt/core.h>

#include <algorithm>

#include "device/memory/address_space.h"
#include "semantics/arrays.h"
#include "semantics/operation.h"
#include "semantics/state.h"
#include "semantics/streams.h"

namespace warpgrind::semantics {

cudaError_t issue_copy(const CopyOperation& c, cudaStream_t handle, bool host_blocks) {
  const StreamRef stream = resolve(handle);
  if (stream)
    if (cudaError_t error = takes_calls(stream)) return error;
  if (cudaError_t error = check(c)) return error;
  return submit(stream, c, host_blocks);
}

cudaError_t issue_fill(const FillOperation& f, cudaStream_t handle, bool host_blocks) {
  const StreamRef stream = resolve(handle);
  if (stream)
    if (cudaError_t error = takes_calls(stream)) return error;
  // Fills of a graph are checked when it is instantiated.
  if (!stream || !stream->capturing)
    if (cudaError_t error = check(f)) return error;
  // cudaMemset returns before the GPU is done, but it may not be called while its stream is being captured.
  return submit(stream, f, host_blocks);
}

// For pinned or managed memory, the call returns when the memory is filled (CUDA runtime API, "API synchronization
// behavior").
cudaError_t fill_now(const FillOperation& f) {
  const Memory memory = place_of(f.pointer).memory;
  return issue_fill(f, nullptr, memory == Memory::managed || memory == Memory::pinned);
}
CopySide in_memory(const void* pointer, std::size_t pitch, std::size_t rows) {
  CopySide side;
  side.pointer = static_cast<std::uint8_t*>(const_cast<void*>(pointer));
  side.pitch = pitch;
  side.rows = rows;
  return side;
}
CopySide in_array(const ArrayHandle* array, std::size_t x, std::size_t y) {
  CopySide side;
  side.array = array_of(array);
  side.x = x;
  side.y = y;
  return side;
}
CopyOperation rectangle(CopySide to, CopySide from, std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  CopyOperation c;
  c.to = to;
  c.from = from;
  c.width = width;
  c.height = height;
  c.kind = kind;
  return c;
}

cudaError_t copy_rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                      std::size_t height, cudaMemcpyKind kind, cudaStream_t stream, bool host_blocks) {
  return issue_copy(
      rectangle(in_memory(to, to_pitch, height), in_memory(from, from_pitch, height), width, height, kind), stream,
      host_blocks);
}
cudaError_t copy_to_array(ArrayHandle* to, std::size_t x, std::size_t y, const void* from, std::size_t pitch,
                          std::size_t width, std::size_t height, cudaMemcpyKind kind, cudaStream_t stream,
                          bool host_blocks) {
  if (!array_of(to)) return cudaErrorInvalidResourceHandle;
  return issue_copy(rectangle(in_array(to, x, y), in_memory(from, pitch, height), width, height, kind), stream,
                    host_blocks);
}
cudaError_t copy_from_array(void* to, std::size_t pitch, const ArrayHandle* from, std::size_t x, std::size_t y,
                            std::size_t width, std::size_t height, cudaMemcpyKind kind, cudaStream_t stream,
                            bool host_blocks) {
  if (!array_of(from)) return cudaErrorInvalidResourceHandle;
  return issue_copy(rectangle(in_memory(to, pitch, height), in_array(from, x, y), width, height, kind), stream,
                    host_blocks);
}

// The byte count of cudaMemcpyToArray runs over the ends of rows: at most a part of a first row, whole rows, and a part
// of a last row.
cudaError_t copy_array_bytes(const ArrayHandle* handle, std::size_t x, std::size_t y, const void* other,
                             std::size_t count, cudaMemcpyKind kind, bool to_array, cudaStream_t stream,
                             bool host_blocks) {
  auto* memory = static_cast<std::uint8_t*>(const_cast<void*>(other));
  std::shared_ptr<device::Array> array = array_of(handle);
  if (!array) return cudaErrorInvalidResourceHandle;
  const std::size_t row = array->row_bytes(), whole = array->slice_bytes();
  if (x >= row || y >= array->shape().rows() || count > whole - y * row - x)
    return refuse(cudaErrorInvalidValue, fmt::format("{} bytes from row {}, byte {} on exceed the array", count, y, x));
  while (count) {
    std::size_t part = std::min(count, row - x);
    std::size_t rows = x == 0 && count >= row ? count / row : 1;
    CopySide side = in_array(handle, x, y), other = in_memory(memory, part, rows);
    cudaError_t error =
        issue_copy(to_array ? rectangle(side, other, part, rows, kind) : rectangle(other, side, part, rows, kind),
                   stream, host_blocks);
    if (error) return error;
    memory += part * rows;
    count -= part * rows;
    y += rows;
    x = 0;
  }
  return cudaSuccess;
}

cudaError_t copy_symbol(const void* symbol, std::size_t offset, const void* other, std::size_t count,
                        cudaMemcpyKind kind, bool to_symbol, cudaStream_t stream, bool host_blocks) {
  CopyOperation c;
  if (cudaError_t error = symbol_copy(symbol, offset, other, count, kind, to_symbol, c)) return error;
  return issue_copy(c, stream, host_blocks);
}
// width: in elements of the array if an array takes part, else in bytes.
cudaError_t make_copy(const cudaMemcpy3DParms& p, CopyOperation& c) {
  std::shared_ptr<device::Array> from = array_of(p.srcArray), to = array_of(p.dstArray);
  if ((!from && !p.srcPtr.ptr) || (!to && !p.dstPtr.ptr)) return cudaErrorInvalidValue;
  if (from && to && from->element_bytes() != to->element_bytes()) return cudaErrorInvalidValue;
  std::size_t element = from ? from->element_bytes() : to ? to->element_bytes() : 1;
  c.from = in_memory(p.srcPtr.ptr, p.srcPtr.pitch, p.srcPtr.ysize);
  c.from.array = from;
  c.from.x = p.srcPos.x * (from ? element : 1);
  c.from.y = p.srcPos.y;
  c.from.z = p.srcPos.z;
  c.to = in_memory(p.dstPtr.ptr, p.dstPtr.pitch, p.dstPtr.ysize);
  c.to.array = to;
  c.to.x = p.dstPos.x * (to ? element : 1);
  c.to.y = p.dstPos.y;
  c.to.z = p.dstPos.z;
  c.width = p.extent.width * element;
  c.height = p.extent.height;
  c.depth = p.extent.depth;
  c.kind = p.kind;
  return cudaSuccess;
}

cudaError_t copy_3d(const cudaMemcpy3DParms* p, cudaStream_t stream, bool host_blocks) {
  if (!p) return cudaErrorInvalidValue;
  CopyOperation c;
  if (cudaError_t error = make_copy(*p, c)) return error;
  return issue_copy(c, stream, host_blocks);
}

cudaError_t copy_3d_peer(const cudaMemcpy3DPeerParms* p, cudaStream_t stream, bool host_blocks) {
  if (!p) return cudaErrorInvalidValue;
  if (!valid_device(p->srcDevice) || !valid_device(p->dstDevice)) return cudaErrorInvalidDevice;
  cudaMemcpy3DParms plain{p->srcArray, p->srcPos, p->srcPtr, p->dstArray,
                          p->dstPos,   p->dstPtr, p->extent, cudaMemcpyDeviceToDevice};
  CopyOperation c;
  if (cudaError_t error = make_copy(plain, c)) return error;
  c.peer = p->srcDevice != p->dstDevice;
  return issue_copy(c, stream, host_blocks);
}

cudaError_t copy_peer(void* to, int to_device, const void* from, int from_device, std::size_t count,
                      cudaStream_t stream, bool host_blocks) {
  if (!valid_device(to_device) || !valid_device(from_device)) return cudaErrorInvalidDevice;
  CopyOperation c = linear_copy(to, from, count, cudaMemcpyDefault);
  c.peer = to_device != from_device;
  return issue_copy(c, stream, host_blocks);
}

FillOperation plain_fill(void* pointer, int value, std::size_t count) {
  FillOperation f;
  f.pointer = static_cast<std::uint8_t*>(pointer);
  f.value = static_cast<std::uint32_t>(value) & 0xff;
  f.width = f.pitch = count;
  return f;
}
FillOperation rectangle_fill(void* pointer, std::size_t pitch, int value, std::size_t width, std::size_t height) {
  FillOperation f = plain_fill(pointer, value, width);
  f.pitch = pitch;
  f.height = f.rows = height;
  return f;
}
FillOperation box_fill(const cudaPitchedPtr& p, int value, const cudaExtent& extent) {
  FillOperation f = rectangle_fill(p.ptr, p.pitch, value, extent.width, extent.height);
  f.rows = p.ysize;
  f.depth = extent.depth;
  return f;
}

cudaError_t symbol_copy(const void* symbol, std::size_t offset, const void* other, std::size_t count,
                        cudaMemcpyKind kind, bool to_symbol, CopyOperation& out) {
  const Variable* variable = find_variable(symbol);
  if (!variable) return cudaErrorInvalidSymbol;
  DeviceVariable where;
  if (cudaError_t error = locate(*variable, thread_state().device, where)) return error;
  if (offset > where.size || count > where.size - offset)
    return refuse(cudaErrorInvalidValue, fmt::format("{} bytes from byte {} on exceed the variable {} of {} bytes",
                                                     count, offset, variable->name, where.size));
  void* inside = static_cast<std::uint8_t*>(where.address) + offset;
  out =
      to_symbol ? linear_copy(inside, other, count, kind) : linear_copy(const_cast<void*>(other), inside, count, kind);
  return cudaSuccess;
}

cudaError_t copy_2d_array_to_array(cudaArray_t to, std::size_t to_x, std::size_t to_y, cudaArray_const_t from,
                                   std::size_t from_x, std::size_t from_y, std::size_t width, std::size_t height,
                                   cudaMemcpyKind kind) {
  if (!array_of(to) || !array_of(from)) return cudaErrorInvalidResourceHandle;
  CopyOperation c = rectangle(in_array(to, to_x, to_y), in_array(from, from_x, from_y), width, height, kind);
  return issue_copy(c, nullptr, true);
}

cudaError_t get_symbol_address(void** out, const void* symbol) {
  const Variable* variable = find_variable(symbol);
  if (!variable || !out) return cudaErrorInvalidSymbol;
  DeviceVariable where;
  if (cudaError_t error = locate(*variable, thread_state().device, where)) return error;
  *out = where.address;
  device::AddressSpace::instance().let_kernels_write(reinterpret_cast<std::uint64_t>(where.address));
  return cudaSuccess;
}

cudaError_t get_symbol_size(std::size_t* out, const void* symbol) {
  const Variable* variable = find_variable(symbol);
  if (!variable || !out) return cudaErrorInvalidSymbol;
  DeviceVariable where;
  if (cudaError_t error = locate(*variable, thread_state().device, where)) return error;
  *out = where.size;
  return cudaSuccess;
}

}  // namespace warpgrind::semantics
