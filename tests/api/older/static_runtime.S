// A stand-in for NVIDIA's static runtime of OLDER_RELEASE, linked into the test program: the functions that it calls, each
// of which fails, and the mark of the release. `warpgrind run` must replace them by ours.
  .section .note.GNU-stack, "", @progbits
  // Data that nvcc puts into every program with kernels.
  .section .nv_fatbin, "a", @progbits
  .quad 0
  .text

#define STAND_IN(name)         \
  .globl name;                 \
  .type name, @function;       \
  .balign 32;                  \
  name: movl $999, %eax;       \
  xorl %edx, %edx;             \
  nop; nop; nop; nop; nop;     \
  ret;                         \
  .size name, . - name;

STAND_IN(__cudaRegisterFatBinary) STAND_IN(__cudaRegisterFatBinaryEnd) STAND_IN(__cudaRegisterFunction)
STAND_IN(__cudaRegisterVar) STAND_IN(cudaChooseDevice) STAND_IN(cudaCreateTextureObject)
STAND_IN(cudaCtxResetPersistingL2Cache) STAND_IN(cudaDestroyTextureObject) STAND_IN(cudaDeviceGetAttribute)
STAND_IN(cudaDeviceSynchronize) STAND_IN(cudaEventCreate) STAND_IN(cudaEventDestroy) STAND_IN(cudaEventRecord)
STAND_IN(cudaFree) STAND_IN(cudaGetDeviceProperties) STAND_IN(cudaGetTextureObjectResourceDesc)
STAND_IN(cudaGetTextureObjectTextureDesc) STAND_IN(cudaGraphAddDependencies) STAND_IN(cudaGraphAddEmptyNode)
STAND_IN(cudaGraphCreate) STAND_IN(cudaGraphDestroy) STAND_IN(cudaGraphExecDestroy) STAND_IN(cudaGraphExecUpdate)
STAND_IN(cudaGraphGetEdges) STAND_IN(cudaGraphInstantiate) STAND_IN(cudaGraphLaunch)
STAND_IN(cudaGraphNodeGetDependencies) STAND_IN(cudaLaunchKernel) STAND_IN(cudaMalloc) STAND_IN(cudaMallocManaged)
STAND_IN(cudaMemAdvise) STAND_IN(cudaMemPrefetchAsync) STAND_IN(cudaMemRangeGetAttribute) STAND_IN(cudaMemcpy)
STAND_IN(cudaPointerGetAttributes) STAND_IN(cudaRuntimeGetVersion) STAND_IN(cudaStreamBeginCapture)
STAND_IN(cudaStreamCreate) STAND_IN(cudaStreamDestroy) STAND_IN(cudaStreamEndCapture)
STAND_IN(cudaStreamGetCaptureInfo) STAND_IN(cudaStreamGetCaptureInfo_v2) STAND_IN(cudaThreadSynchronize)
STAND_IN(cudaFuncGetAttributes)
#if OLDER_RELEASE == 11
STAND_IN(cudaBindTexture)
#else
STAND_IN(cudaGetDeviceProperties_v2) STAND_IN(cudaEventElapsedTime_v2)
#endif
