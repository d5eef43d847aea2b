// Direction numbers of Sobol sequences, and the constants that scramble them. Source: Joe and Kuo's table
// new-joe-kuo-6.21201, in Boost's copy, which has its first 3667 dimensions. The dimensions after them are of our own
// making: each is equidistributed by itself, and differs from NVIDIA's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace warpgrind::libraries::rand {

inline constexpr std::size_t kJoeKuoDimensions = 3667;
// NVIDIA documents tables of 20,000 dimensions, and programs copy them whole.
inline constexpr std::size_t kDimensions = 20000;

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
