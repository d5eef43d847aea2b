// The places of L2 with most of a launch's atomics, which execute one after the other there.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "gpu/types.h"

namespace warpgrind::counters {

// A turn is what L2 executes at once: lanes with different words of one sector. Lanes with one word take turns. Sums of
// doubles need more for the other half of a sector. On an H200, warps that add to rows of 32 doubles take 1.4 to 1.9
// times as long as with integers of 64 bits (lab/results/h200/atomics.csv).
class HotAtomics {
 public:
  // Blocks of the launch, and how many of them run at one time. all_seen: of each block, all requests come here.
  HotAtomics(std::uint64_t blocks, std::uint64_t at_once, bool all_seen);

  enum class Words { integers, floats, doubles };
  // A request. together: the lanes have one address, and the warp sums up what they add before it asks L2.
  void note(std::uint64_t block, const std::uint64_t* addresses, unsigned lanes, bool together, Words words);

  double turns() const { return turns_; }  // doubles as other words
  // Parts of all turns. Blocks that run one after the other may have different places with most.
  double in_unit() const { return share(false); }   // in the unit with most turns; of doubles, up to 1.55
  double of_floats() const { return share(true); }  // of floating-point operations, in the sector with most

 private:
  static constexpr unsigned kSectors = 32;  // of a KiB
  struct Kib {
    std::array<std::uint32_t, kSectors> turns{};
    std::array<std::uint32_t, kSectors> floats{};  // of these, of floating-point operations
    std::array<std::uint32_t, kSectors> halves{};  // of doubles: turns of the other 16 bytes
    std::uint64_t blocks = 0;                      // a bit for each of 64 groups
  };
  struct Phase {
    std::unordered_map<std::uint64_t, Kib> kibs;
    std::uint64_t blocks = 0;
  };
  double share(bool floats) const;

  std::uint64_t blocks_;
  bool all_seen_;
  double turns_ = 0;
  std::vector<Phase> phases_;
};

}  // namespace warpgrind::counters
