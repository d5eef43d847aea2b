// Reads of matrices in shared memory for tcgen05.
#include "device/calls/tensor_operands.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace warpgrind::device {

TensorReader::TensorReader(const TensorCall& call)
    : w_(*call.context), lane_(call.lane), access_(access_of(*call.context, call.site)) {
  access_.form = {StateSpace::shared, AccessType::load, kPiece};
  access_.element = kPiece;
  access_.vector = 1;
  access_.path = events::AccessPath::bulk_copy;  // observers see ranges that the async proxy reads
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
  offsets_[waiting_] = (address & kAddressMask) + (apart << kClusterShift);
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
  if (is_watched(launch_of(w_), access_.site)) publish_pieces(access.mask);
  waiting_ = 0;
}

// One thread reads all pieces, so that each range of neighbouring pieces is an access of its lane.
void TensorReader::publish_pieces(LaneMask valid) {
  for (unsigned first = 0, end = 1; first < waiting_; first = end++) {
    if ((valid >> first & 1) == 0) continue;
    while (end < waiting_ && (valid >> end & 1) != 0 && offsets_[end] == offsets_[end - 1] + kPiece) ++end;
    std::uint64_t from[kWarpSize];
    std::uint32_t bytes[kWarpSize];
    std::fill(std::begin(from), std::end(from), offsets_[first]);
    std::fill(std::begin(bytes), std::end(bytes), (end - first) * kPiece);
    Access access = access_.at(Lanes<SharedOffset>(from), LaneMask{1} << lane_);
    access.sizes = bytes;
    access.published = true;
    pass(access);
  }
}

}  // namespace warpgrind::device
