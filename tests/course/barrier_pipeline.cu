// libcu++ in shared memory: cuda::barrier with asynchronous copies, split arrival and wait, and cuda::pipeline in
// stages.
#include <cooperative_groups.h>

#include <cuda/barrier>
#include <cuda/pipeline>

#include "check.h"

namespace cg = cooperative_groups;

// Each thread brings one element; the barrier says when those of all have come.
__global__ void reverse(const int* in, int* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ int tile[128];
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  cuda::memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], sizeof(int), barrier);
  barrier.arrive_and_wait();
  out[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}

// Between arriving and waiting there is time for work that needs no other thread.
__global__ void rounds(int* out, int count) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barriers[2];  // full, empty
  __shared__ int sum;
  if (threadIdx.x < 2) init(&barriers[threadIdx.x], blockDim.x);
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  int own = 0;
  for (int i = 0; i < count; i++) {
    atomicAdd(&sum, 1);
    auto token = barriers[0].arrive();
    own += i;
    barriers[0].wait(std::move(token));
    own += sum;  // 64 more each round
    barriers[1].arrive_and_wait();
  }
  out[threadIdx.x] = own;
}

// Two stages: while one is worked on, the next is on its way.
template <int kStages>
__global__ void staged(const int* in, int* out, int batches) {
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kStages> state;
  __shared__ int tiles[kStages][64];
  const cg::thread_block block = cg::this_thread_block();
  auto pipeline = cuda::make_pipeline(block, &state);
  for (int fetched = 0, batch = 0; batch < batches; batch++) {
    for (; fetched < batches && fetched < batch + kStages; fetched++) {
      pipeline.producer_acquire();
      cuda::memcpy_async(block, tiles[fetched % kStages], in + 64 * fetched, sizeof(int) * 64, pipeline);
      pipeline.producer_commit();
    }
    pipeline.consumer_wait();
    out[64 * batch + threadIdx.x] = 2 * tiles[batch % kStages][63 - threadIdx.x];
    block.sync();  // where all threads produce and consume, producer_acquire waits for no release
    pipeline.consumer_release();
  }
}

// A thread's own pipeline needs nothing in shared memory.
__global__ void own_pipeline(const int* in, int* out) {
  __shared__ int tile[64];
  cuda::pipeline<cuda::thread_scope_thread> pipeline = cuda::make_pipeline();
  pipeline.producer_acquire();
  cuda::memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], sizeof(int), pipeline);
  pipeline.producer_commit();
  pipeline.consumer_wait();
  out[threadIdx.x] = tile[threadIdx.x] + 1;
  pipeline.consumer_release();
}

int main() {
  const int n = 640;
  int *in, *out;
  CHECK(cudaMallocManaged(&in, n * sizeof(int)));
  CHECK(cudaMallocManaged(&out, n * sizeof(int)));
  for (int i = 0; i < n; i++) in[i] = 3 * i;
  reverse<<<1, 128>>>(in, out);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 128; i++) expect_equal("reversed", i, out[i], 3 * (127 - i));
  rounds<<<1, 64>>>(out, 5);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 64; i++) expect_equal("rounds", i, out[i], 10 + 64 * 15);
  staged<2><<<1, 64>>>(in, out, n / 64);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < n; i++) expect_equal("two stages", i, out[i], 6 * (i / 64 * 64 + 63 - i % 64));
  staged<3><<<1, 64>>>(in, out, n / 64);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < n; i++) expect_equal("three stages", i, out[i], 6 * (i / 64 * 64 + 63 - i % 64));
  own_pipeline<<<1, 64>>>(in, out);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 64; i++) expect_equal("own", i, out[i], 3 * i + 1);
  std::printf("barrier_pipeline: right\n");
}
