// Contents of memory that no code has written, for each kind of memory: `--fill`.
#include <cstdio>
#include <cstdlib>

__device__ unsigned zero_by_the_language;

__global__ void look(unsigned* out, int one) {
  extern __shared__ volatile unsigned shared[];
  volatile unsigned local[8];
  local[one] = 1;
  out[0] = shared[one];
  out[1] = local[one + 3];
  volatile unsigned* heap = static_cast<volatile unsigned*>(malloc(64));
  out[2] = heap[one];
  free(const_cast<unsigned*>(heap));
  out[3] = zero_by_the_language;
}

void show(const char* what, const unsigned* device) {
  unsigned value = 0;
  cudaMemcpy(&value, device, sizeof value, cudaMemcpyDefault);
  std::printf("%s %08x\n", what, value);
}

int main() {
  unsigned *device = nullptr, *managed = nullptr, *pool = nullptr, *seen = nullptr;
  cudaMalloc(&device, 5 << 20);
  cudaMallocManaged(&managed, 4096);
  cudaMallocAsync(&pool, 4096, nullptr);
  cudaMalloc(&seen, 16);
  cudaMemset(seen, 0, 16);
  show("device", device + 1000000);
  show("managed", managed + 100);
  show("pool", pool + 100);
  for (int round = 0; round < 2; ++round) look<<<1, 1, 64>>>(seen, 1);
  for (int i = 0; i < 4; ++i) show((const char*[]){"shared", "local", "heap", "variable"}[i], seen + i);
  cudaFree(device);
  cudaFree(managed);
  cudaFree(pool);
  cudaFree(seen);
}
