// CUDA arrays, texture objects and surface objects behind their handles.
#pragma once

#include <memory>
#include <vector>

#include "device/memory/array.h"
#include "semantics/operation.h"
#include "semantics/types.h"

namespace warpgrind::semantics {

struct ArrayHandle {
  std::shared_ptr<device::Array> array;  // texture and surface objects and pending copies own it too
  cudaChannelFormatDesc format;
  unsigned flags = 0;
  int device = 0;
  bool is_level = false;  // a level of a mipmapped array, freed with that array
};
struct MipmappedArrayHandle {
  std::vector<ArrayHandle*> levels;  // each half the size of the one before, and at least 1
  cudaExtent extent{};
  unsigned flags = 0;
  int device = 0;
};

std::shared_ptr<device::Array> array_of(const ArrayHandle* handle);  // null: not a live array

// flags: cudaArrayLayered etc.
cudaError_t create_array(cudaArray_t* out, const cudaChannelFormatDesc* desc, cudaExtent extent, unsigned flags);
cudaError_t free_array(ArrayHandle* array);

// levels: cut to the largest possible number.
cudaError_t create_mipmapped_array(cudaMipmappedArray_t* out, const cudaChannelFormatDesc* desc, cudaExtent extent,
                                   unsigned levels, unsigned flags);
cudaError_t free_mipmapped_array(cudaMipmappedArray_t array);
cudaError_t mipmapped_array_level(cudaArray_t* out, cudaMipmappedArray_const_t array, unsigned level);

// Binds a texture or surface reference of a module to a resource, after the running kernels have ended.
cudaError_t bind_texture_reference(std::uint64_t variable, const cudaResourceDesc& resource,
                                   const cudaTextureDesc& texture);
cudaError_t bind_surface_reference(std::uint64_t variable, cudaArray_t array);

// Texture and surface objects. The view may be null.
cudaError_t create_texture_object(cudaTextureObject_t* out, const cudaResourceDesc* resource,
                                  const cudaTextureDesc* texture, const cudaResourceViewDesc* view);
cudaError_t destroy_texture_object(cudaTextureObject_t object);
// The descriptors that the object was created from; each pointer may be null. cudaErrorInvalidValue if a view is
// requested but the object has none.
cudaError_t texture_descriptions(cudaTextureObject_t object, cudaResourceDesc* resource, cudaTextureDesc* texture,
                                 cudaResourceViewDesc* view);
cudaError_t create_surface_object(cudaSurfaceObject_t* out, const cudaResourceDesc* resource);
cudaError_t destroy_surface_object(cudaSurfaceObject_t object);
cudaError_t surface_description(cudaSurfaceObject_t object, cudaResourceDesc* out);

// ---- The runtime API's functions of the same names.
cudaError_t array_get_info(cudaChannelFormatDesc* desc, cudaExtent* extent, unsigned* flags, cudaArray_t array);
cudaError_t get_channel_desc(cudaChannelFormatDesc* desc, cudaArray_const_t array);

}  // namespace warpgrind::semantics
