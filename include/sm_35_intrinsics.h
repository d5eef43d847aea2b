// Part of the language: warpgrind/wrapper.h brings it into every CUDA file.
#ifndef __SM_35_INTRINSICS_H__
#define __SM_35_INTRINSICS_H__
#include "cuda_runtime.h"
#endif
