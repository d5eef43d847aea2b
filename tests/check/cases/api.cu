// Calls that are refused, or used wrongly; and calls whose failure is no bug.
#include "cases.h"

CASE(C026, "cudaMemset with n*sizeof(double) on a float buffer") {  // memset_beyond_end
  constexpr int kCount = 1 << 20;
  float* data;
  cudaMalloc(&data, kCount * sizeof(float));     //! C026 origin
  cudaMemset(data, 0, kCount * sizeof(double));  //! C026 ERROR api-error message~4194304
  cudaFree(data);
}

CASE(C027, "cudaMemcpy2D with width and pitch exchanged") {  // copy_2d_pitch_swapped
  constexpr size_t kPitch = 512, kWidth = 400, kHeight = 8;
  static char host[kWidth * kHeight];
  char* data = cases::zeros<char>(kPitch * kHeight);
  //! C027 ERROR api-error message~cudaErrorInvalidPitchValue
  cudaMemcpy2D(data, kWidth, host, kWidth, kPitch, kHeight, cudaMemcpyHostToDevice);
  cudaFree(data);
}

__constant__ float weights[16];
__global__ void symbol_copy_too_long(float* out) {
  out[threadIdx.x] = weights[threadIdx.x];
}
CASE(C028, "cudaMemcpyToSymbol longer than the symbol") {
  const float host[32] = {};
  float* out = cases::zeros<float>(16);
  cudaMemcpyToSymbol(weights, host, sizeof host);  //! C028 ERROR api-error message~weights message~64
  symbol_copy_too_long<<<1, 16>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}

__global__ void kernel_image_missing_error(int* out) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}
CASE(C029, "launch with 2048 threads per block, no check") {
  int* out = cases::zeros<int>(2048);
  kernel_image_missing_error<<<1, 2048>>>(out);  //! C029 ERROR launch-config message~2048 message~1024
  cudaDeviceSynchronize();
  cudaFree(out);
}

__global__ void too_much_shared(int* out) {
  extern __shared__ int s[];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = s[31 - threadIdx.x];
}
CASE(C030, "100 KiB dynamic shared without cudaFuncSetAttribute") {
  int* out = cases::zeros<int>(32);
  too_much_shared<<<1, 32, 100 << 10>>>(out);  //! C030 ERROR launch-config message~cudaFuncSetAttribute
  cudaDeviceSynchronize();
  cudaFree(out);
}

__global__ void sticky_error_ignored(int* out, size_t far) {
  out[far] = 1;  //! C031 ERROR oob-global-write thread=0,0,0 block=0,0,0 count=1
}
CASE(C031, "first kernel faults, five API calls follow unchecked") {
  int* out = cases::zeros<int>(32);
  int *more = nullptr, host = 0;
  sticky_error_ignored<<<1, 1>>>(out, size_t{1} << 30);
  cudaDeviceSynchronize();
  cudaMalloc(&more, 64);
  cudaMemset(out, 0, 4);
  cudaMemcpy(&host, out, 4, cudaMemcpyDeviceToHost);
  cudaFree(more);
  cudaFree(out);
}

__global__ void stream_destroyed_then_used(int* out) {
  out[threadIdx.x] = 1;
}
CASE(C032, "cudaStreamDestroy(s); launch into s") {
  int* out = cases::zeros<int>(32);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaStreamDestroy(stream);                              //! C032 cause
  stream_destroyed_then_used<<<1, 32, 0, stream>>>(out);  //! C032 ERROR api-misuse
  cudaDeviceSynchronize();
  cudaFree(out);
}

CASE(C033, "cudaEventElapsedTime on an event that was not recorded") {  // event_never_recorded
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  cudaEventRecord(begin);
  cudaDeviceSynchronize();
  float milliseconds = 0;
  cudaEventElapsedTime(&milliseconds, begin, end);  //! C033 WARNING api-error message~cudaErrorInvalidResourceHandle
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
}

__global__ void trap_notready_query(int* out) {
  int sum = 0;
  for (int i = 0; i < 100000; ++i) sum += atomicAdd(out, 0);
  out[1] = sum;
}
//! C166 clean
CASE(C166, "cudaStreamQuery returns NotReady") {
  int* out = cases::zeros<int>(2);
  trap_notready_query<<<1, 1>>>(out);
  int polls = 0;
  while (cudaStreamQuery(nullptr) == cudaErrorNotReady) ++polls;
  std::printf("%s\n", polls ? "polled" : "ready at once");
  cudaFree(out);
}

//! C167 clean
//! C167 options --devices 2
CASE(C167, "cudaDeviceEnablePeerAccess twice") {  // trap_peer_already_enabled
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices < 2) return;
  cudaDeviceEnablePeerAccess(1, 0);
  cudaDeviceEnablePeerAccess(1, 0);
  cudaDeviceSynchronize();
}

//! C168 at-most INFO api-error
CASE(C168,
     "a huge cudaMalloc fails, cudaGetLastError clears the error, the program goes on") {  // trap_probe_then_clear
  size_t bytes = size_t{1} << 60;
  void* data = nullptr;
  while (cudaMalloc(&data, bytes) != cudaSuccess) {
    cudaGetLastError();
    bytes = 1 << 20;
  }
  cudaMemset(data, 0, bytes);
  cudaFree(data);
}

__global__ void goes_on_after_a_fault(int* out, size_t far) {
  out[far] = 1;  //! C200 ERROR oob-global-write thread=0,0,0 block=0,0,0 count=1
}
__global__ void second_kernel_with_a_bug(int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) out[i] = i;  //! C200 ERROR oob-global-write#second thread=0,0,0 block=1,0,0 count=1
}
CASE(C200, "first kernel faults, the program prints the error and launches another one, which has a bug too") {
  int *out = cases::zeros<int>(32), *more;
  goes_on_after_a_fault<<<1, 1>>>(out, size_t{1} << 30);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));  //! C200 INFO sticky-error message~"5 calls"
  cudaMalloc(&more, 128);                                       //! C200 WARNING leak-device
  second_kernel_with_a_bug<<<2, 32>>>(more, 32);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  cudaFree(out);
}
