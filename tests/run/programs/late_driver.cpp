// An exit handler calls the driver again, after the destructors of the main thread's thread_locals. libgomp closes its
// devices in this way.
#include <cuda.h>

#include <cstdio>
#include <cstdlib>

static void close_device() {
  CUdevice device = -1;
  CUcontext context = nullptr;
  const CUresult of = cuCtxGetDevice(&device), popped = cuCtxPopCurrent(&context), none = cuCtxGetDevice(&device);
  std::printf("exit: %d, device %d, popped %d, then %d\n", of, device, popped, none);
}

int main() {
  std::atexit(close_device);
  CUdevice device = 0;
  CUcontext context = nullptr;
  cuInit(0);
  cuDeviceGet(&device, 1);
  cuDevicePrimaryCtxRetain(&context, device);
  std::printf("current: %d\n", cuCtxPushCurrent(context));
  return 0;
}
