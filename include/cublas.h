// cuBLAS, its first interface (cuBLAS library documentation, "Using the cuBLAS Legacy API"): one handle of the
// library's own, letters, factors by value, and errors that are asked for. Each function is one of the second
// interface.
#ifndef CUBLAS_H_
#define CUBLAS_H_

#ifdef CUBLAS_V2_H_
#error "cublas.h (the first interface) and cublas_v2.h cannot be included together"
#endif

#include <cuda_runtime.h>

#include "cublas_api.h"

#define cublasStatus cublasStatus_t

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

cublasStatus CUBLASWINAPI cublasInit(void);
cublasStatus CUBLASWINAPI cublasShutdown(void);
cublasStatus CUBLASWINAPI cublasGetError(void);  // the last that was not success, which it forgets
cublasStatus CUBLASWINAPI cublasGetVersion(int* version);
cublasStatus CUBLASWINAPI cublasAlloc(int n, int elemSize, void** devicePtr);
cublasStatus CUBLASWINAPI cublasFree(void* devicePtr);
cublasStatus CUBLASWINAPI cublasSetKernelStream(cudaStream_t stream);

#define WG_CUBLAS(name) CUBLASWINAPI name
#define WG_DO(...) ;
#define WG_GIVE(...) ;
#define WG_TYPED "cublas_first.inc"
#include "warpgrind/cublas_types.inc"
#undef WG_TYPED
#undef WG_GIVE
#undef WG_DO
#undef WG_CUBLAS

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
