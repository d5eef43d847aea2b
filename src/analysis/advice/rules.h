// Table of the advice rules (rules.inc).
#pragma once

#include <concepts>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "advice/kernel_view.h"

namespace warpgrind::advice {

// Removal of a cause: changes the work of a launch into the work that it would have without the cause. The time model
// estimates both. It has no default, so that a rule without a gain does not compile.
class Repair {
 public:
  template <std::invocable<results::WorkProfile&> F>
  requires(!std::same_as<std::remove_cvref_t<F>, Repair>) Repair(F&& change)
      : change_(std::forward<F>(change)) {}  // NOLINT: implicit on purpose
  void apply(results::WorkProfile& launch) const { change_(launch); }

 private:
  std::function<void(results::WorkProfile&)> change_;
};

// Result of a rule. advise() fills in the gain.
struct Candidate {
  results::Advice advice;
  Repair repair;
};

struct RuleRow {
  const char* id = "";
  const char* name = "";
  const char* fires = "";
  const char* removes = "";  // change of the launch's work
  const char* nsight = "";   // empty: our own
  // About the launch's shape, lanes that it lacks, or what other warps would share: not for a launch of one warp.
  bool of_many_threads = false;
  void (*apply)(const KernelView& kernel, std::vector<Candidate>& out) = nullptr;
};

std::span<const RuleRow> rules();

// Id of the remark on launches too small to judge. It is no rule: it has no gain.
inline constexpr const char* kSmallLaunch = "small_launch";

// The text of docs/rules.md.
std::string rules_as_markdown();

}  // namespace warpgrind::advice
