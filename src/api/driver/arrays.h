// Conversion of array formats between the two APIs, and the supported texture flags.
#pragma once

#include "driver/driver.h"

namespace warpgrind::driver {

// False: arrays do not support this format or this number of channels.
bool channels_of(CUarray_format format, unsigned channels, cudaChannelFormatDesc& out);
void format_of(const cudaChannelFormatDesc& channels, CUarray_format& format, unsigned& count);

// The supported flags of texture objects and texture references: those of CUDA 11.
constexpr unsigned kKnownTextureFlags = CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES | CU_TRSF_SRGB;

}  // namespace warpgrind::driver
