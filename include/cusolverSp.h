// cuSOLVER's sparse part: solution of sparse linear systems (cuSOLVER documentation, CUDA 13). In warpgrind the calls
// are carried out on the host, as dense matrices of at most 4096 rows (src/api/libraries/solver/sparse.cpp).
#ifndef CUSOLVERSP_H_
#define CUSOLVERSP_H_

#include "cuComplex.h"
#include "cusolver_common.h"
#include "cusparse.h"
#include "library_types.h"

struct cusolverSpContext;
typedef struct cusolverSpContext* cusolverSpHandle_t;
struct csrqrInfo;
typedef struct csrqrInfo* csrqrInfo_t;

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

cusolverStatus_t CUSOLVERAPI cusolverSpCreate(cusolverSpHandle_t* handle);
cusolverStatus_t CUSOLVERAPI cusolverSpDestroy(cusolverSpHandle_t handle);
cusolverStatus_t CUSOLVERAPI cusolverSpSetStream(cusolverSpHandle_t handle, cudaStream_t streamId);
cusolverStatus_t CUSOLVERAPI cusolverSpGetStream(cusolverSpHandle_t handle, cudaStream_t* streamId);
cusolverStatus_t CUSOLVERAPI cusolverSpCreateCsrqrInfo(csrqrInfo_t* info);
cusolverStatus_t CUSOLVERAPI cusolverSpDestroyCsrqrInfo(csrqrInfo_t info);
cusolverStatus_t CUSOLVERAPI cusolverSpXcsrqrAnalysisBatched(cusolverSpHandle_t handle, int m, int n, int nnzA,
                                                             const cusparseMatDescr_t descrA, const int* csrRowPtrA,
                                                             const int* csrColIndA, csrqrInfo_t info);

#define WG_CUSOLVER(name) cusolverStatus_t CUSOLVERAPI name
#define WG_TYPED "cusolver_sparse.inc"
#include "warpgrind/cusolver_types.inc"
#undef WG_TYPED
#undef WG_CUSOLVER

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
