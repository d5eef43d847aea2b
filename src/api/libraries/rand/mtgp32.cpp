// MTGP32 generator of the host interface.
#include "libraries/rand/mtgp32.h"

#include <vector>

#include "curand_mtgp32dc_p_11213.h"
#include "libraries/rand/normal_quantile.h"
#include "libraries/rand/poisson.h"
#include "libraries/rand/sequences.h"
#include "warpgrind/curand/mtgp32.h"

namespace warpgrind::libraries::rand {

namespace {

mtgp32_kernel_params_t* parameters() {
  static mtgp32_kernel_params_t gathered = [] {
    mtgp32_kernel_params_t all;
    wg_mtgp32_gather(mtgp32dc_params_fast_11213, &all);
    return all;
  }();
  return &gathered;
}

// MTGP32. There is one sequence for each parameter set; in turn, each gives 256 numbers (cuRAND library, "Orderings").
// Each number makes one result in every distribution.
class Mtgp32 final : public Generator {
 public:
  explicit Mtgp32(const Settings& s) : seed_(s.seed), count_(s.ordering == CURAND_ORDERING_PSEUDO_LEGACY ? 64 : 192) {}
  void bits(std::uint32_t* out, std::size_t n) override {
    each(n, [&](std::uint32_t x, std::size_t i) { out[i] = x; });
  }
  void bits(std::uint64_t*, std::size_t) override {}  // only 64-bit generators have 64-bit numbers
  void uniform(float* out, std::size_t n) override {
    each(n, [&](std::uint32_t x, std::size_t i) { out[i] = rand::uniform(x); });
  }
  void uniform(double* out, std::size_t n) override {
    each(n, [&](std::uint32_t x, std::size_t i) { out[i] = uniform_double(x); });
  }
  void normal(float* out, std::size_t n, float mean, float deviation) override {
    each(n, [&](std::uint32_t x, std::size_t i) { out[i] = mean + deviation * static_cast<float>(normal_of(x)); });
  }
  void normal(double* out, std::size_t n, double mean, double deviation) override {
    each(n, [&](std::uint32_t x, std::size_t i) { out[i] = mean + deviation * normal_of(x); });
  }
  void poisson(std::uint32_t* out, std::size_t n, double lambda) override {
    const PoissonDistribution distribution(lambda, kPoissonOfMtgp32);
    each(n, [&](std::uint32_t x, std::size_t i) {
      out[i] = distribution.by_normal() ? distribution.of_normal(normal_of(x)) : distribution.of(uniform_double(x));
    });
  }

 private:
  static double normal_of(std::uint32_t x) { return normal_quantile(inner_uniform(x)); }

  curandStateMtgp32_t& sequence(std::size_t index) {
    while (states_.size() <= index) {
      const unsigned number = static_cast<unsigned>(states_.size());
      curandStateMtgp32_t& state = states_.emplace_back();
      wg_mtgp32_seed(state.s, &mtgp32dc_params_fast_11213[number], wg_mtgp32_word_of_seed(seed_, number));
      state.pIdx = static_cast<int>(number);
      state.k = parameters();
    }
    return states_[index];
  }
  template <class Take>
  void each(std::size_t n, Take take) {
    for (std::size_t i = 0; i < n; ++i) {
      curandStateMtgp32_t& state = sequence(turn_);
      take(wg_mtgp32_draw(&state, place_), i);
      if (++place_ < MTGPDC_FLOOR_2P) continue;
      wg_mtgp32_advance(&state, MTGPDC_FLOOR_2P);
      place_ = 0;
      turn_ = turn_ + 1 == count_ ? 0 : turn_ + 1;
    }
  }

  std::uint64_t seed_;
  std::size_t count_, turn_ = 0;
  unsigned place_ = 0;  // index among the 256 numbers of this turn
  std::vector<curandStateMtgp32_t> states_;
};

}  // namespace

std::unique_ptr<Generator> make_mtgp32(const Settings& settings) {
  return std::make_unique<Mtgp32>(settings);
}

}  // namespace warpgrind::libraries::rand
