// Part of the language: warpgrind/wrapper.h brings it into every CUDA file.
#ifndef __TEXTURE_INDIRECT_FUNCTIONS_H__
#define __TEXTURE_INDIRECT_FUNCTIONS_H__
#include "cuda_runtime.h"
#endif
