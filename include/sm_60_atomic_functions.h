// Part of the language: warpgrind/wrapper.h brings it into every CUDA file.
#ifndef __SM_60_ATOMIC_FUNCTIONS_H__
#define __SM_60_ATOMIC_FUNCTIONS_H__
#include "cuda_runtime.h"
#endif
