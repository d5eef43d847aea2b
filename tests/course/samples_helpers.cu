// The samples' helper headers, for programs that come without their own.
#include <helper_cuda.h>
#include <helper_functions.h>
#include <helper_math.h>

__global__ void move(float3* p, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = lerp(p[i], cross(p[i], make_float3(0, 0, 1)), 0.5f) * 2.0f + make_float3(1.0f);
}

int main(int argc, char** argv) {
  findCudaDevice(argc, (const char**)argv);
  const int n = 1000;
  StopWatchInterface* timer = nullptr;
  sdkCreateTimer(&timer);
  sdkStartTimer(&timer);
  float3 host[n], *device;
  for (int i = 0; i < n; i++) host[i] = make_float3((float)i, 2, 3);
  checkCudaErrors(cudaMalloc((void**)&device, sizeof host));
  checkCudaErrors(cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice));
  move<<<(n + 127) / 128, 128>>>(device, n);
  getLastCudaError("move");
  checkCudaErrors(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
  sdkStopTimer(&timer);
  for (int i = 0; i < n; i++) {
    const float got[] = {host[i].x, host[i].y, host[i].z}, wanted[] = {i + 3.0f, 3.0f - i, 4.0f};
    if (!compareData(wanted, got, 3, 1e-5f, 0.0f)) {
      printf("%d: %g %g %g\n", i, got[0], got[1], got[2]);
      return 1;
    }
  }
  const char* arguments[] = {"program", "--size=12", "-quiet"};
  if (getCmdLineArgumentInt(3, arguments, "size") != 12 || !checkCmdLineFlag(3, arguments, "quiet") ||
      checkCmdLineFlag(3, arguments, "loud") || sdkGetTimerValue(&timer) < 0)
    return 1;
  sdkDeleteTimer(&timer);
  printf("helpers: right\n");
}
