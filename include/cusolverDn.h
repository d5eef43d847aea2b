// cuSOLVER's dense part: factorisations, eigenvalues and singular values (cuSOLVER documentation, CUDA 13). In
// warpgrind the calls are carried out on the host (src/api/libraries/solver). Sizes are in elements, workspaces of
// functions with an element type in their name too; those of the 64-bit functions (cusolverDnX...) are in bytes.
#ifndef CUSOLVERDN_H_
#define CUSOLVERDN_H_

#include <stdint.h>
#include <stdio.h>

#include "cuComplex.h"
#include "cublas_v2.h"
#include "cusolver_common.h"
#include "library_types.h"

struct cusolverDnContext;
typedef struct cusolverDnContext* cusolverDnHandle_t;
struct syevjInfo;
typedef struct syevjInfo* syevjInfo_t;
struct gesvdjInfo;
typedef struct gesvdjInfo* gesvdjInfo_t;
struct cusolverDnIRSParams;
typedef struct cusolverDnIRSParams* cusolverDnIRSParams_t;
struct cusolverDnIRSInfos;
typedef struct cusolverDnIRSInfos* cusolverDnIRSInfos_t;
struct cusolverDnParams;
typedef struct cusolverDnParams* cusolverDnParams_t;
typedef enum { CUSOLVERDN_GETRF = 0, CUSOLVERDN_POTRF = 1, CUSOLVERDN_SYEVBATCHED = 2 } cusolverDnFunction_t;
typedef void (*cusolverDnLoggerCallback_t)(int logLevel, const char* functionName, const char* message);

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

// ---- The library
cusolverStatus_t CUSOLVERAPI cusolverDnCreate(cusolverDnHandle_t* handle);
cusolverStatus_t CUSOLVERAPI cusolverDnDestroy(cusolverDnHandle_t handle);
cusolverStatus_t CUSOLVERAPI cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t streamId);
cusolverStatus_t CUSOLVERAPI cusolverDnGetStream(cusolverDnHandle_t handle, cudaStream_t* streamId);
cusolverStatus_t CUSOLVERAPI cusolverDnSetDeterministicMode(cusolverDnHandle_t handle,
                                                            cusolverDeterministicMode_t mode);
cusolverStatus_t CUSOLVERAPI cusolverDnGetDeterministicMode(cusolverDnHandle_t handle,
                                                            cusolverDeterministicMode_t* mode);
cusolverStatus_t CUSOLVERAPI cusolverDnSetMathMode(cusolverDnHandle_t handle, cusolverMathMode_t mode);
cusolverStatus_t CUSOLVERAPI cusolverDnGetMathMode(cusolverDnHandle_t handle, cusolverMathMode_t* mode);
cusolverStatus_t CUSOLVERAPI cusolverDnCreateParams(cusolverDnParams_t* params);
cusolverStatus_t CUSOLVERAPI cusolverDnDestroyParams(cusolverDnParams_t params);
cusolverStatus_t CUSOLVERAPI cusolverDnSetAdvOptions(cusolverDnParams_t params, cusolverDnFunction_t function,
                                                     cusolverAlgMode_t algo);
cusolverStatus_t CUSOLVERAPI cusolverDnLoggerSetCallback(cusolverDnLoggerCallback_t callback);
cusolverStatus_t CUSOLVERAPI cusolverDnLoggerSetFile(FILE* file);
cusolverStatus_t CUSOLVERAPI cusolverDnLoggerOpenFile(const char* logFile);
cusolverStatus_t CUSOLVERAPI cusolverDnLoggerSetLevel(int level);
cusolverStatus_t CUSOLVERAPI cusolverDnLoggerSetMask(int mask);
cusolverStatus_t CUSOLVERAPI cusolverDnLoggerForceDisable();

// ---- Functions by element type
#define WG_CUSOLVER(name) cusolverStatus_t CUSOLVERAPI name
#define WG_TYPED "cusolver_typed.inc"
#include "warpgrind/cusolver_types.inc"
#undef WG_TYPED
#undef WG_CUSOLVER

// ---- Parameters of Jacobi's methods
cusolverStatus_t CUSOLVERAPI cusolverDnCreateSyevjInfo(syevjInfo_t* info);
cusolverStatus_t CUSOLVERAPI cusolverDnDestroySyevjInfo(syevjInfo_t info);
cusolverStatus_t CUSOLVERAPI cusolverDnXsyevjSetTolerance(syevjInfo_t info, double tolerance);
cusolverStatus_t CUSOLVERAPI cusolverDnXsyevjSetMaxSweeps(syevjInfo_t info, int max_sweeps);
cusolverStatus_t CUSOLVERAPI cusolverDnXsyevjSetSortEig(syevjInfo_t info, int sort_eig);
cusolverStatus_t CUSOLVERAPI cusolverDnXsyevjGetResidual(cusolverDnHandle_t handle, syevjInfo_t info, double* residual);
cusolverStatus_t CUSOLVERAPI cusolverDnXsyevjGetSweeps(cusolverDnHandle_t handle, syevjInfo_t info,
                                                       int* executed_sweeps);
cusolverStatus_t CUSOLVERAPI cusolverDnCreateGesvdjInfo(gesvdjInfo_t* info);
cusolverStatus_t CUSOLVERAPI cusolverDnDestroyGesvdjInfo(gesvdjInfo_t info);
cusolverStatus_t CUSOLVERAPI cusolverDnXgesvdjSetTolerance(gesvdjInfo_t info, double tolerance);
cusolverStatus_t CUSOLVERAPI cusolverDnXgesvdjSetMaxSweeps(gesvdjInfo_t info, int max_sweeps);
cusolverStatus_t CUSOLVERAPI cusolverDnXgesvdjSetSortEig(gesvdjInfo_t info, int sort_svd);
cusolverStatus_t CUSOLVERAPI cusolverDnXgesvdjGetResidual(cusolverDnHandle_t handle, gesvdjInfo_t info,
                                                          double* residual);
cusolverStatus_t CUSOLVERAPI cusolverDnXgesvdjGetSweeps(cusolverDnHandle_t handle, gesvdjInfo_t info,
                                                        int* executed_sweeps);

// ---- Linear systems and least squares with iterative refinement
cusolverStatus_t CUSOLVERAPI cusolverDnIRSParamsCreate(cusolverDnIRSParams_t* params_ptr);
cusolverStatus_t CUSOLVERAPI cusolverDnIRSParamsDestroy(cusolverDnIRSParams_t params);
cusolverStatus_t CUSOLVERAPI cusolverDnIRSParamsSetRefinementSolver(cusolverDnIRSParams_t params,
                                                                    cusolverIRSRefinement_t refinement_solver);
cusolverStatus_t CUSOLVERAPI cusolverDnIRSParamsSetSolverMainPrecision(cusolverDnIRSParams_t params,
                                                                       cusolverPrecType_t solver_main_precision);
cusolverStatus_t CUSOLVERAPI cusolverDnIRSParamsSetSolverLowestPrecision(cusolverDnIRSParams_t params,
                                                                         cusolverPrecType_t solver_lowest_precision);
cusolverStatus_t CUSOLVERAPI cusolverDnIRSParamsSetSolverPrecisions(cusolverDnIRSParams_t params,
                                                                    cusolverPrecType_t solver_main_precision,
                                                                    cusolverPrecType_t solver_lowest_precision);
cusolverStatus_t CUSOLVERAPI cusolverDnIRSParamsSetTol(cusolverDnIRSParams_t params, double val);
cusolverStatus_t CUSOLVERAPI cusolverDnIRSParamsSetTolInner(cusolverDnIRSParams_t params, double val);
cusolverStatus_t CUSOLVERAPI cusolverDnIRSParamsSetMaxIters(cusolverDnIRSParams_t params, cusolver_int_t maxiters);
cusolverStatus_t CUSOLVERAPI cusolverDnIRSParamsSetMaxItersInner(cusolverDnIRSParams_t params,
                                                                 cusolver_int_t maxiters_inner);
cusolverStatus_t CUSOLVERAPI cusolverDnIRSParamsGetMaxIters(cusolverDnIRSParams_t params, cusolver_int_t* maxiters);
cusolverStatus_t CUSOLVERAPI cusolverDnIRSParamsEnableFallback(cusolverDnIRSParams_t params);
cusolverStatus_t CUSOLVERAPI cusolverDnIRSParamsDisableFallback(cusolverDnIRSParams_t params);
cusolverStatus_t CUSOLVERAPI cusolverDnIRSInfosDestroy(cusolverDnIRSInfos_t infos);
cusolverStatus_t CUSOLVERAPI cusolverDnIRSInfosCreate(cusolverDnIRSInfos_t* infos_ptr);
cusolverStatus_t CUSOLVERAPI cusolverDnIRSInfosGetNiters(cusolverDnIRSInfos_t infos, cusolver_int_t* niters);
cusolverStatus_t CUSOLVERAPI cusolverDnIRSInfosGetOuterNiters(cusolverDnIRSInfos_t infos, cusolver_int_t* outer_niters);
cusolverStatus_t CUSOLVERAPI cusolverDnIRSInfosRequestResidual(cusolverDnIRSInfos_t infos);
cusolverStatus_t CUSOLVERAPI cusolverDnIRSInfosGetResidualHistory(cusolverDnIRSInfos_t infos, void** residual_history);
cusolverStatus_t CUSOLVERAPI cusolverDnIRSInfosGetMaxIters(cusolverDnIRSInfos_t infos, cusolver_int_t* maxiters);
cusolverStatus_t CUSOLVERAPI cusolverDnIRSXgesv(cusolverDnHandle_t handle, cusolverDnIRSParams_t gesv_irs_params,
                                                cusolverDnIRSInfos_t gesv_irs_infos, cusolver_int_t n,
                                                cusolver_int_t nrhs, void* dA, cusolver_int_t ldda, void* dB,
                                                cusolver_int_t lddb, void* dX, cusolver_int_t lddx, void* dWorkspace,
                                                size_t lwork_bytes, cusolver_int_t* niters, cusolver_int_t* d_info);
cusolverStatus_t CUSOLVERAPI cusolverDnIRSXgesv_bufferSize(cusolverDnHandle_t handle, cusolverDnIRSParams_t params,
                                                           cusolver_int_t n, cusolver_int_t nrhs, size_t* lwork_bytes);
cusolverStatus_t CUSOLVERAPI cusolverDnIRSXgels(cusolverDnHandle_t handle, cusolverDnIRSParams_t gels_irs_params,
                                                cusolverDnIRSInfos_t gels_irs_infos, cusolver_int_t m, cusolver_int_t n,
                                                cusolver_int_t nrhs, void* dA, cusolver_int_t ldda, void* dB,
                                                cusolver_int_t lddb, void* dX, cusolver_int_t lddx, void* dWorkspace,
                                                size_t lwork_bytes, cusolver_int_t* niters, cusolver_int_t* d_info);
cusolverStatus_t CUSOLVERAPI cusolverDnIRSXgels_bufferSize(cusolverDnHandle_t handle, cusolverDnIRSParams_t params,
                                                           cusolver_int_t m, cusolver_int_t n, cusolver_int_t nrhs,
                                                           size_t* lwork_bytes);
#define WG_REFINED(pair, type)                                                                               \
  cusolverStatus_t CUSOLVERAPI cusolverDn##pair##gesv(                                                       \
      cusolverDnHandle_t handle, cusolver_int_t n, cusolver_int_t nrhs, type* dA, cusolver_int_t ldda,       \
      cusolver_int_t* dipiv, type* dB, cusolver_int_t lddb, type* dX, cusolver_int_t lddx, void* dWorkspace, \
      size_t lwork_bytes, cusolver_int_t* iter, cusolver_int_t* d_info);                                     \
  cusolverStatus_t CUSOLVERAPI cusolverDn##pair##gesv_bufferSize(                                            \
      cusolverDnHandle_t handle, cusolver_int_t n, cusolver_int_t nrhs, type* dA, cusolver_int_t ldda,       \
      cusolver_int_t* dipiv, type* dB, cusolver_int_t lddb, type* dX, cusolver_int_t lddx, void* dWorkspace, \
      size_t* lwork_bytes);                                                                                  \
  cusolverStatus_t CUSOLVERAPI cusolverDn##pair##gels(                                                       \
      cusolverDnHandle_t handle, cusolver_int_t m, cusolver_int_t n, cusolver_int_t nrhs, type* dA,          \
      cusolver_int_t ldda, type* dB, cusolver_int_t lddb, type* dX, cusolver_int_t lddx, void* dWorkspace,   \
      size_t lwork_bytes, cusolver_int_t* iter, cusolver_int_t* d_info);                                     \
  cusolverStatus_t CUSOLVERAPI cusolverDn##pair##gels_bufferSize(                                            \
      cusolverDnHandle_t handle, cusolver_int_t m, cusolver_int_t n, cusolver_int_t nrhs, type* dA,          \
      cusolver_int_t ldda, type* dB, cusolver_int_t lddb, type* dX, cusolver_int_t lddx, void* dWorkspace,   \
      size_t* lwork_bytes);
#include "warpgrind/cusolver_refined.inc"
#undef WG_REFINED

// ---- 64-bit functions, with the types of elements as parameters
cusolverStatus_t CUSOLVERAPI cusolverDnXtrtri_bufferSize(cusolverDnHandle_t handle, cublasFillMode_t uplo,
                                                         cublasDiagType_t diag, int64_t n, cudaDataType dataTypeA,
                                                         void* A, int64_t lda, size_t* workspaceInBytesOnDevice,
                                                         size_t* workspaceInBytesOnHost);
cusolverStatus_t CUSOLVERAPI cusolverDnXtrtri(cusolverDnHandle_t handle, cublasFillMode_t uplo, cublasDiagType_t diag,
                                              int64_t n, cudaDataType dataTypeA, void* A, int64_t lda,
                                              void* bufferOnDevice, size_t workspaceInBytesOnDevice, void* bufferOnHost,
                                              size_t workspaceInBytesOnHost, int* devInfo);
cusolverStatus_t CUSOLVERAPI cusolverDnXsytrs_bufferSize(cusolverDnHandle_t handle, cublasFillMode_t uplo, int64_t n,
                                                         int64_t nrhs, cudaDataType dataTypeA, const void* A,
                                                         int64_t lda, const int64_t* ipiv, cudaDataType dataTypeB,
                                                         void* B, int64_t ldb, size_t* workspaceInBytesOnDevice,
                                                         size_t* workspaceInBytesOnHost);
cusolverStatus_t CUSOLVERAPI cusolverDnXsytrs(cusolverDnHandle_t handle, cublasFillMode_t uplo, int64_t n, int64_t nrhs,
                                              cudaDataType dataTypeA, const void* A, int64_t lda, const int64_t* ipiv,
                                              cudaDataType dataTypeB, void* B, int64_t ldb, void* bufferOnDevice,
                                              size_t workspaceInBytesOnDevice, void* bufferOnHost,
                                              size_t workspaceInBytesOnHost, int* info);
cusolverStatus_t CUSOLVERAPI cusolverDnXpotrf_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                                         cublasFillMode_t uplo, int64_t n, cudaDataType dataTypeA,
                                                         const void* A, int64_t lda, cudaDataType computeType,
                                                         size_t* workspaceInBytesOnDevice,
                                                         size_t* workspaceInBytesOnHost);
cusolverStatus_t CUSOLVERAPI cusolverDnXpotrf(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                              cublasFillMode_t uplo, int64_t n, cudaDataType dataTypeA, void* A,
                                              int64_t lda, cudaDataType computeType, void* bufferOnDevice,
                                              size_t workspaceInBytesOnDevice, void* bufferOnHost,
                                              size_t workspaceInBytesOnHost, int* info);
cusolverStatus_t CUSOLVERAPI cusolverDnXpotrs(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                              cublasFillMode_t uplo, int64_t n, int64_t nrhs, cudaDataType dataTypeA,
                                              const void* A, int64_t lda, cudaDataType dataTypeB, void* B, int64_t ldb,
                                              int* info);
cusolverStatus_t CUSOLVERAPI cusolverDnXgeqrf_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                                         int64_t m, int64_t n, cudaDataType dataTypeA, const void* A,
                                                         int64_t lda, cudaDataType dataTypeTau, const void* tau,
                                                         cudaDataType computeType, size_t* workspaceInBytesOnDevice,
                                                         size_t* workspaceInBytesOnHost);
cusolverStatus_t CUSOLVERAPI cusolverDnXgeqrf(cusolverDnHandle_t handle, cusolverDnParams_t params, int64_t m,
                                              int64_t n, cudaDataType dataTypeA, void* A, int64_t lda,
                                              cudaDataType dataTypeTau, void* tau, cudaDataType computeType,
                                              void* bufferOnDevice, size_t workspaceInBytesOnDevice, void* bufferOnHost,
                                              size_t workspaceInBytesOnHost, int* info);
cusolverStatus_t CUSOLVERAPI cusolverDnXgetrf_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                                         int64_t m, int64_t n, cudaDataType dataTypeA, const void* A,
                                                         int64_t lda, cudaDataType computeType,
                                                         size_t* workspaceInBytesOnDevice,
                                                         size_t* workspaceInBytesOnHost);
cusolverStatus_t CUSOLVERAPI cusolverDnXgetrf(cusolverDnHandle_t handle, cusolverDnParams_t params, int64_t m,
                                              int64_t n, cudaDataType dataTypeA, void* A, int64_t lda, int64_t* ipiv,
                                              cudaDataType computeType, void* bufferOnDevice,
                                              size_t workspaceInBytesOnDevice, void* bufferOnHost,
                                              size_t workspaceInBytesOnHost, int* info);
cusolverStatus_t CUSOLVERAPI cusolverDnXgetrs(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                              cublasOperation_t trans, int64_t n, int64_t nrhs, cudaDataType dataTypeA,
                                              const void* A, int64_t lda, const int64_t* ipiv, cudaDataType dataTypeB,
                                              void* B, int64_t ldb, int* info);
cusolverStatus_t CUSOLVERAPI cusolverDnXsyevd_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                                         cusolverEigMode_t jobz, cublasFillMode_t uplo, int64_t n,
                                                         cudaDataType dataTypeA, const void* A, int64_t lda,
                                                         cudaDataType dataTypeW, const void* W,
                                                         cudaDataType computeType, size_t* workspaceInBytesOnDevice,
                                                         size_t* workspaceInBytesOnHost);
cusolverStatus_t CUSOLVERAPI cusolverDnXsyevd(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                              cusolverEigMode_t jobz, cublasFillMode_t uplo, int64_t n,
                                              cudaDataType dataTypeA, void* A, int64_t lda, cudaDataType dataTypeW,
                                              void* W, cudaDataType computeType, void* bufferOnDevice,
                                              size_t workspaceInBytesOnDevice, void* bufferOnHost,
                                              size_t workspaceInBytesOnHost, int* info);
cusolverStatus_t CUSOLVERAPI cusolverDnXsyevBatched_bufferSize(
    cusolverDnHandle_t handle, cusolverDnParams_t params, cusolverEigMode_t jobz, cublasFillMode_t uplo, int64_t n,
    cudaDataType dataTypeA, const void* A, int64_t lda, cudaDataType dataTypeW, const void* W, cudaDataType computeType,
    size_t* workspaceInBytesOnDevice, size_t* workspaceInBytesOnHost, int64_t batchSize);
cusolverStatus_t CUSOLVERAPI cusolverDnXsyevBatched(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                                    cusolverEigMode_t jobz, cublasFillMode_t uplo, int64_t n,
                                                    cudaDataType dataTypeA, void* A, int64_t lda,
                                                    cudaDataType dataTypeW, void* W, cudaDataType computeType,
                                                    void* bufferOnDevice, size_t workspaceInBytesOnDevice,
                                                    void* bufferOnHost, size_t workspaceInBytesOnHost, int* info,
                                                    int64_t batchSize);
cusolverStatus_t CUSOLVERAPI cusolverDnXsyevdx_bufferSize(
    cusolverDnHandle_t handle, cusolverDnParams_t params, cusolverEigMode_t jobz, cusolverEigRange_t range,
    cublasFillMode_t uplo, int64_t n, cudaDataType dataTypeA, const void* A, int64_t lda, void* vl, void* vu,
    int64_t il, int64_t iu, int64_t* h_meig, cudaDataType dataTypeW, const void* W, cudaDataType computeType,
    size_t* workspaceInBytesOnDevice, size_t* workspaceInBytesOnHost);
cusolverStatus_t CUSOLVERAPI cusolverDnXsyevdx(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                               cusolverEigMode_t jobz, cusolverEigRange_t range, cublasFillMode_t uplo,
                                               int64_t n, cudaDataType dataTypeA, void* A, int64_t lda, void* vl,
                                               void* vu, int64_t il, int64_t iu, int64_t* meig64,
                                               cudaDataType dataTypeW, void* W, cudaDataType computeType,
                                               void* bufferOnDevice, size_t workspaceInBytesOnDevice,
                                               void* bufferOnHost, size_t workspaceInBytesOnHost, int* info);
cusolverStatus_t CUSOLVERAPI cusolverDnXgeev_bufferSize(
    cusolverDnHandle_t handle, cusolverDnParams_t params, cusolverEigMode_t jobvl, cusolverEigMode_t jobvr, int64_t n,
    cudaDataType dataTypeA, const void* A, int64_t lda, cudaDataType dataTypeW, const void* W, cudaDataType dataTypeVL,
    const void* VL, int64_t ldvl, cudaDataType dataTypeVR, const void* VR, int64_t ldvr, cudaDataType computeType,
    size_t* workspaceInBytesOnDevice, size_t* workspaceInBytesOnHost);
cusolverStatus_t CUSOLVERAPI cusolverDnXgeev(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                             cusolverEigMode_t jobvl, cusolverEigMode_t jobvr, int64_t n,
                                             cudaDataType dataTypeA, void* A, int64_t lda, cudaDataType dataTypeW,
                                             void* W, cudaDataType dataTypeVL, void* VL, int64_t ldvl,
                                             cudaDataType dataTypeVR, void* VR, int64_t ldvr, cudaDataType computeType,
                                             void* bufferOnDevice, size_t workspaceInBytesOnDevice, void* bufferOnHost,
                                             size_t workspaceInBytesOnHost, int* info);
cusolverStatus_t CUSOLVERAPI cusolverDnXgesvd_bufferSize(
    cusolverDnHandle_t handle, cusolverDnParams_t params, signed char jobu, signed char jobvt, int64_t m, int64_t n,
    cudaDataType dataTypeA, const void* A, int64_t lda, cudaDataType dataTypeS, const void* S, cudaDataType dataTypeU,
    const void* U, int64_t ldu, cudaDataType dataTypeVT, const void* VT, int64_t ldvt, cudaDataType computeType,
    size_t* workspaceInBytesOnDevice, size_t* workspaceInBytesOnHost);
cusolverStatus_t CUSOLVERAPI cusolverDnXgesvd(cusolverDnHandle_t handle, cusolverDnParams_t params, signed char jobu,
                                              signed char jobvt, int64_t m, int64_t n, cudaDataType dataTypeA, void* A,
                                              int64_t lda, cudaDataType dataTypeS, void* S, cudaDataType dataTypeU,
                                              void* U, int64_t ldu, cudaDataType dataTypeVT, void* VT, int64_t ldvt,
                                              cudaDataType computeType, void* bufferOnDevice,
                                              size_t workspaceInBytesOnDevice, void* bufferOnHost,
                                              size_t workspaceInBytesOnHost, int* info);
cusolverStatus_t CUSOLVERAPI cusolverDnXgesvdp_bufferSize(
    cusolverDnHandle_t handle, cusolverDnParams_t params, cusolverEigMode_t jobz, int econ, int64_t m, int64_t n,
    cudaDataType dataTypeA, const void* A, int64_t lda, cudaDataType dataTypeS, const void* S, cudaDataType dataTypeU,
    const void* U, int64_t ldu, cudaDataType dataTypeV, const void* V, int64_t ldv, cudaDataType computeType,
    size_t* workspaceInBytesOnDevice, size_t* workspaceInBytesOnHost);
cusolverStatus_t CUSOLVERAPI cusolverDnXgesvdp(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                               cusolverEigMode_t jobz, int econ, int64_t m, int64_t n,
                                               cudaDataType dataTypeA, void* A, int64_t lda, cudaDataType dataTypeS,
                                               void* S, cudaDataType dataTypeU, void* U, int64_t ldu,
                                               cudaDataType dataTypeV, void* V, int64_t ldv, cudaDataType computeType,
                                               void* bufferOnDevice, size_t workspaceInBytesOnDevice,
                                               void* bufferOnHost, size_t workspaceInBytesOnHost, int* d_info,
                                               double* h_err_sigma);
cusolverStatus_t CUSOLVERAPI cusolverDnXgesvdr_bufferSize(
    cusolverDnHandle_t handle, cusolverDnParams_t params, signed char jobu, signed char jobv, int64_t m, int64_t n,
    int64_t k, int64_t p, int64_t niters, cudaDataType dataTypeA, const void* A, int64_t lda,
    cudaDataType dataTypeSrand, const void* Srand, cudaDataType dataTypeUrand, const void* Urand, int64_t ldUrand,
    cudaDataType dataTypeVrand, const void* Vrand, int64_t ldVrand, cudaDataType computeType,
    size_t* workspaceInBytesOnDevice, size_t* workspaceInBytesOnHost);
cusolverStatus_t CUSOLVERAPI cusolverDnXgesvdr(cusolverDnHandle_t handle, cusolverDnParams_t params, signed char jobu,
                                               signed char jobv, int64_t m, int64_t n, int64_t k, int64_t p,
                                               int64_t niters, cudaDataType dataTypeA, void* A, int64_t lda,
                                               cudaDataType dataTypeSrand, void* Srand, cudaDataType dataTypeUrand,
                                               void* Urand, int64_t ldUrand, cudaDataType dataTypeVrand, void* Vrand,
                                               int64_t ldVrand, cudaDataType computeType, void* bufferOnDevice,
                                               size_t workspaceInBytesOnDevice, void* bufferOnHost,
                                               size_t workspaceInBytesOnHost, int* d_info);
cusolverStatus_t CUSOLVERAPI cusolverDnXlarft_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                                         cusolverDirectMode_t direct, cusolverStorevMode_t storev,
                                                         int64_t n, int64_t k, cudaDataType dataTypeV, const void* V,
                                                         int64_t ldv, cudaDataType dataTypeTau, const void* tau,
                                                         cudaDataType dataTypeT, void* T, int64_t ldt,
                                                         cudaDataType computeType, size_t* workspaceInBytesOnDevice,
                                                         size_t* workspaceInBytesOnHost);
cusolverStatus_t CUSOLVERAPI cusolverDnXlarft(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                              cusolverDirectMode_t direct, cusolverStorevMode_t storev, int64_t n,
                                              int64_t k, cudaDataType dataTypeV, const void* V, int64_t ldv,
                                              cudaDataType dataTypeTau, const void* tau, cudaDataType dataTypeT,
                                              void* T, int64_t ldt, cudaDataType computeType, void* bufferOnDevice,
                                              size_t workspaceInBytesOnDevice, void* bufferOnHost,
                                              size_t workspaceInBytesOnHost);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
