// Direction numbers and scramble constants of Sobol sequences.
#include "libraries/rand/direction_vectors.h"

#include <bit>
#include <boost/random/detail/sobol_table.hpp>
#include <random>

namespace warpgrind::libraries::rand {

namespace {

using Table = boost::random::detail::qrng_tables::sobol;
static_assert(kJoeKuoDimensions == Table::max_dimension);

// Recurrence of Bratley and Fox: each number follows from those before it, by the coefficients of a primitive
// polynomial.
template <class Word>
Direction<Word> direction_of(std::size_t dimension) {
  constexpr unsigned kBits = sizeof(Word) * 8;
  Direction<Word> d;
  if (dimension == 0) {
    for (unsigned i = 0; i < kBits; ++i) d.vectors[i] = Word{1} << (kBits - 1 - i);
    return d;
  }
  const unsigned polynomial = Table::polynomial(dimension - 1);
  const unsigned degree = static_cast<unsigned>(std::bit_width(polynomial)) - 1;
  for (unsigned i = 0; i < degree; ++i) d.vectors[i] = Word{Table::minit(dimension - 1, i)} << (kBits - 1 - i);
  for (unsigned i = degree; i < kBits; ++i) {
    Word v = d.vectors[i - degree] ^ (d.vectors[i - degree] >> degree);
    for (unsigned k = 1; k < degree; ++k)
      if ((polynomial >> (degree - k)) & 1) v ^= d.vectors[i - k];
    d.vectors[i] = v;
  }
  return d;
}

// A dimension that the table lacks. The lowest set bit of vector i is bit kBits - 1 - i, so that each interval of 1 /
// 2^k gets one of 2^k numbers; the bits above are random.
template <class Word>
Direction<Word> random_direction(std::mt19937_64& random) {
  constexpr unsigned kBits = sizeof(Word) * 8;
  Direction<Word> d;
  for (unsigned i = 0; i < kBits; ++i) {
    const Word lowest = Word{1} << (kBits - 1 - i);
    const Word above = ~(lowest | (lowest - 1));
    d.vectors[i] = lowest | (static_cast<Word>(random()) & above);
  }
  return d;
}

}  // namespace

template <class Word>
const std::vector<Direction<Word>>& directions() {
  static const auto* all = [] {
    auto* made = new std::vector<Direction<Word>>;
    made->reserve(kDimensions);
    for (std::size_t i = 0; i < kJoeKuoDimensions; ++i) made->push_back(direction_of<Word>(i));
    std::mt19937_64 random(3667);
    while (made->size() < kDimensions) made->push_back(random_direction<Word>(random));
    return made;
  }();
  return *all;
}
template <class Word>
const std::vector<Word>& scrambles() {
  static const auto* all = [] {
    auto* made = new std::vector<Word>;
    std::mt19937_64 random(20080910);
    for (std::size_t i = 0; i < kDimensions; ++i) made->push_back(static_cast<Word>(random()));
    return made;
  }();
  return *all;
}
template const std::vector<Direction<std::uint32_t>>& directions();
template const std::vector<Direction<std::uint64_t>>& directions();
template const std::vector<std::uint32_t>& scrambles();
template const std::vector<std::uint64_t>& scrambles();

}  // namespace warpgrind::libraries::rand
