// Asynchronous copies in two stages, and a barrier in shared memory.
#include <cuda_awbarrier_primitives.h>
#include <cuda_pipeline.h>

#include "check.h"

__global__ void staged(const int4* in, int4* out, int rounds) {
  __shared__ int4 stage[2][32];
  __shared__ __mbarrier_t barrier;
  const int t = threadIdx.x;
  if (t == 0) __mbarrier_init(&barrier, 32);
  __syncthreads();
  __pipeline_memcpy_async(&stage[0][t], &in[t], sizeof(int4));
  __pipeline_commit();
  for (int i = 0; i < rounds; i++) {
    if (i + 1 < rounds) __pipeline_memcpy_async(&stage[(i + 1) % 2][t], &in[(i + 1) * 32 + t], sizeof(int4));
    __pipeline_commit();
    __pipeline_wait_prior(1);
    const __mbarrier_token_t token = __mbarrier_arrive(&barrier);
    while (!__mbarrier_test_wait(&barrier, token)) {
    }
    const int4 v = stage[i % 2][31 - t];
    out[i * 32 + t] = make_int4(v.w, v.z, v.y, v.x);
    __syncthreads();
  }
}

int main() {
  const int rounds = 4, n = rounds * 32;
  int4 host[n], *in, *out;
  for (int i = 0; i < n; i++) host[i] = make_int4(i, 2 * i, 3 * i, 4 * i);
  CHECK(cudaMalloc(&in, sizeof host));
  CHECK(cudaMalloc(&out, sizeof host));
  CHECK(cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice));
  staged<<<1, 32>>>(in, out, rounds);
  CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; i++) expect_equal("out", i, host[i].x, 4 * (i / 32 * 32 + 31 - i % 32));
  std::printf("pipeline: right\n");
}
