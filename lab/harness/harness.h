// What every program of the lab shares, host side only: arguments, CUDA errors, poisoned buffers, and the verdict. A
// rung is right when every element agrees with a reference that the host computed in double precision; the output was
// poisoned before, so that an element nobody wrote cannot look right.
#pragma once

#include <cuda_runtime.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CHECK_CUDA(call) lab::check((call), #call, __FILE__, __LINE__)

namespace lab {

constexpr int kExitWrong = 1;      // a rung computed something else than the reference
constexpr int kExitArguments = 2;  // the command line made no sense
constexpr int kExitCuda = 3;       // a CUDA call failed

inline void check(cudaError_t error, const char* call, const char* file, int line) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s:%d: %s: %s\n", file, line, call, cudaGetErrorString(error));
  std::exit(kExitCuda);
}

// Launch errors (a bad shape) and errors of the kernel itself.
inline void check_kernel(const char* file, int line) {
  check(cudaGetLastError(), "kernel launch", file, line);
  check(cudaDeviceSynchronize(), "kernel", file, line);
}
#define CHECK_KERNEL() lab::check_kernel(__FILE__, __LINE__)

// argv[index] as a number of elements from 1 to 2^31 - 1; `fallback` when it was not given.
inline int size_argument(int argc, char** argv, int index, int fallback, const char* what) {
  if (index >= argc) return fallback;
  char* end = nullptr;
  const long value = std::strtol(argv[index], &end, 10);
  if (end == argv[index] || *end || value < 1 || value > 2147483647L) {
    std::fprintf(stderr, "%s: %s must be a whole number from 1 to 2147483647, not '%s'\n", argv[0], what, argv[index]);
    std::exit(kExitArguments);
  }
  return static_cast<int>(value);
}

// Ends the program with a message when the host's memory cannot hold what the program is about to make.
inline void require_memory(const char* program, double bytes) {
  const double have = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE);
  if (bytes < 0.8 * have) return;
  std::fprintf(stderr, "%s: this size needs %.1f GB of memory, this machine has %.1f GB\n", program, bytes / 1e9,
               have / 1e9);
  std::exit(kExitArguments);
}

inline int blocks(int elements, int per_block) {
  return static_cast<int>((static_cast<long>(elements) + per_block - 1) / per_block);
}

// Device memory that frees itself.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(size_t count) : count_(count) { CHECK_CUDA(cudaMalloc(&data_, bytes())); }
  explicit DeviceArray(const std::vector<T>& host) : DeviceArray(host.size()) {
    CHECK_CUDA(cudaMemcpy(data_, host.data(), bytes(), cudaMemcpyHostToDevice));
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { cudaFree(data_); }
  T* data() { return data_; }
  size_t bytes() const { return count_ * sizeof(T); }
  void poison() { CHECK_CUDA(cudaMemset(data_, 0xff, bytes())); }  // all ones: NaN, or -1
  std::vector<T> host() const {
    std::vector<T> copy(count_);
    CHECK_CUDA(cudaMemcpy(copy.data(), data_, bytes(), cudaMemcpyDeviceToHost));
    return copy;
  }

 private:
  T* data_ = nullptr;
  size_t count_;
};

// The same sequence on every machine and with every compiler: 24 random bits a call.
class Random {
 public:
  explicit Random(unsigned seed) : state_(seed) {}
  unsigned bits() {
    state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<unsigned>(state_ >> 40);
  }
  float symmetric() { return bits() * (2.0f / 16777216.0f) - 1.0f; }  // [-1, 1)
  std::vector<float> floats(size_t count) {
    std::vector<float> values(count);
    for (float& v : values) v = symmetric();
    return values;
  }

 private:
  unsigned long long state_;
};

// One line per rung, and the program's exit code.
class Report {
 public:
  // `errors` and `bounds`: per element, how far from the reference and how far it may be.
  void rung(const char* name, double max_error, double tolerance, size_t wrong) {
    const bool pass = wrong == 0;
    std::printf("%-24s %s  max error %.3g (tolerance %.3g)", name, pass ? "PASS" : "FAIL", max_error, tolerance);
    if (!pass) std::printf(", %zu elements wrong", wrong);
    std::printf("\n");
    failed_ += !pass;
  }
  // got[i] against expected[i], each within tolerance[i] (one value: for all).
  template <class T>
  void compare(const char* name, const std::vector<T>& got, const std::vector<double>& expected,
               const std::vector<double>& tolerance) {
    double max_error = 0, max_tolerance = 0;
    size_t wrong = got.size() != expected.size();
    for (size_t i = 0; i < got.size() && i < expected.size(); ++i) {
      const double bound = tolerance[tolerance.size() == 1 ? 0 : i];
      const double error = std::fabs(static_cast<double>(got[i]) - expected[i]);
      if (!(error <= bound)) ++wrong;  // also true for NaN
      if (!(error <= max_error)) max_error = error;
      if (bound > max_tolerance) max_tolerance = bound;
    }
    rung(name, max_error, max_tolerance, wrong);
  }
  int exit_code() const {
    std::printf("%s\n", failed_ ? "FAIL" : "PASS");
    return failed_ ? kExitWrong : 0;
  }

 private:
  int failed_ = 0;
};

}  // namespace lab
