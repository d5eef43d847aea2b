// Direction numbers of Sobol's sequences, by Joe and Kuo's table (new-joe-kuo-6.21201, as Boost has it: its first 3667
// dimensions), and the constants by which ours are scrambled.
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
// One for each dimension.
template <class Word>
const std::vector<Direction<Word>>& directions();
// NVIDIA's constants are not published: these are others, of the same kind.
template <class Word>
const std::vector<Word>& scrambles();

}  // namespace warpgrind::libraries::rand
