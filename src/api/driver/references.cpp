// Texture and surface references: variables of a module (.texref, .surfref in PTX) that the program binds to an array
// or to memory. Each change of a binding first waits for the running work.
#include "driver/references.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "device/memory/texture.h"
#include "driver/addresses.h"
#include "driver/arrays.h"
#include "semantics/arrays.h"
#include "semantics/modules.h"

namespace warpgrind::driver {

struct TextureReference {
  std::uint64_t variable = 0;  // 0: created by cuTexRefCreate, so that no kernel uses it
  bool bound = false;
  cudaResourceDesc resource{};  // valid while it is bound
  CUarray_format format = CU_AD_FORMAT_FLOAT;
  int components = 1;
  unsigned flags = 0;
  cudaTextureDesc read{};
};
struct SurfaceReference {
  std::uint64_t variable = 0;
  CUarray array = nullptr;
};

namespace {

using Name = std::pair<const semantics::LibraryHandle*, std::string>;  // null library: created by cuTexRefCreate
struct References {
  std::mutex mutex;
  std::map<Name, std::unique_ptr<TextureReference>> textures;
  std::map<Name, std::unique_ptr<SurfaceReference>> surfaces;
};
References& references() {
  static auto* all = new References;
  return *all;
}

template <class T>
bool is_one(const std::map<Name, std::unique_ptr<T>>& list, const T* reference) {
  return std::any_of(list.begin(), list.end(), [&](const auto& one) { return one.second.get() == reference; });
}

// Calls body(reference) if the reference exists.
template <class Body>
CUresult with(CUtexref reference, Body&& body, const char* call = __builtin_FUNCTION()) {
  return driver(
      [&]() -> CUresult {
        const std::lock_guard lock(references().mutex);
        if (!is_one(references().textures, reference)) return CUDA_ERROR_INVALID_VALUE;
        return body(*reference);
      },
      call);
}

// 32-bit integers are always read as integers.
cudaTextureReadMode read_mode(const TextureReference& r, const cudaChannelFormatDesc& channels) {
  const bool whole = channels.f != cudaChannelFormatKindFloat && channels.x == 32;
  return whole || (r.flags & CU_TRSF_READ_AS_INTEGER) ? cudaReadModeElementType : cudaReadModeNormalizedFloat;
}

cudaError_t bound_channels(const TextureReference& r, cudaChannelFormatDesc& out) {
  cudaArray_t array = nullptr;
  switch (r.resource.resType) {
    case cudaResourceTypeArray:
      return semantics::get_channel_desc(&out, r.resource.res.array.array);
    case cudaResourceTypeMipmappedArray:
      if (const cudaError_t error = semantics::mipmapped_array_level(&array, r.resource.res.mipmap.mipmap, 0))
        return error;
      return semantics::get_channel_desc(&out, array);
    case cudaResourceTypeLinear:
      out = r.resource.res.linear.desc;
      return cudaSuccess;
    case cudaResourceTypePitch2D:
      out = r.resource.res.pitch2D.desc;
      return cudaSuccess;
  }
  return cudaErrorInvalidValue;
}

cudaError_t bind(TextureReference& r) {
  if (!r.bound || !r.variable) return cudaSuccess;
  cudaChannelFormatDesc channels{};
  if (const cudaError_t error = bound_channels(r, channels)) return error;
  cudaTextureDesc read = r.read;
  read.readMode = read_mode(r, channels);
  read.normalizedCoords = (r.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
  read.sRGB = (r.flags & CU_TRSF_SRGB) != 0;
  return semantics::bind_texture_reference(r.variable, r.resource, read);
}

CUresult bind_to(TextureReference& r, const cudaResourceDesc& resource) {
  r.resource = resource;
  r.bound = true;
  const cudaError_t error = bind(r);
  if (error == cudaSuccess) return CUDA_SUCCESS;
  r.bound = false;
  if (r.variable) device::destroy_texture(r.variable);
  return driver_error(error);
}

// Rebinds after a change of the read settings. If the resource cannot be read that way, the variable stays unbound
// until the next change.
CUresult changed(TextureReference& r) {
  if (bind(r) != cudaSuccess) device::destroy_texture(r.variable);
  return CUDA_SUCCESS;
}

CUresult set_rows(TextureReference& r, const CUDA_ARRAY_DESCRIPTOR* d, CUdeviceptr memory, std::size_t pitch) {
  if (!d) return CUDA_ERROR_INVALID_VALUE;
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypePitch2D;
  auto& rows = resource.res.pitch2D;
  if (!channels_of(d->Format, d->NumChannels, rows.desc)) return CUDA_ERROR_INVALID_VALUE;
  r.format = d->Format;
  r.components = static_cast<int>(d->NumChannels);
  rows.devPtr = pointer(memory);
  rows.width = d->Width;
  rows.height = d->Height;
  rows.pitchInBytes = pitch;
  return bind_to(r, resource);
}

template <class Value>
CUresult give(Value* out, Value value) {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  *out = value;
  return CUDA_SUCCESS;
}

}  // namespace

void forget_references(const semantics::LibraryHandle* module) {
  const std::lock_guard lock(references().mutex);
  std::erase_if(references().textures, [&](const auto& one) {
    if (one.first.first != module) return false;
    device::destroy_texture(one.second->variable);
    return true;
  });
  std::erase_if(references().surfaces, [&](const auto& one) {
    if (one.first.first != module) return false;
    device::destroy_surface(one.second->variable);
    return true;
  });
}

CUresult cuModuleGetTexRef(CUtexref* out, CUmodule module, const char* name) {
  return driver([&]() -> CUresult {
    if (!out || !name) return CUDA_ERROR_INVALID_VALUE;
    if (!semantics::is_library(module)) return CUDA_ERROR_INVALID_HANDLE;
    std::uint64_t variable = 0;
    const cudaError_t error =
        semantics::library_reference(*module, module->device, name, ptx::ScalarType::texref, variable);
    if (error != cudaSuccess) return driver_error(error);
    const std::lock_guard lock(references().mutex);
    auto& reference = references().textures[{module, name}];
    if (!reference) reference = std::make_unique<TextureReference>();
    reference->variable = variable;
    *out = reference.get();
    return CUDA_SUCCESS;
  });
}
CUresult cuModuleGetSurfRef(CUsurfref* out, CUmodule module, const char* name) {
  return driver([&]() -> CUresult {
    if (!out || !name) return CUDA_ERROR_INVALID_VALUE;
    if (!semantics::is_library(module)) return CUDA_ERROR_INVALID_HANDLE;
    std::uint64_t variable = 0;
    const cudaError_t error =
        semantics::library_reference(*module, module->device, name, ptx::ScalarType::surfref, variable);
    if (error != cudaSuccess) return driver_error(error);
    const std::lock_guard lock(references().mutex);
    auto& reference = references().surfaces[{module, name}];
    if (!reference) reference = std::make_unique<SurfaceReference>();
    reference->variable = variable;
    *out = reference.get();
    return CUDA_SUCCESS;
  });
}

CUresult cuTexRefCreate(CUtexref* out) {
  return driver([&]() -> CUresult {
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    auto made = std::make_unique<TextureReference>();
    *out = made.get();
    const std::lock_guard lock(references().mutex);
    references().textures[{nullptr, std::to_string(reinterpret_cast<std::uintptr_t>(made.get()))}] = std::move(made);
    return CUDA_SUCCESS;
  });
}
// Only for references of cuTexRefCreate. Unloading a module destroys its references.
CUresult cuTexRefDestroy(CUtexref reference) {
  return with(reference, [&](TextureReference& r) -> CUresult {
    if (r.variable) return CUDA_ERROR_INVALID_VALUE;
    std::erase_if(references().textures, [&](const auto& one) { return one.second.get() == reference; });
    return CUDA_SUCCESS;
  });
}

// ---- Binding
CUresult cuTexRefSetArray(CUtexref reference, CUarray array, unsigned int flags) {
  return with(reference, [&](TextureReference& r) -> CUresult {
    cudaResourceDesc resource{};
    cudaChannelFormatDesc channels{};
    if (flags != CU_TRSA_OVERRIDE_FORMAT || semantics::get_channel_desc(&channels, array) != cudaSuccess)
      return CUDA_ERROR_INVALID_VALUE;
    unsigned components = 0;
    format_of(channels, r.format, components);
    r.components = static_cast<int>(components);
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    return bind_to(r, resource);
  });
}
CUresult cuTexRefSetMipmappedArray(CUtexref reference, CUmipmappedArray mipmap, unsigned int flags) {
  return with(reference, [&](TextureReference& r) -> CUresult {
    if (flags != CU_TRSA_OVERRIDE_FORMAT) return CUDA_ERROR_INVALID_VALUE;
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeMipmappedArray;
    resource.res.mipmap.mipmap = mipmap;
    return bind_to(r, resource);
  });
}
// Binds memory from the address rounded down to the texture alignment. Kernels must add the returned offset.
CUresult cuTexRefSetAddress_v2(std::size_t* offset, CUtexref reference, CUdeviceptr memory, std::size_t bytes) {
  return with(reference, [&](TextureReference& r) -> CUresult {
    const std::uint64_t alignment = std::max(1u, session::model().texture_alignment);
    if (memory % alignment && !offset) return CUDA_ERROR_INVALID_VALUE;
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeLinear;
    auto& linear = resource.res.linear;
    if (!channels_of(r.format, static_cast<unsigned>(r.components), linear.desc)) return CUDA_ERROR_INVALID_VALUE;
    linear.devPtr = pointer(memory - memory % alignment);
    linear.sizeInBytes = bytes + memory % alignment;
    if (offset) *offset = memory % alignment;
    return bind_to(r, resource);
  });
}
CUresult cuTexRefSetAddress2D_v3(CUtexref reference, const CUDA_ARRAY_DESCRIPTOR* d, CUdeviceptr memory,
                                 std::size_t pitch) {
  return with(reference, [&](TextureReference& r) { return set_rows(r, d, memory, pitch); });
}
CUresult cuTexRefSetAddress2D_v2(CUtexref reference, const CUDA_ARRAY_DESCRIPTOR* d, CUdeviceptr memory,
                                 std::size_t pitch) {
  return cuTexRefSetAddress2D_v3(reference, d, memory, pitch);
}

// ---- Read settings
CUresult cuTexRefSetFormat(CUtexref reference, CUarray_format format, int components) {
  return with(reference, [&](TextureReference& r) -> CUresult {
    cudaChannelFormatDesc channels{};
    if (components < 1 || !channels_of(format, static_cast<unsigned>(components), channels))
      return CUDA_ERROR_INVALID_VALUE;
    r.format = format;
    r.components = components;
    if (r.resource.resType == cudaResourceTypeLinear) r.resource.res.linear.desc = channels;
    return changed(r);
  });
}
CUresult cuTexRefSetAddressMode(CUtexref reference, int dimension, CUaddress_mode mode) {
  return with(reference, [&](TextureReference& r) -> CUresult {
    if (dimension < 0 || dimension > 2 || mode < CU_TR_ADDRESS_MODE_WRAP || mode > CU_TR_ADDRESS_MODE_BORDER)
      return CUDA_ERROR_INVALID_VALUE;
    r.read.addressMode[dimension] = static_cast<cudaTextureAddressMode>(mode);
    return changed(r);
  });
}
CUresult cuTexRefSetFilterMode(CUtexref reference, CUfilter_mode mode) {
  return with(reference, [&](TextureReference& r) -> CUresult {
    if (mode != CU_TR_FILTER_MODE_POINT && mode != CU_TR_FILTER_MODE_LINEAR) return CUDA_ERROR_INVALID_VALUE;
    r.read.filterMode = static_cast<cudaTextureFilterMode>(mode);
    return changed(r);
  });
}
CUresult cuTexRefSetMipmapFilterMode(CUtexref reference, CUfilter_mode mode) {
  return with(reference, [&](TextureReference& r) -> CUresult {
    if (mode != CU_TR_FILTER_MODE_POINT && mode != CU_TR_FILTER_MODE_LINEAR) return CUDA_ERROR_INVALID_VALUE;
    r.read.mipmapFilterMode = static_cast<cudaTextureFilterMode>(mode);
    return changed(r);
  });
}
CUresult cuTexRefSetMipmapLevelBias(CUtexref reference, float bias) {
  return with(reference, [&](TextureReference& r) {
    r.read.mipmapLevelBias = bias;
    return changed(r);
  });
}
CUresult cuTexRefSetMipmapLevelClamp(CUtexref reference, float least, float most) {
  return with(reference, [&](TextureReference& r) {
    r.read.minMipmapLevelClamp = least;
    r.read.maxMipmapLevelClamp = most;
    return changed(r);
  });
}
CUresult cuTexRefSetMaxAnisotropy(CUtexref reference, unsigned int anisotropy) {
  return with(reference, [&](TextureReference& r) {
    r.read.maxAnisotropy = anisotropy;
    return changed(r);
  });
}
CUresult cuTexRefSetBorderColor(CUtexref reference, float* colour) {
  return with(reference, [&](TextureReference& r) -> CUresult {
    if (!colour) return CUDA_ERROR_INVALID_VALUE;
    std::copy_n(colour, 4, r.read.borderColor);
    return changed(r);
  });
}
CUresult cuTexRefSetFlags(CUtexref reference, unsigned int flags) {
  return with(reference, [&](TextureReference& r) -> CUresult {
    if (flags & ~kKnownTextureFlags) return CUDA_ERROR_INVALID_VALUE;
    r.flags = flags;
    return changed(r);
  });
}

// ---- Queries
CUresult cuTexRefGetAddress_v2(CUdeviceptr* memory, CUtexref reference) {
  return with(reference, [&](TextureReference& r) -> CUresult {
    if (!r.bound) return CUDA_ERROR_INVALID_VALUE;
    if (r.resource.resType == cudaResourceTypeLinear) return give(memory, address(r.resource.res.linear.devPtr));
    if (r.resource.resType == cudaResourceTypePitch2D) return give(memory, address(r.resource.res.pitch2D.devPtr));
    return CUDA_ERROR_INVALID_VALUE;
  });
}
CUresult cuTexRefGetArray(CUarray* array, CUtexref reference) {
  return with(reference, [&](TextureReference& r) -> CUresult {
    const bool has = r.bound && r.resource.resType == cudaResourceTypeArray;
    return has ? give(array, r.resource.res.array.array) : CUDA_ERROR_INVALID_VALUE;
  });
}
CUresult cuTexRefGetMipmappedArray(CUmipmappedArray* mipmap, CUtexref reference) {
  return with(reference, [&](TextureReference& r) -> CUresult {
    const bool has = r.bound && r.resource.resType == cudaResourceTypeMipmappedArray;
    return has ? give(mipmap, r.resource.res.mipmap.mipmap) : CUDA_ERROR_INVALID_VALUE;
  });
}
CUresult cuTexRefGetAddressMode(CUaddress_mode* mode, CUtexref reference, int dimension) {
  return with(reference, [&](TextureReference& r) -> CUresult {
    if (dimension < 0 || dimension > 2) return CUDA_ERROR_INVALID_VALUE;
    return give(mode, static_cast<CUaddress_mode>(r.read.addressMode[dimension]));
  });
}
CUresult cuTexRefGetFilterMode(CUfilter_mode* mode, CUtexref reference) {
  return with(reference,
              [&](TextureReference& r) { return give(mode, static_cast<CUfilter_mode>(r.read.filterMode)); });
}
CUresult cuTexRefGetFormat(CUarray_format* format, int* components, CUtexref reference) {
  return with(reference, [&](TextureReference& r) -> CUresult {
    if (!format) return CUDA_ERROR_INVALID_VALUE;
    *format = r.format;
    if (components) *components = r.components;
    return CUDA_SUCCESS;
  });
}
CUresult cuTexRefGetMipmapFilterMode(CUfilter_mode* mode, CUtexref reference) {
  return with(reference,
              [&](TextureReference& r) { return give(mode, static_cast<CUfilter_mode>(r.read.mipmapFilterMode)); });
}
CUresult cuTexRefGetMipmapLevelBias(float* bias, CUtexref reference) {
  return with(reference, [&](TextureReference& r) { return give(bias, r.read.mipmapLevelBias); });
}
CUresult cuTexRefGetMipmapLevelClamp(float* least, float* most, CUtexref reference) {
  return with(reference, [&](TextureReference& r) -> CUresult {
    if (!least || !most) return CUDA_ERROR_INVALID_VALUE;
    *least = r.read.minMipmapLevelClamp;
    *most = r.read.maxMipmapLevelClamp;
    return CUDA_SUCCESS;
  });
}
CUresult cuTexRefGetMaxAnisotropy(int* anisotropy, CUtexref reference) {
  return with(reference, [&](TextureReference& r) { return give(anisotropy, static_cast<int>(r.read.maxAnisotropy)); });
}
CUresult cuTexRefGetBorderColor(float* colour, CUtexref reference) {
  return with(reference, [&](TextureReference& r) -> CUresult {
    if (!colour) return CUDA_ERROR_INVALID_VALUE;
    std::copy_n(r.read.borderColor, 4, colour);
    return CUDA_SUCCESS;
  });
}
CUresult cuTexRefGetFlags(unsigned int* flags, CUtexref reference) {
  return with(reference, [&](TextureReference& r) { return give(flags, r.flags); });
}
// Has no effect: the code of a kernel names its references.
CUresult cuParamSetTexRef(CUfunction function, int unit, CUtexref reference) {
  return with(reference, [&](TextureReference&) -> CUresult {
    return function && unit == CU_PARAM_TR_DEFAULT ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

// ---- Surfaces
CUresult cuSurfRefSetArray(CUsurfref reference, CUarray array, unsigned int flags) {
  return driver([&]() -> CUresult {
    const std::lock_guard lock(references().mutex);
    if (!is_one(references().surfaces, reference) || flags) return CUDA_ERROR_INVALID_VALUE;
    const cudaError_t error = semantics::bind_surface_reference(reference->variable, array);
    if (error == cudaSuccess) reference->array = array;
    return driver_error(error);
  });
}
CUresult cuSurfRefGetArray(CUarray* array, CUsurfref reference) {
  return driver([&]() -> CUresult {
    const std::lock_guard lock(references().mutex);
    if (!array || !is_one(references().surfaces, reference) || !reference->array) return CUDA_ERROR_INVALID_VALUE;
    *array = reference->array;
    return CUDA_SUCCESS;
  });
}

}  // namespace warpgrind::driver
