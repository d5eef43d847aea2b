// Kernels of several kinds that a debugger walks through, forwards and backwards, for backwards_test.py.
#include <cstdio>
#include <cstring>

constexpr int kLarge = 1 << 20;  // memory of this size is copied when it is written, not at the launch

__global__ void shared_memory(int* data) {
  __shared__ int tile[64];
  int t = threadIdx.x;
  tile[t] = data[t] + blockIdx.x;
  __syncthreads();
  for (int step = 32; step > 0; step /= 2) {
    if (t < step) tile[t] += tile[t + step];
    __syncthreads();
  }
  data[t * 4000 + blockIdx.x] = tile[t];
}

__global__ void atomics(int* data) {
  int t = threadIdx.x;
  int before = atomicAdd(&data[0], t);
  atomicMax(&data[1000], before);
  data[t * 4000 + blockIdx.x] = before;
  atomicExch(&data[2000 + t % 3], t);
}

__global__ void local_array(int* data) {
  int values[8];
  for (int k = 0; k < 8; ++k) values[k] = data[(threadIdx.x + k) % 64] * k;
  int at = data[threadIdx.x] % 8;
  values[at] += threadIdx.x;
  int sum = 0;
  for (int k = 0; k < 8; ++k) sum += values[(at + k) % 8];
  data[threadIdx.x * 4000] = sum;
}

__global__ void prints(int* data) {
  int t = threadIdx.x;
  data[t] *= 2;
  if (t == 33) printf("block %d has %d\n", blockIdx.x, data[t]);
  __syncthreads();
  data[t] += data[63 - t] / 4;
  if (t == 5) printf("then %d\n", data[t]);
}

__global__ void divided(int* data) {
  int t = threadIdx.x;
  int count = 0;
  for (int v = t % 7 + 1; v != 1; v = v % 2 ? 3 * v + 1 : v / 2) {
    ++count;
    data[t + 64 * count] = v;
  }
  data[t * 4000] = count;
}

// Only the second warp of a block comes to the line of a breakpoint. It begins in place of the first, without the device.
__global__ void second_warp(int* data) {
  int t = threadIdx.x;
  int value = data[t + 64 * blockIdx.x];
  if (t >= 32) {
    value = value * 3 + 1;
    data[t * 4000 + blockIdx.x] = value;
  }
  data[t + 64 * blockIdx.x] = value;
}

__device__ int element(const int* from, int at) {
  return from[at];
}

// Reads what the launch before has left in shared and local memory.
__global__ void leftovers(int* data) {
  __shared__ int tile[64];
  int own[4];
  int t = threadIdx.x;
  int old = tile[t] + element(own, t % 4);
  data[t] = old;
  tile[t] = old + t + 1;
  own[t % 4] = old + 2;
  data[t + 64] = 0;
}

int main(int argc, char** argv) {
  const char* wanted = argc > 1 ? argv[1] : "";
  int* data = nullptr;
  int* host = new int[kLarge];
  for (int i = 0; i < kLarge; ++i) host[i] = i % 1000;
  cudaMalloc(&data, kLarge * sizeof(int));
  cudaMemcpy(data, host, kLarge * sizeof(int), cudaMemcpyHostToDevice);
  struct {
    const char* name;
    void (*kernel)(int*);
  } kernels[] = {{"shared_memory", shared_memory}, {"atomics", atomics}, {"local_array", local_array},
                 {"prints", prints},               {"divided", divided}, {"second_warp", second_warp},
                 {"leftovers", leftovers},         {"leftovers", leftovers}};
  for (auto& k : kernels)
    if (std::strcmp(k.name, wanted) == 0) k.kernel<<<2, 64>>>(data);
  cudaDeviceSynchronize();
  cudaMemcpy(host, data, kLarge * sizeof(int), cudaMemcpyDeviceToHost);
  unsigned sum = 0;
  for (int i = 0; i < kLarge; ++i) sum = sum * 31 + host[i];
  printf("sum %u\n", sum);
  return 0;
}
