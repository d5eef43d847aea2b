// Thrust 1.17 includes a header of this name, the toolkit's stand-alone occupancy calculator, and uses nothing of it:
// it asks the runtime (cudaOccupancy...).
#ifndef CUDA_OCCUPANCY_H
#define CUDA_OCCUPANCY_H
#include "cuda_runtime_api.h"
#endif
