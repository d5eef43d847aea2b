// How much other local memory a thread uses before it uses a word of its own again. All running threads do so at the
// same time: L2 holds the word until then, or not.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace warpgrind::counters {

// Uses by the number of other words in between, in steps of a quarter of an octave.
class LocalDistances {
 public:
  void add(double words, double weight);
  // The mean of part(words) over all uses.
  template <class Part>
  double mean(Part&& part) const {
    double sum = 0, all = 0;
    for (unsigned k = 0; k < kSteps; ++k)
      if (uses_[k] > 0) sum += uses_[k] * part(words_of(k)), all += uses_[k];
    return all > 0 ? sum / all : 0;
  }

 private:
  static constexpr unsigned kSteps = 96;
  static double words_of(unsigned step);
  std::array<double, kSteps> uses_{};
};

// A load that needs a word again, and a store whose word L2 has until the next store to it.
struct LocalReuse {
  LocalDistances loads, stores;
};

// The parts of the loads that L2 no longer has, and of the stores that it has written back, where all running threads
// use `bytes` in between. l2: its bytes.
double lost_loads(double bytes, double l2);
double lost_stores(double bytes, double l2);

// The local memory of one warp, word by word.
class LocalWords {
 public:
  void begin(std::uint64_t bytes_of_thread);
  void use(std::uint64_t offset, bool store, LocalReuse& reuse);
  // After the last use: what was stored last stays.
  void end(LocalReuse& reuse);

 private:
  static constexpr std::size_t kMostPlaces = 1 << 16;
  // Other words used after that time.
  double used_since(std::uint32_t time) const;

  struct Place {
    std::uint32_t used = 0, stored = 0;  // times; 0: never
  };
  std::vector<Place> places_;
  std::uint64_t words_of_place_ = 1;
  std::uint32_t now_ = 0, take_each_ = 1;
};

}  // namespace warpgrind::counters
