// Memory management of the driver API: arrays.
#include "driver/arrays.h"

#include "semantics/arrays.h"

namespace warpgrind::driver {

namespace {

struct Format {
  CUarray_format format;
  int bits;
  cudaChannelFormatKind kind;
};
constexpr Format kFormats[] = {
    {CU_AD_FORMAT_UNSIGNED_INT8, 8, cudaChannelFormatKindUnsigned},
    {CU_AD_FORMAT_UNSIGNED_INT16, 16, cudaChannelFormatKindUnsigned},
    {CU_AD_FORMAT_UNSIGNED_INT32, 32, cudaChannelFormatKindUnsigned},
    {CU_AD_FORMAT_SIGNED_INT8, 8, cudaChannelFormatKindSigned},
    {CU_AD_FORMAT_SIGNED_INT16, 16, cudaChannelFormatKindSigned},
    {CU_AD_FORMAT_SIGNED_INT32, 32, cudaChannelFormatKindSigned},
    {CU_AD_FORMAT_HALF, 16, cudaChannelFormatKindFloat},
    {CU_AD_FORMAT_FLOAT, 32, cudaChannelFormatKindFloat},
};

// Both APIs have the same flags.
static_assert(CUDA_ARRAY3D_LAYERED == cudaArrayLayered && CUDA_ARRAY3D_SURFACE_LDST == cudaArraySurfaceLoadStore &&
              CUDA_ARRAY3D_CUBEMAP == cudaArrayCubemap && CUDA_ARRAY3D_TEXTURE_GATHER == cudaArrayTextureGather);
constexpr unsigned kFlags =
    CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST | CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_TEXTURE_GATHER;
constexpr unsigned kOtherFlags = CUDA_ARRAY3D_DEPTH_TEXTURE | CUDA_ARRAY3D_COLOR_ATTACHMENT | CUDA_ARRAY3D_SPARSE |
                                 CUDA_ARRAY3D_DEFERRED_MAPPING | CUDA_ARRAY3D_VIDEO_ENCODE_DECODE;

// True for formats of cuda.h that arrays here do not support: compressed, video and normalized ones.
bool is_other_format(CUarray_format f) {
  return f == CU_AD_FORMAT_UNORM_INT_101010_2 || (f >= CU_AD_FORMAT_BC1_UNORM && f <= CU_AD_FORMAT_Y410) ||
         (f >= CU_AD_FORMAT_NV12 && f <= CU_AD_FORMAT_YUV444_16bit_SemiPlanar) ||
         (f >= CU_AD_FORMAT_UNORM_INT8X1 && f <= CU_AD_FORMAT_SNORM_INT16X4);
}

CUresult check(const CUDA_ARRAY3D_DESCRIPTOR& d, cudaChannelFormatDesc& channels) {
  if ((d.NumChannels != 1 && d.NumChannels != 2 && d.NumChannels != 4) || d.Flags & ~(kFlags | kOtherFlags))
    return CUDA_ERROR_INVALID_VALUE;
  if (!channels_of(d.Format, d.NumChannels, channels))
    return is_other_format(d.Format) ? not_supported("an array of this format") : CUDA_ERROR_INVALID_VALUE;
  if (d.Flags & ~kFlags) return not_supported("an array with flags other than layered, surface, cubemap and gather");
  const bool layered = d.Flags & CUDA_ARRAY3D_LAYERED;
  if (d.Depth && !d.Height && !layered) return CUDA_ERROR_INVALID_VALUE;  // slices without rows
  return CUDA_SUCCESS;
}
CUresult create(CUarray* out, const CUDA_ARRAY3D_DESCRIPTOR& d) {
  cudaChannelFormatDesc channels{};
  if (const CUresult error = check(d, channels); error != CUDA_SUCCESS) return error;
  return driver_error(semantics::create_array(out, &channels, {d.Width, d.Height, d.Depth}, d.Flags));
}

CUresult describe(CUarray array, CUDA_ARRAY3D_DESCRIPTOR& out) {
  cudaChannelFormatDesc channels{};
  cudaExtent extent{};
  const cudaError_t error = semantics::array_get_info(&channels, &extent, &out.Flags, array);
  if (error != cudaSuccess) return driver_error(error);
  out.Width = extent.width;
  out.Height = extent.height;
  out.Depth = extent.depth;
  format_of(channels, out.Format, out.NumChannels);
  return CUDA_SUCCESS;
}

}  // namespace

bool channels_of(CUarray_format format, unsigned channels, cudaChannelFormatDesc& out) {
  if (channels != 1 && channels != 2 && channels != 4) return false;
  for (const Format& f : kFormats) {
    if (f.format != format) continue;
    out = {f.bits, channels > 1 ? f.bits : 0, channels > 2 ? f.bits : 0, channels > 2 ? f.bits : 0, f.kind};
    return true;
  }
  return false;
}

void format_of(const cudaChannelFormatDesc& channels, CUarray_format& format, unsigned& count) {
  count = channels.w ? 4 : channels.y ? 2 : 1;
  for (const Format& f : kFormats)
    if (f.bits == channels.x && f.kind == channels.f) format = f.format;
}

CUresult cuArrayCreate_v2(CUarray* out, const CUDA_ARRAY_DESCRIPTOR* d) {
  return driver([&]() -> CUresult {
    if (!out || !d) return CUDA_ERROR_INVALID_VALUE;
    return create(out, {d->Width, d->Height, 0, d->Format, d->NumChannels, 0});
  });
}
CUresult cuArray3DCreate_v2(CUarray* out, const CUDA_ARRAY3D_DESCRIPTOR* d) {
  return driver([&]() -> CUresult { return out && d ? create(out, *d) : CUDA_ERROR_INVALID_VALUE; });
}

CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR* out, CUarray array) {
  return driver([&]() -> CUresult {
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    CUDA_ARRAY3D_DESCRIPTOR d{};
    const CUresult error = describe(array, d);
    if (error == CUDA_SUCCESS) *out = {d.Width, d.Height, d.Format, d.NumChannels};
    return error;
  });
}
CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR* out, CUarray array) {
  return driver([&]() -> CUresult { return out ? describe(array, *out) : CUDA_ERROR_INVALID_VALUE; });
}

CUresult cuMipmappedArrayCreate(CUmipmappedArray* out, const CUDA_ARRAY3D_DESCRIPTOR* d, unsigned int levels) {
  return driver([&]() -> CUresult {
    if (!out || !d) return CUDA_ERROR_INVALID_VALUE;
    cudaChannelFormatDesc channels{};
    if (const CUresult error = check(*d, channels); error != CUDA_SUCCESS) return error;
    return driver_error(
        semantics::create_mipmapped_array(out, &channels, {d->Width, d->Height, d->Depth}, levels, d->Flags));
  });
}
CUresult cuMipmappedArrayGetLevel(CUarray* out, CUmipmappedArray array, unsigned int level) {
  return driver([&]() -> CUresult { return driver_error(semantics::mipmapped_array_level(out, array, level)); });
}
CUresult cuMipmappedArrayDestroy(CUmipmappedArray array) {
  return driver([&]() -> CUresult {
    return array ? driver_error(semantics::free_mipmapped_array(array)) : CUDA_ERROR_INVALID_HANDLE;
  });
}

CUresult cuArrayDestroy(CUarray array) {
  return driver(
      [&]() -> CUresult { return array ? driver_error(semantics::free_array(array)) : CUDA_ERROR_INVALID_HANDLE; });
}

}  // namespace warpgrind::driver
