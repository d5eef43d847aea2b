// Table of the advice rules (rules.inc).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "advice/kernel_view.h"

namespace warpgrind::advice {

// Result of a rule: the advice, and a severity from 0 to 1. The severity counts even if the time estimate shows no
// gain, as a kernel that only waits for its launch may still be written badly.
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

// The text of docs/rules.md.
std::string rules_as_markdown();

}  // namespace warpgrind::advice
