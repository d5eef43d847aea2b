// Texture and surface objects of the driver API. The host layer stores the runtime's descriptions; this file converts
// them.
#include <algorithm>

#include "driver/addresses.h"
#include "driver/arrays.h"
#include "semantics/arrays.h"

namespace warpgrind::driver {

namespace {

// Resource views are the same in both APIs.
static_assert(sizeof(CUDA_RESOURCE_VIEW_DESC) == sizeof(cudaResourceViewDesc));

CUresult to_runtime(const CUDA_RESOURCE_DESC& d, cudaResourceDesc& out) {
  if (d.flags) return CUDA_ERROR_INVALID_VALUE;
  out.resType = static_cast<cudaResourceType>(d.resType);
  switch (d.resType) {
    case CU_RESOURCE_TYPE_ARRAY:
      out.res.array.array = d.res.array.hArray;
      return CUDA_SUCCESS;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
      out.res.mipmap.mipmap = d.res.mipmap.hMipmappedArray;
      return CUDA_SUCCESS;
    case CU_RESOURCE_TYPE_LINEAR: {
      auto& linear = out.res.linear;
      linear.devPtr = pointer(d.res.linear.devPtr);
      linear.sizeInBytes = d.res.linear.sizeInBytes;
      const bool known = channels_of(d.res.linear.format, d.res.linear.numChannels, linear.desc);
      return known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    }
    case CU_RESOURCE_TYPE_PITCH2D: {
      const auto& from = d.res.pitch2D;
      auto& rows = out.res.pitch2D;
      rows.devPtr = pointer(from.devPtr);
      rows.width = from.width;
      rows.height = from.height;
      rows.pitchInBytes = from.pitchInBytes;
      return channels_of(from.format, from.numChannels, rows.desc) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    }
  }
  return CUDA_ERROR_INVALID_VALUE;
}

void to_driver(const cudaResourceDesc& d, CUDA_RESOURCE_DESC& out) {
  out = {};
  out.resType = static_cast<CUresourcetype>(d.resType);
  if (d.resType == cudaResourceTypeArray) {
    out.res.array.hArray = d.res.array.array;
  } else if (d.resType == cudaResourceTypeMipmappedArray) {
    out.res.mipmap.hMipmappedArray = d.res.mipmap.mipmap;
  } else if (d.resType == cudaResourceTypeLinear) {
    auto& linear = out.res.linear;
    linear.devPtr = address(d.res.linear.devPtr);
    linear.sizeInBytes = d.res.linear.sizeInBytes;
    format_of(d.res.linear.desc, linear.format, linear.numChannels);
  } else if (d.resType == cudaResourceTypePitch2D) {
    const auto& from = d.res.pitch2D;
    auto& rows = out.res.pitch2D;
    rows.devPtr = address(from.devPtr);
    rows.width = from.width;
    rows.height = from.height;
    rows.pitchInBytes = from.pitchInBytes;
    format_of(from.desc, rows.format, rows.numChannels);
  }
}

// Element format of a resource. False: the array does not exist.
bool channels_of(const cudaResourceDesc& resource, cudaChannelFormatDesc& out) {
  if (resource.resType == cudaResourceTypeLinear) out = resource.res.linear.desc;
  if (resource.resType == cudaResourceTypePitch2D) out = resource.res.pitch2D.desc;
  cudaArray_t level = nullptr;
  if (resource.resType == cudaResourceTypeMipmappedArray)
    return semantics::mipmapped_array_level(&level, resource.res.mipmap.mipmap, 0) == cudaSuccess &&
           semantics::get_channel_desc(&out, level) == cudaSuccess;
  if (resource.resType != cudaResourceTypeArray) return true;
  return semantics::get_channel_desc(&out, resource.res.array.array) == cudaSuccess;
}

// 32-bit integers are read as integers "regardless of whether or not this flag is specified". An H200 takes a linear
// filter for them, if the flag is not (a test of NVIDIA Warp); what it gives is not documented, here the nearest texel.
cudaTextureDesc to_runtime(const CUDA_TEXTURE_DESC& d, const cudaChannelFormatDesc& channels) {
  cudaTextureDesc out{};
  for (int i = 0; i < 3; i++) out.addressMode[i] = static_cast<cudaTextureAddressMode>(d.addressMode[i]);
  out.filterMode = static_cast<cudaTextureFilterMode>(d.filterMode);
  const bool whole = channels.f != cudaChannelFormatKindFloat && channels.x == 32;
  const bool not_filtered = whole && !(d.flags & CU_TRSF_READ_AS_INTEGER);
  if (not_filtered && d.filterMode == CU_TR_FILTER_MODE_LINEAR) {
    session::messages().say_once("textures: the linear filter of 32-bit integers gives the nearest texel");
    out.filterMode = cudaFilterModePoint;
  }
  out.readMode = whole || (d.flags & CU_TRSF_READ_AS_INTEGER) ? cudaReadModeElementType : cudaReadModeNormalizedFloat;
  out.sRGB = (d.flags & CU_TRSF_SRGB) != 0;
  out.normalizedCoords = (d.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
  std::copy_n(d.borderColor, 4, out.borderColor);
  out.maxAnisotropy = d.maxAnisotropy;
  out.mipmapFilterMode = static_cast<cudaTextureFilterMode>(d.mipmapFilterMode);
  out.mipmapLevelBias = d.mipmapLevelBias;
  out.minMipmapLevelClamp = d.minMipmapLevelClamp;
  out.maxMipmapLevelClamp = d.maxMipmapLevelClamp;
  return out;
}

void to_driver(const cudaTextureDesc& d, CUDA_TEXTURE_DESC& out) {
  out = {};
  for (int i = 0; i < 3; i++) out.addressMode[i] = static_cast<CUaddress_mode>(d.addressMode[i]);
  out.filterMode = static_cast<CUfilter_mode>(d.filterMode);
  if (d.readMode == cudaReadModeElementType) out.flags |= CU_TRSF_READ_AS_INTEGER;
  if (d.normalizedCoords) out.flags |= CU_TRSF_NORMALIZED_COORDINATES;
  if (d.sRGB) out.flags |= CU_TRSF_SRGB;
  std::copy_n(d.borderColor, 4, out.borderColor);
  out.maxAnisotropy = d.maxAnisotropy;
  out.mipmapFilterMode = static_cast<CUfilter_mode>(d.mipmapFilterMode);
  out.mipmapLevelBias = d.mipmapLevelBias;
  out.minMipmapLevelClamp = d.minMipmapLevelClamp;
  out.maxMipmapLevelClamp = d.maxMipmapLevelClamp;
}

CUresult create_texture(CUtexObject* out, const CUDA_RESOURCE_DESC& resource, const CUDA_TEXTURE_DESC& texture,
                        const CUDA_RESOURCE_VIEW_DESC* view) {
  if (texture.flags & ~kKnownTextureFlags) return not_supported("a texture with flags newer than CUDA 11");
  cudaResourceDesc made_of{};
  if (const CUresult error = to_runtime(resource, made_of); error != CUDA_SUCCESS) return error;
  cudaChannelFormatDesc channels{};
  if (!channels_of(made_of, channels)) return CUDA_ERROR_INVALID_VALUE;
  const cudaTextureDesc read = to_runtime(texture, channels);
  return driver_error(
      semantics::create_texture_object(out, &made_of, &read, reinterpret_cast<const cudaResourceViewDesc*>(view)));
}

}  // namespace

// ---- Textures
CUresult cuTexObjectCreate(CUtexObject* object, const CUDA_RESOURCE_DESC* resource, const CUDA_TEXTURE_DESC* texture,
                           const CUDA_RESOURCE_VIEW_DESC* view) {
  return driver([&]() -> CUresult {
    if (!object || !resource || !texture) return CUDA_ERROR_INVALID_VALUE;
    return create_texture(object, *resource, *texture, view);
  });
}
CUresult cuTexObjectDestroy(CUtexObject object) {
  return driver([&]() -> CUresult { return driver_error(semantics::destroy_texture_object(object)); });
}
CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC* resource, CUtexObject object) {
  return driver([&]() -> CUresult {
    if (!resource) return CUDA_ERROR_INVALID_VALUE;
    cudaResourceDesc made_of{};
    const cudaError_t error = semantics::texture_descriptions(object, &made_of, nullptr, nullptr);
    if (error == cudaSuccess) to_driver(made_of, *resource);
    return driver_error(error);
  });
}
CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC* texture, CUtexObject object) {
  return driver([&]() -> CUresult {
    if (!texture) return CUDA_ERROR_INVALID_VALUE;
    cudaTextureDesc read{};
    const cudaError_t error = semantics::texture_descriptions(object, nullptr, &read, nullptr);
    if (error == cudaSuccess) to_driver(read, *texture);
    return driver_error(error);
  });
}
CUresult cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC* view, CUtexObject object) {
  return driver([&]() -> CUresult {
    auto* same = reinterpret_cast<cudaResourceViewDesc*>(view);
    return driver_error(semantics::texture_descriptions(object, nullptr, nullptr, same));
  });
}

// ---- Surfaces
CUresult cuSurfObjectCreate(CUsurfObject* object, const CUDA_RESOURCE_DESC* resource) {
  return driver([&]() -> CUresult {
    if (!object || !resource) return CUDA_ERROR_INVALID_VALUE;
    cudaResourceDesc made_of{};
    if (const CUresult error = to_runtime(*resource, made_of); error != CUDA_SUCCESS) return error;
    return driver_error(semantics::create_surface_object(object, &made_of));
  });
}
CUresult cuSurfObjectDestroy(CUsurfObject object) {
  return driver([&]() -> CUresult { return driver_error(semantics::destroy_surface_object(object)); });
}
CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC* resource, CUsurfObject object) {
  return driver([&]() -> CUresult {
    if (!resource) return CUDA_ERROR_INVALID_VALUE;
    cudaResourceDesc made_of{};
    const cudaError_t error = semantics::surface_description(object, &made_of);
    if (error == cudaSuccess) to_driver(made_of, *resource);
    return driver_error(error);
  });
}

}  // namespace warpgrind::driver
