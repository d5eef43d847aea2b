// Handles of cuSOLVER's dense part, their settings, and parameters of its functions.
#include "libraries/solver/context.h"

#include <cuda_runtime_api.h>

#include "libraries/common/handles.h"

namespace warpgrind::libraries::solver {
namespace {

template <class T>
Handles<const T*, T>& all_of() {
  return handles<const T*, T>();
}
template <class T>
cusolverStatus_t create(T** out) {
  if (!out) return CUSOLVER_STATUS_INVALID_VALUE;
  auto made = std::make_shared<T>();
  *out = made.get();
  all_of<T>().add(made.get(), made);
  return CUSOLVER_STATUS_SUCCESS;
}
template <class T>
cusolverStatus_t destroy(const T* handle, cusolverStatus_t otherwise) {
  return all_of<T>().remove(handle) ? CUSOLVER_STATUS_SUCCESS : otherwise;
}
template <class T, class Body>
cusolverStatus_t with(const T* handle, cusolverStatus_t otherwise, Body&& body) {
  const std::shared_ptr<T> found = all_of<T>().find(handle);
  return found ? body(*found) : otherwise;
}
template <class Body>
cusolverStatus_t with(cusolverDnHandle_t handle, Body&& body) {
  return with<cusolverDnContext>(handle, CUSOLVER_STATUS_NOT_INITIALIZED, body);
}
template <class T>
cusolverStatus_t set(T& place, T value) {
  place = value;
  return CUSOLVER_STATUS_SUCCESS;
}
// Answer about the last call with these parameters, which may still run.
template <class Info, class T>
cusolverStatus_t result(cusolverDnHandle_t handle, Info* info, T Jacobi::*member, T* out) {
  return with(handle, [&](cusolverDnContext& context) {
    const std::shared_ptr<Info> found = find(info);
    WG_VALID(found && out);
    if (cudaStreamSynchronize(context.stream) != cudaSuccess) return CUSOLVER_STATUS_EXECUTION_FAILED;
    return give(out, (*found).*member);
  });
}

}  // namespace

std::shared_ptr<cusolverDnContext> find(cusolverDnHandle_t handle) {
  return all_of<cusolverDnContext>().find(handle);
}
std::shared_ptr<cusolverDnParams> find(cusolverDnParams_t params) {
  return all_of<cusolverDnParams>().find(params);
}
std::shared_ptr<syevjInfo> find(syevjInfo_t info) {
  return all_of<syevjInfo>().find(info);
}
std::shared_ptr<gesvdjInfo> find(gesvdjInfo_t info) {
  return all_of<gesvdjInfo>().find(info);
}

cusolverStatus_t issue_on(cudaStream_t stream, const char* function, std::string arguments, const LibraryWork& work,
                          bool host_waits, std::function<void(LibraryRun&)> run) {
  if (const std::string& missing = lapack_missing(); !missing.empty()) {
    warpgrind_library_missing(fmt::format("cuSOLVER needs OpenBLAS on the host: {}", missing).c_str());
    return CUSOLVER_STATUS_NOT_SUPPORTED;
  }
  const LibraryIssue issued =
      issue({function, std::move(arguments)}, "OpenBLAS", work, stream, host_waits, std::move(run));
  if (issued == LibraryIssue::done) return CUSOLVER_STATUS_SUCCESS;
  return issued == LibraryIssue::not_captured ? CUSOLVER_STATUS_NOT_SUPPORTED : CUSOLVER_STATUS_EXECUTION_FAILED;
}

}  // namespace warpgrind::libraries::solver

using namespace warpgrind::libraries;
using namespace warpgrind::libraries::solver;

extern "C" {

cusolverStatus_t cusolverGetVersion(int* version) {
  return give(version, CUSOLVER_VERSION);
}
cusolverStatus_t cusolverGetProperty(libraryPropertyType type, int* value) {
  WG_VALID(type >= MAJOR_VERSION && type <= PATCH_LEVEL);
  return give(value, type == MAJOR_VERSION   ? CUSOLVER_VER_MAJOR
                     : type == MINOR_VERSION ? CUSOLVER_VER_MINOR
                                             : CUSOLVER_VER_PATCH);
}
cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t* handle) {
  WG_VALID(handle);
  if (cudaFree(nullptr) != cudaSuccess) return CUSOLVER_STATUS_NOT_INITIALIZED;
  warpgrind_library_begin("cuSOLVER", "OpenBLAS");
  return create(handle);
}
cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle) {
  return destroy<cusolverDnContext>(handle, CUSOLVER_STATUS_NOT_INITIALIZED);
}
cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t stream) {
  return with(handle, [&](cusolverDnContext& c) { return set(c.stream, stream); });
}
cusolverStatus_t cusolverDnGetStream(cusolverDnHandle_t handle, cudaStream_t* stream) {
  return with(handle, [&](cusolverDnContext& c) { return give(stream, c.stream); });
}
// Has no effect: our results are the same each time.
cusolverStatus_t cusolverDnSetDeterministicMode(cusolverDnHandle_t handle, cusolverDeterministicMode_t mode) {
  return with(handle, [&](cusolverDnContext& c) {
    WG_VALID(mode == CUSOLVER_DETERMINISTIC_RESULTS || mode == CUSOLVER_ALLOW_NON_DETERMINISTIC_RESULTS);
    return set(c.deterministic, mode);
  });
}
cusolverStatus_t cusolverDnGetDeterministicMode(cusolverDnHandle_t handle, cusolverDeterministicMode_t* mode) {
  return with(handle, [&](cusolverDnContext& c) { return give(mode, c.deterministic); });
}
// Has no effect: all is computed in the precision of the elements.
cusolverStatus_t cusolverDnSetMathMode(cusolverDnHandle_t handle, cusolverMathMode_t mode) {
  return with(handle, [&](cusolverDnContext& c) {
    WG_VALID(mode == CUSOLVER_DEFAULT_MATH || mode == CUSOLVER_FP32_EMULATED_BF16X9_MATH);
    return set(c.math, mode);
  });
}
cusolverStatus_t cusolverDnGetMathMode(cusolverDnHandle_t handle, cusolverMathMode_t* mode) {
  return with(handle, [&](cusolverDnContext& c) { return give(mode, c.math); });
}
cusolverStatus_t cusolverDnCreateParams(cusolverDnParams_t* params) {
  return create(params);
}
cusolverStatus_t cusolverDnDestroyParams(cusolverDnParams_t params) {
  return params ? destroy<cusolverDnParams>(params, CUSOLVER_STATUS_INVALID_VALUE) : CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnSetAdvOptions(cusolverDnParams_t params, cusolverDnFunction_t function,
                                         cusolverAlgMode_t algorithm) {
  return with<cusolverDnParams>(params, CUSOLVER_STATUS_INVALID_VALUE, [&](cusolverDnParams& p) {
    WG_VALID(function >= CUSOLVERDN_GETRF && function <= CUSOLVERDN_SYEVBATCHED && algorithm >= CUSOLVER_ALG_0 &&
             algorithm <= CUSOLVER_ALG_2);
    return set(p.algorithm[function], algorithm);
  });
}

#define WG_JACOBI(Upper, lower)                                                                                       \
  cusolverStatus_t cusolverDnCreate##Upper##Info(lower##Info_t* info) {                                               \
    return create(info);                                                                                              \
  }                                                                                                                   \
  cusolverStatus_t cusolverDnDestroy##Upper##Info(lower##Info_t info) {                                               \
    return info ? destroy<lower##Info>(info, CUSOLVER_STATUS_INVALID_VALUE) : CUSOLVER_STATUS_SUCCESS;                \
  }                                                                                                                   \
  cusolverStatus_t cusolverDnX##lower##SetTolerance(lower##Info_t info, double tolerance) {                           \
    return with<lower##Info>(info, CUSOLVER_STATUS_INVALID_VALUE,                                                     \
                             [&](lower##Info& i) { return set(i.tolerance, tolerance); });                            \
  }                                                                                                                   \
  cusolverStatus_t cusolverDnX##lower##SetMaxSweeps(lower##Info_t info, int sweeps) {                                 \
    return with<lower##Info>(info, CUSOLVER_STATUS_INVALID_VALUE,                                                     \
                             [&](lower##Info& i) { return set(i.max_sweeps, sweeps); });                              \
  }                                                                                                                   \
  cusolverStatus_t cusolverDnX##lower##SetSortEig(lower##Info_t info, int sorts) {                                    \
    return with<lower##Info>(info, CUSOLVER_STATUS_INVALID_VALUE,                                                     \
                             [&](lower##Info& i) { return set(i.sorts, sorts); });                                    \
  }                                                                                                                   \
  cusolverStatus_t cusolverDnX##lower##GetResidual(cusolverDnHandle_t handle, lower##Info_t info, double* residual) { \
    return result(handle, info, &Jacobi::residual, residual);                                                         \
  }                                                                                                                   \
  cusolverStatus_t cusolverDnX##lower##GetSweeps(cusolverDnHandle_t handle, lower##Info_t info, int* sweeps) {        \
    return result(handle, info, &Jacobi::sweeps, sweeps);                                                             \
  }
WG_JACOBI(Syevj, syevj)
WG_JACOBI(Gesvdj, gesvdj)
#undef WG_JACOBI

// The profile has a row for each call, and there is no other log.
cusolverStatus_t cusolverDnLoggerSetCallback(cusolverDnLoggerCallback_t) {
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnLoggerSetFile(FILE*) {
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnLoggerOpenFile(const char*) {
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnLoggerSetLevel(int level) {
  WG_VALID(level >= 0 && level <= 5);
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnLoggerSetMask(int mask) {
  WG_VALID(mask >= 0 && mask <= 31);
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnLoggerForceDisable() {
  return CUSOLVER_STATUS_SUCCESS;
}

}  // extern "C"
