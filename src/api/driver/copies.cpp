// Memory management of the driver API: copies and fills, as operations of the host layer.
#include "semantics/copies.h"

#include <cstddef>

#include "driver/addresses.h"
#include "semantics/batches.h"

namespace warpgrind::driver {

namespace {

using semantics::CopyOperation;
using semantics::CopySide;

constexpr bool kWaits = true, kAsync = false;

CUresult issue(const CopyOperation& copy, CUstream stream, bool host_blocks) {
  return driver_error(semantics::issue_copy(copy, stream, host_blocks));
}
// Copies linear memory. With unified addressing, the host pointer of a HtoD or DtoH copy may also be device memory.
CUresult copy_plain(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, CUstream stream, bool host_blocks) {
  const void* const of_host = kind == cudaMemcpyHostToDevice ? from : kind == cudaMemcpyDeviceToHost ? to : nullptr;
  if (of_host && semantics::place_of(of_host).memory == semantics::Memory::device) kind = cudaMemcpyDeviceToDevice;
  return issue(semantics::linear_copy(to, from, bytes, kind), stream, host_blocks);
}

// Copies between two devices, given by their contexts.
CUresult copy_peer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, size_t bytes,
                   CUstream stream, bool host_blocks) {
  for (const CUcontext context : {to_context, from_context})
    if (const CUresult error = check(context); error != CUDA_SUCCESS) return error;
  return driver_error(semantics::copy_peer(pointer(to), to_context->device, pointer(from), from_context->device, bytes,
                                           stream, host_blocks));
}

// ---- Copies to and from the first row of an array, in bytes
CUresult array_bytes(CUarray array, size_t offset, const void* other, size_t bytes, cudaMemcpyKind kind, bool to_array,
                     CUstream stream, bool host_blocks) {
  if (!semantics::array_of(array)) return CUDA_ERROR_INVALID_VALUE;
  const CopySide inside = semantics::in_array(array, offset, 0), outside = semantics::in_memory(other, bytes, 1);
  return issue(to_array ? semantics::rectangle(inside, outside, bytes, 1, kind)
                        : semantics::rectangle(outside, inside, bytes, 1, kind),
               stream, host_blocks);
}

CUresult array_to_array(CUarray to, size_t to_offset, CUarray from, size_t from_offset, size_t bytes) {
  const auto target = semantics::array_of(to), source = semantics::array_of(from);
  if (!target || !source || target->element_bytes() != source->element_bytes()) return CUDA_ERROR_INVALID_VALUE;
  return issue(semantics::rectangle(semantics::in_array(to, to_offset, 0), semantics::in_array(from, from_offset, 0),
                                    bytes, 1, cudaMemcpyDeviceToDevice),
               nullptr, kWaits);
}

// ---- Boxes. A side is a pitched pointer or an array, depending on its type. A given pitch or height must cover the
// offset and the copy ("if specified" in the manual); 0 means exactly that size.
struct SideOfBox {
  CUmemorytype type;
  const void* host;
  CUdeviceptr device;
  CUarray array;
  size_t x = 0, y = 0, z = 0, pitch = 0, height = 0;
};
struct Extent {
  size_t width = 0, height = 1, depth = 1;  // bytes, rows, slices
};

// Replaces a size of 0 by first + count. False: the size is smaller than that.
bool at_least(size_t& size, size_t first, size_t count) {
  size_t needed = 0;
  if (__builtin_add_overflow(first, count, &needed)) return false;
  if (size == 0) size = needed;
  return size >= needed;
}

CUresult side_of(SideOfBox from, const Extent& extent, CopySide& out) {
  if (from.type == CU_MEMORYTYPE_ARRAY) {
    out = semantics::in_array(from.array, from.x, from.y);
    out.z = from.z;
    return out.array ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
  }
  if (from.type < CU_MEMORYTYPE_HOST || from.type > CU_MEMORYTYPE_UNIFIED) return CUDA_ERROR_INVALID_VALUE;
  if (!at_least(from.pitch, from.x, extent.width)) return CUDA_ERROR_INVALID_VALUE;
  if (!at_least(from.height, from.y, extent.height) && extent.depth > 1) return CUDA_ERROR_INVALID_VALUE;
  const void* start = from.type == CU_MEMORYTYPE_HOST ? from.host : pointer(from.device);
  out = semantics::in_memory(start, from.pitch, from.height);
  out.x = from.x;
  out.y = from.y;
  out.z = from.z;
  return CUDA_SUCCESS;
}

cudaMemcpyKind kind_of(CUmemorytype from, CUmemorytype to) {
  if (from == CU_MEMORYTYPE_UNIFIED || to == CU_MEMORYTYPE_UNIFIED) return cudaMemcpyDefault;
  const bool up = from == CU_MEMORYTYPE_HOST, down = to == CU_MEMORYTYPE_HOST;
  return up && down ? cudaMemcpyHostToHost
         : up       ? cudaMemcpyHostToDevice
         : down     ? cudaMemcpyDeviceToHost
                    : cudaMemcpyDeviceToDevice;
}

CUresult copy_box(const SideOfBox& from, const SideOfBox& to, const Extent& extent, bool peer, CUstream stream,
                  bool host_blocks) {
  if (extent.width == 0 || extent.height == 0 || extent.depth == 0) return CUDA_SUCCESS;  // before any other check
  CopyOperation copy;
  if (const CUresult error = side_of(from, extent, copy.from); error != CUDA_SUCCESS) return error;
  if (const CUresult error = side_of(to, extent, copy.to); error != CUDA_SUCCESS) return error;
  if (copy.from.array && copy.to.array && copy.from.array->element_bytes() != copy.to.array->element_bytes())
    return CUDA_ERROR_INVALID_VALUE;
  copy.width = extent.width;
  copy.height = extent.height;
  copy.depth = extent.depth;
  copy.kind = kind_of(from.type, to.type);
  copy.peer = peer;
  return issue(copy, stream, host_blocks);
}

CUresult copy_2d(const CUDA_MEMCPY2D* c, CUstream stream, bool host_blocks) {
  if (!c) return CUDA_ERROR_INVALID_VALUE;
  const SideOfBox from{c->srcMemoryType, c->srcHost, c->srcDevice, c->srcArray, c->srcXInBytes, c->srcY, 0,
                       c->srcPitch,      0};
  const SideOfBox to{c->dstMemoryType, c->dstHost, c->dstDevice, c->dstArray, c->dstXInBytes, c->dstY, 0,
                     c->dstPitch,      0};
  return copy_box(from, to, {c->WidthInBytes, c->Height, 1}, false, stream, host_blocks);
}

// Copy: CUDA_MEMCPY3D or CUDA_MEMCPY3D_PEER. The level-of-detail members must be 0.
template <class Copy>
CUresult copy_3d(const Copy& c, bool peer, CUstream stream, bool host_blocks) {
  if (c.srcLOD || c.dstLOD) return CUDA_ERROR_INVALID_VALUE;
  const SideOfBox from{c.srcMemoryType, c.srcHost, c.srcDevice, c.srcArray, c.srcXInBytes,
                       c.srcY,          c.srcZ,    c.srcPitch,  c.srcHeight};
  const SideOfBox to{c.dstMemoryType, c.dstHost, c.dstDevice, c.dstArray, c.dstXInBytes,
                     c.dstY,          c.dstZ,    c.dstPitch,  c.dstHeight};
  return copy_box(from, to, {c.WidthInBytes, c.Height, c.Depth}, peer, stream, host_blocks);
}
CUresult copy_3d(const CUDA_MEMCPY3D* copy, CUstream stream, bool host_blocks) {
  return copy ? copy_3d(*copy, false, stream, host_blocks) : CUDA_ERROR_INVALID_VALUE;
}
CUresult copy_3d_peer(const CUDA_MEMCPY3D_PEER* copy, CUstream stream, bool host_blocks) {
  if (!copy) return CUDA_ERROR_INVALID_VALUE;
  int devices[2] = {0, 0};
  const CUcontext contexts[2] = {copy->srcContext, copy->dstContext};
  for (int i = 0; i < 2; i++) {
    if (const CUresult error = check(contexts[i]); error != CUDA_SUCCESS) return error;
    devices[i] = contexts[i]->device;
  }
  return copy_3d(*copy, devices[0] != devices[1], stream, host_blocks);
}

// ---- Batches
CUresult copy_batch(CUdeviceptr* to, CUdeviceptr* from, size_t* sizes, size_t count, CUmemcpyAttributes* attributes,
                    size_t* firsts, size_t attribute_count, size_t* failed, CUstream stream) {
  static_assert(sizeof(CUmemcpyAttributes) == sizeof(cudaMemcpyAttributes) && sizeof(CUdeviceptr) == sizeof(void*));
  return driver_error(semantics::copy_batch(
      reinterpret_cast<void* const*>(to), reinterpret_cast<const void* const*>(from), sizes, count,
      reinterpret_cast<const cudaMemcpyAttributes*>(attributes), firsts, attribute_count, failed, stream));
}

CUresult copy_3d_batch(size_t count, const CUDA_MEMCPY3D_BATCH_OP* operations, size_t* failed, unsigned long long flags,
                       CUstream stream) {
  static_assert(sizeof(CUDA_MEMCPY3D_BATCH_OP) == sizeof(cudaMemcpy3DBatchOp));
  static_assert(offsetof(CUDA_MEMCPY3D_BATCH_OP, extent) == offsetof(cudaMemcpy3DBatchOp, extent));
  return driver_error(
      semantics::copy_3d_batch(count, reinterpret_cast<const cudaMemcpy3DBatchOp*>(operations), failed, flags, stream));
}

// ---- Fills
semantics::FillOperation fill_of(CUdeviceptr to, unsigned value, unsigned element, size_t width) {
  semantics::FillOperation fill;
  fill.pointer = static_cast<std::uint8_t*>(pointer(to));
  fill.value = value;
  fill.element = element;
  fill.width = width;
  fill.pitch = width * element;
  return fill;
}
semantics::FillOperation fill_of(CUdeviceptr to, size_t pitch, unsigned value, unsigned element, size_t width,
                                 size_t height) {
  semantics::FillOperation fill = fill_of(to, value, element, width);
  fill.pitch = pitch;
  fill.height = fill.rows = height;
  return fill;
}
CUresult fill_sync(const semantics::FillOperation& fill) {
  return driver_error(semantics::fill_now(fill));
}
CUresult fill_async(const semantics::FillOperation& fill, CUstream stream) {
  return driver_error(semantics::issue_fill(fill, stream, kAsync));
}

}  // namespace

// ---- Linear
CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return driver(
      [&]() -> CUresult { return copy_plain(pointer(to), pointer(from), bytes, cudaMemcpyDefault, nullptr, kWaits); });
}
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return driver(
      [&]() -> CUresult { return copy_plain(pointer(to), pointer(from), bytes, cudaMemcpyDefault, stream, kAsync); });
}
CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, size_t bytes) {
  return driver(
      [&]() -> CUresult { return copy_plain(pointer(to), from, bytes, cudaMemcpyHostToDevice, nullptr, kWaits); });
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, size_t bytes, CUstream stream) {
  return driver(
      [&]() -> CUresult { return copy_plain(pointer(to), from, bytes, cudaMemcpyHostToDevice, stream, kAsync); });
}
CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, size_t bytes) {
  return driver(
      [&]() -> CUresult { return copy_plain(to, pointer(from), bytes, cudaMemcpyDeviceToHost, nullptr, kWaits); });
}
CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return driver(
      [&]() -> CUresult { return copy_plain(to, pointer(from), bytes, cudaMemcpyDeviceToHost, stream, kAsync); });
}
CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return driver([&]() -> CUresult {
    return copy_plain(pointer(to), pointer(from), bytes, cudaMemcpyDeviceToDevice, nullptr, kWaits);
  });
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return driver([&]() -> CUresult {
    return copy_plain(pointer(to), pointer(from), bytes, cudaMemcpyDeviceToDevice, stream, kAsync);
  });
}

CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, size_t bytes) {
  return driver([&]() -> CUresult { return copy_peer(to, to_context, from, from_context, bytes, nullptr, kWaits); });
}
CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, size_t bytes,
                           CUstream stream) {
  return driver([&]() -> CUresult { return copy_peer(to, to_context, from, from_context, bytes, stream, kAsync); });
}

// ---- Arrays
CUresult cuMemcpyDtoA_v2(CUarray to, size_t to_offset, CUdeviceptr from, size_t bytes) {
  return driver([&]() -> CUresult {
    return array_bytes(to, to_offset, pointer(from), bytes, cudaMemcpyDeviceToDevice, true, nullptr, kWaits);
  });
}
CUresult cuMemcpyAtoD_v2(CUdeviceptr to, CUarray from, size_t from_offset, size_t bytes) {
  return driver([&]() -> CUresult {
    return array_bytes(from, from_offset, pointer(to), bytes, cudaMemcpyDeviceToDevice, false, nullptr, kWaits);
  });
}
CUresult cuMemcpyHtoA_v2(CUarray to, size_t to_offset, const void* from, size_t bytes) {
  return driver([&]() -> CUresult {
    return array_bytes(to, to_offset, from, bytes, cudaMemcpyHostToDevice, true, nullptr, kWaits);
  });
}
CUresult cuMemcpyHtoAAsync_v2(CUarray to, size_t to_offset, const void* from, size_t bytes, CUstream stream) {
  return driver([&]() -> CUresult {
    return array_bytes(to, to_offset, from, bytes, cudaMemcpyHostToDevice, true, stream, kAsync);
  });
}
CUresult cuMemcpyAtoH_v2(void* to, CUarray from, size_t from_offset, size_t bytes) {
  return driver([&]() -> CUresult {
    return array_bytes(from, from_offset, to, bytes, cudaMemcpyDeviceToHost, false, nullptr, kWaits);
  });
}
CUresult cuMemcpyAtoHAsync_v2(void* to, CUarray from, size_t from_offset, size_t bytes, CUstream stream) {
  return driver([&]() -> CUresult {
    return array_bytes(from, from_offset, to, bytes, cudaMemcpyDeviceToHost, false, stream, kAsync);
  });
}
CUresult cuMemcpyAtoA_v2(CUarray to, size_t to_offset, CUarray from, size_t from_offset, size_t bytes) {
  return driver([&]() -> CUresult { return array_to_array(to, to_offset, from, from_offset, bytes); });
}

// ---- Boxes. Any pitch is allowed here, so cuMemcpy2DUnaligned is equal to cuMemcpy2D.
CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D* copy) {
  return driver([&]() -> CUresult { return copy_2d(copy, nullptr, kWaits); });
}
CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D* copy) {
  return driver([&]() -> CUresult { return copy_2d(copy, nullptr, kWaits); });
}
CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* copy, CUstream stream) {
  return driver([&]() -> CUresult { return copy_2d(copy, stream, kAsync); });
}
CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D* copy) {
  return driver([&]() -> CUresult { return copy_3d(copy, nullptr, kWaits); });
}
CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D* copy, CUstream stream) {
  return driver([&]() -> CUresult { return copy_3d(copy, stream, kAsync); });
}
CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER* copy) {
  return driver([&]() -> CUresult { return copy_3d_peer(copy, nullptr, kWaits); });
}
CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER* copy, CUstream stream) {
  return driver([&]() -> CUresult { return copy_3d_peer(copy, stream, kAsync); });
}

// ---- Batches. The CUDA 12 forms report the index of the failed copy.
CUresult cuMemcpyBatchAsync(CUdeviceptr* to, CUdeviceptr* from, size_t* sizes, size_t count,
                            CUmemcpyAttributes* attributes, size_t* firsts, size_t attribute_count, size_t* failed,
                            CUstream stream) {
  return driver([&]() -> CUresult {
    return copy_batch(to, from, sizes, count, attributes, firsts, attribute_count, failed, stream);
  });
}
CUresult cuMemcpyBatchAsync_v2(CUdeviceptr* to, CUdeviceptr* from, size_t* sizes, size_t count,
                               CUmemcpyAttributes* attributes, size_t* firsts, size_t attribute_count,
                               CUstream stream) {
  return driver([&]() -> CUresult {
    return copy_batch(to, from, sizes, count, attributes, firsts, attribute_count, nullptr, stream);
  });
}
CUresult cuMemcpy3DBatchAsync(size_t count, CUDA_MEMCPY3D_BATCH_OP* operations, size_t* failed,
                              unsigned long long flags, CUstream stream) {
  return driver([&]() -> CUresult { return copy_3d_batch(count, operations, failed, flags, stream); });
}
CUresult cuMemcpy3DBatchAsync_v2(size_t count, CUDA_MEMCPY3D_BATCH_OP* operations, unsigned long long flags,
                                 CUstream stream) {
  return driver([&]() -> CUresult { return copy_3d_batch(count, operations, nullptr, flags, stream); });
}

// ---- Fills. Counts and widths are in elements
CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count) {
  return driver([&]() -> CUresult { return fill_sync(fill_of(to, value, 1, count)); });
}
CUresult cuMemsetD16_v2(CUdeviceptr to, unsigned short value, size_t count) {
  return driver([&]() -> CUresult { return fill_sync(fill_of(to, value, 2, count)); });
}
CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned int value, size_t count) {
  return driver([&]() -> CUresult { return fill_sync(fill_of(to, value, 4, count)); });
}
CUresult cuMemsetD2D8_v2(CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height) {
  return driver([&]() -> CUresult { return fill_sync(fill_of(to, pitch, value, 1, width, height)); });
}
CUresult cuMemsetD2D16_v2(CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t height) {
  return driver([&]() -> CUresult { return fill_sync(fill_of(to, pitch, value, 2, width, height)); });
}
CUresult cuMemsetD2D32_v2(CUdeviceptr to, size_t pitch, unsigned int value, size_t width, size_t height) {
  return driver([&]() -> CUresult { return fill_sync(fill_of(to, pitch, value, 4, width, height)); });
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
  return driver([&]() -> CUresult { return fill_async(fill_of(to, value, 1, count), stream); });
}
CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, CUstream stream) {
  return driver([&]() -> CUresult { return fill_async(fill_of(to, value, 2, count), stream); });
}
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned int value, size_t count, CUstream stream) {
  return driver([&]() -> CUresult { return fill_async(fill_of(to, value, 4, count), stream); });
}
CUresult cuMemsetD2D8Async(CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height,
                           CUstream stream) {
  return driver([&]() -> CUresult { return fill_async(fill_of(to, pitch, value, 1, width, height), stream); });
}
CUresult cuMemsetD2D16Async(CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t height,
                            CUstream stream) {
  return driver([&]() -> CUresult { return fill_async(fill_of(to, pitch, value, 2, width, height), stream); });
}
CUresult cuMemsetD2D32Async(CUdeviceptr to, size_t pitch, unsigned int value, size_t width, size_t height,
                            CUstream stream) {
  return driver([&]() -> CUresult { return fill_async(fill_of(to, pitch, value, 4, width, height), stream); });
}

}  // namespace warpgrind::driver
