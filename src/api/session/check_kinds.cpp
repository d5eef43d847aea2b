// Table of fault kinds of the device and their finding kinds in `warpgrind check`.
#include "session/check_kinds.h"

namespace warpgrind::session {

namespace {

using results::Severity;

// For a warning: the launch went on.
CheckKind kind_of_warning(device::FaultKind kind) {
  switch (kind) {
    case device::FaultKind::barrier_mismatch:
      return {"barrier-divergent-warp", Severity::error};
    case device::FaultKind::warp_mismatch:
      return {"syncwarp-mask", Severity::warning};
    case device::FaultKind::absent_lanes:
      return {"shuffle-inactive-lane", Severity::warning, &checkers::Selection::barriers};
    default:
      return {check_kind(kind, true).kind, Severity::warning};
  }
}

}  // namespace

CheckKind check_kind(device::FaultKind kind, bool stops) {
  using device::FaultKind;
  if (!stops) return kind_of_warning(kind);
  switch (kind) {
    case FaultKind::illegal_address:
      return {"illegal-address"};
    case FaultKind::misaligned_address:
      return {"misaligned"};
    case FaultKind::shared_out_of_bounds:
      return {"oob-shared"};
    case FaultKind::local_out_of_bounds:
      return {"oob-local"};
    case FaultKind::stack_overflow:
      return {"stack-overflow"};
    case FaultKind::write_to_constant:
      return {"write-to-constant"};
    case FaultKind::assertion:
      return {"assertion"};
    case FaultKind::trap:
      return {"trap"};
    case FaultKind::illegal_instruction:
      return {"illegal-instruction"};
    case FaultKind::invalid_pc:
      return {"invalid-program-counter"};
    case FaultKind::deadlock:
    case FaultKind::barrier_mismatch:
      return {"barrier-deadlock"};
    case FaultKind::barrier_number:
      return {"barrier-id"};
    case FaultKind::barrier_count:
      return {"barrier-count", Severity::error, &checkers::Selection::barriers};
    case FaultKind::member_deadlock:
    case FaultKind::warp_mismatch:
      return {"syncwarp-mask"};
    case FaultKind::absent_lanes:
      return {"shuffle-inactive-lane"};
    case FaultKind::grid_barrier:
      return {"api-misuse"};
    case FaultKind::block_order:
      return {"block-order"};
    case FaultKind::timeout:
      return {"timeout"};
    case FaultKind::interrupted:
      return {"interrupted"};
    case FaultKind::unsupported:
      return {"unsupported"};
    case FaultKind::out_of_heap:
      return {"out-of-heap"};
    case FaultKind::invalid_texture:
      return {"invalid-texture"};
    case FaultKind::out_of_resources:
      return {"out-of-resources"};
    case FaultKind::launch_control:
      return {"launch-control"};
    case FaultKind::tensor_memory:
      return {"tensor-memory"};
  }
  return {"fault"};
}

std::string_view group_of(std::string_view kind) {
  for (const char* start : {"barrier-", "syncwarp-", "shuffle-"})
    if (kind.starts_with(start)) return "barriers";
  for (const char* start : {"illegal-address", "misaligned", "oob-", "write-to-constant"})
    if (kind.starts_with(start)) return "memory";
  return kind == "api-misuse" ? "api" : "kernel";
}

}  // namespace warpgrind::session
