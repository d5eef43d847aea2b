// Texts on stderr: the banner, errors, and faults of kernels as findings.
#include "session/messages.h"

#include <fmt/core.h>
#include <unistd.h>

namespace warpgrind::session {

void print_line(const std::string& text) {
  print("warpgrind: " + text + "\n");
}

void print(const std::string& line) {
  std::size_t done = 0;
  while (done < line.size()) {
    ssize_t n = ::write(2, line.data() + done, line.size() - done);
    if (n <= 0) return;
    done += static_cast<std::size_t>(n);
  }
}

std::string banner(const GpuModel& model, const RunOptions& options) {
  return fmt::format(
      "virtual {}{} (compute capability {}.{}): kernels run on the CPU; access counts are exact, times are estimated, "
      "{}; not modelled: {}",
      options.devices > 1 ? fmt::format("{} x ", options.devices) : "", model.name, model.cc_major, model.cc_minor,
      options.counters ? "counters on" : "counters off",
      "NVIDIA's machine code (caches and what ptxas does are modelled)");
}

std::string describe(const Error& error) {
  return error.detail.empty() ? error.message : error.message + "\n" + error.detail;
}

namespace {
const char* kind_name(device::FaultKind kind) {
  using device::FaultKind;
  switch (kind) {
    case FaultKind::illegal_address:
      return "illegal address";
    case FaultKind::misaligned_address:
      return "misaligned address";
    case FaultKind::shared_out_of_bounds:
      return "shared memory out of bounds";
    case FaultKind::local_out_of_bounds:
      return "local memory out of bounds";
    case FaultKind::stack_overflow:
      return "stack overflow";
    case FaultKind::write_to_constant:
      return "write to constant memory";
    case FaultKind::assertion:
      return "assertion";
    case FaultKind::trap:
    case FaultKind::grid_barrier:
    case FaultKind::block_order:
      return "trap";
    case FaultKind::illegal_instruction:
    case FaultKind::barrier_number:
    case FaultKind::barrier_count:
      return "illegal instruction";
    case FaultKind::invalid_pc:
      return "invalid program counter";
    case FaultKind::deadlock:
    case FaultKind::member_deadlock:
      return "deadlock";
    case FaultKind::warp_mismatch:
    case FaultKind::absent_lanes:
      return "warp mismatch";
    case FaultKind::barrier_mismatch:
      return "barrier mismatch";
    case FaultKind::timeout:
      return "timeout";
    case FaultKind::interrupted:
      return "interrupted";
    case FaultKind::unsupported:
      return "unsupported";
    case FaultKind::out_of_heap:
      return "out of heap";
    case FaultKind::invalid_texture:
      return "invalid texture";
    case FaultKind::out_of_resources:
      return "out of resources";
  }
  return "fault";
}
}  // namespace

namespace {
// at: a Fault or a FaultPlace.
template <class Place>
results::FindingAccess access_of(const Place& at, const std::string& kernel) {
  results::FindingAccess a;
  a.kernel = kernel;
  a.function = at.function;
  a.file = at.file;
  a.line = at.line;
  a.ptx_line = at.ptx_line;
  a.ptx = at.ptx_text;
  for (const ptx::Caller& c : at.callers) a.inlined_at.push_back({c.file, c.function, c.line});
  a.of_thread = true;
  a.block = at.block;
  a.thread = at.thread;
  return a;
}
}  // namespace

results::Finding to_finding(const device::Fault& fault) {
  results::Finding f;
  f.kind = kind_name(fault.kind);
  f.message = fault.message;
  f.advice = fault.advice;
  f.kernel = fault.kernel;
  f.file = fault.file;
  f.line = fault.line;
  f.ptx_line = fault.ptx_line;
  f.text = fault.ptx_text;
  f.block = fault.block;
  f.thread = fault.thread;
  f.notes = fault.warps;
  if (fault.kernel.empty()) return f;
  for (const device::FaultPlace& w : fault.waiting) {
    results::FindingAccess& at = f.accesses.emplace_back(access_of(w, fault.kernel));
    at.access = w.what;
    at.warp = w.warp;
    at.object = fmt::format("lanes {:#010x} of warp {}", w.lanes, w.warp);
  }
  if (f.accesses.empty()) f.accesses.emplace_back(access_of(fault, fault.kernel)).bytes = fault.bytes;
  return f;
}

}  // namespace warpgrind::session
