// Session of the process: creation, devices, copies and other work on the timeline, findings, and early ends of the
// run.
#include "session/session.h"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/demangle.h"
#include "base/element.h"
#include "checkers/kernel_place.h"
#include "device/memory/address_space.h"
#include "gpu/occupancy.h"
#include "report/terminal.h"
#include "session/check_kinds.h"
#include "session/deadline.h"
#include "session/interrupts.h"
#include "session/messages.h"
#include "session/nvidia_libraries.h"
#include "session/processes.h"

namespace warpgrind::session {

namespace {
std::atomic<Session*> the_session{nullptr};

const char* direction_name(timing::CopyPath path) {
  switch (path) {
    case timing::CopyPath::host_to_device:
      return "HtoD";
    case timing::CopyPath::device_to_host:
      return "DtoH";
    case timing::CopyPath::device_to_device:
      return "DtoD";
    case timing::CopyPath::peer:
      return "PtoP";
    case timing::CopyPath::host_to_host:
      return "HtoH";
  }
  return "-";
}

// Reports the findings before the process aborts. Many programs end at their first bug by an assert() on the result of
// a call.
void finish_at_abort() {
  struct sigaction own {};
  own.sa_handler = [](int) {
    signal(SIGABRT, SIG_DFL);
    if (Session* session = the_session.load()) session->finish(true);
    raise(SIGABRT);
  };
  own.sa_flags = SA_NODEFER;
  sigaction(SIGABRT, &own, nullptr);
}

[[noreturn]] void refuse(const Error& error) {
  print_line("error: " + describe(error));
  _exit(2);
}
}  // namespace

Session& Session::instance() {
  // Never destroyed: the program's own static destructors may still call CUDA.
  static Session* session = [] {
    auto* created = new Session;
    the_session = created;
    return created;
  }();
  return *session;
}

bool Session::exists() {
  return the_session.load() != nullptr;
}

Session::Session() {
  const char* text = std::getenv(kOptionsVariable);
  if (text) {
    Result<RunOptions> decoded = decode(text);
    if (!decoded) refuse(decoded.error());
    options_ = decoded.take();
  } else {
    // A program that was linked with our runtime and started directly: only its own output should appear.
    options_.cache_directory = default_cache_directory();
    options_.quiet = true;
  }
  Result<const GpuModel*> model = find_gpu_model(options_.gpu);
  if (!model) refuse(model.error());
  model_ = *model;
  if (options_.devices == 0) options_.devices = 1;
  devices_.resize(options_.devices);
  timeline_ = std::make_unique<timing::Timeline>(options_.devices, model_->copy_engines, model_->concurrent_kernels,
                                                 timing::timeline_costs(*model_));
  estimates_ = std::make_unique<TimeEstimates>(*model_);
  collector_ =
      std::make_unique<results::Collector>(options_.each_launch || !options_.csv_path.empty(), options_.detail);
  launch_choice_ = std::make_unique<LaunchChoice>(options_.launches);
  if (options_.checks.any()) {
    checkers::AskUnwritten unwritten;
    if (options_.track_unused_memory)
      unwritten = [](std::uint64_t address, std::uint64_t bytes) -> checkers::Unwritten {
        const auto [count, first] = device::Device::unwritten(address, bytes);
        return {count, first};
      };
    checkers_ = std::make_unique<checkers::Checkers>(options_.checks, *model_, std::move(unwritten));
    finish_at_abort();
  }
  pthread_atfork(nullptr, nullptr, [] { the_session.load()->after_fork(); });
}

// The child has none of the parent's worker threads, and the locks in their state at the fork. If the parent had only
// registered code and not used CUDA otherwise, the child begins afresh.
void Session::after_fork() {
  if (used_) {
    forked_ = true;
    return;
  }
  announcing_ = false;
  announced_ = false;
}

std::optional<std::pair<std::uint64_t, std::uint64_t>> Session::find_allocation(std::uint64_t address) {
  const std::optional<device::Range> range = device::AddressSpace::instance().find(address);
  if (!range) return std::nullopt;
  return std::pair{range->low, range->high - range->low};
}

device::Device& Session::device(int ordinal) {
  std::lock_guard lock(mutex_);
  std::unique_ptr<device::Device>& slot = element(devices_, static_cast<std::size_t>(ordinal));
  if (!slot) {
    device::Options options;
    // Races are reported in the order of the accesses. One worker makes this order the same in every run.
    options.workers = options_.checks.races ? 1 : options_.threads;
    options.timeout_seconds = options_.timeout_seconds;
    options.schedule = options_.schedule;
    options.blocks = options_.blocks;
    options.counters = options_.counters;
    options.caches = options_.counters && options_.caches && !checkers_;
    options.bounds_stop = options_.bounds_stop;
    if (options_.fill >= 0) options.fill = static_cast<std::uint8_t>(options_.fill);
    options.cache_directory = options_.cache_directory;
    options.quick_start = true;
    options.slow_seconds = options_.slow_seconds;
    if (!options_.quiet) {
      options.on_slow_compilation = [hold = options_.hold_compilation](const jit::SlowCompilation& slow) {
        print_line(fmt::format("compiling {} ({} PTX instructions) ...", demangle(slow.kernel), slow.ptx_instructions));
        while (hold) ::pause();
      };
      options.on_cache_refused = [](const std::string& why) { print_line("compiled kernels are not cached: " + why); };
    }
    slot = std::make_unique<device::Device>(ordinal, *model_, options);
    const observers::Watched watched{ordinal, model_, options_.trace_block, find_allocation};
    if (checkers_)
      for (events::Observer* observer : checkers_->observers()) slot->add_observer(observer);
    for (auto& observer : observers::make_observers(watched, {options_.detail && options_.counters})) {
      slot->add_observer(observer.get());
      observers_.push_back(std::move(observer));
    }
  }
  return *slot;
}

void Session::unload_programs(int ordinal) {
  device::Device& gpu = device(ordinal);
  std::lock_guard lock(mutex_);
  for (auto& program : programs_) program->unload(gpu);
}

bool Session::device_in_use(int ordinal) const {
  std::lock_guard lock(mutex_);
  return element(devices_, static_cast<std::size_t>(ordinal)) != nullptr;
}

void Session::announce_once() {
  {
    std::lock_guard lock(mutex_);
    if (announcing_) return;
    announcing_ = true;
  }
  leave_status("cuda", options_.program);
  if (!options_.quiet) print_line(banner(*model_, options_));
  say_nvidias_libraries();
  if (options_.timeout_seconds > 0 && !start_deadline(options_.timeout_seconds, [this] { stop_at_deadline(); }))
    say_once("warning: the host allows no more threads (ulimit -u): the run has no overall time limit");
  if ((checkers_ || options_.tell_at_signals) && !tell_before_signals([this] { stop_at_signal(); }))
    say_once("warning: the host allows no more threads (ulimit -u): findings are lost if a signal ends the run");
  announced_.store(true, std::memory_order_release);
}

void Session::say_nvidias_libraries() {
  if (options_.quiet) return;
  std::string text;
  {
    std::lock_guard lock(mutex_);
    text = name_nvidias_libraries(nvidias_libraries_);
  }
  if (!text.empty()) say_once(text);
}

// Running kernels are stopped and report where they are. Then the program has 3 s to end by itself.
void Session::stop_at_deadline() {
  std::string what;
  {
    std::lock_guard lock(mutex_);
    if (finished_) return;
    what = compiling_.empty() ? "" : ": it was compiling the kernel " + demangle(compiling_);
  }
  leave_status("problem", "stopped by --timeout");
  const bool running = device::request_timeout();
  constexpr auto kGrace = std::chrono::seconds(3);
  std::this_thread::sleep_for(kGrace);
  {
    std::lock_guard lock(mutex_);
    if (finished_) return;
  }
  if (what.empty()) what = running ? ", and continued after its kernels were stopped" : ": no kernel was running";
  say_once(fmt::format("the run did not end within {} s{}", options_.timeout_seconds, what));
  finish();
  _exit(2);
}

void Session::stop_at_signal() {
  bool others_tell = false;
  {
    std::lock_guard lock(mutex_);
    others_tell = finished_;
  }
  if (!others_tell) {
    if (checkers_) {
      checkers_->note_fault();  // no leaks are reported: the program might have freed the memory later
      say_once("a signal ended the run: the findings until then follow");
    }
    return finish();
  }
  constexpr std::chrono::milliseconds kMost(60000), kStep(10);
  for (auto waited = kStep; !told_.load() && waited < kMost; waited += kStep) std::this_thread::sleep_for(kStep);
}

// The first process that uses CUDA gets the plain names of the output files; others get a number. Registering kernels
// is no use: a program that only starts others does that too.
void Session::use_once() {
  const std::lock_guard lock(mutex_);
  if (used_) return;
  take_name();
  number_ = claim_process_number(options_.status_directory);
  leave_note(options_.status_directory, {number_, ::getpid(), false, options_.command, "", ""});
  used_.store(true, std::memory_order_release);
}

// A program that a script of the user has started is reported under its own name.
void Session::take_name() {
  std::error_code none;
  const std::string executable = std::filesystem::read_symlink("/proc/self/exe", none).string();
  if (options_.executable.empty() || none || executable == options_.executable) return;
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string word;
  std::vector<std::string> words;
  while (std::getline(file, word, '\0')) words.push_back(word);
  options_.program = words.empty() || words[0].empty() ? executable : words[0];
  options_.command = words.empty() ? executable : fmt::format("{}", fmt::join(words, " "));
}

void Session::leave_status(const char* kind, const std::string& text) {
  if (options_.status_directory.empty()) return;
  std::string path = fmt::format("{}/{}.{}", options_.status_directory, kind, ::getpid());
  int fd = ::open(path.c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0) return;
  std::string line = text + "\n";
  if (::write(fd, line.data(), line.size()) < 0) errno = 0;  // the note is optional
  ::close(fd);
}

namespace {
thread_local std::uint64_t t_placing = 0;
}  // namespace

void Session::placing(std::uint64_t work) {
  t_placing = work;
}

timing::Span Session::copy(int device, timing::StreamId stream, timing::HostClock& host, timing::CopyPath path,
                           timing::HostMemory memory, std::uint64_t bytes, HostPart part) {
  const timing::CopyEstimate e = timing::estimate_copy(*model_, path, memory, bytes);
  using timing::CopyPath;
  bool host_link = path == CopyPath::host_to_device || path == CopyPath::device_to_host;
  collector_->add_transfer(direction_name(path),
                           !host_link                             ? "-"
                           : memory == timing::HostMemory::pinned ? "pinned"
                                                                  : "pageable",
                           bytes, e.staging_ns + e.time.alone);
  timing::CopyEngine engine = path == CopyPath::host_to_device   ? timing::CopyEngine::to_device
                              : path == CopyPath::device_to_host ? timing::CopyEngine::to_host
                              : path == CopyPath::peer           ? timing::CopyEngine::peer
                                                                 : timing::CopyEngine::none;
  // A call that waits stages nothing before its stream is idle.
  if (part == HostPart::waits && e.staging_ns > 0) timeline_->synchronize(host, stream);
  if (part != HostPart::none) timeline_->host_work(host, e.staging_ns);
  timing::Span span = timeline_->copy(stream, host, engine, e.time);
  collector_->add_to_timeline({device, stream, "copy", direction_name(path), span.begin, span.end, bytes, t_placing});
  if (part == HostPart::waits && !e.returns_early) timeline_->synchronize_time(host, span.end);
  return span;
}

timing::Span Session::fill(timing::StreamId stream, const timing::HostClock& host, std::uint64_t address,
                           std::uint64_t bytes) {
  estimates_->written(timeline_->device_of(stream), address, bytes);
  timing::Span span = timeline_->fill(stream, host, timing::estimate_memset_ns(*model_, bytes));
  collector_->add_to_timeline(
      {timeline_->device_of(stream), stream, "memset", "memset", span.begin, span.end, bytes, t_placing});
  return span;
}

timing::Span Session::prefetch(int device, timing::StreamId stream, const timing::HostClock& host, std::uint64_t low,
                               std::uint64_t bytes, bool to_device) {
  const double n = static_cast<double>(bytes);
  const double moved = to_device ? managed_memory_.to_device(low, n) : managed_memory_.to_host(low, n);
  const timing::CopyEngine engine = to_device ? timing::CopyEngine::to_device : timing::CopyEngine::to_host;
  const timing::Span span =
      timeline_->copy(stream, host, engine, timing::estimate_prefetch(*model_, static_cast<std::uint64_t>(moved)));
  collector_->add_to_timeline({device, stream, "copy", to_device ? "prefetch to the device" : "prefetch to the host",
                               span.begin, span.end, static_cast<std::uint64_t>(moved), t_placing});
  return span;
}

timing::Span Session::library_call(int device, timing::StreamId stream, timing::HostClock& host,
                                   const LibraryCallName& name, const timing::LibraryWork& work) {
  const timing::LibraryEstimate estimate = timing::estimate_library(*model_, work);
  collector_->add_library_call(device, name.function, name.arguments, name.by, estimate.ns);
  const timing::Span span =
      timeline_->kernel(stream, host, {estimate.ns, estimate.ns, estimate.ns, estimate.ns}, estimate.gpu_fraction);
  collector_->add_to_timeline({device, stream, "library call",
                               name.arguments.empty() ? name.function : name.function + " " + name.arguments,
                               span.begin, span.end, 0, t_placing});
  return span;
}

void Session::host_row(unsigned thread, const char* kind, const std::string& name, double begin_ns, double end_ns) {
  collector_->add_to_host_timeline({0, thread, kind, name, begin_ns, end_ns, 0, 0});
}

void Session::host_row_left_out() {
  collector_->leave_out_host_row();
}

void Session::say_once(const std::string& text) {
  {
    std::lock_guard lock(mutex_);
    if (!said_.insert(text).second) return;
  }
  print_line(text);
}

void Session::problem(const Error& error) {
  leave_status("problem", error.message);
  say_once("error: " + describe(error));
}

namespace {

// Accesses that `warpgrind check` skips, so that the kernel goes on.
bool is_invalid_access(device::FaultKind kind) {
  using K = device::FaultKind;
  return kind == K::illegal_address || kind == K::misaligned_address || kind == K::shared_out_of_bounds ||
         kind == K::local_out_of_bounds || kind == K::write_to_constant;
}

}  // namespace

std::optional<results::Finding> Session::check_finding(const device::Fault& fault, results::Severity severity) const {
  results::Finding finding = to_finding(fault);
  const CheckKind kind = check_kind(fault.kind, severity == results::Severity::error);
  if (kind.covered_by && options_.checks.*kind.covered_by) return std::nullopt;
  finding.kind = kind.kind;
  finding.group = group_of(kind.kind);
  finding.severity = kind.severity;
  for (results::FindingAccess& at : finding.accesses) {
    checkers::leave_library(at);
    if (at.access.empty()) at.access = fault.kind == device::FaultKind::block_order ? "waits here" : "stops here";
  }
  if (!finding.accesses.empty()) checkers::take_place(finding, finding.accesses[0]);
  if (!fault.waiting.empty()) finding.notes.clear();  // the accesses show which warp waits where
  return finding;
}

void Session::finding(const device::Fault& fault, results::Severity severity) {
  results::Finding finding;
  if (checkers_) {
    if (severity == results::Severity::error) checkers_->note_fault();
    std::optional<results::Finding> found = check_finding(fault, severity);
    if (!found) return;
    finding = std::move(*found);
  } else {
    finding = to_finding(fault);
    finding.severity = severity;
  }
  constexpr std::size_t kWarpsShown = 64;
  if (finding.notes.size() > kWarpsShown) {
    std::size_t more = finding.notes.size() - kWarpsShown;
    finding.notes.resize(kWarpsShown);
    finding.notes.push_back(fmt::format("and {} more warps", more));
  }
  if (options_.quiet && severity == results::Severity::warning)
    collector_->add_finding(std::move(finding));
  else
    say(std::move(finding));
  if (severity == results::Severity::error && !checkers_ && !fault.kernel.empty() && is_invalid_access(fault.kind))
    print_line("the kernel was stopped here; `warpgrind check` finds all errors in one run");
}

// Prints the finding at its first occurrence, in the middle of the program's output. Later ones are counted until the
// end.
void Session::went_on(const device::Fault& fault) {
  results::Finding first;
  {
    const std::lock_guard lock(mutex_);
    WentOn& known = went_on_[fault.kernel + "\n" + fault.function + "\n" + std::to_string(fault.ptx_line)];
    known.accesses += fault.went_on;
    if (++known.launches > 1) return;
    known.finding = to_finding(fault);
    known.finding.notes.push_back("the kernel continues, as on a GPU (--no-bounds-stop)");
    first = known.finding;
  }
  print_finding(first);
}

void Session::sum_up_what_went_on() {
  const std::lock_guard lock(mutex_);
  std::uint64_t accesses = 0;
  for (auto& [place, known] : went_on_) {
    accesses += known.accesses;
    known.finding.notes.push_back(
        fmt::format("{} accesses of threads, in {} launches", known.accesses, known.launches));
    collector_->add_finding(std::move(known.finding));
  }
  if (!went_on_.empty())
    print_line(
        fmt::format("{} out-of-bounds accesses by threads at {} places did not stop their kernels (--no-bounds-stop)",
                    accesses, went_on_.size()));
}

void Session::say(results::Finding finding) {
  if (!checkers_) print_finding(finding);
  collector_->add_finding(std::move(finding));
}

void Session::print_finding(const results::Finding& finding) {
  report::TextOptions options;
  options.colour = report::wants_colour(stderr);
  std::string text = report::finding_text(finding, options);
  {
    std::lock_guard lock(mutex_);
    if (!said_.insert(text).second) return;
  }
  print(text);
}

}  // namespace warpgrind::session
