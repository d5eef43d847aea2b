// Error codes of refused launches and calls. It prints one line for each, as in the record of an H200 with CUDA 13.0
// (cases/asynchronous.toml).
#include <cuda_runtime.h>

#include <cstdio>

__global__ void k(int* p) {
  if (p) *p = 1;
}
__global__ void __launch_bounds__(128) small(int* p) {
  if (p) *p = 1;
}
static void print(const char* what, cudaError_t error) {
  std::printf("%s,%d,%s\n", what, static_cast<int>(error), cudaGetErrorName(error));
}
static void launched(const char* what) {
  print(what, cudaGetLastError());
}
static void called(const char* what, cudaError_t error) {
  cudaGetLastError();
  print(what, error);
}

int main() {
  int* d = nullptr;
  char h[64];
  cudaMalloc(&d, 4096);
  k<<<1, 2000>>>(d), launched("k<<<1,2000>>>");
  k<<<0, 1>>>(d), launched("k<<<0,1>>>");
  k<<<1, 0>>>(d), launched("k<<<1,0>>>");
  k<<<1, dim3(1, 1, 65)>>>(d), launched("k<<<1,dim3(1,1,65)>>>");
  k<<<dim3(1, 65536), 1>>>(d), launched("k<<<dim3(1,65536),1>>>");
  k<<<1, 1, 100 << 10>>>(d), launched("dynamic shared 100 KB without opt-in");
  small<<<1, 256>>>(d), launched("launch bounds 128 with 256 threads");
  k<<<1, 1, 300 << 10>>>(d), launched("shared 300 KB");
  called("FuncSetAttribute dynamic 300 KB",
         cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 300 << 10));
  called("cudaMemcpy size -4", cudaMemcpy(d, h, static_cast<size_t>(-4), cudaMemcpyHostToDevice));
  called("cudaMemcpy past the end", cudaMemcpy(d, h, 1 << 20, cudaMemcpyDeviceToHost));
  called("cudaMemcpy wrong direction", cudaMemcpy(h, d, 16, cudaMemcpyHostToDevice));
  called("cudaFree of host pointer", cudaFree(h));
  called("cudaFree inside", cudaFree(reinterpret_cast<char*>(d) + 4));
  called("cudaFree null", cudaFree(nullptr));
  k<<<1, 1>>>(d), launched("none");
  called("none", cudaDeviceSynchronize());
}
