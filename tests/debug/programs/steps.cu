// For steps_test.py: a transpose through a tile, with and without padding, and a branch that splits a warp.
#include <cstdio>

template <int kPad>
__global__ void transpose(const float* in, float* out) {
  __shared__ float tile[32][32 + kPad];
  for (int row = threadIdx.y; row < 32; row += 2)
    tile[row][threadIdx.x] = in[row * 32 + threadIdx.x];
  __syncthreads();
  for (int row = threadIdx.y; row < 32; row += 2)
    out[row * 32 + threadIdx.x] = tile[threadIdx.x][row];
}

__global__ void split(int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int sign = i % 3 == 0;
  if (sign)
    out[i] = i;
  else
    out[i] = -i;
}

__global__ void spin(int* out, int rounds) {
  int sum = 0;
  for (int i = 0; i < rounds; ++i) {
    sum += i;
  }
  *out = sum;
}

struct Point {
  short x, y;
};
struct Partial {
  float sum;
  Point at;
  unsigned char flags[4];
};

__global__ void partials(float* out) {
  __shared__ Partial part[32];
  part[threadIdx.x] = {1.5f, {2, 3}, {4, 5, 6, 7}};
  out[threadIdx.x] = part[31 - threadIdx.x].sum;
}

__global__ void outside(int* out) {
  int place = threadIdx.x == 5 ? 1 << 28 : threadIdx.x;
  out[place] = 1;
}

int main(int count, char** words) {
  float host[1024];
  for (int i = 0; i < 1024; ++i) host[i] = static_cast<float>(i);
  float *in, *out;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof host);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  transpose<0><<<1, dim3(32, 2)>>>(in, out);
  transpose<1><<<1, dim3(32, 2)>>>(in, out);
  split<<<2, 32>>>(reinterpret_cast<int*>(out));
  if (count > 1 && words[1][0] == 'l') spin<<<1, 32>>>(reinterpret_cast<int*>(out), 50000);
  if (count > 1 && words[1][0] == 'p') partials<<<1, 32>>>(out);
  if (count > 1 && words[1][0] == 'f') outside<<<1, 64>>>(reinterpret_cast<int*>(out));
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
