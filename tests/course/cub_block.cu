// CUB's algorithms of a block and of a warp, called together in one kernel.
#include <algorithm>
#include <cub/cub.cuh>
#include <vector>

#include "check.h"

constexpr int kThreads = 128, kItems = 4, kTile = kThreads * kItems;

// Each block sorts its tile, sums it, and leaves the running sums of the sorted one; each warp its threads' maximum.
__global__ void tiles(const int* in, int* sorted, int* running, int* sums, int* most) {
  using Load = cub::BlockLoad<int, kThreads, kItems, cub::BLOCK_LOAD_TRANSPOSE>;
  using Store = cub::BlockStore<int, kThreads, kItems, cub::BLOCK_STORE_TRANSPOSE>;
  using Sort = cub::BlockRadixSort<int, kThreads, kItems>;
  using Reduce = cub::BlockReduce<int, kThreads>;
  using Scan = cub::BlockScan<int, kThreads>;
  using WarpReduce = cub::WarpReduce<int>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Store::TempStorage store;
    typename Sort::TempStorage sort;
    typename Reduce::TempStorage reduce;
    typename Scan::TempStorage scan;
  } shared;
  __shared__ typename WarpReduce::TempStorage warps[kThreads / 32];

  const int first = blockIdx.x * kTile;
  int items[kItems];
  Load(shared.load).Load(in + first, items);
  __syncthreads();
  const int sum = Reduce(shared.reduce).Sum(items);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
  int largest = items[0];
  for (int i = 1; i < kItems; i++) largest = max(largest, items[i]);
  const int warp = threadIdx.x / 32;
  const auto larger = [](int a, int b) { return a > b ? a : b; };
  const int of_warp = WarpReduce(warps[warp]).Reduce(largest, larger);
  if (threadIdx.x % 32 == 0) most[blockIdx.x * (kThreads / 32) + warp] = of_warp;
  __syncthreads();
  Sort(shared.sort).Sort(items);
  __syncthreads();
  int sums_until[kItems], total;
  Scan(shared.scan).InclusiveSum(items, sums_until, total);
  __syncthreads();
  Store(shared.store).Store(sorted + first, items);  // leaves the items transposed
  __syncthreads();
  Store(shared.store).Store(running + first, sums_until);
  if (threadIdx.x == 0 && total != sum) sums[blockIdx.x] = -1;
}

int main() {
  const int blocks = 5, n = blocks * kTile, warps = kThreads / 32;
  std::vector<int> host(n), sorted(n), running(n), sums(blocks), most(blocks * warps);
  unsigned int state = 7;
  for (int& v : host) v = int((state = state * 1664525u + 1013904223u) >> 16) - 30000;
  int *in, *d_sorted, *d_running, *d_sums, *d_most;
  for (int** p : {&in, &d_sorted, &d_running, &d_sums, &d_most}) CHECK(cudaMalloc(p, n * sizeof(int)));
  CHECK(cudaMemcpy(in, host.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  tiles<<<blocks, kThreads>>>(in, d_sorted, d_running, d_sums, d_most);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(sorted.data(), d_sorted, n * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(running.data(), d_running, n * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(sums.data(), d_sums, blocks * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(most.data(), d_most, blocks * warps * sizeof(int), cudaMemcpyDeviceToHost));
  for (int b = 0; b < blocks; b++) {
    const auto tile = host.begin() + b * kTile;
    for (int w = 0; w < warps; w++)
      expect_equal("WarpReduce", b * warps + w, most[b * warps + w],
                   *std::max_element(tile + w * 32 * kItems, tile + (w + 1) * 32 * kItems));
    std::vector<int> wanted(tile, tile + kTile);
    std::sort(wanted.begin(), wanted.end());
    int sum = 0;
    for (int i = 0; i < kTile; i++) {
      expect_equal("BlockRadixSort", b * kTile + i, sorted[b * kTile + i], wanted[i]);
      expect_equal("BlockScan", b * kTile + i, running[b * kTile + i], sum += wanted[i]);
    }
    expect_equal("BlockReduce", b, sums[b], sum);
  }
  std::printf("cub_block: right\n");
}
