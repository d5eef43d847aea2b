// Arrays, texture objects and surface objects of the runtime API. The API's descriptions are converted to those of
// src/engine/device/memory/texture.h.
#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "device/memory/texture.h"
#include "runtime/call.h"
#include "semantics/arrays.h"
#include "semantics/device_properties.h"
#include "semantics/executor.h"

namespace warpgrind::runtime {

extern "C" {

WG_API cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}

WG_API cudaError_t cudaMallocArray(cudaArray_t* out, const cudaChannelFormatDesc* desc, std::size_t width,
                                   std::size_t height, unsigned flags) {
  return api([&] { return create_array(out, desc, {width, height, 0}, flags); });
}
WG_API cudaError_t cudaMalloc3DArray(cudaArray_t* out, const cudaChannelFormatDesc* desc, cudaExtent extent,
                                     unsigned flags) {
  return api([&] { return create_array(out, desc, extent, flags); });
}
WG_API cudaError_t cudaFreeArray(cudaArray_t array) {
  return api([&] { return free_array(array); });
}
WG_API cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* desc, cudaExtent* extent, unsigned* flags,
                                    cudaArray_t array) {
  return api([&] { return array_get_info(desc, extent, flags, array); });
}
WG_API cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* desc, cudaArray_const_t array) {
  return api([&] { return get_channel_desc(desc, array); });
}

WG_API cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t* out, const cudaChannelFormatDesc* desc,
                                            cudaExtent extent, unsigned levels, unsigned flags) {
  return api([&] { return create_mipmapped_array(out, desc, extent, levels, flags); });
}
WG_API cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t array) {
  return api([&] { return free_mipmapped_array(array); });
}
WG_API cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t* out, cudaMipmappedArray_const_t array, unsigned level) {
  return api([&] { return mipmapped_array_level(out, array, level); });
}

WG_API cudaError_t cudaCreateTextureObject(cudaTextureObject_t* out, const cudaResourceDesc* resource,
                                           const cudaTextureDesc* texture, const cudaResourceViewDesc* view) {
  return api([&] { return create_texture_object(out, resource, texture, view); });
}
WG_API cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object) {
  return api([&] { return destroy_texture_object(object); });
}
WG_API cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* out, cudaTextureObject_t object) {
  return api([&] { return texture_descriptions(object, out, nullptr, nullptr); });
}
WG_API cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* out, cudaTextureObject_t object) {
  return api([&] { return texture_descriptions(object, nullptr, out, nullptr); });
}
WG_API cudaError_t cudaGetTextureObjectResourceViewDesc(cudaResourceViewDesc* out, cudaTextureObject_t object) {
  return api([&] { return texture_descriptions(object, nullptr, nullptr, out); });
}

WG_API cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* out, const cudaResourceDesc* resource) {
  return api([&] { return create_surface_object(out, resource); });
}
WG_API cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object) {
  return api([&] { return destroy_surface_object(object); });
}
WG_API cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* out, cudaSurfaceObject_t object) {
  return api([&] { return surface_description(object, out); });
}

}  // extern "C"

}  // namespace warpgrind::runtime
