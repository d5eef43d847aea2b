// The table of rules (rules.inc).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "advice/kernel_view.h"

namespace warpgrind::advice {

// What a rule found: the advice, and how bad it is where the time estimate sees no gain (a kernel that only waits for
// its launch may still be written badly): 0 to 1.
struct Candidate {
  results::Advice advice;
  double severity = 0;
};

struct RuleRow {
  const char* id = "";
  const char* name = "";
  const char* fires = "";
  const char* nsight = "";  // empty: our own
  void (*apply)(const KernelView& kernel, std::vector<Candidate>& out) = nullptr;
};

std::span<const RuleRow> rules();

// docs/rules.md
std::string rules_as_markdown();

}  // namespace warpgrind::advice
