// libcuda.so.1 of a driver from before CUDA 13.
#define WARPGRIND_DRIVER_BEFORE 13000
#include "trampolines.S"
