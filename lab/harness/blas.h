// The two published libraries for matrix products, loaded at run time: the program starts without them, and a row
// reports a missing one. C = A B with row-major matrices, A is m x k, B is k x n.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <dlfcn.h>
#include <library_types.h>

#include <cstdio>
#include <string>

#include "harness/clock.h"
#include "harness/cuda.h"

namespace lab {

// cuBLAS on the GPU. missing() is empty if it can be used.
class Cublas {
 public:
  Cublas() {
    for (const char* name : {"libcublas.so.13", "libcublas.so.12", "libcublas.so"})
      if (!library_) library_ = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library_) {
      missing_ = "libcublas.so.13 is not installed";
      return;
    }
    const auto create = load<int (*)(void**)>("cublasCreate_v2");
    sgemm_ = load<Gemm<float>>("cublasSgemm_v2");
    dgemm_ = load<Gemm<double>>("cublasDgemm_v2");
    gemm_ex_ = load<GemmEx>("cublasGemmEx");
    if (!create || !sgemm_ || !dgemm_ || !gemm_ex_)
      missing_ = "libcublas lacks cublasSgemm_v2, cublasDgemm_v2 or cublasGemmEx";
    if (missing_.empty() && create(&handle_) != 0) missing_ = "cublasCreate failed";
  }
  ~Cublas() {
    const auto destroy = handle_ ? load<int (*)(void*)>("cublasDestroy_v2") : nullptr;
    if (destroy) destroy(handle_);
  }
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;

  const std::string& missing() const { return missing_; }

  // cuBLAS stores matrices by columns, so it sees a row-major matrix as its transpose. Called for B A (operands
  // swapped) it computes Bt At = (A B)t, which is A B by rows. Nothing is transposed.
  void multiply(const float* a, const float* b, float* c, int m, int n, int k) {
    const float one = 1, zero = 0;
    check(sgemm_(handle_, 0, 0, n, m, k, &one, b, n, a, k, &zero, c, n));
  }
  void multiply(const double* a, const double* b, double* c, int m, int n, int k) {
    const double one = 1, zero = 0;
    check(dgemm_(handle_, 0, 0, n, m, k, &one, b, n, a, k, &zero, c, n));
  }
  // Elements of a 16-bit type, sums in float.
  void multiply(const __half* a, const __half* b, __half* c, int m, int n, int k) {
    multiply_narrow(a, b, c, CUDA_R_16F, m, n, k);
  }
  void multiply(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k) {
    multiply_narrow(a, b, c, CUDA_R_16BF, m, n, k);
  }

 private:
  template <class T>
  using Gemm = int (*)(void*, int, int, int, int, int, const T*, const T*, int, const T*, int, const T*, T*, int);
  using GemmEx = int (*)(void*, int, int, int, int, int, const void*, const void*, int, int, const void*, int, int,
                         const void*, void*, int, int, int, int);
  void multiply_narrow(const void* a, const void* b, void* c, int type, int m, int n, int k) {
    constexpr int kSumsInFloat = 68, kDefaultAlgorithm = -1;  // CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT
    const float one = 1, zero = 0;
    check(gemm_ex_(handle_, 0, 0, n, m, k, &one, b, type, n, a, type, k, &zero, c, type, n, kSumsInFloat,
                   kDefaultAlgorithm));
  }
  template <class Function>
  Function load(const char* name) const {
    return reinterpret_cast<Function>(dlsym(library_, name));
  }
  static void check(int status) {
    if (status == 0) return;
    std::fprintf(stderr, "cuBLAS: the product failed with status %d\n", status);
    std::exit(kExitCuda);
  }

  void* library_ = nullptr;
  void* handle_ = nullptr;
  Gemm<float> sgemm_ = nullptr;
  Gemm<double> dgemm_ = nullptr;
  GemmEx gemm_ex_ = nullptr;
  std::string missing_;
};

// OpenBLAS on this computer's CPU.
class OpenBlas {
 public:
  explicit OpenBlas(int threads) {
    void* library = nullptr;
    for (const char* name : {"libopenblas.so.0", "libopenblas.so"})
      if (!library) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      missing_ = "libopenblas.so.0 is not installed";
      return;
    }
    sgemm_ = reinterpret_cast<Gemm<float>>(dlsym(library, "cblas_sgemm"));
    dgemm_ = reinterpret_cast<Gemm<double>>(dlsym(library, "cblas_dgemm"));
    const auto set_threads = reinterpret_cast<void (*)(int)>(dlsym(library, "openblas_set_num_threads"));
    if (!sgemm_ || !dgemm_ || !set_threads)
      missing_ = "libopenblas lacks cblas_dgemm, cblas_sgemm or openblas_set_num_threads";
    else
      set_threads(threads);
  }
  const std::string& missing() const { return missing_; }
  void multiply(const float* a, const float* b, float* c, int m, int n, int k) const {
    sgemm_(kRowMajor, kAsStored, kAsStored, m, n, k, 1, a, k, b, n, 0, c, n);
  }
  void multiply(const double* a, const double* b, double* c, int m, int n, int k) const {
    dgemm_(kRowMajor, kAsStored, kAsStored, m, n, k, 1, a, k, b, n, 0, c, n);
  }

 private:
  template <class T>
  using Gemm = void (*)(int, int, int, int, int, int, T, const T*, int, const T*, int, T, T*, int);
  static constexpr int kRowMajor = 101, kAsStored = 111;  // CblasRowMajor, CblasNoTrans

  Gemm<float> sgemm_ = nullptr;
  Gemm<double> dgemm_ = nullptr;
  std::string missing_;
};

}  // namespace lab
