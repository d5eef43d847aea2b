// Expectations (--expect): assertions about counters, for CI.
//
//   expectation = [KERNELS ":"] sum ("<" | "<=" | "==" | "!=" | ">=" | ">") sum
//   sum         = term { ("+" | "-") term }
//   term        = factor { ("*" | "/") factor }
//   factor      = NUMBER [UNIT] | METRIC | "'" TEXT "'" | "(" sum ")" | "-" factor
//
// KERNELS is a pattern with * ? [..] (report::matches); without it, all kernels are checked. METRIC is a name or short
// name of docs/counters.md. UNIT is B, KB, KiB .. TB, TiB, ns, us, ms, s, % or the metric's own unit ("sectors");
// bytes, times and percentages cannot be mixed with each other.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "report/terminal.h"
#include "results/profile.h"

namespace warpgrind::report {

struct ExpressionNode {
  enum class Kind : std::uint8_t { number, metric, text, negate, add, subtract, multiply, divide };
  Kind kind = Kind::number;
  double number = 0;
  std::string text;  // of kind text
  std::string unit;
  std::size_t left = 0, right = 0;                      // operands: indexes into Expectation::nodes
  results::MetricId metric = results::MetricId::count;  // of kind metric
};

enum class Comparison : std::uint8_t { less, less_equal, equal, not_equal, greater_equal, greater };

struct Expectation {
  std::string text;     // as written
  std::string kernels;  // pattern; "*": all
  Comparison comparison = Comparison::equal;
  std::vector<ExpressionNode> nodes;
  std::size_t left = 0, right = 0;
  bool relative = false;  // for a change (parse_change_rule): the limit is in percent of the earlier value
};

// The error's detail shows the text with a caret under the wrong place, and a valid alternative.
Result<Expectation> parse_expectation(std::string_view text);

// A rule for a change (`warpgrind diff --fail-if`): one metric against one number. A percentage is relative to the
// earlier value.
Result<Expectation> parse_change_rule(std::string_view text);
bool compare_numbers(Comparison comparison, double left, double right);
double evaluate_constant(const Expectation& expectation, std::size_t node);  // of nodes without metrics

struct ExpectationResult {
  enum class Outcome : std::uint8_t {
    passed,
    failed,
    not_applicable,  // the kernel has no such figure, e.g. no requests whose sectors could be counted
    nothing_checked  // no kernel matches, or none has the figure: counts as failed
  };
  std::size_t expectation = 0;  // index
  std::string text, kernel;     // kernel: "" for nothing_checked
  Outcome outcome = Outcome::failed;
  std::string figures;  // "32 sector (exact) <= 4"
  Origin origin = Origin::exact;
  std::vector<results::Advice::Place> places;  // source lines that cause a failed figure, the worst first
  bool bad() const { return outcome == Outcome::failed || outcome == Outcome::nothing_checked; }
};

// One result for each expectation and each kernel that it names, in that order. A program with several processes has
// several profiles.
std::vector<ExpectationResult> check(const std::vector<Expectation>& expectations,
                                     const std::vector<results::Profile>& profiles);

std::string expectations_text(const std::vector<ExpectationResult>& results, const TextOptions& options);

}  // namespace warpgrind::report
