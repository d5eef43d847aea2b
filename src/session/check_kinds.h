// What `warpgrind check` calls the faults that devices report themselves, and which of them a checker reports better.
#pragma once

#include <string_view>

#include "checkers/selection.h"
#include "device/device.h"
#include "results/finding.h"

namespace warpgrind::session {

struct CheckKind {
  std::string_view kind;  // stable: docs/checks.md
  results::Severity severity = results::Severity::error;
  // The group of the checker that says it with more: the device's own word is dropped where that group is on.
  bool checkers::Selection::*covered_by = nullptr;
};

// stops: the fault ends its launch (else it is a warning of the device).
CheckKind check_kind(device::FaultKind kind, bool stops);

// The group of --only that a kind of these belongs to; "kernel": none.
std::string_view group_of(std::string_view kind);

}  // namespace warpgrind::session
