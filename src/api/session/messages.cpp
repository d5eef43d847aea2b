// Texts on stderr: the banner, errors, and faults of kernels as findings.
#include "session/messages.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <unordered_map>

#include "base/demangle.h"
#include "base/printable.h"
#include "report/terminal.h"
#include "session/nvidia_libraries.h"

namespace warpgrind::session {

void print_line(const std::string& text) {
  print("warpgrind: " + text + "\n");
}

void print(const std::string& text) {
  const std::string line = printable(text);
  std::size_t done = 0;
  while (done < line.size()) {
    ssize_t n = ::write(2, line.data() + done, line.size() - done);
    if (n <= 0) return;
    done += static_cast<std::size_t>(n);
  }
}

std::string banner(const GpuModel& model, const RunOptions& options) {
  return fmt::format("virtual {}{} (compute capability {}.{}): kernels run on the CPU; {}, {}; not modelled: {}",
                     options.devices > 1 ? fmt::format("{} x ", options.devices) : "", model.name, model.cc_major,
                     model.cc_minor,
                     options.blocks > 0 ? "counts and times of launches that run in part are sampled"
                                        : "access counts are exact, times are estimated",
                     options.counters ? "counters on" : "counters off",
                     "NVIDIA's machine code (caches and what ptxas does are modelled)");
}

std::string describe(const Error& error) {
  return error.detail.empty() ? error.message : error.message + "\n" + error.detail;
}

std::string shown_name(const std::string& mangled) {
  static std::mutex mutex;
  static auto& names = *new std::unordered_map<std::string, std::string>;  // launches may end while the process ends
  const std::lock_guard lock(mutex);
  const auto [at, fresh] = names.try_emplace(mangled);
  if (fresh) at->second = demangle(mangled);
  return at->second;
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
    case FaultKind::launch_control:
      return "launch control";
    case FaultKind::tensor_memory:
      return "tensor memory";
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

Messages::Messages(const RunOptions& options) : options_(options) {}

bool Messages::is_new(const std::string& text) {
  const std::lock_guard lock(mutex_);
  return said_.insert(text).second;
}

void Messages::say_once(const std::string& text) {
  if (is_new(text)) print_line(text);
}

void Messages::problem(const Error& error) {
  leave_status("problem", error.message);
  say_once("error: " + describe(error));
}

void Messages::print_once(const results::Finding& finding) {
  report::TextOptions options;
  options.colour = report::wants_colour(stderr);
  const std::string text = report::finding_text(finding, options);
  if (is_new(text)) print(text);
}

void Messages::name_new_libraries() {
  if (options_.quiet) return;
  std::string text;
  {
    const std::lock_guard lock(mutex_);
    text = name_nvidias_libraries(nvidias_libraries_);
  }
  if (!text.empty()) say_once(text);
}

void Messages::leave_status(const char* kind, const std::string& text) const {
  if (options_.status_directory.empty()) return;
  const std::string path = fmt::format("{}/{}.{}", options_.status_directory, kind, ::getpid());
  const int fd = ::open(path.c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0) return;
  const std::string line = text + "\n";
  if (::write(fd, line.data(), line.size()) < 0) errno = 0;  // the note is optional
  ::close(fd);
}

}  // namespace warpgrind::session
