// Classes of blocks, and low-discrepancy sequences over them.
#include "device/execution/block_classes.h"

#include <algorithm>
#include <cmath>

namespace warpgrind::device {

std::vector<BlockClass> classes_of(const Dim3& grid) {
  struct Part {
    std::uint64_t begin, size;
  };
  std::array<std::vector<Part>, 3> parts;
  const std::uint64_t sizes[] = {grid.x, grid.y, grid.z};
  for (unsigned d = 0; d < 3; ++d) {
    parts[d].push_back({0, 1});
    if (sizes[d] > 2) parts[d].push_back({1, sizes[d] - 2});
    if (sizes[d] > 1) parts[d].push_back({sizes[d] - 1, 1});
  }
  std::vector<BlockClass> out;
  for (const Part& z : parts[2])
    for (const Part& y : parts[1])
      for (const Part& x : parts[0]) out.push_back({{x.begin, y.begin, z.begin}, {x.size, y.size, z.size}});
  return out;
}

std::uint64_t ClassDraw::linear(const std::array<std::uint64_t, 3>& at) const {
  return class_.begin[0] + at[0] + grid_.x * (class_.begin[1] + at[1] + grid_.y * (class_.begin[2] + at[2]));
}

std::vector<std::uint64_t> ClassDraw::next(std::uint64_t count, std::set<std::uint64_t>& drawn) {
  // The root of x^(d+1) = x + 1 for d dimensions; its powers spread best (1: the golden ratio).
  constexpr double kRoots[] = {1.6180339887498949, 1.3247179572447460, 1.2207440846057596};
  unsigned dimensions = 0;
  for (const std::uint64_t s : class_.size) dimensions += s > 1;
  const double root = kRoots[dimensions == 0 ? 0 : dimensions - 1];
  std::vector<std::uint64_t> out;
  const auto take = [&](std::uint64_t block) {
    if (drawn.insert(block).second) out.push_back(block);
  };
  const std::uint64_t tries = 4 * (count + step_) + 64;
  for (std::uint64_t t = 0; t < tries && out.size() < count; ++t) {
    std::array<std::uint64_t, 3> at{};
    double power = 1;
    for (unsigned d = 0; d < 3; ++d) {
      if (class_.size[d] == 1) continue;
      power /= root;
      const double n = 0.5 + static_cast<double>(step_ + 1) * power;
      at[d] = std::min(class_.size[d] - 1,
                       static_cast<std::uint64_t>((n - std::floor(n)) * static_cast<double>(class_.size[d])));
    }
    ++step_;
    take(linear(at));
  }
  // Few are left: the first of them.
  for (std::uint64_t n = 0; n < class_.count() && out.size() < count; ++n)
    take(linear({n % class_.size[0], n / class_.size[0] % class_.size[1], n / class_.size[0] / class_.size[1]}));
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace warpgrind::device
