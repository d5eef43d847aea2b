// The runtime API inside kernels (CUDA C++ Programming Guide, "CUDA Dynamic Parallelism", "Device-Side Runtime API"):
// device overloads of the host's functions. Launches: warpgrind/device/launches.h.
#ifndef __CUDA_DEVICE_RUNTIME_API_H__
#define __CUDA_DEVICE_RUNTIME_API_H__

#include "cuda_runtime_api.h"

#define cudaStreamTailLaunch ((cudaStream_t)0x3)
#define cudaStreamFireAndForget ((cudaStream_t)0x4)
#define cudaStreamGraphTailLaunch ((cudaStream_t)0x0100000000000000)
#define cudaStreamGraphFireAndForget ((cudaStream_t)0x0200000000000000)
#define cudaStreamGraphFireAndForgetAsSibling ((cudaStream_t)0x0300000000000000)

#if defined(__CUDACC__) && defined(__cplusplus)
extern "C" {
// A buffer for the parameters of a launch, and the launch.
__device__ void* cudaGetParameterBufferV2(void* function, dim3 grid, dim3 block, unsigned int shared);
__device__ cudaError_t cudaLaunchDeviceV2(void* buffer, cudaStream_t stream);
// Of version 1 (before CUDA 12), by name only: a kernel that calls them is refused.
__device__ void* cudaGetParameterBuffer(size_t alignment, size_t size);
__device__ cudaError_t cudaLaunchDevice(void* function, void* buffer, dim3 grid, dim3 block, unsigned int shared,
                                        cudaStream_t stream);
__device__ cudaError_t __cudaDeviceSynchronizeDeprecationAvoidance(void);

__device__ cudaError_t cudaMalloc(void** pointer, size_t size);
__device__ cudaError_t cudaFree(void* pointer);
__device__ cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t count, cudaMemcpyKind kind,
                                       cudaStream_t stream = 0);
__device__ cudaError_t cudaMemsetAsync(void* pointer, int value, size_t count, cudaStream_t stream = 0);
__device__ cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags);
__device__ cudaError_t cudaStreamDestroy(cudaStream_t stream);
__device__ cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags = 0);
__device__ cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags);
__device__ cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = 0);
__device__ cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags);
__device__ cudaError_t cudaEventDestroy(cudaEvent_t event);
__device__ cudaError_t cudaGetLastError(void);
__device__ cudaError_t cudaPeekAtLastError(void);
__device__ const char* cudaGetErrorString(cudaError_t error);
__device__ const char* cudaGetErrorName(cudaError_t error);
__device__ cudaError_t cudaGetDevice(int* device);
__device__ cudaError_t cudaGetDeviceCount(int* count);
__device__ void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned int value);
__device__ cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream);
}
// The graph to which the running kernel belongs, if it was launched by the device; else null.
static inline __device__ cudaGraphExec_t cudaGetCurrentGraphExec(void) {
  unsigned long long graph;
  asm("mov.u64 %0, %%current_graph_exec;" : "=l"(graph));
  return (cudaGraphExec_t)graph;
}
// Programmatic dependent launch, from compute capability 9.0 on; before it a kernel begins when the one before has
// ended.
static inline __device__ void cudaGridDependencySynchronize(void) {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
static inline __device__ void cudaTriggerProgrammaticLaunchCompletion(void) {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
template <class T>
static inline __device__ cudaError_t cudaMalloc(T** pointer, size_t size) {
  return ::cudaMalloc((void**)(void*)pointer, size);
}
#endif

#endif
