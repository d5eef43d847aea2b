// Finding kinds of `warpgrind check` for faults that the device itself reports. Checkers report some of them better.
#pragma once

#include <string_view>

#include "checkers/selection.h"
#include "device/device.h"
#include "results/finding.h"

namespace warpgrind::session {

struct CheckKind {
  std::string_view kind;  // stable: docs/checks.md
  results::Severity severity = results::Severity::error;
  // Group of the checker that reports the fault in more detail. If the group is on, the device's report is dropped.
  bool checkers::Selection::*covered_by = nullptr;
};

// stops: the fault ends its launch; otherwise the device reports it as a warning.
CheckKind check_kind(device::FaultKind kind, bool stops);

// Group of --only that one of these kinds belongs to; "kernel" if it is in none.
std::string_view group_of(std::string_view kind);

}  // namespace warpgrind::session
