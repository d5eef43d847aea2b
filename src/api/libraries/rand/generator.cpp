// Generators of cuRAND's host interface: pseudo-random (XORWOW, MRG32k3a, Philox, MT19937) and quasi-random (Sobol).
#include "libraries/rand/generator.h"

#include <algorithm>
#include <random>
#include <vector>

#include "libraries/rand/direction_vectors.h"
#include "libraries/rand/mtgp32.h"
#include "libraries/rand/normal_quantile.h"
#include "libraries/rand/poisson.h"
#include "libraries/rand/sequences.h"

namespace warpgrind::libraries::rand {

namespace {

// Number of sequences from which a generator takes its numbers in turn (cuRAND library, "Orderings"). XORWOW and
// MRG32k3a: as on an H200 (CUDA 13.0) in the default, best and legacy orders. Philox: as in NVIDIA's library on the
// host. The dynamic order, which depends on the GPU, and the seeded one, whose seeds are not documented, equal the
// default order here.
template <class State>
std::size_t sequences_of(curandOrdering ordering) {
  if (std::is_same_v<State, curandStatePhilox4_32_10>) return 65536;
  return std::is_same_v<State, curandStateMRG32k3a> && ordering != CURAND_ORDERING_PSEUDO_LEGACY ? 81920 : 4096;
}
// Number of results that a sequence gives in its turn.
template <class State>
constexpr std::size_t kAtOnce = std::is_same_v<State, curandStatePhilox4_32_10> ? 4 : 1;

void next_sequence(curandStateXORWOW& s) {
  skipahead_sequence(1, &s);
}
void next_sequence(curandStatePhilox4_32_10& s) {
  skipahead_sequence(1, &s);
}
void next_sequence(curandStateMRG32k3a& s) {
  skipahead_subsequence(1, &s);
}

// Pseudo-random generator. If a sequence gives one number in its turn, number n of an array is number n / count of
// sequence n mod count. A sequence is started when it is first needed, by a jump from the one before.
template <class State>
class Pseudo final : public Generator {
 public:
  explicit Pseudo(const Settings& s) : count_(sequences_of<State>(s.ordering)), offset_(s.offset) {
    curand_init(s.seed, 0, 0, &next_);
    turn_ = s.offset % (count_ * kAtOnce<State>);
  }
  void bits(std::uint32_t* out, std::size_t n) override {
    deal(n, 1, [&](State& s, std::size_t i) { out[i] = curand(&s); });
  }
  void bits(std::uint64_t*, std::size_t) override {}  // only 64-bit generators have 64-bit numbers
  void uniform(float* out, std::size_t n) override {
    deal(n, 1, [&](State& s, std::size_t i) { out[i] = next_uniform(s); });
  }
  void uniform(double* out, std::size_t n) override {
    deal(n, 1, [&](State& s, std::size_t i) { out[i] = next_uniform_double(s); });
  }
  void normal(float* out, std::size_t n, float mean, float deviation) override {
    deal(n / 2, 2, [&](State& s, std::size_t i) {
      const Pair<float> pair = next_normals(s);
      out[2 * i] = mean + deviation * pair.first;
      out[2 * i + 1] = mean + deviation * pair.second;
    });
  }
  void normal(double* out, std::size_t n, double mean, double deviation) override {
    deal(n / 2, 2, [&](State& s, std::size_t i) {
      const Pair<double> pair = next_normals_double(s);
      out[2 * i] = mean + deviation * pair.first;
      out[2 * i + 1] = mean + deviation * pair.second;
    });
  }
  void poisson(std::uint32_t* out, std::size_t n, double lambda) override {
    const PoissonDistribution distribution(lambda, kPoissonOfPseudo);
    deal(n, 1, [&](State& s, std::size_t i) {
      out[i] = distribution.by_normal() ? distribution.of_normal(next_normal(s))
                                        : distribution.of(uniform_double(static_cast<std::uint32_t>(curand(&s))));
    });
  }

 private:
  State& sequence(std::size_t i) {
    while (states_.size() <= i) {
      states_.push_back(next_);
      if (const std::uint64_t skipped = skipped_by(states_.size() - 1)) skipahead(skipped, &states_.back());
      next_sequence(next_);
    }
    return states_[i];
  }
  // Number of a sequence's numbers that lie before the offset.
  std::uint64_t skipped_by(std::size_t i) const {
    const std::uint64_t turns = offset_ / kAtOnce<State>;
    const std::uint64_t whole = turns / count_ + (i < turns % count_ ? 1 : 0);
    return whole * kAtOnce<State> + (i == turns % count_ ? offset_ % kAtOnce<State> : 0);
  }
  // Calls take(sequence, i) n times. Each call makes `results` elements of the array.
  template <class Take>
  void deal(std::size_t n, std::size_t results, Take take) {
    for (std::size_t i = 0; i < n; ++i) {
      take(sequence(turn_ / kAtOnce<State>), i);
      turn_ = (turn_ + std::min(results, kAtOnce<State>)) % (count_ * kAtOnce<State>);
    }
  }

  std::size_t count_;
  std::size_t turn_ = 0;  // index of the next element, within one turn of all sequences
  std::uint64_t offset_;
  State next_;  // start of the next sequence
  std::vector<State> states_;
};

// Mersenne twister of the C++ standard library. Its numbers differ from those of NVIDIA's MT19937, which takes them
// from several sequences that are 2^1000 numbers apart.
struct Twister {
  std::mt19937 engine;
};
std::uint32_t curand(Twister* t) {
  return static_cast<std::uint32_t>(t->engine());
}
class Mersenne final : public Generator {
 public:
  explicit Mersenne(const Settings& s) {
    twister_.engine.seed(static_cast<std::uint32_t>(s.seed ^ (s.seed >> 32)));
    twister_.engine.discard(s.offset);
  }
  void bits(std::uint32_t* out, std::size_t n) override {
    for (std::size_t i = 0; i < n; ++i) out[i] = curand(&twister_);
  }
  void bits(std::uint64_t*, std::size_t) override {}
  void uniform(float* out, std::size_t n) override {
    for (std::size_t i = 0; i < n; ++i) out[i] = next_uniform(twister_);
  }
  void uniform(double* out, std::size_t n) override {
    for (std::size_t i = 0; i < n; ++i) out[i] = next_uniform_double(twister_);
  }
  void normal(float* out, std::size_t n, float mean, float deviation) override {
    for (std::size_t i = 0; i + 1 < n; i += 2) {
      const Pair<float> pair = next_normals(twister_);
      out[i] = mean + deviation * pair.first;
      out[i + 1] = mean + deviation * pair.second;
    }
  }
  void normal(double* out, std::size_t n, double mean, double deviation) override {
    for (std::size_t i = 0; i + 1 < n; i += 2) {
      const Pair<double> pair = next_normals_double(twister_);
      out[i] = mean + deviation * pair.first;
      out[i + 1] = mean + deviation * pair.second;
    }
  }
  void poisson(std::uint32_t* out, std::size_t n, double lambda) override {
    const PoissonDistribution distribution(lambda, kPoissonOfPseudo);
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint32_t x = curand(&twister_);
      out[i] = distribution.by_normal() ? distribution.of_normal(normal_quantile(inner_uniform(x)))
                                        : distribution.of(uniform_double(x));
    }
  }

 private:
  Twister twister_;
};

// Quasi-random generator. Its order: all numbers of the first dimension, then those of the second, and so on.
template <class State, class Word, bool kScrambled>
class Quasi final : public Generator {
 public:
  explicit Quasi(const Settings& s) : states_(s.dimensions) {
    for (std::size_t d = 0; d < states_.size(); ++d) {
      const Word* const vectors = directions<Word>()[d].vectors;
      const Word offset = static_cast<Word>(s.offset), constant = kScrambled ? scrambles<Word>()[d] : Word{0};
      wg_sobol_init(vectors, constant, offset, &states_[d]);
    }
  }
  void bits(std::uint32_t* out, std::size_t n) override {
    each(n, [&](Word x, std::size_t i) { out[i] = static_cast<std::uint32_t>(x); });
  }
  void bits(std::uint64_t* out, std::size_t n) override {
    each(n, [&](Word x, std::size_t i) { out[i] = x; });
  }
  void uniform(float* out, std::size_t n) override {
    each(n, [&](Word x, std::size_t i) { out[i] = rand::uniform(upper(x)); });
  }
  void uniform(double* out, std::size_t n) override {
    each(n, [&](Word x, std::size_t i) { out[i] = wide(x); });
  }
  // By the inverse distribution function. Floats use only the upper 32 bits.
  void normal(float* out, std::size_t n, float mean, float deviation) override {
    each(n, [&](Word x, std::size_t i) { out[i] = mean + deviation * static_cast<float>(normal_of(x)); });
  }
  void normal(double* out, std::size_t n, double mean, double deviation) override {
    each(n, [&](Word x, std::size_t i) { out[i] = mean + deviation * wide_normal_of(x); });
  }
  void poisson(std::uint32_t* out, std::size_t n, double lambda) override {
    const PoissonDistribution distribution(lambda, sizeof(Word) == 8 ? kPoissonOfQuasi64 : kPoissonOfQuasi);
    each(n, [&](Word x, std::size_t i) {
      out[i] = distribution.by_normal() ? distribution.of_normal(normal_of(x)) : distribution.of(wide(x));
    });
  }

 private:
  static std::uint32_t upper(Word x) { return static_cast<std::uint32_t>(x >> (sizeof(Word) * 8 - 32)); }
  static double normal_of(Word x) { return normal_quantile(inner_uniform(upper(x))); }
  // In (0, 1]: the largest 64-bit words are rounded to 1, as in NVIDIA's library.
  static double wide(Word x) {
    if constexpr (sizeof(Word) == 8)
      return static_cast<double>(x >> 11) * 0x1p-53 + 0x1p-54;
    else
      return uniform_double(x);
  }
  // The upper half of the 64-bit words is mirrored: the normal quantile of 1 is infinite.
  static double wide_normal_of(Word x) {
    if constexpr (sizeof(Word) == 8) {
      const bool upper_half = x >> 63 != 0;
      const double result = normal_quantile(wide(upper_half ? ~x : x));
      return upper_half ? -result : result;
    } else {
      return normal_of(x);
    }
  }
  template <class Take>
  void each(std::size_t n, Take take) {
    const std::size_t points = n / states_.size();
    for (std::size_t d = 0; d < states_.size(); ++d)
      for (std::size_t i = 0; i < points; ++i) take(static_cast<Word>(curand(&states_[d])), d * points + i);
  }

  std::vector<State> states_;
};

}  // namespace

bool is_quasi(curandRngType type) {
  return type >= CURAND_RNG_QUASI_DEFAULT;
}
bool is_64_bit(curandRngType type) {
  return type == CURAND_RNG_QUASI_SOBOL64 || type == CURAND_RNG_QUASI_SCRAMBLED_SOBOL64;
}

std::unique_ptr<Generator> make_generator(const Settings& s) {
  switch (s.type) {
    case CURAND_RNG_PSEUDO_MRG32K3A:
      return std::make_unique<Pseudo<curandStateMRG32k3a>>(s);
    case CURAND_RNG_PSEUDO_PHILOX4_32_10:
      return std::make_unique<Pseudo<curandStatePhilox4_32_10>>(s);
    case CURAND_RNG_PSEUDO_MTGP32:
      return make_mtgp32(s);
    case CURAND_RNG_PSEUDO_MT19937:
      return std::make_unique<Mersenne>(s);
    case CURAND_RNG_QUASI_DEFAULT:
    case CURAND_RNG_QUASI_SOBOL32:
      return std::make_unique<Quasi<curandStateSobol32, std::uint32_t, false>>(s);
    case CURAND_RNG_QUASI_SCRAMBLED_SOBOL32:
      return std::make_unique<Quasi<curandStateScrambledSobol32, std::uint32_t, true>>(s);
    case CURAND_RNG_QUASI_SOBOL64:
      return std::make_unique<Quasi<curandStateSobol64, std::uint64_t, false>>(s);
    case CURAND_RNG_QUASI_SCRAMBLED_SOBOL64:
      return std::make_unique<Quasi<curandStateScrambledSobol64, std::uint64_t, true>>(s);
    default:
      return std::make_unique<Pseudo<curandStateXORWOW>>(s);
  }
}

}  // namespace warpgrind::libraries::rand
