// Memory of the runtime API: allocation of device, managed and host memory, and attributes of pointers.
#include "semantics/memory.h"

#include <fmt/core.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "device/memory/address_space.h"
#include "runtime/call.h"
#include "semantics/graph.h"
#include "semantics/operation.h"

namespace warpgrind::runtime {

extern "C" {

WG_API cudaError_t cudaMalloc(void** out, std::size_t size) {
  return api([&] { return allocate_linear(out, size); });
}

WG_API cudaError_t cudaMallocPitch(void** out, std::size_t* pitch, std::size_t width, std::size_t height) {
  return api([&] { return allocate_pitch(out, pitch, width, height); });
}

WG_API cudaError_t cudaMalloc3D(cudaPitchedPtr* out, cudaExtent extent) {
  return api([&] { return allocate_3d(out, extent); });
}

WG_API cudaError_t cudaMallocManaged(void** out, std::size_t size, unsigned flags) {
  return api([&] { return allocate_managed(out, size, flags); });
}

WG_API cudaError_t cudaFree(void* pointer) {
  return api([&] { return free_device(pointer, "cudaFree"); });
}

WG_API cudaError_t cudaMallocHost(void** out, std::size_t size) {
  return api([&] { return allocate_host(out, size, 0); });
}
WG_API cudaError_t cudaHostAlloc(void** out, std::size_t size, unsigned flags) {
  return api([&] { return host_alloc(out, size, flags); });
}
WG_API cudaError_t cudaFreeHost(void* pointer) {
  return api([&] { return report_invalid_free(free_host(pointer), pointer, "cudaFreeHost"); });
}

WG_API cudaError_t cudaHostRegister(void* pointer, std::size_t size, unsigned flags) {
  return api([&] { return register_host(pointer, size, flags); });
}

WG_API cudaError_t cudaHostUnregister(void* pointer) {
  return api([&] { return unregister_host(pointer); });
}

WG_API cudaError_t cudaHostGetDevicePointer(void** out, void* pointer, unsigned flags) {
  return api([&] { return host_get_device_pointer(out, pointer, flags); });
}

WG_API cudaError_t cudaHostGetFlags(unsigned* flags, void* pointer) {
  return api([&] { return host_get_flags(flags, pointer); });
}

WG_API cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* total) {
  return api([&] { return mem_get_info(free_bytes, total); });
}

WG_API cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* out, const void* pointer) {
  return api([&] { return pointer_get_attributes(out, pointer); });
}

WG_API cudaError_t cudaMemAdvise(const void* pointer, std::size_t count, cudaMemoryAdvise what,
                                 cudaMemLocation location) {
  return api([&] { return advise_managed(pointer, count, what, location); });
}

WG_API cudaError_t cudaMemPrefetchAsync(const void* pointer, std::size_t count, cudaMemLocation location, unsigned,
                                        cudaStream_t stream) {
  return api([&] { return prefetch_managed(pointer, count, location, stream); });
}

WG_API cudaError_t cudaMemRangeGetAttribute(void* data, std::size_t size, cudaMemRangeAttribute attribute,
                                            const void* pointer, std::size_t count) {
  return api([&] { return managed_range_attribute(data, size, attribute, pointer, count); });
}
WG_API cudaError_t cudaMemRangeGetAttributes(void** data, std::size_t* sizes, cudaMemRangeAttribute* attributes,
                                             std::size_t attribute_count, const void* pointer, std::size_t count) {
  return api([&] { return mem_range_get_attributes(data, sizes, attributes, attribute_count, pointer, count); });
}

WG_API cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void*, std::size_t, unsigned flags) {
  return api([&] { return stream_attach_mem_async(stream, flags); });
}

}  // extern "C"

}  // namespace warpgrind::runtime
