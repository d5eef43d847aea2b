// Differences between two profiles, per kernel and per source line.
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

// Meaning of a rise of a figure.
enum class Direction : std::uint8_t {
  neutral,  // no judgement
  amount,   // more work, which may be worth it
  worse,
  better
};

struct Change {
  const char* label = "";
  results::MetricId metric = results::MetricId::count;
  std::string unit;
  double before = 0, after = 0;
  Direction rise = Direction::neutral;
  Origin origin = Origin::exact;
  double difference() const { return after - before; }
  double relative() const;  // in percent; infinite from 0
  bool worse() const;       // by more than the estimate's tolerance
  bool better() const;
};

struct LineDiff {
  std::string file, text;               // text: of the line, if the profile holds its source
  std::uint32_t before = 0, after = 0;  // line numbers; 0: the line is missing
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
  std::vector<std::string> notes;  // reasons to doubt the comparison
  std::vector<BrokenRule> broken;
  bool nothing_in_common() const;
};

struct DiffOptions {
  // Pairs of kernels with different names: patterns for before and after. Empty: kernels are paired by name.
  std::vector<std::pair<std::string, std::string>> pairs;
  // Rules that fail: "[KERNELS:] METRIC > 5 %" (relative rise) or "METRIC > 100" (absolute rise). Empty: no figure with
  // a good direction may become worse. These are time, waste (excessive sectors, conflicts, divergence, local memory),
  // and lanes in use; estimated figures have a tolerance of kTolerance.
  std::vector<Expectation> rules;
};

inline constexpr double kTolerance = 5;  // percent, for estimated figures

std::string change_figures(const Change& change);  // "512 to 0 (-100.0 %)"

Result<ProfileDiff> compare(const results::Profile& before, const results::Profile& after, const DiffOptions& options);

std::string diff_text(const ProfileDiff& diff, const TextOptions& options);

}  // namespace warpgrind::report
