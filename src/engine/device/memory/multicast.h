// Multimem addresses: a range of addresses that stands for memory of several GPUs (a mapped multicast object). Only the
// instructions multimem.* may use them.
#pragma once

#include <cstdint>
#include <vector>

namespace warpgrind::device {

struct Multicast {
  // Memory of one GPU, bound to the multimem addresses [low, high). `at`: address of its first byte there.
  struct Piece {
    std::uint64_t low = 0, high = 0, at = 0;
  };
  struct Member {
    std::int32_t device = 0;
    std::vector<Piece> pieces;  // sorted
    // Address of the memory that the bytes stand for on this GPU. 0: nothing is bound to some of them.
    std::uint64_t memory_of(std::uint64_t address, std::uint64_t bytes) const;
  };

  std::uint64_t low = 0, high = 0;
  std::uint64_t readers = 0, writers = 0;  // GPUs whose kernels may read and write, one bit each
  std::vector<Member> members;             // by device
};

// The multicast that holds the address; nullptr: none. `sorted` by address.
const Multicast* find_multicast(const std::vector<Multicast>& sorted, std::uint64_t address);

}  // namespace warpgrind::device
