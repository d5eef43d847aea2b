// Formats of arrays as both APIs name them, and the flags of textures.
#pragma once

#include "cuda/driver.h"

namespace warpgrind::cuda {

// False: no format that arrays have here, or no such number of channels.
bool channels_of(CUarray_format format, unsigned channels, cudaChannelFormatDesc& out);
void format_of(const cudaChannelFormatDesc& channels, CUarray_format& format, unsigned& count);

// The flags of texture objects and texture references that are supported: those of CUDA 11.
constexpr unsigned kKnownTextureFlags = CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES | CU_TRSF_SRGB;

}  // namespace warpgrind::cuda
