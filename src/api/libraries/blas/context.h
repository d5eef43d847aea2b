// State behind a cublasHandle_t, and helpers that issue a cuBLAS call as work of its stream.
#pragma once

#include <cublas_v2.h>
#include <fmt/format.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "libraries/common/issue.h"
#include "libraries/products/operands.h"

struct cublasContext {
  cudaStream_t stream = nullptr;
  cublasPointerMode_t pointer_mode = CUBLAS_POINTER_MODE_HOST;
  cublasAtomicsMode_t atomics = CUBLAS_ATOMICS_NOT_ALLOWED;
  cublasMath_t math = CUBLAS_DEFAULT_MATH;
  int sm_count_target = 0;
};

namespace warpgrind::libraries::blas {

// A scalar factor such as alpha. One in host memory is read at the call; one in device memory when the work runs.
template <class T>
class Scalar {
 public:
  Scalar() = default;
  explicit Scalar(T value) : value_(value) {}
  Scalar(const T* at, bool on_device) {
    if (on_device)
      at_ = at;
    else
      value_ = *at;
  }
  bool get(LibraryRun& run, const char* name, T& out) const {
    if (at_ && !run.reads(name, at_, sizeof(T))) return false;
    out = at_ ? *at_ : value_;
    return true;
  }

 private:
  const T* at_ = nullptr;
  T value_{};
};

// One call of a cuBLAS function.
class Caller {
 public:
  Caller(cublasHandle_t handle, const char* function);

  bool initialized() const { return context_ != nullptr; }
  const cublasContext& context() const { return *context_; }
  bool scalars_on_device() const { return context_->pointer_mode == CUBLAS_POINTER_MODE_DEVICE; }
  template <class T>
  Scalar<T> scalar(const T* at) const {
    return Scalar<T>(at, scalars_on_device());
  }
  // True if the result may be stored at `at`. A result in host memory needs no check.
  template <class T>
  static bool may_write(LibraryRun& run, bool on_device, const char* name, T* at) {
    return !on_device || run.writes(name, at, sizeof(T));
  }

  template <class Run>
  cublasStatus_t issue(std::string arguments, const LibraryWork& work, Run run, bool host_waits = false) const {
    return do_issue(std::move(arguments), work, host_waits, std::move(run));
  }

 private:
  cublasStatus_t do_issue(std::string arguments, const LibraryWork& work, bool host_waits,
                          std::function<void(LibraryRun&)> run) const;
  std::shared_ptr<cublasContext> context_;
  const char* function_;
};

// Begins every function: returns an error unless the handle is valid.
#define WG_BEGIN_CALL(handle, function) \
  Caller caller(handle, function);      \
  if (!caller.initialized()) return CUBLAS_STATUS_NOT_INITIALIZED

// Shape of a matrix as text, for the name of the work: "3 x 5".
inline std::string rectangle(std::int64_t rows, std::int64_t columns) {
  return fmt::format("{} x {}", rows, columns);
}
// Length of a vector, likewise: "n = 5".
inline std::string length(std::int64_t n) {
  return fmt::format("n = {}", n);
}

}  // namespace warpgrind::libraries::blas
