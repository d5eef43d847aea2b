// All forms of cudaMemcpy and cudaMemset. Each has a synchronous and an asynchronous entry point.
#include <fmt/core.h>

#include <algorithm>

#include "runtime/call.h"
#include "semantics/arrays.h"
#include "semantics/copies.h"
#include "semantics/operation.h"

namespace warpgrind::runtime {

extern "C" {

// ---- Linear
WG_API cudaError_t cudaMemcpy(void* to, const void* from, std::size_t count, cudaMemcpyKind kind) {
  return api([&] { return issue_copy(linear_copy(to, from, count, kind), nullptr, true); });
}
WG_API cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t count, cudaMemcpyKind kind,
                                   cudaStream_t stream) {
  return api([&] { return issue_copy(linear_copy(to, from, count, kind), stream, false); });
}
WG_API cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, std::size_t count) {
  return api([&] { return copy_peer(to, to_device, from, from_device, count, nullptr, true); });
}
WG_API cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, std::size_t count,
                                       cudaStream_t stream) {
  return api([&] { return copy_peer(to, to_device, from, from_device, count, stream, false); });
}

// ---- Rectangles
WG_API cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                                std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  return api([&] { return copy_rows(to, to_pitch, from, from_pitch, width, height, kind, nullptr, true); });
}
WG_API cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                                     std::size_t width, std::size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return api([&] { return copy_rows(to, to_pitch, from, from_pitch, width, height, kind, stream, false); });
}
WG_API cudaError_t cudaMemcpy2DToArray(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                                       std::size_t pitch, std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  return api([&] { return copy_to_array(to, x, y, from, pitch, width, height, kind, nullptr, true); });
}
WG_API cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                                            std::size_t pitch, std::size_t width, std::size_t height,
                                            cudaMemcpyKind kind, cudaStream_t stream) {
  return api([&] { return copy_to_array(to, x, y, from, pitch, width, height, kind, stream, false); });
}
WG_API cudaError_t cudaMemcpy2DFromArray(void* to, std::size_t pitch, cudaArray_const_t from, std::size_t x,
                                         std::size_t y, std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  return api([&] { return copy_from_array(to, pitch, from, x, y, width, height, kind, nullptr, true); });
}
WG_API cudaError_t cudaMemcpy2DFromArrayAsync(void* to, std::size_t pitch, cudaArray_const_t from, std::size_t x,
                                              std::size_t y, std::size_t width, std::size_t height, cudaMemcpyKind kind,
                                              cudaStream_t stream) {
  return api([&] { return copy_from_array(to, pitch, from, x, y, width, height, kind, stream, false); });
}
WG_API cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, std::size_t to_x, std::size_t to_y, cudaArray_const_t from,
                                            std::size_t from_x, std::size_t from_y, std::size_t width,
                                            std::size_t height, cudaMemcpyKind kind) {
  return api([&] { return copy_2d_array_to_array(to, to_x, to_y, from, from_x, from_y, width, height, kind); });
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
  return api([&] { return copy_3d(p, nullptr, true); });
}
WG_API cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* p, cudaStream_t stream) {
  return api([&] { return copy_3d(p, stream, false); });
}
WG_API cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* p) {
  return api([&] { return copy_3d_peer(p, nullptr, true); });
}
WG_API cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* p, cudaStream_t stream) {
  return api([&] { return copy_3d_peer(p, stream, false); });
}

// ---- Symbols
WG_API cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, std::size_t count, std::size_t offset,
                                      cudaMemcpyKind kind) {
  return api([&] { return copy_symbol(symbol, offset, from, count, kind, true, nullptr, true); });
}
WG_API cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, std::size_t count, std::size_t offset,
                                           cudaMemcpyKind kind, cudaStream_t stream) {
  return api([&] { return copy_symbol(symbol, offset, from, count, kind, true, stream, false); });
}
WG_API cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, std::size_t count, std::size_t offset,
                                        cudaMemcpyKind kind) {
  return api([&] { return copy_symbol(symbol, offset, to, count, kind, false, nullptr, true); });
}
WG_API cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, std::size_t count, std::size_t offset,
                                             cudaMemcpyKind kind, cudaStream_t stream) {
  return api([&] { return copy_symbol(symbol, offset, to, count, kind, false, stream, false); });
}
WG_API cudaError_t cudaGetSymbolAddress(void** out, const void* symbol) {
  return api([&] { return get_symbol_address(out, symbol); });
}
WG_API cudaError_t cudaGetSymbolSize(std::size_t* out, const void* symbol) {
  return api([&] { return get_symbol_size(out, symbol); });
}

// ---- Fills
WG_API cudaError_t cudaMemset(void* pointer, int value, std::size_t count) {
  return api([&] { return fill_now(plain_fill(pointer, value, count)); });
}
WG_API cudaError_t cudaMemsetAsync(void* pointer, int value, std::size_t count, cudaStream_t stream) {
  return api([&] { return issue_fill(plain_fill(pointer, value, count), stream, false); });
}
WG_API cudaError_t cudaMemset2D(void* pointer, std::size_t pitch, int value, std::size_t width, std::size_t height) {
  return api([&] { return fill_now(rectangle_fill(pointer, pitch, value, width, height)); });
}
WG_API cudaError_t cudaMemset2DAsync(void* pointer, std::size_t pitch, int value, std::size_t width, std::size_t height,
                                     cudaStream_t stream) {
  return api([&] { return issue_fill(rectangle_fill(pointer, pitch, value, width, height), stream, false); });
}
WG_API cudaError_t cudaMemset3D(cudaPitchedPtr p, int value, cudaExtent extent) {
  return api([&] { return fill_now(box_fill(p, value, extent)); });
}
WG_API cudaError_t cudaMemset3DAsync(cudaPitchedPtr p, int value, cudaExtent extent, cudaStream_t stream) {
  return api([&] { return issue_fill(box_fill(p, value, extent), stream, false); });
}

}  // extern "C"

}  // namespace warpgrind::runtime
