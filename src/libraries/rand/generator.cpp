#include "libraries/rand/generator.h"

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

#include "libraries/rand/direction_vectors.h"
#include "libraries/rand/sequences.h"

namespace warpgrind::libraries::rand {

namespace {

// A source of 32-bit numbers for the distributions of the standard library.
template <class State>
struct Source {
  using result_type = std::uint32_t;
  State& state;
  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return 0xffffffffu; }
  result_type operator()() { return static_cast<result_type>(curand(&state)); }
};

// How many sequences a generator deals its numbers from, one to each in turn (cuRAND library, "Orderings"). As an H200
// does it (CUDA 13.0) for XORWOW and MRG32k3a in the default, best and legacy orders; for Philox not compared. The
// dynamic order, which depends on the GPU, and the seeded one, whose seeds are not documented, are the default here.
template <class State>
std::size_t sequences_of(curandOrdering ordering) {
  if (ordering == CURAND_ORDERING_PSEUDO_LEGACY || std::is_same_v<State, curandStateXORWOW>) return 4096;
  return std::is_same_v<State, curandStateMRG32k3a> ? 81920 : 65536;
}
void next_sequence(curandStateXORWOW& s) {
  skipahead_sequence(1, &s);
}
void next_sequence(curandStatePhilox4_32_10& s) {
  skipahead_sequence(1, &s);
}
void next_sequence(curandStateMRG32k3a& s) {
  skipahead_subsequence(1, &s);
}

// Pseudo-random: number n of an array is number n / count of sequence n mod count. Sequences are begun when they are
// needed, each by a jump from the one before.
template <class State>
class Pseudo final : public Generator {
 public:
  explicit Pseudo(const Settings& s) : count_(sequences_of<State>(s.ordering)), offset_(s.offset) {
    curand_init(s.seed, 0, 0, &next_);
    turn_ = s.offset % count_;
  }
  void bits(std::uint32_t* out, std::size_t n) override {
    deal(n, [&](State& s, std::size_t i) { out[i] = curand(&s); });
  }
  void bits(std::uint64_t*, std::size_t) override {}  // of 64-bit sequences alone
  void uniform(float* out, std::size_t n) override {
    deal(n, [&](State& s, std::size_t i) { out[i] = next_uniform(s); });
  }
  void uniform(double* out, std::size_t n) override {
    deal(n, [&](State& s, std::size_t i) { out[i] = next_uniform_double(s); });
  }
  void normal(float* out, std::size_t n, float mean, float deviation) override {
    deal(n / 2, [&](State& s, std::size_t i) {
      const Pair<float> pair = next_normals(s);
      out[2 * i] = mean + deviation * pair.first;
      out[2 * i + 1] = mean + deviation * pair.second;
    });
  }
  void normal(double* out, std::size_t n, double mean, double deviation) override {
    deal(n / 2, [&](State& s, std::size_t i) {
      const Pair<double> pair = next_normals_double(s);
      out[2 * i] = mean + deviation * pair.first;
      out[2 * i + 1] = mean + deviation * pair.second;
    });
  }
  void poisson(std::uint32_t* out, std::size_t n, double lambda) override {
    deal(n, [&](State& s, std::size_t i) {
      Source<State> source{s};
      out[i] = std::poisson_distribution<std::uint32_t>(lambda)(source);
    });
  }

 private:
  State& sequence(std::size_t i) {
    while (states_.size() <= i) {
      states_.push_back(next_);
      const std::uint64_t skipped = offset_ / count_ + (states_.size() - 1 < offset_ % count_ ? 1 : 0);
      if (skipped) skipahead(skipped, &states_.back());
      next_sequence(next_);
    }
    return states_[i];
  }
  template <class Take>
  void deal(std::size_t n, Take take) {
    for (std::size_t i = 0; i < n; ++i) {
      take(sequence(turn_), i);
      turn_ = turn_ + 1 == count_ ? 0 : turn_ + 1;
    }
  }

  std::size_t count_, turn_ = 0;
  std::uint64_t offset_;
  State next_;  // the first number of the sequence that is begun next
  std::vector<State> states_;
};

// Mersenne's twister as the standard library has it. NVIDIA's MT19937 and MTGP32 deal from several sequences whose
// jumps and parameters are not documented: the numbers are others.
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
    std::poisson_distribution<std::uint32_t> distribution(lambda);
    for (std::size_t i = 0; i < n; ++i) out[i] = distribution(twister_.engine);
  }

 private:
  Twister twister_;
};

// Quasi-random: all numbers of the first dimension, then those of the second ...
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
    each(n, [&](Word x, std::size_t i) {
      out[i] = rand::uniform(static_cast<std::uint32_t>(x >> (sizeof(Word) * 8 - 32)));
    });
  }
  void uniform(double* out, std::size_t n) override {
    each(n, [&](Word x, std::size_t i) { out[i] = wide(x); });
  }
  // By the inverse of the distribution function.
  void normal(float* out, std::size_t n, float mean, float deviation) override {
    each(n, [&](Word x, std::size_t i) { out[i] = mean + deviation * static_cast<float>(quantile(wide(x))); });
  }
  void normal(double* out, std::size_t n, double mean, double deviation) override {
    each(n, [&](Word x, std::size_t i) { out[i] = mean + deviation * quantile(wide(x)); });
  }
  void poisson(std::uint32_t* out, std::size_t n, double lambda) override {
    each(n, [&](Word x, std::size_t i) {
      const double u = wide(x);
      double term = std::exp(-lambda), sum = term;
      std::uint32_t k = 0;
      if (lambda > 500) {  // the term would vanish: a normal number is as good
        const double value = lambda + std::sqrt(lambda) * quantile(u);
        out[i] = value > 0 ? static_cast<std::uint32_t>(std::lround(value)) : 0;
        return;
      }
      while (sum < u && k < 10000) term *= lambda / ++k, sum += term;
      out[i] = k;
    });
  }

 private:
  static double wide(Word x) {
    if constexpr (sizeof(Word) == 8)
      return static_cast<double>(x >> 11) * 0x1p-53 + 0x1p-54;
    else
      return static_cast<double>(x) * 0x1p-32 + 0x1p-33;
  }
  // Acklam's rational approximation, made exact to double by one step of Halley's method.
  static double quantile(double p) {
    const auto tail = [](double q) {
      return (((((-7.784894002430293e-03 * q - 3.223964580411365e-01) * q - 2.400758277161838) * q -
                2.549732539343734) *
                   q +
               4.374664141464968) *
                  q +
              2.938163982698783) /
             ((((7.784695709041462e-03 * q + 3.224671290700398e-01) * q + 2.445134137142996) * q + 3.754408661907416) *
                  q +
              1);
    };
    double x = 0;
    if (p < 0.02425) {
      x = tail(std::sqrt(-2 * std::log(p)));
    } else if (p > 1 - 0.02425) {
      x = p >= 1 ? 8.3 : -tail(std::sqrt(-2 * std::log(1 - p)));
    } else {
      const double q = p - 0.5, r = q * q;
      x = (((((-3.969683028665376e+01 * r + 2.209460984245205e+02) * r - 2.759285104469687e+02) * r +
             1.383577518672690e+02) *
                r -
            3.066479806614716e+01) *
               r +
           2.506628277459239) *
          q /
          (((((-5.447609879822406e+01 * r + 1.615858368580409e+02) * r - 1.556989798598866e+02) * r +
             6.680131188771972e+01) *
                r -
            1.328068155288572e+01) *
               r +
           1);
    }
    const double error = 0.5 * std::erfc(-x / std::sqrt(2.0)) - p;
    const double step = error * std::sqrt(2 * M_PI) * std::exp(x * x / 2);
    return std::isfinite(step) ? x - step / (1 + x * step / 2) : x;
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
