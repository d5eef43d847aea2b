// Part of cooperative_groups.h: tiles, whose size is known at compile time. A tile of up to 32 threads consists of
// lanes of one warp. A larger one consists of whole warps of a block, which synchronize at a named barrier.
#pragma once

#define WG_GROUP __device__ __forceinline__

namespace cooperative_groups {

// Shared memory for tiles of more than 32 threads: 16 bytes for each warp of a block. A program may pass its own to
// this_thread_block(), but the tiles always use tile_memory().
template <unsigned int MaxBlockSize = 1024>
struct block_tile_memory {
  unsigned long long slots[(MaxBlockSize + 31) / 32 * 2];
};

namespace wg {
// Exchange buffer of the warps of a tile: 16 bytes for each warp of the block.
WG_GROUP inline block_tile_memory<1024>& tile_memory() {
  static __shared__ block_tile_memory<1024> memory;
  return memory;
}

template <unsigned int Size>
class WarpTile {
 public:
  WG_GROUP unsigned int wg_mask() const {
    return Size == 32 ? 0xffffffffu : ((1u << (Size & 31)) - 1) << (lane() & ~(Size - 1));
  }
  static WG_GROUP unsigned int thread_rank() { return lane() & (Size - 1); }
  WG_GROUP void sync() const { __syncwarp(wg_mask()); }
  template <class T>
  WG_GROUP T shfl(T value, int rank) const {
    return each_word(value, [=](unsigned int word) { return __shfl_sync(wg_mask(), word, rank, Size); });
  }
  template <class T>
  WG_GROUP T shfl_up(T value, unsigned int delta) const {
    return each_word(value, [=](unsigned int word) { return __shfl_up_sync(wg_mask(), word, delta, Size); });
  }
  template <class T>
  WG_GROUP T shfl_down(T value, unsigned int delta) const {
    return each_word(value, [=](unsigned int word) { return __shfl_down_sync(wg_mask(), word, delta, Size); });
  }
  template <class T>
  WG_GROUP T shfl_xor(T value, unsigned int bits) const {
    return each_word(value, [=](unsigned int word) { return __shfl_xor_sync(wg_mask(), word, (int)bits, Size); });
  }
  WG_GROUP int any(int predicate) const { return __any_sync(wg_mask(), predicate); }
  WG_GROUP int all(int predicate) const { return __all_sync(wg_mask(), predicate); }
  WG_GROUP unsigned int ballot(int predicate) const { return pack(__ballot_sync(wg_mask(), predicate)); }
  template <class T>
  WG_GROUP unsigned int match_any(T value) const {
    return pack(__match_any_sync(wg_mask(), value));
  }
  template <class T>
  WG_GROUP unsigned int match_all(T value, int& predicate) const {
    return pack(__match_all_sync(wg_mask(), value, &predicate));
  }

 private:
  static WG_GROUP unsigned int pack(unsigned int lanes) {
    return Size == 32 ? lanes : (lanes >> (lane() & ~(Size - 1))) & ((1u << (Size & 31)) - 1);
  }
  template <class T, class F>
  static WG_GROUP T each_word(T value, F shuffle) {
    unsigned int words[(sizeof(T) + 3) / 4] = {};
    __builtin_memcpy(words, &value, sizeof(T));
    for (unsigned int& word : words) word = shuffle(word);
    __builtin_memcpy(&value, words, sizeof(T));
    return value;
  }
};

// A tile of more than one warp.
template <unsigned int Size>
class BlockTile {
 public:
  static WG_GROUP unsigned int thread_rank() { return thread_in_block() & (Size - 1); }
  // Each tile of the block has a named barrier, 1 to 15. A sixteenth tile (64 of 1024 threads) uses barrier 0, the
  // block's own.
  WG_GROUP void sync() const {
    const unsigned int id = (thread_in_block() / Size + 1) % 16;
    __asm__ volatile("barrier.sync %0, %1;" ::"r"(id), "r"(Size) : "memory");
  }
  template <class T>
  WG_GROUP T shfl(T value, int rank) const {
    static_assert(sizeof(T) <= 16, "a value of at most 16 bytes");
    unsigned long long* slot = tile_memory().slots + (thread_in_block() & ~(Size - 1)) / 32 * 2;
    if (thread_rank() == (unsigned int)rank) __builtin_memcpy(slot, &value, sizeof(T));
    sync();
    __builtin_memcpy(&value, slot, sizeof(T));
    sync();
    return value;
  }
  WG_GROUP int any(int predicate) const {
    unsigned long long* slots = tile_memory().slots + (thread_in_block() & ~(Size - 1)) / 32 * 2;
    const int mine = __any_sync(0xffffffffu, predicate);
    if (lane() == 0) slots[thread_rank() / 32] = mine;
    sync();
    int all_of_them = 0;
    for (unsigned int i = 0; i < Size / 32; i++) all_of_them |= (int)slots[i];
    sync();
    return all_of_them;
  }
  WG_GROUP int all(int predicate) const { return !any(!predicate); }
};

template <bool in_a_warp, unsigned int Size>
struct TileOf {
  typedef WarpTile<Size> type;
};
template <unsigned int Size>
struct TileOf<false, Size> {
  typedef BlockTile<Size> type;
};
}  // namespace wg

template <unsigned int Size, class Parent = void>
class thread_block_tile : public wg::TileOf<(Size <= 32), Size>::type {
  static_assert(Size != 0 && (Size & (Size - 1)) == 0 && Size <= 1024, "a power of two up to 1024");
  unsigned int meta_rank_, meta_size_;

 public:
  typedef typename wg::TileOf<(Size <= 32), Size>::type Base;
  WG_GROUP thread_block_tile(unsigned int meta_rank, unsigned int meta_size)
      : meta_rank_(meta_rank), meta_size_(meta_size) {}
  template <class Other>
  WG_GROUP thread_block_tile(const thread_block_tile<Size, Other>& other)
      : meta_rank_(other.meta_group_rank()), meta_size_(other.meta_group_size()) {}
  static constexpr WG_GROUP unsigned int size() { return Size; }
  static constexpr WG_GROUP unsigned int num_threads() { return Size; }
  WG_GROUP unsigned int meta_group_rank() const { return meta_rank_; }
  WG_GROUP unsigned int meta_group_size() const { return meta_size_; }
  WG_GROUP operator thread_group() const { return coalesced_group(this->wg_mask()); }
  WG_GROUP operator coalesced_group() const { return coalesced_group(this->wg_mask(), meta_rank_, meta_size_); }
};

template <unsigned int Size>
WG_GROUP thread_block_tile<Size, thread_block> tiled_partition(const thread_block&) {
  return thread_block_tile<Size, thread_block>(wg::thread_in_block() / Size,
                                               (wg::threads_of_block() + Size - 1) / Size);
}
template <unsigned int Size, unsigned int ParentSize, class Parent>
WG_GROUP thread_block_tile<Size, thread_block_tile<ParentSize, void>> tiled_partition(
    const thread_block_tile<ParentSize, Parent>& parent) {
  static_assert(Size <= ParentSize, "a tile is not larger than its parent");
  return thread_block_tile<Size, thread_block_tile<ParentSize, void>>(parent.thread_rank() / Size, ParentSize / Size);
}
template <unsigned int Size>
WG_GROUP coalesced_group tiled_partition(const coalesced_group& parent);

// Partition into tiles whose size is known only at run time.
WG_GROUP inline thread_group tiled_partition(const thread_group& parent, unsigned int size) {
  if (parent.kind_ == thread_group::kBlock) {
    const unsigned int base = wg::lane() & ~(size - 1), left = wg::threads_of_block() - (wg::thread_in_block() & ~31u);
    const unsigned int there = left >= 32 ? 0xffffffffu : (1u << left) - 1;
    return coalesced_group((size == 32 ? 0xffffffffu : ((1u << size) - 1) << base) & there);
  }
  // The parent is a group of lanes: `size` threads with neighbouring ranks form a tile.
  const coalesced_group lanes(parent.mask_);
  const unsigned int rank = lanes.thread_rank(), first = rank - rank % size;
  unsigned int mask = 0;
  for (unsigned int i = first; i < first + size && i < lanes.size(); i++) mask |= 1u << lanes.wg_lane(i);
  return coalesced_group(mask, rank / size, (lanes.size() + size - 1) / size);
}
WG_GROUP inline coalesced_group tiled_partition(const coalesced_group& parent, unsigned int size) {
  const unsigned int rank = parent.thread_rank(), first = rank - rank % size;
  unsigned int mask = 0;
  for (unsigned int i = first; i < first + size && i < parent.size(); i++) mask |= 1u << parent.wg_lane(i);
  return coalesced_group(mask, rank / size, (parent.size() + size - 1) / size);
}
WG_GROUP inline thread_group tiled_partition(const thread_block& parent, unsigned int size) {
  return tiled_partition(static_cast<const thread_group&>(parent), size);
}
template <unsigned int Size>
WG_GROUP coalesced_group tiled_partition(const coalesced_group& parent) {
  return tiled_partition(parent, Size);
}

template <unsigned int MaxBlockSize>
WG_GROUP thread_block this_thread_block(block_tile_memory<MaxBlockSize>&) {
  return this_thread_block();
}

namespace experimental {
using cooperative_groups::block_tile_memory;
using cooperative_groups::this_thread_block;
using cooperative_groups::tiled_partition;
}  // namespace experimental

}  // namespace cooperative_groups

#undef WG_GROUP
