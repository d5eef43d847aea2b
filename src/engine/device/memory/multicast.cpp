// Look-up of multimem addresses.
#include "device/memory/multicast.h"

#include <algorithm>
#include <iterator>

namespace warpgrind::device {

std::uint64_t Multicast::Member::memory_of(std::uint64_t address, std::uint64_t bytes) const {
  const auto above = std::upper_bound(pieces.begin(), pieces.end(), address,
                                      [](std::uint64_t a, const Piece& p) { return a < p.low; });
  if (above == pieces.begin()) return 0;
  const Piece& piece = *std::prev(above);
  return address < piece.high && bytes <= piece.high - address ? piece.at + (address - piece.low) : 0;
}

const Multicast* find_multicast(const std::vector<Multicast>& sorted, std::uint64_t address) {
  const auto above = std::upper_bound(sorted.begin(), sorted.end(), address,
                                      [](std::uint64_t a, const Multicast& m) { return a < m.low; });
  if (above == sorted.begin()) return nullptr;
  const Multicast& multicast = *std::prev(above);
  return address < multicast.high ? &multicast : nullptr;
}

}  // namespace warpgrind::device
