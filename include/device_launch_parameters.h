// threadIdx, blockIdx, blockDim, gridDim and warpSize: warpgrind/wrapper.h declares them for every CUDA file.
#ifndef __DEVICE_LAUNCH_PARAMETERS_H__
#define __DEVICE_LAUNCH_PARAMETERS_H__
#include "vector_types.h"
#endif
