// The C interface of asynchronous copies (CUDA C++ Programming Guide, "Pipeline Interface"). cuda::pipeline is
// libcu++'s.
#ifndef _CUDA_PIPELINE_H_
#define _CUDA_PIPELINE_H_
#include "cuda_pipeline_primitives.h"
#endif
