// Part of the language: warpgrind/wrapper.h brings it into every CUDA file.
#ifndef __DEVICE_DOUBLE_FUNCTIONS_H__
#define __DEVICE_DOUBLE_FUNCTIONS_H__
#include "cuda_runtime.h"
#endif
