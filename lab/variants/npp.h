// NVIDIA's image library (NPP), loaded at run time because few machines have its headers. The declarations here are
// those of nppi_filtering_functions.h and nppi_statistics_functions.h of CUDA 13, which has no cosine transform any
// more.
#pragma once

#include <dlfcn.h>

#include "harness/harness.h"

namespace npp {

struct Size {
  int width, height;
};
struct Point {
  int x, y;
};
struct Context {
  cudaStream_t stream = nullptr;
  int device = 0, multiprocessors, threads_a_multiprocessor, threads_a_block;
  size_t shared_a_block;
  int major, minor;
  unsigned flags = 0;
  int reserved = 0;
};
constexpr int kReplicate = 2;  // pixels outside the image equal the nearest one

using Byte = unsigned char;
using MedianSize = int(Size, Size, unsigned*, Context);
using Median = int(const Byte*, int, Size, Point, Byte*, int, Size, Size, Point, Byte*, int, Context);
using Gauss = int(const float*, int, Size, Point, float*, int, Size, int, const float*, int, Context);
using MatchSize = int(Size, size_t*, Context);
using Match = int(const Byte*, int, Size, const Byte*, int, Size, float*, int, Byte*, Context);

// Returns nullptr if the library has no such function.
template <class Function>
Function* find(const char* library, const char* name) {
  void* handle = dlopen(library, RTLD_NOW);
  if (!handle) handle = dlopen((std::string("/usr/local/cuda/lib64/") + library).c_str(), RTLD_NOW);
  return handle ? reinterpret_cast<Function*>(dlsym(handle, name)) : nullptr;
}

inline Context context() {
  Context c;
  c.multiprocessors = lab::device_attribute(cudaDevAttrMultiProcessorCount);
  c.threads_a_multiprocessor = lab::device_attribute(cudaDevAttrMaxThreadsPerMultiProcessor);
  c.threads_a_block = lab::device_attribute(cudaDevAttrMaxThreadsPerBlock);
  c.shared_a_block = lab::device_attribute(cudaDevAttrMaxSharedMemoryPerBlock);
  c.major = lab::device_attribute(cudaDevAttrComputeCapabilityMajor);
  c.minor = lab::device_attribute(cudaDevAttrComputeCapabilityMinor);
  return c;
}

}  // namespace npp
