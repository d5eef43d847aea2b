// Host memory of the kinds that a program can copy from, and the check that a copy has arrived.
#pragma once

#include <cstring>

#include "harness/harness.h"

// Number of 4-byte words that cover `bytes`: kernels work on words, copies move the bytes.
inline size_t words_of(size_t bytes) {
  return (bytes + 3) / 4;
}

class HostBuffer {
 public:
  enum class Kind { pinned, mapped, managed };
  HostBuffer(Kind kind, size_t bytes) : kind_(kind) {
    void* at = nullptr;
    if (kind == Kind::managed)
      CHECK_CUDA(cudaMallocManaged(&at, bytes));
    else
      CHECK_CUDA(cudaHostAlloc(&at, bytes, kind == Kind::mapped ? cudaHostAllocMapped : cudaHostAllocDefault));
    data_ = static_cast<unsigned*>(at);
  }
  ~HostBuffer() {
    if (kind_ == Kind::managed)
      cudaFree(data_);
    else
      cudaFreeHost(data_);
  }
  HostBuffer(const HostBuffer&) = delete;
  HostBuffer& operator=(const HostBuffer&) = delete;
  unsigned* data() { return data_; }
  unsigned* on_device() {  // the address that kernels use
    if (kind_ == Kind::managed) return data_;
    void* at = nullptr;
    CHECK_CUDA(cudaHostGetDevicePointer(&at, data_, 0));
    return static_cast<unsigned*>(at);
  }

 private:
  Kind kind_;
  unsigned* data_ = nullptr;
};

inline std::vector<unsigned> random_words(unsigned long long seed, size_t count) {
  lab::Random random(seed);
  std::vector<unsigned> out(count);
  for (unsigned& v : out) v = random.bits();
  return out;
}

// Compares byte for byte: a copy has no tolerance.
inline lab::Verdict same_bytes(const void* got, const void* expected, size_t bytes) {
  lab::Verdict verdict;
  verdict.count = bytes;
  if (std::memcmp(got, expected, bytes) == 0) return verdict;
  for (size_t i = 0; i < bytes; ++i)
    verdict.wrong += static_cast<const char*>(got)[i] != static_cast<const char*>(expected)[i];
  verdict.max_error = 1;
  return verdict;
}

inline void prefetch(const unsigned* data, size_t bytes, cudaStream_t stream) {
  int device = 0;
  CHECK_CUDA(cudaGetDevice(&device));
#if CUDART_VERSION >= 13000
  CHECK_CUDA(cudaMemPrefetchAsync(data, bytes, {cudaMemLocationTypeDevice, device}, 0, stream));
#else
  CHECK_CUDA(cudaMemPrefetchAsync(data, bytes, device, stream));
#endif
}
