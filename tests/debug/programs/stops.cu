// Kernels with an error each, and calls that fail, for tests of the debugger's stops. stops_test.py names its lines.
#include <cstdio>
#include <cstdlib>
#include <cstring>

__global__ void reverse(const int* in, int* out) {
  __shared__ int tile[64];
  int i = threadIdx.x;
  tile[i] = in[i];
  int from = 63 - i;
  out[i] = tile[from];
}

__global__ void unset(int* out) {
  __shared__ int flag;
  int i = threadIdx.x;
  if (flag > i) out[i] = 1;
}

__global__ void outside(int* out) {
  int i = threadIdx.x;
  out[i + (i == 5 ? 100000 : 0)] = i;
  out[i] = 2 * i;
}

__global__ void split(int* out) {
  int i = threadIdx.x;
  int v = 3;
  if (i < 8) {
    v += i;
  }
  out[i] = v;
  __syncthreads();
  out[63 - i] = v;
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  int *in, *out, host[64];
  for (int i = 0; i < 64; ++i) host[i] = i;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof host);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  if (!std::strcmp(what, "reverse")) reverse<<<1, 64>>>(in, out);
  if (!std::strcmp(what, "unset")) unset<<<1, 64>>>(out);
  if (!std::strcmp(what, "outside")) outside<<<1, 64>>>(out);
  if (!std::strcmp(what, "split")) split<<<1, 64>>>(out);
  if (!std::strcmp(what, "twice")) {
    split<<<1, 64>>>(out);
    split<<<1, 64>>>(out);
  }
  if (!std::strcmp(what, "api")) {
    cudaMemcpy(host, out, sizeof host * 1000, cudaMemcpyDeviceToHost);
    split<<<1, 2048>>>(out);
    cudaSetDevice(99);
  }
  cudaDeviceSynchronize();
  std::printf("ends\n");
  return 3;
}
