// Classes of the blocks of a grid by their place: the first, the last, or between them, in each dimension. Blocks at
// the edge of a grid often do less, or other, work than those between (halos, tiles that are partly outside the data).
// So a launch of some blocks (some_blocks.h) samples and scales each class by itself.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <vector>

#include "gpu/types.h"

namespace warpgrind::device {

// A box of blocks.
struct BlockClass {
  std::array<std::uint64_t, 3> begin{}, size{};  // in x, y, z
  std::uint64_t count() const { return size[0] * size[1] * size[2]; }
};

// All classes that have blocks: 1 to 27. The first has block 0 alone, unless the grid is a single row of one block.
std::vector<BlockClass> classes_of(const Dim3& grid);

// Draws the blocks of a class one after the other. Those drawn so far are evenly spread over the class, whatever their
// number: their places are multiples of irrational numbers modulo 1.
class ClassDraw {
 public:
  ClassDraw(const Dim3& grid, const BlockClass& of) : grid_(grid), class_(of) {}
  // Linear indexes of the next `count` blocks that are not in `drawn`, in order; adds them to it. Fewer if the class
  // has no more.
  std::vector<std::uint64_t> next(std::uint64_t count, std::set<std::uint64_t>& drawn);

 private:
  std::uint64_t linear(const std::array<std::uint64_t, 3>& at) const;

  const Dim3 grid_;
  const BlockClass class_;
  std::uint64_t step_ = 0;
};

}  // namespace warpgrind::device
