// Races in global memory between blocks, and what is read through the read-only path while it is written.
#include "cases.h"

__global__ void two_blocks_write_same_word(int* out) {
  //! C054 ERROR race-global block=0,0,0 access=write //! C054 ERROR race-global block=1,0,0 access=write
  out[0] = blockIdx.x;
}
CASE(C054, "each block writes out[0]=blockIdx.x") {
  int* out = cases::zeros<int>(1);
  two_blocks_write_same_word<<<2, 1>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}

__global__ void block_reads_other_blocks_output(const int* in, int* a, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  a[i] = in[i];  //! C055 ERROR race-global block=1,0,0 thread=0,0,0 access=write
  __syncthreads();
  if (blockIdx.x == 0) out[i] = a[i + blockDim.x];  //! C055 ERROR race-global block=0,0,0 thread=0,0,0 access=read
}
CASE(C055, "block b writes a[b], reads a[b+1] after __syncthreads()") {
  int *in = cases::zeros<int>(128), *a = cases::zeros<int>(128), *out = cases::zeros<int>(64);
  block_reads_other_blocks_output<<<2, 64>>>(in, a, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(a);
  cudaFree(out);
}

__global__ void in_place_shift(int* a) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  //! C056 ERROR race-global access=write //! C056 ERROR race-global access=read //! C056 may WARNING race-warp
  a[i] = a[i + 1];
}
CASE(C056, "a[i]=a[i+1], one launch") {
  int* a = cases::zeros<int>(129);
  in_place_shift<<<2, 64>>>(a);
  cudaDeviceSynchronize();
  cudaFree(a);
}

__global__ void plain_sum_to_global(const int* x, int* sum) {
  //! C057 ERROR race-global message~atomicAdd //! C057 may WARNING race-warp
  *sum += x[blockIdx.x * blockDim.x + threadIdx.x];
}
CASE(C057, "*sum += x by all threads") {
  int *x = cases::zeros<int>(64), *sum = cases::zeros<int>(1);
  plain_sum_to_global<<<2, 32>>>(x, sum);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(sum);
}

__global__ void atomic_scope_cta_two_blocks(int* n) {
  //! C063 ERROR race-scope block=0,0,0 access=atomic //! C063 ERROR race-scope block=1,0,0 access=atomic
  atomicAdd_block(n, 1);
}
CASE(C063, "atomicAdd_block(&n,1) from two blocks") {
  int* n = cases::zeros<int>(1);
  atomic_scope_cta_two_blocks<<<2, 32>>>(n);
  cudaDeviceSynchronize();
  cudaFree(n);
}

__global__ void atomic_mixed_width(unsigned long long* n) {
  if (blockIdx.x == 0)
    atomicAdd(reinterpret_cast<unsigned*>(n), 1u);  //! C064 ERROR race-global block=0,0,0 access=atomic bytes=4
  else
    atomicAdd(n, 1ull);  //! C064 ERROR race-global block=1,0,0 access=atomic bytes=8
}
CASE(C064, "32-bit atomicAdd on the low half, 64-bit atomicAdd on the whole word") {
  auto* n = cases::zeros<unsigned long long>(1);
  atomic_mixed_width<<<2, 1>>>(n);
  cudaDeviceSynchronize();
  cudaFree(n);
}

__global__ void grid_phase_without_grid_sync(const int* in, int* a, int* out) {
  const int n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  a[i] = in[i];  //! C066 ERROR race-global access=write
  __syncthreads();
  out[i] = a[n - 1 - i];  //! C066 ERROR race-global access=read
}
CASE(C066, "cooperative launch, phases separated by __syncthreads only") {
  int *in = cases::zeros<int>(128), *a = cases::zeros<int>(128), *out = cases::zeros<int>(128);
  void* arguments[] = {&in, &a, &out};
  cudaLaunchCooperativeKernel(grid_phase_without_grid_sync, 2, 64, arguments, 0, nullptr);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(a);
  cudaFree(out);
}

__global__ void counter_reset_in_kernel(int* n) {
  if (blockIdx.x == 0) *n = 0;  //! C067 ERROR race-global block=0,0,0 access=write
  atomicAdd(n, 1);              //! C067 ERROR race-global block=1,0,0 access=atomic
}
CASE(C067, "block 0 sets n=0, all blocks atomicAdd(n)") {
  int* n = cases::zeros<int>(1);
  counter_reset_in_kernel<<<4, 1>>>(n);
  cudaDeviceSynchronize();
  cudaFree(n);
}

__global__ void nc_load_of_written_data(int* p, int* out) {
  const int i = threadIdx.x;
  p[i] = i;               //! C068 ERROR nc-violation access=write
  out[i] = __ldg(p + i);  //! C068 ERROR nc-violation access=read
}
CASE(C068, "__ldg(p+i) after the same kernel wrote p[i], same thread") {
  int *p = cases::zeros<int>(32), *out = cases::zeros<int>(32);
  nc_load_of_written_data<<<1, 32>>>(p, out);
  cudaDeviceSynchronize();
  cudaFree(p);
  cudaFree(out);
}

__global__ void texture_fetch_of_written_data(cudaTextureObject_t texture, float* p, float* out) {
  const int i = threadIdx.x;
  p[i] = i;                                //! C069 ERROR nc-violation access=write
  out[i] = tex1Dfetch<float>(texture, i);  //! C069 ERROR nc-violation access=read
}
CASE(C069, "texture object over linear memory that the kernel also writes") {
  float *p = cases::zeros<float>(32), *out = cases::zeros<float>(32);
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = p;
  resource.res.linear.desc = cudaCreateChannelDesc<float>();
  resource.res.linear.sizeInBytes = 32 * sizeof(float);
  cudaTextureDesc how{};
  how.readMode = cudaReadModeElementType;
  cudaTextureObject_t texture;
  cudaCreateTextureObject(&texture, &resource, &how, nullptr);
  texture_fetch_of_written_data<<<1, 32>>>(texture, p, out);
  cudaDeviceSynchronize();
  cudaDestroyTextureObject(texture);
  cudaFree(p);
  cudaFree(out);
}
