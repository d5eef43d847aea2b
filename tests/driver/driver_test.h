// Common parts of the tests of the driver API: short expectations, two virtual GPUs, a context. Linked against our
// libcuda.so.1, like any program: no toolkit is needed.
#pragma once

#include <cuda.h>
#include <gtest/gtest.h>

#include <string>

#define OK(...) EXPECT_EQ(__VA_ARGS__, CUDA_SUCCESS)
#define FAILS(error, ...) EXPECT_EQ(__VA_ARGS__, error)

namespace warpgrind::driver::test {

constexpr int kDevices = 2;

// Removes contexts that earlier tests left current in this thread, if all run in one process.
inline void without_context() {
  OK(cuInit(0));
  for (CUcontext current = nullptr; cuCtxGetCurrent(&current) == CUDA_SUCCESS && current;)
    OK(cuCtxPopCurrent_v2(&current));
}

// A test with a context on device 0.
class WithContext : public testing::Test {
 protected:
  WithContext() {
    without_context();
    OK(cuCtxCreate(&context, nullptr, 0, 0));
  }
  ~WithContext() override { OK(cuCtxDestroy(context)); }
  WithContext(const WithContext&) = delete;
  WithContext& operator=(const WithContext&) = delete;
  CUcontext context = nullptr;
};

inline size_t free_bytes() {
  size_t free = 0, total = 0;
  OK(cuMemGetInfo(&free, &total));
  return free;
}

}  // namespace warpgrind::driver::test
