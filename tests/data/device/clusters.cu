// Kernels of tests/unit/device_clusters_test.cpp. clusters.ptx is made by
//   nvcc -arch=sm_90 -lineinfo -ptx clusters.cu
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

// Every block reads its neighbour's shared memory, and adds to that of the first.
extern "C" __global__ void ring(int* out, int* totals) {
  __shared__ int box[64];
  __shared__ int total;
  cg::cluster_group cluster = cg::this_cluster();
  const unsigned rank = cluster.block_rank(), size = cluster.num_blocks();
  box[threadIdx.x] = 1000 * rank + threadIdx.x;
  if (threadIdx.x == 0) total = 0;
  cluster.sync();
  const int* next = cluster.map_shared_rank(box, (rank + 1) % size);
  int* first = cluster.map_shared_rank(&total, 0);
  const unsigned block = blockIdx.x + gridDim.x * blockIdx.y;
  out[block * blockDim.x + threadIdx.x] = next[threadIdx.x] + 100000 * cluster.query_shared_rank(next);
  atomicAdd(first, static_cast<int>(threadIdx.x));
  cluster.sync();
  if (threadIdx.x == 0) totals[block] = *first;
  cluster.sync();  // the first must not leave before
}

// The same by addresses of the shared::cluster window, stores and vector loads.
extern "C" __global__ void push(int* out) {
  __shared__ alignas(16) int box[128];
  unsigned rank, size, mine, theirs;
  asm("mov.u32 %0, %%cluster_ctarank; mov.u32 %1, %%cluster_nctarank;" : "=r"(rank), "=r"(size) : :);
  mine = static_cast<unsigned>(__cvta_generic_to_shared(box + threadIdx.x));
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(theirs) : "r"(mine), "r"(rank ^ 1));
  asm volatile("st.shared::cluster.u32 [%0], %1;" : : "r"(theirs), "r"(rank * 1000 + threadIdx.x) : "memory");
  asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
  out[blockIdx.x * blockDim.x + threadIdx.x] = box[threadIdx.x];
}

extern "C" __global__ void registers(unsigned* out) {
  unsigned v[17];
  asm("mov.u32 %0, %%clusterid.x;" : "=r"(v[0]));
  asm("mov.u32 %0, %%clusterid.y;" : "=r"(v[1]));
  asm("mov.u32 %0, %%clusterid.z;" : "=r"(v[2]));
  asm("mov.u32 %0, %%nclusterid.x;" : "=r"(v[3]));
  asm("mov.u32 %0, %%nclusterid.y;" : "=r"(v[4]));
  asm("mov.u32 %0, %%nclusterid.z;" : "=r"(v[5]));
  asm("mov.u32 %0, %%cluster_ctaid.x;" : "=r"(v[6]));
  asm("mov.u32 %0, %%cluster_ctaid.y;" : "=r"(v[7]));
  asm("mov.u32 %0, %%cluster_ctaid.z;" : "=r"(v[8]));
  asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(v[9]));
  asm("mov.u32 %0, %%cluster_nctaid.y;" : "=r"(v[10]));
  asm("mov.u32 %0, %%cluster_nctaid.z;" : "=r"(v[11]));
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(v[12]));
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(v[13]));
  asm("{ .reg .pred p; mov.pred p, %%is_explicit_cluster; selp.u32 %0, 1, 0, p; }" : "=r"(v[14]));
  asm("mov.u32 %0, %%total_smem_size;" : "=r"(v[15]));
  asm("mov.u32 %0, %%aggr_smem_size;" : "=r"(v[16]));
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  if (threadIdx.x == 0)
    for (int k = 0; k < 17; ++k) out[block * 17 + k] = v[k];
}

// A block leaves at once; the others do not wait for it, and reading its memory is a fault.
extern "C" __global__ void gone(int* out, int read) {
  __shared__ int box;
  cg::cluster_group cluster = cg::this_cluster();
  box = 7;
  if (cluster.block_rank() == 1) return;
  cluster.sync();
  out[blockIdx.x] = read ? *cluster.map_shared_rank(&box, 1) : 5;
}

// Tiles of several warps keep their scratch in the driver's part of shared memory.
extern "C" __global__ void wide_tiles(int* out, const int* in) {
  extern __shared__ int user[];
  __shared__ cg::block_tile_memory<256> scratch;
  user[threadIdx.x] = -1;
  const auto block = cg::this_thread_block(scratch);
  const auto tile = cg::tiled_partition<128>(block);
  const int sum = cg::reduce(tile, in[threadIdx.x], cg::plus<int>());
  block.sync();
  out[threadIdx.x] = user[threadIdx.x] == -1 ? sum : -7;
}
