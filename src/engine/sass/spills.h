// Registers that ptxas spills: it stores their values in local memory and loads them again, because the kernel needs
// more registers than its limit (__launch_bounds__, __maxnreg__, -maxrregcount, 255). PTX has none of these
// instructions. All figures are modelled.
//
// If the binary has machine code that names the spilling instructions, their number and places are known. Only the
// block of each, its kind (half are taken as loads) and its width are modelled. In the loops of 20 kernels, 0.91 of
// them are found on average, with a spread of a factor of 1.3. Without machine code, values are spilled by Belady's
// rule (the next use that is farthest away) in the modelled code. This is right on average, with a spread of 1.55.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ptx/ast.h"
#include "sass/code.h"

namespace warpgrind::sass {

struct Spills {
  // Local loads and stores of a block, and the 32-bit words that they move.
  struct OfBlock {
    double loads = 0, stores = 0, load_words = 0, store_words = 0;
  };
  std::vector<OfBlock> each;    // by block of the code: at each execution
  std::vector<OfBlock> before;  // ... additionally at each entry that is not from the block itself or from a later one
  // Of a binary: place of each spilling instruction among the others, 0 (first instruction) to 1 (last). `each` and
  // `before` are then empty.
  std::vector<double> places;
  double words = 1;         // mean 32-bit words of such an instruction
  std::uint64_t bytes = 0;  // of local memory per thread
  bool any() const { return !places.empty() || !each.empty(); }
};

// As ptxas would spill to stay below `limit` registers. Empty: the code is too large to look at, or nothing is spilled.
Spills estimate_spills(const Code& code, const ptx::Module& module, std::uint32_t limit);

// From a binary: indexes of the spilling instructions (ascending) among all instructions of the kernel.
Spills spills_of_binary(const Code& code, const ptx::Module& module, std::span<const std::uint32_t> spills,
                        std::uint64_t instructions, std::uint64_t bytes);

// Spilling instructions that a launch executes, summed over its warps.
struct SpillCounts {
  Spills::OfBlock all;
  std::vector<Spills::OfBlock> blocks;  // by block of the code
};
SpillCounts count_spills(const Spills& spills, const Code& code, const Flow& flow);

// Copies of a loop's body that ptxas places one after the other and that are executed.
double copies_of(const Code& code, const Flow& flow, std::size_t block);

}  // namespace warpgrind::sass
