// Clusters of blocks through cooperative groups, with the size as an attribute of the launch or of the kernel.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdio>

namespace cg = cooperative_groups;

constexpr int kThreads = 64;

// Each block counts in its own shared memory. Then every block adds up the counts of its cluster.
__device__ void add_up(int* sums, int* ranks) {
  __shared__ int mine[kThreads];
  cg::cluster_group cluster = cg::this_cluster();
  mine[threadIdx.x] = 1000 * static_cast<int>(blockIdx.x) + static_cast<int>(threadIdx.x);
  cluster.sync();
  int sum = 0;
  for (unsigned r = 0; r < cluster.num_blocks(); ++r) sum += cluster.map_shared_rank(mine, r)[threadIdx.x];
  cluster.sync();
  sums[blockIdx.x * kThreads + threadIdx.x] = sum;
  if (threadIdx.x == 0) ranks[blockIdx.x] = static_cast<int>(cluster.block_rank() + 100 * cluster.num_blocks());
}
__global__ void by_attribute(int* sums, int* ranks) {
  add_up(sums, ranks);
}
__global__ void __cluster_dims__(2, 1, 1) by_kernel(int* sums, int* ranks) {
  add_up(sums, ranks);
}
// A histogram whose bins are spread over the cluster.
__global__ void __cluster_dims__(4, 1, 1) histogram(const int* data, int n, int* bins) {
  constexpr int kBinsOfBlock = 8;
  __shared__ int part[kBinsOfBlock];
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x < kBinsOfBlock) part[threadIdx.x] = 0;
  cluster.sync();
  for (int i = static_cast<int>(cluster.block_rank() * blockDim.x + threadIdx.x); i < n;
       i += static_cast<int>(cluster.num_blocks() * blockDim.x)) {
    const int bin = data[i] % 32;
    atomicAdd(cluster.map_shared_rank(part, bin / kBinsOfBlock) + bin % kBinsOfBlock, 1);
  }
  cluster.sync();
  if (threadIdx.x < kBinsOfBlock) bins[cluster.block_rank() * kBinsOfBlock + threadIdx.x] = part[threadIdx.x];
}

static cudaError_t launch(unsigned blocks, unsigned cluster, int* sums, int* ranks) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(kThreads);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = cluster;
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  config.attrs = &attribute;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, by_attribute, sums, ranks);
}

static int wrong(const int* sums, const int* ranks, int blocks, int cluster) {
  int wrong = 0;
  for (int b = 0; b < blocks; ++b) {
    const int first = b / cluster * cluster;
    wrong += ranks[b] != b - first + 100 * cluster;
    for (int t = 0; t < kThreads; ++t) {
      int sum = 0;
      for (int r = first; r < first + cluster; ++r) sum += 1000 * r + t;
      wrong += sums[b * kThreads + t] != sum;
    }
  }
  return wrong;
}

int main() {
  constexpr int kBlocks = 16, kData = 10000;
  int *sums, *ranks, *data, *bins;
  cudaMallocManaged(&sums, kBlocks * kThreads * sizeof(int));
  cudaMallocManaged(&ranks, kBlocks * sizeof(int));
  cudaMallocManaged(&data, kData * sizeof(int));
  cudaMallocManaged(&bins, 32 * sizeof(int));
  for (const int cluster : {1, 4, 8}) {
    const cudaError_t error = launch(kBlocks, cluster, sums, ranks);
    const cudaError_t run = cudaDeviceSynchronize();
    std::printf("attribute %d: %s %s, %d wrong\n", cluster, cudaGetErrorName(error), cudaGetErrorName(run),
                wrong(sums, ranks, kBlocks, cluster));
  }
  by_kernel<<<kBlocks, kThreads>>>(sums, ranks);
  std::printf("kernel 2: %s", cudaGetErrorName(cudaDeviceSynchronize()));
  std::printf(", %d wrong\n", wrong(sums, ranks, kBlocks, 2));
  for (int i = 0; i < kData; ++i) data[i] = i * i % 97;
  histogram<<<4, 128>>>(data, kData, bins);
  std::printf("histogram: %s", cudaGetErrorName(cudaDeviceSynchronize()));
  int expected[32] = {}, bad = 0;
  for (int i = 0; i < kData; ++i) ++expected[data[i] % 32];
  for (int b = 0; b < 32; ++b) bad += bins[b] != expected[b];
  std::printf(", %d wrong\n", bad);

  std::printf("no multiple: %s\n", cudaGetErrorName(launch(6, 4, sums, ranks)));
  std::printf("16: %s\n", cudaGetErrorName(launch(16, 16, sums, ranks)));
  cudaFuncSetAttribute(by_attribute, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
  std::printf("16 allowed: %s", cudaGetErrorName(launch(16, 16, sums, ranks)));
  std::printf(" %s", cudaGetErrorName(cudaDeviceSynchronize()));
  std::printf(", %d wrong\n", wrong(sums, ranks, kBlocks, 16));
  std::printf("last error: %s\n", cudaGetErrorName(cudaGetLastError()));

  cudaLaunchConfig_t config{};
  config.gridDim = dim3(kBlocks);
  config.blockDim = dim3(kThreads);
  int size = 0, clusters = 0;
  const cudaError_t asked = cudaOccupancyMaxPotentialClusterSize(&size, by_kernel, &config);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = 2;
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  config.attrs = &attribute;
  config.numAttrs = 1;
  const cudaError_t active = cudaOccupancyMaxActiveClusters(&clusters, by_kernel, &config);
  std::printf("occupancy: %s %d, %s %s\n", cudaGetErrorName(asked), size, cudaGetErrorName(active),
              clusters > 132 ? "more than one an SM" : "too few");
  return 0;
}
