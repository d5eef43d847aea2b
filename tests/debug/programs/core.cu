// Kernels that fault after others have changed their memory, for core files (core_test.py names the lines).
//   core [KIND]     bounds, trap, assert, heap (with -DHEAP), texture or clock; without a KIND nothing faults
#include <cassert>
#include <cstdio>
#include <cstring>

__device__ int counter = 5;
__constant__ int weights[4];

struct Node {
  int value;
  Node* next;
};

__global__ void prepare(int* values, Node* list) {
  int i = threadIdx.x;
  values[i] = values[i] + 1000;
  if (i == 0) {
    counter = counter + 37;
    list[0].next = &list[1];
    list[1].value = 77;
  }
}

__global__ void spoil(int* values, Node* list, int n, int how) {
  __shared__ int tile[64];
  int t = threadIdx.x;
  int i = blockIdx.x * blockDim.x + t;
  int old = values[t];  // first
  values[t] = old + counter + weights[1];
  tile[t] = values[t] + list->next->value;
  __syncthreads();
  if ((how == 1 || how == 4) && i == 69) values[n * 100000 + t] = tile[t];  // bounds
  if (how == 2 && i == 70) __trap();                          // trap
  if (how == 3) assert(i != 71 && "seventy-one");             // assert
#ifdef HEAP
  if (how == 4) *static_cast<int*>(malloc(64)) = 1;  // heap
#endif
  if (t == 0) counter = counter + 1;
}

__global__ void sample(cudaTextureObject_t texture, int* values) {
  values[100000] = tex1Dfetch<int>(texture, threadIdx.x);
}

__global__ void at_odds(int* values) {
  values[100000 + clock64()] = 1;  // clock
}

__global__ void pass_time(int* values) {
  for (int i = 0; i < 100; ++i) values[0] += static_cast<int>(clock64());
}

int main(int argc, char** argv) {
  const char* kind = argc > 1 ? argv[1] : "";
  const auto is = [&](const char* name) { return !std::strcmp(kind, name); };
  int* values = nullptr;
  Node* list = nullptr;
  int first[64];
  const int w[4] = {1, 2, 3, 4};
  for (int i = 0; i < 64; ++i) first[i] = i;
  cudaMalloc(&values, sizeof first);
  cudaMallocManaged(&list, 2 * sizeof(Node));
  cudaMemcpy(values, first, sizeof first, cudaMemcpyHostToDevice);
  cudaMemcpyToSymbol(weights, w, sizeof w);
  prepare<<<1, 64>>>(values, list);
  cudaDeviceSynchronize();
  if (is("texture")) {
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = values;
    resource.res.linear.sizeInBytes = sizeof first;
    resource.res.linear.desc = cudaCreateChannelDesc<int>();
    cudaTextureDesc description{};
    cudaTextureObject_t texture = 0;
    cudaCreateTextureObject(&texture, &resource, &description, nullptr);
    sample<<<1, 32>>>(texture, values);
  } else if (is("clock")) {
    pass_time<<<1, 1>>>(values);
    at_odds<<<1, 1>>>(values);
  } else {
    const int how = is("bounds") ? 1 : is("trap") ? 2 : is("assert") ? 3 : is("heap") ? 4 : 0;
    spoil<<<2, 64>>>(values, list, 64, how);
  }
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  return 0;
}
