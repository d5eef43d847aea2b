// Cooperative groups: tiles of all sizes, coalesced threads, partitions, reduce and scan, a grid that meets.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include "check.h"

namespace cg = cooperative_groups;

__device__ int sum_of(const cg::thread_group& group, int* shared, int value) {
  const int rank = (int)group.thread_rank();
  for (int i = (int)group.size() / 2; i > 0; i /= 2) {
    shared[rank] = value;
    group.sync();
    if (rank < i) value += shared[rank + i];
    group.sync();
  }
  return value;
}

__device__ int larger(int a, int b) {
  return a > b ? a : b;
}

__global__ void groups(int* out, const int* in) {
  __shared__ int shared[128], copied[32];
  cg::thread_block block = cg::this_thread_block();
  const int t = (int)block.thread_rank();
  auto warp = cg::tiled_partition<32>(block);
  auto four = cg::tiled_partition<4>(warp);
  int* mine = out + t * 16;
  mine[0] = cg::reduce(warp, t, cg::plus<int>());
  mine[1] = (int)cg::reduce(four, (float)t, cg::greater<float>());
  mine[2] = cg::inclusive_scan(warp, 1);
  mine[3] = cg::exclusive_scan(four, t, cg::plus<int>());
  mine[4] = four.shfl_xor(t, 1);
  mine[5] = (int)four.meta_group_rank();
  if (t % 3 == 0) {
    cg::coalesced_group together = cg::coalesced_threads();
    mine[6] = (int)together.size();
    mine[7] = cg::reduce(together, 1, cg::plus<int>());
  } else {
    mine[6] = mine[7] = 0;
  }
  auto odd = cg::binary_partition(warp, t % 2 != 0);
  mine[8] = (int)odd.size() * 100 + (int)odd.thread_rank();
  auto label = cg::labeled_partition(warp, t % 5);
  mine[9] = (int)label.size();
  auto big = cg::tiled_partition<64>(block);
  mine[10] = cg::reduce(big, t, cg::plus<int>());
  block.sync();
  mine[11] = sum_of(block, shared, t);
  cg::memcpy_async(block, copied, in, sizeof copied);
  cg::wait(block);
  mine[12] = copied[t % 32];
  mine[13] = (int)warp.ballot(t % 2 == 0);
  mine[14] = warp.any(t == 40);
  mine[15] = cg::reduce(warp, t, larger);  // a function as it is
}

__global__ void meet(int* data, int n, int* wrong) {
  cg::grid_group grid = cg::this_grid();
  const int i = (int)grid.thread_rank();
  data[i] = i;
  grid.sync();
  if (data[n - 1 - i] != n - 1 - i) atomicAdd(wrong, 1);
  grid.sync();
  if (data[(i + 1) % n] < 0) atomicAdd(wrong, 1);
}

int main() {
  const int threads = 128;
  int in[32], out[threads][16], *device_in, *device_out;
  for (int i = 0; i < 32; i++) in[i] = 1000 + i;
  CHECK(cudaMalloc(&device_in, sizeof in));
  CHECK(cudaMalloc(&device_out, sizeof out));
  CHECK(cudaMemcpy(device_in, in, sizeof in, cudaMemcpyHostToDevice));
  groups<<<1, threads>>>(device_out, device_in);
  CHECK(cudaMemcpy(out, device_out, sizeof out, cudaMemcpyDeviceToHost));
  for (int t = 0; t < threads; t++) {
    const int w = t / 32 * 32, f = t / 4 * 4, b = t / 64 * 64;
    int before = 0, third = 0, same = 0;
    for (int i = f; i < t; i++) before += i;
    for (int i = w; i < w + 32; i++) third += i % 3 == 0, same += i % 5 == t % 5;
    expect_equal("reduce of a warp", t, out[t][0], 32 * w + 496);
    expect_equal("largest of four", t, out[t][1], f + 3);
    expect_equal("inclusive scan", t, out[t][2], t - w + 1);
    expect_equal("exclusive scan", t, out[t][3], before);
    expect_equal("shuffle", t, out[t][4], t ^ 1);
    expect_equal("meta rank", t, out[t][5], t % 32 / 4);
    expect_equal("coalesced", t, out[t][6], t % 3 == 0 ? third : 0);
    expect_equal("coalesced reduce", t, out[t][7], t % 3 == 0 ? third : 0);
    expect_equal("binary partition", t, out[t][8], 1600 + t % 32 / 2);
    expect_equal("labeled partition", t, out[t][9], same);
    expect_equal("tile of 64", t, out[t][10], 64 * b + 2016);
    if (t == 0) expect_equal("block", t, out[t][11], threads * (threads - 1) / 2);
    expect_equal("memcpy_async", t, out[t][12], 1000 + t % 32);
    expect_equal("ballot", t, (unsigned)out[t][13], 0x55555555u);
    expect_equal("any", t, out[t][14] != 0, w == 32);
    expect_equal("reduce by a function", t, out[t][15], w + 31);
  }
  int blocks = 4, n = blocks * threads, wrong = 0, *device_wrong, *data;
  CHECK(cudaMalloc(&data, n * sizeof(int)));
  CHECK(cudaMalloc(&device_wrong, sizeof(int)));
  CHECK(cudaMemset(device_wrong, 0, sizeof(int)));
  void* arguments[] = {&data, &n, &device_wrong};
  CHECK(cudaLaunchCooperativeKernel(meet, dim3(blocks), dim3(threads), arguments));
  CHECK(cudaMemcpy(&wrong, device_wrong, sizeof wrong, cudaMemcpyDeviceToHost));
  expect_equal("grid.sync", 0, wrong, 0);
  std::printf("cooperative groups: right\n");
}
