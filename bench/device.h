// The GPU's side of the benchmark's programs: buffers, and launches that are waited for.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "measure.h"

namespace bench {

inline void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(3);
}
#define CHECK(call) bench::check((call), #call)

template <class T>
T* device_copy(const std::vector<T>& host) {
  T* device;
  CHECK(cudaMalloc(&device, host.size() * sizeof(T)));
  CHECK(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
  return device;
}

template <class T>
std::vector<T> fetch(const T* device, size_t count) {
  std::vector<T> host(count);
  CHECK(cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
  return host;
}

// measure(), for works whose launches only launch.
inline int measure_launches(int argc, char** argv, Works works) {
  for (auto& [name, make] : works)
    make = [make = make](int size) {
      Work work = make(size);
      work.launch = [launch = work.launch] {
        launch();
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
      };
      return work;
    };
  return measure(argc, argv, works);
}

}  // namespace bench
