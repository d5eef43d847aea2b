// Uses of values that were never written.
#include "cases.h"

__global__ void branch_on_uninit_global(const int* p, int* out) {
  const int i = threadIdx.x;
  if (p[i] > 0)  //! C079 ERROR uninit-branch thread=0,0,0 block=0,0,0
    out[i] = 1;
}
CASE(C079, "if (p[i]>0) on fresh cudaMalloc memory") {
  int *p, *out = cases::zeros<int>(32);
  cudaMalloc(&p, 32 * sizeof(int));  //! C079 origin
  branch_on_uninit_global<<<1, 32>>>(p, out);
  cudaDeviceSynchronize();
  cudaFree(p);
  cudaFree(out);
}

__global__ void uninit_index(const int* idx, const int* a, int* out) {
  const int i = threadIdx.x;
  out[i] = a[idx[i]];  //! C080 ERROR uninit-address thread=0,0,0 block=0,0,0 access=read
}
CASE(C080, "idx[i] of fresh memory used as an index") {
  int *idx, *a = cases::zeros<int>(32), *out = cases::zeros<int>(32);
  cudaMalloc(&idx, 32 * sizeof(int));  //! C080 origin
  uninit_index<<<1, 32>>>(idx, a, out);
  cudaDeviceSynchronize();
  cudaFree(idx);
  cudaFree(a);
  cudaFree(out);
}

__global__ void rmw_on_fresh_bins(const int* b, int* h) {
  atomicAdd(&h[b[threadIdx.x]], 1);  //! C081 ERROR uninit-rmw thread=0,0,0 block=0,0,0 access=atomic message~cudaMemset
}
CASE(C081, "atomicAdd(&h[b],1) on fresh memory") {
  int *b = cases::zeros<int>(32), *h;
  cudaMalloc(&h, 16 * sizeof(int));  //! C081 origin
  rmw_on_fresh_bins<<<1, 32>>>(b, h);
  cudaDeviceSynchronize();
  cudaFree(b);
  cudaFree(h);
}

__global__ void sum_of_partly_filled_shared(const int* in, int* out) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  if (t < 48) s[t] = in[t];
  __syncthreads();
  int sum = 0;
  for (int i = 0; i < 64; ++i) sum += s[i];
  if (sum > 10)  //! C082 ERROR uninit-shared thread=0,0,0 block=0,0,0 origin.object~s
    out[t] = sum;
}
CASE(C082, "threads < 48 of 64 fill s, all sum") {
  int *in = cases::zeros<int>(48), *out = cases::zeros<int>(64);
  sum_of_partly_filled_shared<<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}

// As an asm statement: a compiler that sees a variable without a value decides what it is.
__global__ void register_on_one_path(const int* c, const int* d, int* out) {
  const int t = threadIdx.x;
  float v;
  asm volatile(
      "{ .reg .pred p, q; .reg .f32 v;\n"
      "setp.ne.s32 p, %1, 0;\n"
      "setp.ne.s32 q, %2, 0;\n"
      "@p bra one;\n"
      "@q bra two;\n"
      "bra done;\n"
      "one: mov.f32 v, 0f3F800000;\n"
      "bra done;\n"
      "two: mov.f32 v, 0f40000000;\n"
      "done: mov.f32 %0, v; }"
      : "=f"(v)
      : "r"(c[t]), "r"(d[t]));
  if (v > 1.5f)  //! C083 ERROR uninit-register thread=2,0,0 block=0,0,0
    out[t] = 1;
}
CASE(C083, "float v; if (c) v=1; else if (d) v=2; use v in a comparison when neither") {
  const int host[3] = {1, 0, 0};
  int *c = cases::zeros<int>(3), *d = cases::zeros<int>(3), *out = cases::zeros<int>(3);
  cudaMemcpy(c, host, sizeof host, cudaMemcpyHostToDevice);
  cudaMemcpy(d + 1, host, 2 * sizeof(int), cudaMemcpyHostToDevice);
  register_on_one_path<<<1, 3>>>(c, d, out);
  cudaDeviceSynchronize();
  cudaFree(c);
  cudaFree(d);
  cudaFree(out);
}

__global__ void local_array_partly(const int* in, int n, int* out) {
  int a[16];
  for (int i = 0; i < n; ++i) a[i] = in[i];
  int largest = a[0];
  for (int i = 1; i < 16; ++i) largest = max(largest, a[i]);
  if (largest > 10)  //! C084 ERROR uninit-local thread=0,0,0 block=0,0,0
    out[threadIdx.x] = largest;
}
CASE(C084, "int a[16], first n filled from data, maximum over 16") {
  int *in = cases::zeros<int>(12), *out = cases::zeros<int>(32);
  local_array_partly<<<1, 32>>>(in, 12, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}

__global__ void copy(const int* from, int* to) {
  to[threadIdx.x] = from[threadIdx.x];  //! C085 any
}
__global__ void copied_twice_then_used(const int* p, int* out) {
  const int i = threadIdx.x;
  if (p[i] > 0)  //! C085 ERROR uninit-branch thread=0,0,0 block=0,0,0
    out[i] = 1;
}
CASE(C085, "fresh memory copied by a kernel, by cudaMemcpyAsync D2D, then branched on") {
  int *first, *second, *third, *out = cases::zeros<int>(32);
  cudaMalloc(&first, 32 * sizeof(int));  //! C085 origin
  cudaMalloc(&second, 32 * sizeof(int));
  cudaMalloc(&third, 32 * sizeof(int));
  copy<<<1, 32>>>(first, second);
  cudaMemcpyAsync(third, second, 32 * sizeof(int), cudaMemcpyDeviceToDevice, nullptr);  //! C085 any
  copied_twice_then_used<<<1, 32>>>(third, out);
  cudaDeviceSynchronize();
  cudaFree(first);
  cudaFree(second);
  cudaFree(third);
  cudaFree(out);
}

struct Node {
  Node* next;
  int value;
};
// The asm statement hides from the compiler that the memory is fresh, and reads of it may be anything.
__global__ void device_malloc_field(int* out) {
  Node* node = static_cast<Node*>(malloc(sizeof(Node)));  //! C086 origin
  asm volatile("" : "+l"(node)::"memory");
  node->value = 1;
  out[0] = node->next->value;  //! C086 ERROR uninit-address thread=0,0,0 block=0,0,0 access=read
  free(node);
}
CASE(C086, "node from malloc(): next pointer not set, followed") {
  int* out = cases::zeros<int>(1);
  device_malloc_field<<<1, 1>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}

__global__ void shfl_carries_uninit(const int* p, int* out) {
  const int t = threadIdx.x, v = __shfl_down_sync(~0u, p[t], 5);
  if (t == 0) {
    if (v > 3)  //! C087 ERROR uninit-branch thread=0,0,0 block=0,0,0
      out[0] = 1;
  }
}
CASE(C087, "one lane has an undefined value, shuffled to lane 0, lane 0 branches") {
  int *p, *out = cases::zeros<int>(1);
  cudaMalloc(&p, 32 * sizeof(int));  //! C087 origin
  cudaMemset(p, 0, 5 * sizeof(int));
  cudaMemset(p + 6, 0, 26 * sizeof(int));
  shfl_carries_uninit<<<1, 32>>>(p, out);
  cudaDeviceSynchronize();
  cudaFree(p);
  cudaFree(out);
}

__global__ void d2h_of_unwritten_tail(float* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = i;
}
CASE(C088, "kernel writes n-100 of n floats, all copied to the host") {
  constexpr int kCount = 1000;
  static float host[kCount];
  float* data;
  cudaMalloc(&data, kCount * sizeof(float));  //! C088 origin
  d2h_of_unwritten_tail<<<4, 256>>>(data, kCount - 100);
  cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost);  //! C088 WARNING uninit-copy-to-host message~400
  cudaFree(data);
}

__global__ void unused_allocation(int* data) {
  data[threadIdx.x] = 1;
}
//! C089 options --track-unused-memory
CASE(C089, "80 of 100 bytes never touched") {
  int* data;
  cudaMalloc(&data, 100);  //! C089 INFO unused-memory message~80
  unused_allocation<<<1, 5>>>(data);
  cudaDeviceSynchronize();
  cudaFree(data);
}

__global__ void sum_into_half_cleared(int* sums) {
  sums[threadIdx.x] += threadIdx.x;  //! C202 WARNING uninit-rmw thread=16,0,0 access=write message~cudaMemset
}
CASE(C202, "cudaMemset of n bytes where n ints are meant, then sums += in a kernel; their values are never used") {
  int* sums;
  cudaMalloc(&sums, 64 * sizeof(int));  //! C202 origin
  cudaMemset(sums, 0, 64);
  sum_into_half_cleared<<<1, 64>>>(sums);
  cudaDeviceSynchronize();
  cudaFree(sums);
}
