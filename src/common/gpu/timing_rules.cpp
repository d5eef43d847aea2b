// Vocabulary of the rules in timing_constants.inc, and their evaluation.
#include "gpu/timing_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <initializer_list>
#include <span>
#include <utility>

#include "base/assert.h"

namespace warpgrind {
namespace {

constexpr double kSame = -1;  // in a list of a rule: the value of the reference

// What a rule gives: the value and the text of its source.
struct Derived {
  double value = 0;
  std::string from;
};

// First compute capability (75: 7.5) or PCIe generation of a value.
struct Step {
  int from;
  double value;
};

class TimingRules {
 public:
  TimingRules(GpuModel& gpu, std::vector<bool> given, const GpuModel& reference)
      : gpu_(gpu), reference_(reference), given_(std::move(given)), entered_(given_.size()) {}

  void run() {
    for (std::size_t i = 0; i < given_.size(); ++i) derive(i);
  }

 private:
  using Constant = double TimingConstants::*;
  using Rule = Derived (TimingRules::*)();

  // The names of the constants, for the rules.
#define WG_TIMING(name, unit, what, rule) static constexpr Constant name = &TimingConstants::name;
#include "gpu/timing_constants.inc"
#undef WG_TIMING
#define WG_TIMING(name, unit, what, rule) \
  Derived name##_rule() {                 \
    return rule;                          \
  }
#include "gpu/timing_constants.inc"
#undef WG_TIMING

  // The reference's value, and the same with the units of this GPU.
  Derived same() const {
    return {reference_.timing.*constant_, fmt::format("the {}'s", reference_name())};
  }
  Derived same_cycles() const {
    return scaled(reference_.sm_clock_mhz / gpu_.sm_clock_mhz, "'s cycles");
  }
  Derived by_sms_and_clock() const {
    return scaled(sm_cycles(gpu_) / sm_cycles(reference_), "'s, by SMs and clock");
  }
  Derived by_l2_size() const {
    return scaled(static_cast<double>(gpu_.l2_bytes) / static_cast<double>(reference_.l2_bytes), "'s share of L2");
  }

  // From another constant `c`: in its ratio to the reference's, with the reference's difference, or `factor` times it.
  Derived with(Constant c) {
    return scaled(own(c) / reference_.timing.*c, "'s, by " + name_of(c));
  }
  Derived more_than(Constant c) {
    const double more = reference_.timing.*constant_ - reference_.timing.*c;
    return {own(c) + more, fmt::format("{}, and as much more as on the {}", name_of(c), reference_name())};
  }
  Derived equal_to(Constant c, double factor, const char* why) {
    return {factor * own(c), why};
  }
  Derived at_most(Constant c, double factor, Derived otherwise) {
    const double most = factor * own(c);
    return otherwise.value <= most ? otherwise : Derived{most, fmt::format("{:g} of {}", factor, name_of(c))};
  }
  Derived at_least(Constant c, double factor, Derived otherwise) {
    const double least = factor * own(c);
    return otherwise.value >= least ? otherwise : Derived{least, fmt::format("{:g} of {}", factor, name_of(c))};
  }

  // Values of generations: those of other GPUs of that age, from papers or experience. The reference's value holds for
  // its own generation and later ones, unless a step begins after it.
  Derived by_generation(std::initializer_list<Step> steps) const {
    const Step& step = step_of(steps, capability(gpu_));
    if (step.value == kSame || (!older() && step.from <= capability(reference_))) return same();
    return {step.value, "as known of GPUs of this generation"};
  }
  // Rates of a link of 16 lanes, by PCIe generation.
  Derived by_link(std::initializer_list<Step> steps) const {
    if (!slower_link()) return same();
    const Link mine = link_of(gpu_), other = link_of(reference_);
    const double lanes = mine.lanes;
    if (mine.generation >= other.generation) return scaled(lanes / other.lanes, "'s, by the lanes of the link");
    return {step_of(steps, mine.generation).value * lanes / 16, "what such a link reaches"};
  }

  Derived formula(double value, const char* from) const {
    return {value, from};
  }
  Derived none() const {
    return {0, "the GPU has none"};
  }

  // Blocks of the most threads start no faster than others, and no faster than their places become free.
  Derived largest_blocks() {
    const double fit = std::max(1u, gpu_.max_threads_per_sm / gpu_.max_threads_per_block);
    const double places = own(block_turnover_cycles) / (clock_ghz() * gpu_.sm_count * fit);
    return at_least(block_ns, 1, {places, "the turn-over of the blocks of most threads"});
  }
  // Measured on Hopper alone.
  Derived clock_under_power() const {
    const bool alike = !before(90) && before(100);
    return alike ? scaled(gpu_.sm_clock_mhz / reference_.sm_clock_mhz, "'s, by the clock")
                 : Derived{gpu_.sm_clock_mhz, "sm_clock_mhz, as no lower one was measured"};
  }
  // The rate of the SMs' ports to L2, of which `share` is reached.
  Derived l2_ports(double share) {
    return {share * own(l2_sm_bytes_per_cycle) * sm_cycles(gpu_) * 1e-3,
            "width of the SMs' ports, of which half is reached"};
  }
  // Reads alone and writes alone are faster than a copy, but not beyond the reference's share of the theory. Before
  // Maxwell they are as fast.
  Derived dram_share() {
    if (before(50)) return equal_to(dram_copy_gbps, 1, "as copies");
    const double most =
        reference_.timing.*constant_ * gpu_.theoretical_bandwidth() / reference_.theoretical_bandwidth();
    const Derived by_copy = with(dram_copy_gbps);
    return by_copy.value <= most ? by_copy
                                 : Derived{most, fmt::format("the {}'s share of the theory", reference_name())};
  }
  // In proportion to the least transfer, which is 64 bytes since Ampere.
  Derived dram_pieces() const {
    const double least = std::max(before(80) ? 32u : 64u, gpu_.dram_piece_bytes);
    return scaled(least / reference_.dram_piece_bytes, "'s, by the least transfer");
  }
  // Atomics before Kepler: on 1.x lane by lane, on 2.x with fewer units.
  Derived slower_atomics(Derived later, double tesla, double fermi) const {
    if (before(30)) later = {later.value * (before(20) ? tesla : fermi), later.from + "; slower before Kepler"};
    return later;
  }

  bool before(int cc) const {
    return capability(gpu_) < cc;
  }
  bool older() const {
    return gpu_.cc_major < reference_.cc_major;
  }
  bool has_fp16() const {
    return capability(gpu_) >= 53;
  }
  bool has_fp64() const {
    return gpu_.cores_fp64_per_sm != 0;
  }
  bool few_fp64() const {
    return gpu_.cores_fp64_per_sm <= 4;
  }
  bool has_tensor_fp64() const {
    return capability(gpu_) >= 80 && gpu_.cores_fp64_per_sm >= 16;
  }
  bool has_l2() const {
    return gpu_.l2_bytes != 0;
  }
  double clock_ghz() const {
    return gpu_.sm_clock_mhz * 1e-3;
  }
  double theory() const {
    return gpu_.theoretical_bandwidth() * 1e-9;
  }
  // PCIe of an older generation or of fewer lanes than the reference's. Links of other kinds count as the reference's.
  bool slower_link() const {
    const Link mine = link_of(gpu_), other = link_of(reference_);
    return mine.generation != 0 && mine.generation * mine.lanes < other.generation * other.lanes;
  }

  struct Link {
    int generation = 0, lanes = 16;
  };
  static Link link_of(const GpuModel& m) {
    Link link;
    if (std::sscanf(m.link_name.c_str(), "PCIe gen %d x%d", &link.generation, &link.lanes) != 2) return {};
    return link;
  }
  static int capability(const GpuModel& m) {
    return 10 * m.cc_major + m.cc_minor;
  }
  static double sm_cycles(const GpuModel& m) {
    return m.sm_count * m.sm_clock_mhz;
  }
  static const Step& step_of(std::initializer_list<Step> steps, int at) {
    const Step* found = steps.begin();
    for (const Step& s : steps)
      if (s.from <= at) found = &s;
    return *found;
  }
  std::string reference_name() const {
    std::string out = reference_.id;
    for (char& c : out) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return out;
  }
  static std::size_t index_of(Constant c) {
    const std::span<const TimingFigure> all = timing_figures();
    const auto found = std::find_if(all.begin(), all.end(), [&](const TimingFigure& f) { return f.value == c; });
    WG_ASSERT(found != all.end());
    return static_cast<std::size_t>(found - all.begin());
  }
  static std::string name_of(Constant c) {
    return timing_figures()[index_of(c)].name;
  }
  Derived scaled(double factor, const std::string& how) const {
    return {factor * (reference_.timing.*constant_), "the " + reference_name() + how};
  }

  // This GPU's value of another constant: given, or derived first.
  double own(Constant c) {
    derive(index_of(c));
    return gpu_.timing.*c;
  }
  void derive(std::size_t index) {
    static constexpr Rule kRules[] = {
#define WG_TIMING(name, unit, what, rule) &TimingRules::name##_rule,
#include "gpu/timing_constants.inc"
#undef WG_TIMING
    };
    if (given_[index]) return;
    WG_ASSERT(!entered_[index]);  // no rule needs its own result
    entered_[index] = true;
    const Constant outer = std::exchange(constant_, timing_figures()[index].value);
    Derived out = (this->*kRules[index])();
    gpu_.timing.*constant_ = out.value;
    gpu_.timing_sources[index] = {TimingOrigin::assumed, std::move(out.from)};
    given_[index] = true;
    constant_ = outer;
  }

  GpuModel& gpu_;
  const GpuModel& reference_;
  std::vector<bool> given_, entered_;
  Constant constant_ = nullptr;  // whose rule is evaluated
};

}  // namespace

void derive_timing(GpuModel& model, std::vector<bool> given, const GpuModel& reference) {
  WG_ASSERT(given.size() == timing_figures().size() && model.timing_sources.size() == given.size());
  TimingRules(model, std::move(given), reference).run();
}

}  // namespace warpgrind
