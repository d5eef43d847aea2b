// Reads of matrices in shared memory for tcgen05.
#include "device/calls/tensor_operands.h"

#include <algorithm>
#include <cstring>

namespace warpgrind::device {

TensorReader::TensorReader(const TensorCall& call) : w_(*call.context), access_(access_of(*call.context, call.site)) {
  access_.form = {StateSpace::shared, AccessType::load, kPiece};
  access_.element = kPiece;
  access_.vector = 1;
  access_.counted = access_.published = false;
}

void TensorReader::read_lines(const jit::MatrixDescriptor& d, const Block& block, unsigned lines, unsigned pieces,
                              std::uint8_t* to) {
  for (unsigned line = 0; line < lines; ++line)
    for (unsigned p = 0; p < pieces; ++p, to += kPiece) read(d.of_line(line, p), block, to);
}

void TensorReader::read_depths(const jit::MatrixDescriptor& d, const Block& block, unsigned depth, unsigned groups,
                               std::uint8_t* to) {
  for (unsigned k = 0; k < depth; ++k)
    for (unsigned g = 0; g < groups; ++g, to += kPiece) read(d.of_depth(g, k), block, to);
}

// Descriptors hold addresses of the block's own shared memory, of 18 bits.
void TensorReader::read(std::uint64_t address, const Block& block, std::uint8_t* to) {
  constexpr std::uint64_t kAddressMask = 0x3ffff;
  const auto apart = static_cast<std::uint64_t>(std::int64_t{block.cluster_rank} - std::int64_t{w_.cluster_rank});
  offsets_[waiting_] = raw(shared_offset(w_, GenericAddress{address & kAddressMask})) + (apart << kClusterShift);
  to_[waiting_] = to;
  if (++waiting_ == kWarpSize) flush();
}

void TensorReader::flush() {
  if (waiting_ == 0) return;
  const LaneMask lanes = waiting_ == kWarpSize ? kFullMask : (LaneMask{1} << waiting_) - 1;
  std::fill(offsets_ + waiting_, offsets_ + kWarpSize, offsets_[0]);
  Access access = access_.at(Lanes<SharedOffset>(offsets_), lanes);
  const Place place = pass(access);
  for (unsigned l = 0; l < waiting_; ++l)
    if (access.mask >> l & 1)
      std::memcpy(to_[l], place.of(l), kPiece);
    else
      std::memset(to_[l], 0, kPiece);
  waiting_ = 0;
}

}  // namespace warpgrind::device
