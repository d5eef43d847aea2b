// What changed from one profile to another, per kernel and per source line.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "report/expectations.h"
#include "report/terminal.h"
#include "results/profile.h"

namespace warpgrind::report {

// What a rise of a figure means.
enum class Direction : std::uint8_t {
  neutral,  // nothing
  amount,   // more work, which may be worth it
  worse,
  better
};

struct Change {
  const char* label = "";
  std::string metric, unit;
  double before = 0, after = 0;
  Direction rise = Direction::neutral;
  Origin origin = Origin::exact;
  double difference() const { return after - before; }
  double relative() const;  // in percent; infinite from 0
  bool worse() const;       // by more than the estimate's tolerance
  bool better() const;
};

struct LineDiff {
  std::string file, text;               // text: of the line, when the profile holds its source
  std::uint32_t before = 0, after = 0;  // line numbers; 0: not there
  std::vector<Change> changes;
};

struct KernelDiff {
  const results::KernelProfile *before = nullptr, *after = nullptr;  // null: only in the other profile
  std::vector<Change> changes;
  std::vector<LineDiff> lines;
};

struct BrokenRule {
  std::string rule, kernel, figures;
};

struct ProfileDiff {
  std::vector<KernelDiff> kernels;
  std::vector<std::string> notes;  // what makes the comparison doubtful
  std::vector<BrokenRule> broken;
  bool nothing_in_common() const;
};

struct DiffOptions {
  // Kernels of other names to compare: patterns for before and after. Empty: by name.
  std::vector<std::pair<std::string, std::string>> pairs;
  // "[KERNELS:] METRIC > 5 %" (the rise, relative) or "METRIC > 100" (the rise). Empty: no figure that has a good side
  // may become worse: time, what is wasted (excessive sectors, conflicts, divergence, local memory), and lanes in use;
  // estimated ones by more than kTolerance.
  std::vector<Expectation> rules;
};

inline constexpr double kTolerance = 5;  // percent, for estimated figures

std::string change_figures(const Change& change);  // "512 to 0 (-100.0 %)"

Result<ProfileDiff> compare(const results::Profile& before, const results::Profile& after, const DiffOptions& options);

std::string diff_text(const ProfileDiff& diff, const TextOptions& options);

}  // namespace warpgrind::report
