// Reader of matrices that tcgen05 takes from shared memory by descriptors. They consist of pieces of 16 bytes, which
// are read 32 at a time by accesses to shared memory.
#pragma once

#include <cstdint>

#include "device/calls/tensor_memory.h"
#include "jit/calls/tensor_descriptor.h"

namespace warpgrind::device {

class TensorReader {
 public:
  explicit TensorReader(const TensorCall& call);
  // Reads lines (rows of A, columns of B) from the shared memory of `block`, `pieces` pieces each (K-major).
  void read_lines(const jit::MatrixDescriptor& d, const Block& block, unsigned lines, unsigned pieces,
                  std::uint8_t* to);
  // Same by depth (MN-major): for each depth all lines, `groups` pieces.
  void read_depths(const jit::MatrixDescriptor& d, const Block& block, unsigned depth, unsigned groups,
                   std::uint8_t* to);
  void flush();

 private:
  static constexpr unsigned kPiece = jit::MatrixDescriptor::kPiece;
  void read(std::uint64_t address, const Block& block, std::uint8_t* to);
  void publish_pieces(LaneMask valid);

  jit::WarpContext& w_;
  unsigned lane_;  // of the thread that issues the operation
  Access access_;
  unsigned waiting_ = 0;
  std::uint64_t offsets_[kWarpSize];
  std::uint8_t* to_[kWarpSize];
};

}  // namespace warpgrind::device
