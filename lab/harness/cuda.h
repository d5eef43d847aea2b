// CUDA calls with their errors checked, and device memory that frees itself.
#pragma once

#include <cuda_runtime.h>
#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK_CUDA(call) lab::check((call), #call, __FILE__, __LINE__)

namespace lab {

constexpr int kExitWrong = 1;      // a rung's result differs from the reference
constexpr int kExitArguments = 2;  // the command line is wrong, or nothing in it can run here
constexpr int kExitCuda = 3;       // a CUDA call failed

inline void check(cudaError_t error, const char* call, const char* file, int line) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s:%d: %s: %s\n", file, line, call, cudaGetErrorString(error));
  std::exit(kExitCuda);
}

// Checks for launch errors (such as a bad shape) and for errors of the kernel itself.
inline void check_kernel(const char* file, int line) {
  check(cudaGetLastError(), "kernel launch", file, line);
  check(cudaDeviceSynchronize(), "kernel", file, line);
}
#define CHECK_KERNEL() lab::check_kernel(__FILE__, __LINE__)

// Number of blocks of `per_block` elements that cover `elements`.
inline int blocks(long elements, long per_block) {
  return static_cast<int>((elements + per_block - 1) / per_block);
}

inline int device_attribute(cudaDeviceAttr which) {
  int device = 0, value = 0;
  CHECK_CUDA(cudaGetDevice(&device));
  CHECK_CUDA(cudaDeviceGetAttribute(&value, which, device));
  return value;
}

// Returns whether a grid may have this many blocks in x: at most 65535 before compute capability 3.0.
inline bool grid_fits(long blocks) {
  return blocks <= device_attribute(cudaDevAttrMaxGridDimX);
}

// Returns whether a block of this kernel fits in an SM of this GPU: threads, registers, shared memory.
template <class Kernel>
bool block_fits(Kernel* kernel, int threads) {
  int blocks = 0;
  const cudaError_t error =
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, reinterpret_cast<const void*>(kernel), threads, 0);
  if (error != cudaSuccess) cudaGetLastError();  // more threads than the largest allowed block
  return error == cudaSuccess && blocks > 0;
}

// About how many blocks of each launch run under `warpgrind run --blocks N`; 0: all. If it is not 0, times and counts
// are estimated from these blocks, results cannot be verified, and inputs need not be made.
inline unsigned long long blocks_of_a_launch() {
  static const auto blocks =
      reinterpret_cast<unsigned long long (*)()>(dlsym(RTLD_DEFAULT, "warpgrind_blocks_of_a_launch"));
  return blocks ? blocks() : 0;
}
inline bool runs_in_part() {
  return blocks_of_a_launch() != 0;
}

inline double host_memory_bytes() {
  return static_cast<double>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE);
}

template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(size_t count) : count_(count) { CHECK_CUDA(cudaMalloc(&data_, bytes())); }
  explicit DeviceArray(const std::vector<T>& host) : DeviceArray(host.size()) { upload(host); }
  // host: `count` values, or none if only some blocks run; then the memory keeps its contents.
  DeviceArray(const std::vector<T>& host, size_t count) : DeviceArray(count) {
    if (!host.empty()) upload(host);
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { cudaFree(data_); }
  T* data() { return data_; }
  const T* data() const { return data_; }
  size_t count() const { return count_; }
  size_t bytes() const { return count_ * sizeof(T); }
  void poison() {  // all bits set: NaN, or -1
    if (!runs_in_part()) CHECK_CUDA(cudaMemset(data_, 0xff, bytes()));
  }
  void upload(const std::vector<T>& host) {
    CHECK_CUDA(cudaMemcpy(data_, host.data(), bytes(), cudaMemcpyHostToDevice));
  }
  std::vector<T> host() const {
    std::vector<T> copy(count_);
    CHECK_CUDA(cudaMemcpy(copy.data(), data_, bytes(), cudaMemcpyDeviceToHost));
    return copy;
  }

 private:
  T* data_ = nullptr;
  size_t count_;
};

}  // namespace lab
