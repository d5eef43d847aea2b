// Device-side launches: thousands of successive tail launches, nesting up to the allowed depth, and a kernel that
// writes before the start of a parameter buffer.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <string>

__global__ void tail(int* n, int most) {
  if (++*n < most) tail<<<1, 1, 0, cudaStreamTailLaunch>>>(n, most);
}
__global__ void nest(int* n, int* error) {
  ++*n;
  if (*n > 100) return;
  nest<<<1, 1>>>(n, error);
  const cudaError_t e = cudaGetLastError();
  if (e != cudaSuccess) *error = e;
}
__global__ void child(int* out, int v) {
  *out = v;
}
extern "C" __device__ void* cudaGetParameterBufferV2(void*, dim3, dim3, unsigned);
__global__ void scribble(int* out) {
  cudaGetParameterBufferV2((void*)child, dim3(1), dim3(1), 0);  // lies in front of the next one
  char* buffer = static_cast<char*>(cudaGetParameterBufferV2((void*)child, dim3(1), dim3(1), 0));
  if (!buffer) return;
  for (int i = 1; i <= 16; i++) buffer[-i] = 0x7f;
  *reinterpret_cast<int**>(buffer) = out;
  *reinterpret_cast<int*>(buffer + 8) = 42;
  cudaLaunchDeviceV2(buffer, nullptr);
}

int main(int argc, char** argv) {
  const std::string which = argc > 1 ? argv[1] : "";
  int* p = nullptr;
  cudaMallocManaged(&p, 2 * sizeof(int));
  p[0] = p[1] = 0;
  if (which == "tail") tail<<<1, 1>>>(p, 5000);
  if (which == "nest") nest<<<1, 1>>>(p, p + 1);
  if (which == "scribble") scribble<<<1, 1>>>(p);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s: %s %d %d\n", which.c_str(), cudaGetErrorName(error), p[0], p[1]);
}
