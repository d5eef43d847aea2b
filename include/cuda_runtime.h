// The CUDA runtime API with its C++ part. A CUDA file has it, and the whole language, from warpgrind/wrapper.h already.
#ifndef __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_H__

#include "channel_descriptor.h"
#include "cuda_device_runtime_api.h"
#include "cuda_runtime_api.h"
#include "driver_functions.h"
#include "host_config.h"
#include "library_types.h"
#include "vector_functions.h"

#if defined(__cplusplus) && !defined(WARPGRIND_LIBRARY)
#include "warpgrind/runtime_templates.h"
#endif

#endif
