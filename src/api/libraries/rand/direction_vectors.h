// Direction numbers of Sobol sequences, and the constants that scramble them. Source: Joe and Kuo's table
// new-joe-kuo-6.21201, in Boost's copy, which has its first 3667 dimensions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace warpgrind::libraries::rand {

inline constexpr std::size_t kDimensions = 3667;

template <class Word>
struct Direction {
  Word vectors[sizeof(Word) * 8];
};
// Direction numbers, one entry for each dimension.
template <class Word>
const std::vector<Direction<Word>>& directions();
// Scramble constants, one for each dimension. NVIDIA's are not published; these are others of the same kind.
template <class Word>
const std::vector<Word>& scrambles();

}  // namespace warpgrind::libraries::rand
