// Part of cooperative_groups.h: groups of a single thread, a block, a cluster, a grid, and coalesced threads of a warp.
#pragma once

#define WG_GROUP __device__ __forceinline__

namespace cooperative_groups {

namespace wg {
WG_GROUP inline unsigned int thread_in_block() {
  return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
WG_GROUP inline unsigned int threads_of_block() {
  return blockDim.x * blockDim.y * blockDim.z;
}
WG_GROUP inline unsigned int lane() {
  unsigned int l;
  __asm__ volatile("mov.u32 %0, %%laneid;" : "=r"(l));
  return l;
}
WG_GROUP inline unsigned int lanes_below() {
  unsigned int m;
  __asm__ volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(m));
  return m;
}
}  // namespace wg

// A group whose kind is known only at run time. Other groups convert to it.
class thread_group {
 protected:
  enum Kind : unsigned char { kThread, kBlock, kGrid, kTile, kCoalesced, kCluster };
  Kind kind_;
  unsigned int mask_ = 0;  // lanes of a tile or of coalesced threads
  friend WG_GROUP thread_group tiled_partition(const thread_group& parent, unsigned int size);
  WG_GROUP thread_group(Kind kind, unsigned int mask) : kind_(kind), mask_(mask) {}

 public:
  WG_GROUP thread_group() : kind_(kThread) {}
  WG_GROUP unsigned long long size() const;
  WG_GROUP unsigned long long num_threads() const { return size(); }
  WG_GROUP unsigned long long thread_rank() const;
  WG_GROUP void sync() const;
  WG_GROUP bool is_valid() const { return true; }
  WG_GROUP unsigned int get_type() const { return kind_; }
};

class thread_block : public thread_group {
  WG_GROUP thread_block() : thread_group(kBlock, 0) {}
  friend WG_GROUP thread_block this_thread_block();

 public:
  static WG_GROUP void sync() { __syncthreads(); }
  static WG_GROUP unsigned int size() { return wg::threads_of_block(); }
  static WG_GROUP unsigned int num_threads() { return wg::threads_of_block(); }
  static WG_GROUP unsigned int thread_rank() { return wg::thread_in_block(); }
  static WG_GROUP dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  static WG_GROUP dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
  static WG_GROUP dim3 group_dim() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
  static WG_GROUP dim3 dim_threads() { return group_dim(); }
};
WG_GROUP inline thread_block this_thread_block() {
  return thread_block();
}

// As in NVIDIA's headers, code for GPUs before sm_90 has no clusters.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define WG_HAS_CLUSTERS
#endif
#ifdef WG_HAS_CLUSTERS
class cluster_group : public thread_group {
  WG_GROUP cluster_group() : thread_group(kCluster, 0) {}
  friend WG_GROUP cluster_group this_cluster();

 public:
  struct arrival_token {};
  static WG_GROUP void sync() {
    __cluster_barrier_arrive();
    __cluster_barrier_wait();
  }
  static WG_GROUP arrival_token barrier_arrive() {
    __cluster_barrier_arrive();
    return arrival_token();
  }
  static WG_GROUP void barrier_wait(arrival_token = arrival_token()) { __cluster_barrier_wait(); }
  static WG_GROUP unsigned int block_rank() { return __clusterRelativeBlockRank(); }
  static WG_GROUP unsigned int num_blocks() { return __clusterSizeInBlocks(); }
  static WG_GROUP dim3 block_index() { return __clusterRelativeBlockIdx(); }
  static WG_GROUP dim3 dim_blocks() { return __clusterDim(); }
  static WG_GROUP unsigned int num_threads() { return num_blocks() * wg::threads_of_block(); }
  static WG_GROUP unsigned int size() { return num_threads(); }
  static WG_GROUP unsigned int thread_rank() { return block_rank() * wg::threads_of_block() + wg::thread_in_block(); }
  static WG_GROUP dim3 dim_threads() {
    const dim3 blocks = dim_blocks();
    return dim3(blocks.x * blockDim.x, blocks.y * blockDim.y, blocks.z * blockDim.z);
  }
  static WG_GROUP dim3 thread_index() {
    const dim3 block = block_index();
    return dim3(block.x * blockDim.x + threadIdx.x, block.y * blockDim.y + threadIdx.y,
                block.z * blockDim.z + threadIdx.z);
  }
  static WG_GROUP unsigned int query_shared_rank(const void* p) { return __cluster_query_shared_rank(p); }
  template <class T>
  static WG_GROUP T* map_shared_rank(T* p, int rank) {
    return (T*)__cluster_map_shared_rank(p, (unsigned int)rank);
  }
};
WG_GROUP inline cluster_group this_cluster() {
  return cluster_group();
}
#endif

namespace wg {
// Barrier of all blocks of a cooperative grid. The first thread of each block adds 1 to the counter; in block 0 it adds
// 0x80000000 - (blocks - 1). The sum of a round flips the sign bit, and all blocks wait for that. Each kernel module
// has its own counter, so the launch must be cooperative.
__device__ __attribute__((weak, visibility("hidden"))) unsigned int wg_grid_barrier = 0;
// A cooperative launch puts an address into these registers, and another launch puts 0.
WG_GROUP inline bool is_cooperative() {
  unsigned int low, high;
  asm("mov.u32 %0, %%envreg2;" : "=r"(low));
  asm("mov.u32 %0, %%envreg1;" : "=r"(high));
  return (low | high) != 0;
}
WG_GROUP inline unsigned int grid_arrive() {
  unsigned int old = 0;
  if (!is_cooperative()) __trap();
  __syncthreads();
  if (thread_in_block() == 0) {
    const unsigned int blocks = gridDim.x * gridDim.y * gridDim.z;
    const bool first = blockIdx.x == 0 && blockIdx.y == 0 && blockIdx.z == 0;
    __threadfence();
    old = atomicAdd(&wg_grid_barrier, first ? 0x80000000u - (blocks - 1) : 1u);
  }
  return old;
}
WG_GROUP inline void grid_wait(unsigned int old) {
  if (thread_in_block() == 0) {
    while (((old ^ *(volatile unsigned int*)&wg_grid_barrier) & 0x80000000u) == 0) {
    }
    __threadfence();
  }
  __syncthreads();
}
}  // namespace wg

class grid_group : public thread_group {
  WG_GROUP grid_group() : thread_group(kGrid, 0) {}
  friend WG_GROUP grid_group this_grid();

 public:
  struct arrival_token {
    unsigned int seen;
  };
  static WG_GROUP bool is_valid() { return wg::is_cooperative(); }
  static WG_GROUP void sync() { wg::grid_wait(wg::grid_arrive()); }
  static WG_GROUP arrival_token barrier_arrive() { return arrival_token{wg::grid_arrive()}; }
  static WG_GROUP void barrier_wait(arrival_token token) { wg::grid_wait(token.seen); }
  static WG_GROUP unsigned long long num_blocks() { return (unsigned long long)gridDim.x * gridDim.y * gridDim.z; }
  static WG_GROUP unsigned long long block_rank() {
    return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  }
  static WG_GROUP unsigned long long size() { return num_blocks() * wg::threads_of_block(); }
  static WG_GROUP unsigned long long num_threads() { return size(); }
  static WG_GROUP unsigned long long thread_rank() {
    return block_rank() * wg::threads_of_block() + wg::thread_in_block();
  }
  static WG_GROUP dim3 group_dim() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
  static WG_GROUP dim3 dim_blocks() { return group_dim(); }
  static WG_GROUP dim3 block_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
#ifdef WG_HAS_CLUSTERS
  static WG_GROUP unsigned long long num_clusters() {
    const dim3 n = __clusterGridDimInClusters();
    return (unsigned long long)n.x * n.y * n.z;
  }
  static WG_GROUP unsigned long long cluster_rank() {
    const dim3 n = __clusterGridDimInClusters(), i = __clusterIdx();
    return ((unsigned long long)i.z * n.y + i.y) * n.x + i.x;
  }
  static WG_GROUP dim3 dim_clusters() {
    return __clusterGridDimInClusters();
  }
  static WG_GROUP dim3 cluster_index() {
    return __clusterIdx();
  }
#endif
};
WG_GROUP inline grid_group this_grid() {
  return grid_group();
}

// Lanes of a warp, given by a mask. Coalesced threads are such a group, and small tiles convert to it.
class coalesced_group : public thread_group {
  unsigned int meta_rank_ = 0, meta_size_ = 1;

 public:
  WG_GROUP explicit coalesced_group(unsigned int mask, unsigned int meta_rank = 0, unsigned int meta_size = 1)
      : thread_group(kCoalesced, mask), meta_rank_(meta_rank), meta_size_(meta_size) {}
  WG_GROUP unsigned int wg_mask() const { return mask_; }
  WG_GROUP unsigned int size() const { return (unsigned int)__popc(mask_); }
  WG_GROUP unsigned int num_threads() const { return size(); }
  WG_GROUP unsigned int thread_rank() const { return (unsigned int)__popc(mask_ & wg::lanes_below()); }
  WG_GROUP unsigned int meta_group_rank() const { return meta_rank_; }
  WG_GROUP unsigned int meta_group_size() const { return meta_size_; }
  WG_GROUP void sync() const { __syncwarp(mask_); }
  // Lane of the thread with this rank.
  WG_GROUP int wg_lane(unsigned int rank) const {
    return mask_ == 0xffffffffu ? (int)rank : (int)__fns(mask_, 0, (int)rank + 1);
  }
  template <class T>
  WG_GROUP T shfl(T value, int rank) const {
    return wg_shuffle(value, wg_lane((unsigned int)rank % size()));
  }
  template <class T>
  WG_GROUP T shfl_up(T value, unsigned int delta) const {
    const unsigned int rank = thread_rank();
    return wg_shuffle(value, rank < delta ? (int)wg::lane() : wg_lane(rank - delta));
  }
  template <class T>
  WG_GROUP T shfl_down(T value, unsigned int delta) const {
    const unsigned int rank = thread_rank();
    return wg_shuffle(value, rank + delta >= size() ? (int)wg::lane() : wg_lane(rank + delta));
  }
  template <class T>
  WG_GROUP T shfl_xor(T value, unsigned int bits) const {
    const unsigned int other = thread_rank() ^ bits;
    return wg_shuffle(value, other >= size() ? (int)wg::lane() : wg_lane(other));
  }
  WG_GROUP int any(int predicate) const { return __any_sync(mask_, predicate); }
  WG_GROUP int all(int predicate) const { return __all_sync(mask_, predicate); }
  WG_GROUP unsigned int ballot(int predicate) const { return wg_pack(__ballot_sync(mask_, predicate)); }
  template <class T>
  WG_GROUP unsigned int match_any(T value) const {
    return wg_pack(__match_any_sync(mask_, value));
  }
  template <class T>
  WG_GROUP unsigned int match_all(T value, int& predicate) const {
    return wg_pack(__match_all_sync(mask_, value, &predicate));
  }
  // Converts a mask of lanes to a mask of ranks.
  WG_GROUP unsigned int wg_pack(unsigned int lanes) const {
    if (mask_ == 0xffffffffu) return lanes;
    unsigned int ranks = 0;
    for (unsigned int left = mask_, bit = 1; left; left &= left - 1, bit <<= 1)
      if (lanes & left & -left) ranks |= bit;
    return ranks;
  }
  // Shuffles a value of any type, word by word.
  template <class T>
  WG_GROUP T wg_shuffle(T value, int lane) const {
    unsigned int words[(sizeof(T) + 3) / 4] = {};
    __builtin_memcpy(words, &value, sizeof(T));
    for (unsigned int& word : words) word = __shfl_sync(mask_, word, lane);
    __builtin_memcpy(&value, words, sizeof(T));
    return value;
  }
};
WG_GROUP inline coalesced_group coalesced_threads() {
  return coalesced_group(__activemask());
}

WG_GROUP inline unsigned long long thread_group::size() const {
  switch (kind_) {
    case kBlock:
      return wg::threads_of_block();
    case kGrid:
      return grid_group::size();
#ifdef WG_HAS_CLUSTERS
    case kCluster:
      return cluster_group::size();
#endif
    case kThread:
      return 1;
    default:
      return (unsigned long long)__popc(mask_);
  }
}
WG_GROUP inline unsigned long long thread_group::thread_rank() const {
  switch (kind_) {
    case kBlock:
      return wg::thread_in_block();
    case kGrid:
      return grid_group::thread_rank();
#ifdef WG_HAS_CLUSTERS
    case kCluster:
      return cluster_group::thread_rank();
#endif
    case kThread:
      return 0;
    default:
      return (unsigned long long)__popc(mask_ & wg::lanes_below());
  }
}
WG_GROUP inline void thread_group::sync() const {
  switch (kind_) {
    case kBlock:
      __syncthreads();
      break;
    case kGrid:
      grid_group::sync();
      break;
#ifdef WG_HAS_CLUSTERS
    case kCluster:
      cluster_group::sync();
      break;
#endif
    case kThread:
      break;
    default:
      __syncwarp(mask_);
  }
}
WG_GROUP inline thread_group this_thread() {
  return thread_group();
}

template <class Group>
WG_GROUP void sync(const Group& group) {
  group.sync();
}
template <class Group>
WG_GROUP auto thread_rank(const Group& group) -> decltype(group.thread_rank()) {
  return group.thread_rank();
}
template <class Group>
WG_GROUP auto group_size(const Group& group) -> decltype(group.size()) {
  return group.size();
}
template <class Group>
WG_GROUP dim3 group_index(const Group& group) {
  return group.group_index();
}
template <class Group>
WG_GROUP dim3 thread_index(const Group& group) {
  return group.thread_index();
}

}  // namespace cooperative_groups

#undef WG_GROUP
