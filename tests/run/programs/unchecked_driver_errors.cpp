// Errors of the driver API: the program checks some and ignores others.
#include <cuda.h>

#include <cstdio>

int main() {
  CUdevice device = -1;
  size_t value = 0;
  cuInit(0);
  cuDeviceGet(&device, 99);  // ignored
  if (cuDeviceGet(&device, 98) != CUDA_SUCCESS) std::printf("no such device\n");
  CUcontext context = nullptr;
  cuCtxCreate(&context, nullptr, 0, 0);
  cuCtxGetLimit(&value, CU_LIMIT_MAX);  // ignored
  if (cuCtxDestroy(context) != CUDA_SUCCESS) return 1;
  std::printf("end\n");
  return 0;
}
