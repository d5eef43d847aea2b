// Places where the warps of a kernel arrive at barriers, and where their lanes split at a branch.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "gpu/types.h"
#include "jit/stop_places.h"
#include "ptx/ast.h"

namespace warpgrind::debugger {

// Of each barrier of the block (bar, barrier; not those of a warp or a cluster), the last place before it. Ascending.
std::vector<std::uint32_t> barrier_places(const ptx::Module& module, const std::vector<jit::StopPlace>& places);

// Branches that have a choice: the last place before each, and the first places of the ways that it can take.
using Branches = std::map<std::uint32_t, std::vector<std::uint32_t>>;
Branches branches_of(const ptx::Module& module, const std::vector<jit::StopPlace>& places);
// All places of these, ascending.
std::vector<std::uint32_t> branch_places(const Branches& branches);

// A warp of a launch.
struct WarpKey {
  std::uint64_t launch = 0, block = 0;
  std::uint32_t warp = 0;
  auto operator<=>(const WarpKey&) const = default;
};

// Compares the lanes that take a way of a branch with those that came to it.
class Splits {
 public:
  // Call for each place of branch_places() that a warp passes. Returns the lanes that go another way, if these are the
  // first lanes behind a branch; 0: no split.
  LaneMask pass(const Branches& branches, const WarpKey& warp, std::uint32_t place, LaneMask lanes);
  void forget() { last_.clear(); }

 private:
  struct Last {
    std::uint32_t place = 0;
    LaneMask lanes = 0;
  };
  std::map<WarpKey, Last> last_;  // of each warp, the last branch that it came to
};

}  // namespace warpgrind::debugger
