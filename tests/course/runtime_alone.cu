// The runtime header alone, as in host code without launches.
#include <cuda_runtime.h>

#include "check.h"

int main() {
  int count = 0, version = 0;
  size_t free_bytes = 0, total = 0;
  CHECK(cudaGetDeviceCount(&count));
  CHECK(cudaRuntimeGetVersion(&version));
  CHECK(cudaMemGetInfo(&free_bytes, &total));
  expect(count > 0 && version >= 12000 && free_bytes <= total, "device", 0, count, 1);
  cudaPointerAttributes attributes;
  void* p;
  CHECK(cudaMalloc(&p, 64));
  CHECK(cudaPointerGetAttributes(&attributes, p));
  expect_equal("type", 0, attributes.type, cudaMemoryTypeDevice);
  const cudaExtent extent = make_cudaExtent(64, 4, 2);
  cudaPitchedPtr pitched;
  CHECK(cudaMalloc3D(&pitched, extent));
  CHECK(cudaMemset3D(pitched, 1, extent));
  CHECK(cudaDeviceReset());
  std::printf("runtime header: right\n");
}
