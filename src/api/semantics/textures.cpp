// Arrays, texture objects and surface objects. Translates the API's descriptors to those of
// src/engine/device/memory/texture.h.
#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <map>

#include "device/memory/texture.h"
#include "semantics/arrays.h"
#include "semantics/device_properties.h"
#include "semantics/executor.h"
#include "semantics/state.h"

namespace warpgrind::semantics {

struct TextureDescriptions {
  cudaResourceDesc resource;
  cudaTextureDesc texture;
  cudaResourceViewDesc view;
  bool has_view;
};
namespace {

struct Handles {
  std::mutex mutex;
  std::set<const ArrayHandle*> arrays;
  std::set<const MipmappedArrayHandle*> mipmapped;
  std::map<cudaTextureObject_t, TextureDescriptions> textures;
  std::map<cudaSurfaceObject_t, cudaResourceDesc> surfaces;
};

}  // namespace

Handles& handles() {
  static auto* h = new Handles;
  return *h;
}
namespace {

// False: textures cannot have this format.
bool to_format(const cudaChannelFormatDesc& desc, device::ChannelFormat& out) {
  const int bits[4] = {desc.x, desc.y, desc.z, desc.w};
  if (desc.f < cudaChannelFormatKindSigned || desc.f > cudaChannelFormatKindFloat) return false;
  for (int i = 0; i < 4; i++) {
    if (bits[i] != 0 && bits[i] != 8 && bits[i] != 16 && bits[i] != 32) return false;
    if (bits[i] != 0 && bits[i] != bits[0]) return false;
    out.bits[i] = static_cast<std::uint8_t>(bits[i]);
  }
  if (out.channels() == 0 || out.channels() == 3) return false;
  out.kind = static_cast<device::ChannelFormat::Kind>(desc.f);
  return true;
}

// Checks the array limits of the model (table of technical specifications, CUDA C++ Programming Guide).
cudaError_t check_extent(const cudaExtent& extent, unsigned flags) {
  cudaDeviceProp p;
  fill_properties(session::model(), thread_state().device, p);
  const bool layered = flags & cudaArrayLayered, cubemap = flags & cudaArrayCubemap;
  const bool surface = flags & cudaArraySurfaceLoadStore;
  if (cubemap &&
      (extent.width != extent.height || extent.depth == 0 || extent.depth % 6 || (!layered && extent.depth != 6)))
    return refuse(cudaErrorInvalidValue, "a cubemap needs square faces, and six of them (or a multiple, if layered)");
  if ((flags & cudaArrayTextureGather) && (extent.height == 0 || extent.depth != 0))
    return refuse(cudaErrorInvalidValue, "texture gather needs a two-dimensional array");
  std::size_t most[3] = {0, 0, 0};
  const auto set = [&](int width, int height, int depth) {
    most[0] = static_cast<std::size_t>(width);
    most[1] = static_cast<std::size_t>(height);
    most[2] = static_cast<std::size_t>(depth);
  };
  if (cubemap && layered)
    set(p.maxTextureCubemapLayered[0], p.maxTextureCubemapLayered[0], p.maxTextureCubemapLayered[1]);
  else if (cubemap)
    set(p.maxTextureCubemap, p.maxTextureCubemap, 6);
  else if (layered && extent.height)
    set(p.maxTexture2DLayered[0], p.maxTexture2DLayered[1], p.maxTexture2DLayered[2]);
  else if (layered)
    set(p.maxTexture1DLayered[0], 0, p.maxTexture1DLayered[1]);
  else if (extent.depth)
    set(p.maxTexture3D[0], p.maxTexture3D[1], p.maxTexture3D[2]);
  else if (extent.height)
    set(surface ? p.maxSurface2D[0] : p.maxTexture2D[0], surface ? p.maxSurface2D[1] : p.maxTexture2D[1], 0);
  else
    set(surface ? p.maxSurface1D : p.maxTexture1D, 0, 0);
  if (extent.width <= most[0] && extent.height <= most[1] && extent.depth <= most[2]) return cudaSuccess;
  return refuse(cudaErrorInvalidValue,
                fmt::format("an array of {} x {} x {} elements; the maximum is {} x {} x {}", extent.width,
                            extent.height, extent.depth, most[0], most[1], most[2]));
}

events::Allocation event_of(const ArrayHandle& handle) {
  return {events::Allocation::Kind::array, handle.device, reinterpret_cast<std::uint64_t>(handle.array->data()),
          handle.array->size()};
}

}  // namespace

void forget(const ArrayHandle* array) {
  device::Device& gpu = session::devices()[array->device];
  gpu.give_memory_back(array->array->size());
  gpu.publish_deallocation(event_of(*array));
  delete array;  // texture and surface objects keep its memory
}

cudaError_t create_array(cudaArray_t* out, const cudaChannelFormatDesc* desc, cudaExtent extent, unsigned flags) {
  if (!out || !desc || extent.width == 0) return cudaErrorInvalidValue;
  device::ChannelFormat format;
  if (!to_format(*desc, format)) {
    if (desc->f > cudaChannelFormatKindNone) return not_supported("an array of this channel format");
    return cudaErrorInvalidChannelDescriptor;
  }
  device::ArrayShape shape;
  shape.width = extent.width;
  shape.height = extent.height;
  shape.depth = extent.depth;
  shape.layered = flags & cudaArrayLayered;
  shape.cubemap = flags & cudaArrayCubemap;
  shape.surface = flags & cudaArraySurfaceLoadStore;
  shape.gather = flags & cudaArrayTextureGather;
  if (cudaError_t error = check_extent(extent, flags)) return error;
  device::Device& gpu = current_device();
  auto handle = std::make_unique<ArrayHandle>();
  handle->array = device::Array::create(format, shape);
  if (!handle->array || !gpu.take_memory(handle->array->size()))
    return refuse(cudaErrorMemoryAllocation, "the array does not fit into the GPU's memory");
  handle->format = *desc;
  handle->flags = flags;
  handle->device = thread_state().device;
  gpu.publish_allocation(event_of(*handle));
  std::lock_guard lock(handles().mutex);
  handles().arrays.insert(handle.get());
  *out = handle.release();
  return cudaSuccess;
}
namespace {

// Mipmap levels of the resource: those of the view, else all.
cudaError_t to_levels(const MipmappedArrayHandle* mipmap, const cudaResourceViewDesc* view,
                      device::TextureResource& out) {
  const std::lock_guard lock(handles().mutex);
  if (!handles().mipmapped.contains(mipmap)) return cudaErrorInvalidResourceHandle;
  const std::size_t first = view ? view->firstMipmapLevel : 0;
  const std::size_t last = view ? view->lastMipmapLevel : mipmap->levels.size() - 1;
  if (first > last || last >= mipmap->levels.size())
    return refuse(cudaErrorInvalidValue, fmt::format("a view of the levels {} to {}, but the array has {} levels",
                                                     first, last, mipmap->levels.size()));
  for (std::size_t k = first; k <= last; k++) out.levels.push_back(mipmap->levels[k]->array);
  out.kind = device::TextureResource::Kind::array;
  out.array = out.levels.front();
  return cudaSuccess;
}

cudaError_t to_resource(const cudaResourceDesc& desc, const cudaResourceViewDesc* view, device::TextureResource& out) {
  using Kind = device::TextureResource::Kind;
  switch (desc.resType) {
    case cudaResourceTypeArray:
      out.kind = Kind::array;
      out.array = array_of(desc.res.array.array);
      return out.array ? cudaSuccess : cudaErrorInvalidResourceHandle;
    case cudaResourceTypeMipmappedArray:
      return to_levels(desc.res.mipmap.mipmap, view, out);
    case cudaResourceTypeLinear: {
      const auto& r = desc.res.linear;
      if (!to_format(r.desc, out.format)) return cudaErrorInvalidChannelDescriptor;
      out.kind = Kind::linear;
      out.address = reinterpret_cast<std::uint64_t>(r.devPtr);
      out.width = r.sizeInBytes / out.format.bytes();
      break;
    }
    case cudaResourceTypePitch2D: {
      const auto& r = desc.res.pitch2D;
      if (!to_format(r.desc, out.format)) return cudaErrorInvalidChannelDescriptor;
      out.kind = Kind::pitched;
      out.address = reinterpret_cast<std::uint64_t>(r.devPtr);
      out.width = r.width;
      out.height = r.height;
      out.pitch = r.pitchInBytes;
      if (r.pitchInBytes / out.format.bytes() < r.width ||
          r.pitchInBytes % std::max(1u, session::model().texture_pitch_alignment))
        return cudaErrorInvalidValue;
      break;
    }
  }
  Place place = place_of(reinterpret_cast<void*>(out.address));
  if (place.memory == Memory::pageable || place.memory == Memory::invalid) return cudaErrorInvalidValue;
  if (out.kind == Kind::pitched && (out.width == 0 || out.height == 0)) return cudaErrorInvalidValue;
  // Widths and pitches come from the program, so that products may overflow.
  std::uint64_t bytes = 0, row = 0;
  if (__builtin_mul_overflow(out.width, std::uint64_t{out.format.bytes()}, &row) ||
      (out.kind == Kind::pitched && __builtin_mul_overflow(out.height - 1, out.pitch, &bytes)) ||
      __builtin_add_overflow(bytes, row, &bytes))
    return cudaErrorInvalidValue;
  return bytes <= place.high - out.address ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t to_description(const cudaTextureDesc& desc, const device::TextureResource& resource,
                           device::TextureDescription& out) {
  const device::ChannelFormat& format = resource.array ? resource.array->format() : resource.format;
  for (int i = 0; i < 3; i++) {
    if (desc.addressMode[i] < 0 || desc.addressMode[i] > 3) return cudaErrorInvalidValue;
    out.address[static_cast<std::size_t>(i)] = static_cast<device::AddressMode>(desc.addressMode[i]);
  }
  bool integers = format.kind != device::ChannelFormat::Kind::floating;
  out.linear_filter = desc.filterMode == 1;
  out.normalized_float = desc.readMode == 1 && integers;
  if (out.normalized_float && format.bits[0] == 32) return cudaErrorInvalidNormSetting;
  if (out.linear_filter && integers && !out.normalized_float) return cudaErrorInvalidFilterSetting;
  out.normalized_coordinates = desc.normalizedCoords != 0;
  out.srgb = desc.sRGB != 0;
  std::copy_n(desc.borderColor, 4, out.border.begin());
  if (!resource.levels.empty()) {
    if (!desc.normalizedCoords) return refuse(cudaErrorInvalidValue, "a mipmapped array needs normalised coordinates");
    out.linear_levels = desc.mipmapFilterMode == cudaFilterModeLinear;
    if (out.linear_levels && integers && !out.normalized_float) return cudaErrorInvalidFilterSetting;
    out.level_bias = desc.mipmapLevelBias;
    out.least_level = desc.minMipmapLevelClamp;
    out.most_level = desc.maxMipmapLevelClamp;
  }
  if (desc.maxAnisotropy > 1) session::messages().say_once("textures: anisotropic filtering is not modelled");
  return cudaSuccess;
}

}  // namespace

cudaError_t create_texture_object(cudaTextureObject_t* out, const cudaResourceDesc* resource,
                                  const cudaTextureDesc* texture, const cudaResourceViewDesc* view) {
  if (!out || !resource) return cudaErrorInvalidValue;
  cudaTextureDesc defaults{};
  if (!texture) texture = &defaults;
  device::TextureResource r;
  if (cudaError_t error = to_resource(*resource, view, r)) return error;
  device::TextureDescription d;
  if (cudaError_t error = to_description(*texture, r, d)) return error;
  if (view && view->format != 0)
    session::messages().say_once("textures: resource views are read with the array's own format");
  *out = device::create_texture(r, d);
  session::handles().made("texture", *out);
  std::lock_guard lock(handles().mutex);
  handles().textures[*out] = {*resource, *texture, view ? *view : cudaResourceViewDesc{}, view != nullptr};
  return cudaSuccess;
}

std::shared_ptr<device::Array> array_of(const ArrayHandle* handle) {
  std::lock_guard lock(handles().mutex);
  return handles().arrays.count(handle) ? handle->array : nullptr;
}

void release_arrays(int device) {
  std::lock_guard lock(handles().mutex);
  std::erase_if(handles().mipmapped, [&](const MipmappedArrayHandle* mipmap) {
    if (mipmap->device != device) return false;
    delete mipmap;
    return true;
  });
  std::erase_if(handles().arrays, [&](const ArrayHandle* array) {
    if (array->device != device) return false;
    forget(array);
    return true;
  });
}

cudaError_t free_array(ArrayHandle* array) {
  if (!array) return cudaSuccess;
  Executor::instance().wait_all();  // kernels may still use it
  std::lock_guard lock(handles().mutex);
  if (!handles().arrays.contains(array)) return cudaErrorInvalidResourceHandle;
  if (array->is_level) return refuse(cudaErrorInvalidValue, "a level cannot be freed alone; free its mipmapped array");
  handles().arrays.erase(array);
  forget(array);
  return cudaSuccess;
}

cudaError_t destroy_texture_object(cudaTextureObject_t object) {
  if (object == 0) return cudaSuccess;
  Executor::instance().wait_all();  // kernels may still use it
  std::lock_guard lock(handles().mutex);
  handles().textures.erase(object);
  session::handles().destroyed(object);
  return device::destroy_texture(object) ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t create_surface_object(cudaSurfaceObject_t* out, const cudaResourceDesc* resource) {
  if (!out || !resource || resource->resType != cudaResourceTypeArray) return cudaErrorInvalidValue;
  std::shared_ptr<device::Array> array = array_of(resource->res.array.array);
  if (!array) return cudaErrorInvalidResourceHandle;
  if (!array->shape().surface) return cudaErrorInvalidValue;  // needs cudaArraySurfaceLoadStore
  *out = device::create_surface(array);
  std::lock_guard lock(handles().mutex);
  handles().surfaces[*out] = *resource;
  return cudaSuccess;
}

cudaError_t destroy_surface_object(cudaSurfaceObject_t object) {
  if (object == 0) return cudaSuccess;
  Executor::instance().wait_all();  // kernels may still use it
  std::lock_guard lock(handles().mutex);
  handles().surfaces.erase(object);
  return device::destroy_surface(object) ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t texture_descriptions(cudaTextureObject_t object, cudaResourceDesc* resource, cudaTextureDesc* texture,
                                 cudaResourceViewDesc* view) {
  if (!resource && !texture && !view) return cudaErrorInvalidValue;
  const std::lock_guard lock(handles().mutex);
  const auto found = handles().textures.find(object);
  if (found == handles().textures.end()) return cudaErrorInvalidValue;
  if (resource) *resource = found->second.resource;
  if (texture) *texture = found->second.texture;
  if (view) *view = found->second.view;
  return view && !found->second.has_view ? cudaErrorInvalidValue : cudaSuccess;
}

cudaError_t surface_description(cudaSurfaceObject_t object, cudaResourceDesc* out) {
  if (!out) return cudaErrorInvalidValue;
  const std::lock_guard lock(handles().mutex);
  const auto found = handles().surfaces.find(object);
  if (found == handles().surfaces.end()) return cudaErrorInvalidValue;
  *out = found->second;
  return cudaSuccess;
}

cudaError_t array_get_info(cudaChannelFormatDesc* desc, cudaExtent* extent, unsigned* flags, cudaArray_t array) {
  std::shared_ptr<device::Array> a = array_of(array);
  if (!a) return cudaErrorInvalidResourceHandle;
  if (desc) *desc = array->format;
  if (extent) *extent = {a->shape().width, a->shape().height, a->shape().depth};
  if (flags) *flags = array->flags;
  return cudaSuccess;
}

cudaError_t get_channel_desc(cudaChannelFormatDesc* desc, cudaArray_const_t array) {
  if (!desc || !array_of(array)) return cudaErrorInvalidResourceHandle;
  *desc = array->format;
  return cudaSuccess;
}

// ---- Mipmapped arrays

namespace {

// Size of a level. All levels have the same number of layers and faces.
cudaExtent extent_at(const cudaExtent& extent, unsigned flags, unsigned level) {
  const auto smaller = [&](std::size_t n) { return n ? std::max<std::size_t>(1, n >> level) : 0; };
  const bool keeps_depth = flags & (cudaArrayLayered | cudaArrayCubemap);
  return {smaller(extent.width), smaller(extent.height), keeps_depth ? extent.depth : smaller(extent.depth)};
}

// Maximum number of levels: 1 + floor(log2(the longest side)).
unsigned most_levels(const cudaExtent& extent, unsigned flags) {
  std::size_t longest = std::max(extent.width, extent.height);
  if (!(flags & (cudaArrayLayered | cudaArrayCubemap))) longest = std::max(longest, extent.depth);
  return static_cast<unsigned>(std::bit_width(longest));
}

}  // namespace

cudaError_t create_mipmapped_array(cudaMipmappedArray_t* out, const cudaChannelFormatDesc* desc, cudaExtent extent,
                                   unsigned levels, unsigned flags) {
  if (!out || !desc || extent.width == 0) return cudaErrorInvalidValue;
  auto mipmap = std::make_unique<MipmappedArrayHandle>();
  mipmap->extent = extent;
  mipmap->flags = flags;
  mipmap->device = thread_state().device;
  levels = std::clamp(levels, 1u, most_levels(extent, flags));
  cudaError_t error = cudaSuccess;
  for (unsigned k = 0; k < levels && error == cudaSuccess; k++) {
    cudaArray_t level = nullptr;
    error = create_array(&level, desc, extent_at(extent, flags, k), flags);
    if (error == cudaSuccess) mipmap->levels.push_back(level);
  }
  const std::lock_guard lock(handles().mutex);
  for (ArrayHandle* level : mipmap->levels) {
    level->is_level = true;
    if (error == cudaSuccess) continue;
    handles().arrays.erase(level);
    forget(level);
  }
  if (error != cudaSuccess) return error;
  handles().mipmapped.insert(mipmap.get());
  *out = mipmap.release();
  return cudaSuccess;
}

cudaError_t free_mipmapped_array(cudaMipmappedArray_t array) {
  if (!array) return cudaSuccess;
  Executor::instance().wait_all();  // kernels may still use it
  const std::lock_guard lock(handles().mutex);
  if (handles().mipmapped.erase(array) == 0) return cudaErrorInvalidResourceHandle;
  for (const ArrayHandle* level : array->levels) {
    handles().arrays.erase(level);
    forget(level);
  }
  delete array;
  return cudaSuccess;
}

cudaError_t mipmapped_array_level(cudaArray_t* out, cudaMipmappedArray_const_t array, unsigned level) {
  const std::lock_guard lock(handles().mutex);
  if (!handles().mipmapped.contains(array)) return cudaErrorInvalidResourceHandle;
  if (!out || level >= array->levels.size()) return cudaErrorInvalidValue;
  *out = array->levels[level];
  return cudaSuccess;
}

// ---- References of modules

cudaError_t bind_texture_reference(std::uint64_t variable, const cudaResourceDesc& resource,
                                   const cudaTextureDesc& texture) {
  device::TextureResource r;
  if (cudaError_t error = to_resource(resource, nullptr, r)) return error;
  device::TextureDescription d;
  if (cudaError_t error = to_description(texture, r, d)) return error;
  Executor::instance().wait_all();
  device::bind_texture(variable, r, d);
  return cudaSuccess;
}

cudaError_t bind_surface_reference(std::uint64_t variable, cudaArray_t handle) {
  std::shared_ptr<device::Array> array = array_of(handle);
  if (!array) return cudaErrorInvalidResourceHandle;
  if (!array->shape().surface) return cudaErrorInvalidValue;  // needs cudaArraySurfaceLoadStore
  Executor::instance().wait_all();
  device::bind_surface(variable, std::move(array));
  return cudaSuccess;
}

}  // namespace warpgrind::semantics
