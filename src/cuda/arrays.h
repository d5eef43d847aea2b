// Formats of arrays, as both APIs say them.
#pragma once

#include "cuda/driver.h"

namespace warpgrind::cuda {

// False: no format that arrays have here, or no such number of channels.
bool channels_of(CUarray_format format, unsigned channels, cudaChannelFormatDesc& out);
void format_of(const cudaChannelFormatDesc& channels, CUarray_format& format, unsigned& count);

}  // namespace warpgrind::cuda
