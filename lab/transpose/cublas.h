// cublasSgeam and cublasDgeam, loaded by name so that the program starts without cuBLAS.
#pragma once

#include <dlfcn.h>

#include <string>

class Geam {
 public:
  Geam() {
    for (const char* name : {"libcublas.so.13", "libcublas.so.12", "libcublas.so"})
      if (!library_) library_ = dlopen(name, RTLD_NOW);
    if (!library_) {
      missing_ = "libcublas.so.13 is not installed";
      return;
    }
    const auto create = find<int (*)(void**)>("cublasCreate_v2");
    single_ = find<Single>("cublasSgeam");
    double_ = find<Double>("cublasDgeam");
    if (!create || !single_ || !double_)
      missing_ = "libcublas lacks cublasSgeam";
    else if (const int status = create(&handle_))
      missing_ = "cublasCreate failed with status " + std::to_string(status);
  }
  ~Geam() {
    if (handle_) find<int (*)(void*)>("cublasDestroy_v2")(handle_);
  }
  Geam(const Geam&) = delete;
  Geam& operator=(const Geam&) = delete;

  const std::string& missing() const { return missing_; }  // why it cannot be used; empty if it can

  // The library stores by columns: our rows x columns are its columns x rows. Returns its status, 0 for success.
  int transpose(const float* in, float* out, int rows, int columns) const {
    const float one = 1, zero = 0;
    return single_(handle_, kTranspose, kAsItIs, rows, columns, &one, in, columns, &zero, out, rows, out, rows);
  }
  int transpose(const double* in, double* out, int rows, int columns) const {
    const double one = 1, zero = 0;
    return double_(handle_, kTranspose, kAsItIs, rows, columns, &one, in, columns, &zero, out, rows, out, rows);
  }

 private:
  static constexpr int kAsItIs = 0, kTranspose = 1;  // cublasOperation_t
  template <class T>
  using Function = int (*)(void*, int, int, int, int, const T*, const T*, int, const T*, const T*, int, T*, int);
  using Single = Function<float>;
  using Double = Function<double>;

  template <class F>
  F find(const char* name) const {
    return reinterpret_cast<F>(dlsym(library_, name));
  }

  void *library_ = nullptr, *handle_ = nullptr;
  Single single_ = nullptr;
  Double double_ = nullptr;
  std::string missing_;
};
