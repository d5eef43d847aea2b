// The many forms of cudaMemcpy and cudaMemset: each has a synchronous and an asynchronous entry.
#include <fmt/core.h>

#include <algorithm>

#include "cudart/arrays.h"
#include "cudart/operation.h"
#include "cudart/runtime.h"

namespace warpgrind::cudart {

namespace {

cudaError_t submit_copy(const CopyOperation& c, cudaStream_t stream, bool host_blocks) {
  if (cudaError_t error = check(c)) return error;
  return submit(resolve(stream), c, host_blocks);
}

cudaError_t copy(const CopyOperation& c, cudaStream_t stream, bool host_blocks) {
  return api([&] { return submit_copy(c, stream, host_blocks); });
}

cudaError_t fill(const FillOperation& f, cudaStream_t stream, bool host_blocks) {
  return api([&]() -> cudaError_t {
    if (cudaError_t error = check(f)) return error;
    // cudaMemset returns before the GPU is done, but it may not be called while its stream is being captured.
    return submit(resolve(stream), f, host_blocks);
  });
}

// Of memory of the host or for it, the call is over when the memory is filled (CUDA runtime API, "API synchronization
// behavior").
cudaError_t fill_now(const FillOperation& f) {
  const Memory memory = place_of(f.pointer).memory;
  return fill(f, nullptr, memory == Memory::managed || memory == Memory::pinned);
}

CopySide linear(const void* pointer, std::size_t pitch, std::size_t rows) {
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
  return copy(rectangle(linear(to, to_pitch, height), linear(from, from_pitch, height), width, height, kind), stream,
              host_blocks);
}
cudaError_t copy_to_array(ArrayHandle* to, std::size_t x, std::size_t y, const void* from, std::size_t pitch,
                          std::size_t width, std::size_t height, cudaMemcpyKind kind, cudaStream_t stream,
                          bool host_blocks) {
  return api([&]() -> cudaError_t {
    if (!array_of(to)) return cudaErrorInvalidResourceHandle;
    return submit_copy(rectangle(in_array(to, x, y), linear(from, pitch, height), width, height, kind), stream,
                       host_blocks);
  });
}
cudaError_t copy_from_array(void* to, std::size_t pitch, const ArrayHandle* from, std::size_t x, std::size_t y,
                            std::size_t width, std::size_t height, cudaMemcpyKind kind, cudaStream_t stream,
                            bool host_blocks) {
  return api([&]() -> cudaError_t {
    if (!array_of(from)) return cudaErrorInvalidResourceHandle;
    return submit_copy(rectangle(linear(to, pitch, height), in_array(from, x, y), width, height, kind), stream,
                       host_blocks);
  });
}

// cudaMemcpyToArray counts bytes over the ends of rows: at most a part of a first row, whole rows, a part of a last.
cudaError_t copy_array_bytes(const ArrayHandle* handle, std::size_t x, std::size_t y, const void* other,
                             std::size_t count, cudaMemcpyKind kind, bool to_array, cudaStream_t stream,
                             bool host_blocks) {
  auto* memory = static_cast<std::uint8_t*>(const_cast<void*>(other));
  std::shared_ptr<device::Array> array = array_of(handle);
  if (!array) return cudaErrorInvalidResourceHandle;
  const std::size_t row = array->row_bytes(), whole = array->slice_bytes();
  if (x >= row || y >= array->shape().rows() || count > whole - y * row - x)
    return refuse(cudaErrorInvalidValue,
                  fmt::format("{} bytes from row {}, byte {} on are more than the array has", count, y, x));
  while (count) {
    std::size_t part = std::min(count, row - x);
    std::size_t rows = x == 0 && count >= row ? count / row : 1;
    CopySide side = in_array(handle, x, y), other = linear(memory, part, rows);
    cudaError_t error =
        submit_copy(to_array ? rectangle(side, other, part, rows, kind) : rectangle(other, side, part, rows, kind),
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
  return api([&]() -> cudaError_t {
    CopyOperation c;
    if (cudaError_t error = symbol_copy(symbol, offset, other, count, kind, to_symbol, c)) return error;
    return submit_copy(c, stream, host_blocks);
  });
}

// width counts elements when an array takes part (of the array), else bytes.
cudaError_t make_3d(const cudaMemcpy3DParms& p, CopyOperation& c) {
  std::shared_ptr<device::Array> from = array_of(p.srcArray), to = array_of(p.dstArray);
  if ((!from && !p.srcPtr.ptr) || (!to && !p.dstPtr.ptr)) return cudaErrorInvalidValue;
  if (from && to && from->element_bytes() != to->element_bytes()) return cudaErrorInvalidValue;
  std::size_t element = from ? from->element_bytes() : to ? to->element_bytes() : 1;
  c.from = linear(p.srcPtr.ptr, p.srcPtr.pitch, p.srcPtr.ysize);
  c.from.array = from;
  c.from.x = p.srcPos.x * (from ? element : 1);
  c.from.y = p.srcPos.y;
  c.from.z = p.srcPos.z;
  c.to = linear(p.dstPtr.ptr, p.dstPtr.pitch, p.dstPtr.ysize);
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
  return api([&]() -> cudaError_t {
    if (!p) return cudaErrorInvalidValue;
    CopyOperation c;
    if (cudaError_t error = make_3d(*p, c)) return error;
    return submit_copy(c, stream, host_blocks);
  });
}

cudaError_t copy_3d_peer(const cudaMemcpy3DPeerParms* p, cudaStream_t stream, bool host_blocks) {
  return api([&]() -> cudaError_t {
    if (!p) return cudaErrorInvalidValue;
    if (!valid_device(p->srcDevice) || !valid_device(p->dstDevice)) return cudaErrorInvalidDevice;
    cudaMemcpy3DParms plain{p->srcArray, p->srcPos, p->srcPtr, p->dstArray,
                            p->dstPos,   p->dstPtr, p->extent, cudaMemcpyDeviceToDevice};
    CopyOperation c;
    if (cudaError_t error = make_3d(plain, c)) return error;
    c.peer = p->srcDevice != p->dstDevice;
    return submit_copy(c, stream, host_blocks);
  });
}

cudaError_t copy_peer(void* to, int to_device, const void* from, int from_device, std::size_t count,
                      cudaStream_t stream, bool host_blocks) {
  return api([&]() -> cudaError_t {
    if (!valid_device(to_device) || !valid_device(from_device)) return cudaErrorInvalidDevice;
    CopyOperation c = linear_copy(to, from, count, cudaMemcpyDefault);
    c.peer = to_device != from_device;
    return submit_copy(c, stream, host_blocks);
  });
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

}  // namespace

cudaError_t make_copy(const cudaMemcpy3DParms& parameters, CopyOperation& out) {
  return make_3d(parameters, out);
}

cudaError_t symbol_copy(const void* symbol, std::size_t offset, const void* other, std::size_t count,
                        cudaMemcpyKind kind, bool to_symbol, CopyOperation& out) {
  const Variable* variable = find_variable(symbol);
  if (!variable) return cudaErrorInvalidSymbol;
  DeviceVariable where;
  if (cudaError_t error = locate(*variable, thread_state().device, where)) return error;
  if (offset > where.size || count > where.size - offset)
    return refuse(cudaErrorInvalidValue, fmt::format("{} bytes from byte {} on of the variable {}, of {} bytes", count,
                                                     offset, variable->name, where.size));
  void* inside = static_cast<std::uint8_t*>(where.address) + offset;
  out =
      to_symbol ? linear_copy(inside, other, count, kind) : linear_copy(const_cast<void*>(other), inside, count, kind);
  return cudaSuccess;
}

extern "C" {

// ---- Linear
WG_API cudaError_t cudaMemcpy(void* to, const void* from, std::size_t count, cudaMemcpyKind kind) {
  return copy(linear_copy(to, from, count, kind), nullptr, true);
}
WG_API cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t count, cudaMemcpyKind kind,
                                   cudaStream_t stream) {
  return copy(linear_copy(to, from, count, kind), stream, false);
}
WG_API cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, std::size_t count) {
  return copy_peer(to, to_device, from, from_device, count, nullptr, true);
}
WG_API cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, std::size_t count,
                                       cudaStream_t stream) {
  return copy_peer(to, to_device, from, from_device, count, stream, false);
}

// ---- Rectangles
WG_API cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                                std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  return copy_rows(to, to_pitch, from, from_pitch, width, height, kind, nullptr, true);
}
WG_API cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                                     std::size_t width, std::size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_rows(to, to_pitch, from, from_pitch, width, height, kind, stream, false);
}
WG_API cudaError_t cudaMemcpy2DToArray(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                                       std::size_t pitch, std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  return copy_to_array(to, x, y, from, pitch, width, height, kind, nullptr, true);
}
WG_API cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                                            std::size_t pitch, std::size_t width, std::size_t height,
                                            cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_to_array(to, x, y, from, pitch, width, height, kind, stream, false);
}
WG_API cudaError_t cudaMemcpy2DFromArray(void* to, std::size_t pitch, cudaArray_const_t from, std::size_t x,
                                         std::size_t y, std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  return copy_from_array(to, pitch, from, x, y, width, height, kind, nullptr, true);
}
WG_API cudaError_t cudaMemcpy2DFromArrayAsync(void* to, std::size_t pitch, cudaArray_const_t from, std::size_t x,
                                              std::size_t y, std::size_t width, std::size_t height, cudaMemcpyKind kind,
                                              cudaStream_t stream) {
  return copy_from_array(to, pitch, from, x, y, width, height, kind, stream, false);
}
WG_API cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, std::size_t to_x, std::size_t to_y, cudaArray_const_t from,
                                            std::size_t from_x, std::size_t from_y, std::size_t width,
                                            std::size_t height, cudaMemcpyKind kind) {
  return api([&]() -> cudaError_t {
    if (!array_of(to) || !array_of(from)) return cudaErrorInvalidResourceHandle;
    CopyOperation c = rectangle(in_array(to, to_x, to_y), in_array(from, from_x, from_y), width, height, kind);
    return submit_copy(c, nullptr, true);
  });
}

WG_API cudaError_t cudaMemcpyToArray(cudaArray_t to, std::size_t x, std::size_t y, const void* from, std::size_t count,
                                     cudaMemcpyKind kind) {
  return api([&] { return copy_array_bytes(to, x, y, from, count, kind, true, nullptr, true); });
}
WG_API cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                                          std::size_t count, cudaMemcpyKind kind, cudaStream_t stream) {
  return api([&] { return copy_array_bytes(to, x, y, from, count, kind, true, stream, false); });
}
WG_API cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, std::size_t x, std::size_t y,
                                       std::size_t count, cudaMemcpyKind kind) {
  return api([&] { return copy_array_bytes(from, x, y, to, count, kind, false, nullptr, true); });
}
WG_API cudaError_t cudaMemcpyFromArrayAsync(void* to, cudaArray_const_t from, std::size_t x, std::size_t y,
                                            std::size_t count, cudaMemcpyKind kind, cudaStream_t stream) {
  return api([&] { return copy_array_bytes(from, x, y, to, count, kind, false, stream, false); });
}

// ---- Boxes
WG_API cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* p) {
  return copy_3d(p, nullptr, true);
}
WG_API cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* p, cudaStream_t stream) {
  return copy_3d(p, stream, false);
}
WG_API cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* p) {
  return copy_3d_peer(p, nullptr, true);
}
WG_API cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* p, cudaStream_t stream) {
  return copy_3d_peer(p, stream, false);
}

// ---- Symbols
WG_API cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, std::size_t count, std::size_t offset,
                                      cudaMemcpyKind kind) {
  return copy_symbol(symbol, offset, from, count, kind, true, nullptr, true);
}
WG_API cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, std::size_t count, std::size_t offset,
                                           cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_symbol(symbol, offset, from, count, kind, true, stream, false);
}
WG_API cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, std::size_t count, std::size_t offset,
                                        cudaMemcpyKind kind) {
  return copy_symbol(symbol, offset, to, count, kind, false, nullptr, true);
}
WG_API cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, std::size_t count, std::size_t offset,
                                             cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_symbol(symbol, offset, to, count, kind, false, stream, false);
}
WG_API cudaError_t cudaGetSymbolAddress(void** out, const void* symbol) {
  return api([&]() -> cudaError_t {
    const Variable* variable = find_variable(symbol);
    if (!variable || !out) return cudaErrorInvalidSymbol;
    DeviceVariable where;
    if (cudaError_t error = locate(*variable, thread_state().device, where)) return error;
    *out = where.address;
    return cudaSuccess;
  });
}
WG_API cudaError_t cudaGetSymbolSize(std::size_t* out, const void* symbol) {
  return api([&]() -> cudaError_t {
    const Variable* variable = find_variable(symbol);
    if (!variable || !out) return cudaErrorInvalidSymbol;
    DeviceVariable where;
    if (cudaError_t error = locate(*variable, thread_state().device, where)) return error;
    *out = where.size;
    return cudaSuccess;
  });
}

// ---- Fills
WG_API cudaError_t cudaMemset(void* pointer, int value, std::size_t count) {
  return fill_now(plain_fill(pointer, value, count));
}
WG_API cudaError_t cudaMemsetAsync(void* pointer, int value, std::size_t count, cudaStream_t stream) {
  return fill(plain_fill(pointer, value, count), stream, false);
}
WG_API cudaError_t cudaMemset2D(void* pointer, std::size_t pitch, int value, std::size_t width, std::size_t height) {
  return fill_now(rectangle_fill(pointer, pitch, value, width, height));
}
WG_API cudaError_t cudaMemset2DAsync(void* pointer, std::size_t pitch, int value, std::size_t width, std::size_t height,
                                     cudaStream_t stream) {
  return fill(rectangle_fill(pointer, pitch, value, width, height), stream, false);
}
WG_API cudaError_t cudaMemset3D(cudaPitchedPtr p, int value, cudaExtent extent) {
  return fill_now(box_fill(p, value, extent));
}
WG_API cudaError_t cudaMemset3DAsync(cudaPitchedPtr p, int value, cudaExtent extent, cudaStream_t stream) {
  return fill(box_fill(p, value, extent), stream, false);
}

}  // extern "C"

}  // namespace warpgrind::cudart
