// cuProfilerStart and cuProfilerStop: declared with the rest of the driver API.
#ifndef cuda_profiler_H
#define cuda_profiler_H
#include "cuda.h"
#endif
