// cuFFT's extended interface: plans by the types of their data. Transforms over several GPUs, and callbacks into device
// code, need what warpgrind has no version of: their functions say so (CUFFT_NOT_SUPPORTED).
#ifndef _CUFFTXT_H_
#define _CUFFTXT_H_

#include "cufft.h"

#define CUFFT_XT_MAX_GPUS_INTERNAL 64

typedef enum cudaXtCopyType_t {
  LIB_XT_COPY_HOST_TO_DEVICE,
  LIB_XT_COPY_DEVICE_TO_HOST,
  LIB_XT_COPY_DEVICE_TO_DEVICE
} cudaLibXtCopyType;
typedef enum libFormat_t { LIB_FORMAT_CUFFT = 0x0, LIB_FORMAT_UNDEFINED = 0x1 } libFormat;

typedef struct cudaXtDesc_t {
  int version;
  int nGPUs;
  int GPUs[CUFFT_XT_MAX_GPUS_INTERNAL];
  void* data[CUFFT_XT_MAX_GPUS_INTERNAL];
  size_t size[CUFFT_XT_MAX_GPUS_INTERNAL];
  void* cudaXtState;
} cudaXtDesc;
typedef struct cudaLibXtDesc_t {
  int version;
  cudaXtDesc* descriptor;
  libFormat library;
  int subFormat;
  void* libDescriptor;
} cudaLibXtDesc;

typedef enum cufftXtSubFormat_t {
  CUFFT_XT_FORMAT_INPUT = 0x00,
  CUFFT_XT_FORMAT_OUTPUT = 0x01,
  CUFFT_XT_FORMAT_INPLACE = 0x02,
  CUFFT_XT_FORMAT_INPLACE_SHUFFLED = 0x03,
  CUFFT_XT_FORMAT_1D_INPUT_SHUFFLED = 0x04,
  CUFFT_XT_FORMAT_DISTRIBUTED_INPUT = 0x05,
  CUFFT_XT_FORMAT_DISTRIBUTED_OUTPUT = 0x06,
  CUFFT_FORMAT_UNDEFINED = 0x07
} cufftXtSubFormat;
typedef enum cufftXtCopyType_t {
  CUFFT_COPY_HOST_TO_DEVICE = 0x00,
  CUFFT_COPY_DEVICE_TO_HOST = 0x01,
  CUFFT_COPY_DEVICE_TO_DEVICE = 0x02,
  CUFFT_COPY_UNDEFINED = 0x03
} cufftXtCopyType;
typedef enum cufftXtCallbackType_t {
  CUFFT_CB_LD_COMPLEX = 0x0,
  CUFFT_CB_LD_COMPLEX_DOUBLE = 0x1,
  CUFFT_CB_LD_REAL = 0x2,
  CUFFT_CB_LD_REAL_DOUBLE = 0x3,
  CUFFT_CB_ST_COMPLEX = 0x4,
  CUFFT_CB_ST_COMPLEX_DOUBLE = 0x5,
  CUFFT_CB_ST_REAL = 0x6,
  CUFFT_CB_ST_REAL_DOUBLE = 0x7,
  CUFFT_CB_UNDEFINED = 0x8
} cufftXtCallbackType;
typedef cufftComplex (*cufftCallbackLoadC)(void* dataIn, size_t offset, void* callerInfo, void* sharedPointer);
typedef cufftDoubleComplex (*cufftCallbackLoadZ)(void* dataIn, size_t offset, void* callerInfo, void* sharedPointer);
typedef cufftReal (*cufftCallbackLoadR)(void* dataIn, size_t offset, void* callerInfo, void* sharedPointer);
typedef cufftDoubleReal (*cufftCallbackLoadD)(void* dataIn, size_t offset, void* callerInfo, void* sharedPointer);
typedef void (*cufftCallbackStoreC)(void* dataOut, size_t offset, cufftComplex element, void* callerInfo,
                                    void* sharedPointer);
typedef void (*cufftCallbackStoreZ)(void* dataOut, size_t offset, cufftDoubleComplex element, void* callerInfo,
                                    void* sharedPointer);
typedef void (*cufftCallbackStoreR)(void* dataOut, size_t offset, cufftReal element, void* callerInfo,
                                    void* sharedPointer);
typedef void (*cufftCallbackStoreD)(void* dataOut, size_t offset, cufftDoubleReal element, void* callerInfo,
                                    void* sharedPointer);

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

cufftResult CUFFTAPI cufftXtMakePlanMany(cufftHandle plan, int rank, long long int* n, long long int* inembed,
                                         long long int istride, long long int idist, cudaDataType inputtype,
                                         long long int* onembed, long long int ostride, long long int odist,
                                         cudaDataType outputtype, long long int batch, size_t* workSize,
                                         cudaDataType executiontype);
cufftResult CUFFTAPI cufftXtGetSizeMany(cufftHandle plan, int rank, long long int* n, long long int* inembed,
                                        long long int istride, long long int idist, cudaDataType inputtype,
                                        long long int* onembed, long long int ostride, long long int odist,
                                        cudaDataType outputtype, long long int batch, size_t* workSize,
                                        cudaDataType executiontype);
cufftResult CUFFTAPI cufftXtExec(cufftHandle plan, void* input, void* output, int direction);

cufftResult CUFFTAPI cufftXtSetGPUs(cufftHandle plan, int nGPUs, int* whichGPUs);
cufftResult CUFFTAPI cufftXtMalloc(cufftHandle plan, cudaLibXtDesc** descriptor, cufftXtSubFormat format);
cufftResult CUFFTAPI cufftXtMemcpy(cufftHandle plan, void* dst, void* src, cufftXtCopyType type);
cufftResult CUFFTAPI cufftXtFree(cudaLibXtDesc* descriptor);
cufftResult CUFFTAPI cufftXtExecDescriptorC2C(cufftHandle plan, cudaLibXtDesc* input, cudaLibXtDesc* output,
                                              int direction);
cufftResult CUFFTAPI cufftXtExecDescriptorR2C(cufftHandle plan, cudaLibXtDesc* input, cudaLibXtDesc* output);
cufftResult CUFFTAPI cufftXtExecDescriptorC2R(cufftHandle plan, cudaLibXtDesc* input, cudaLibXtDesc* output);
cufftResult CUFFTAPI cufftXtExecDescriptorZ2Z(cufftHandle plan, cudaLibXtDesc* input, cudaLibXtDesc* output,
                                              int direction);
cufftResult CUFFTAPI cufftXtExecDescriptorD2Z(cufftHandle plan, cudaLibXtDesc* input, cudaLibXtDesc* output);
cufftResult CUFFTAPI cufftXtExecDescriptorZ2D(cufftHandle plan, cudaLibXtDesc* input, cudaLibXtDesc* output);
cufftResult CUFFTAPI cufftXtSetCallback(cufftHandle plan, void** callback_routine, cufftXtCallbackType cbType,
                                        void** caller_info);
cufftResult CUFFTAPI cufftXtClearCallback(cufftHandle plan, cufftXtCallbackType cbType);
cufftResult CUFFTAPI cufftXtSetCallbackSharedSize(cufftHandle plan, cufftXtCallbackType cbType, size_t sharedSize);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
