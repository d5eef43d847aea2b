// Copies of the process that run a launch in other orders, and the merge of their findings.
#include "session/other_orders.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <set>
#include <thread>

#include "base/assert.h"
#include "base/host_thread.h"
#include "device/device.h"
#include "device/worker_team.h"
#include "results/json.h"
#include "session/check_kinds.h"

namespace warpgrind::session {

namespace {

using Clock = std::chrono::steady_clock;
using results::Finding;
using results::FindingAccess;
using results::Severity;

// Ends the process without any exit() handlers, of the program or of warpgrind.
[[noreturn]] void leave(int code) {
  ::syscall(SYS_exit_group, code);
  __builtin_unreachable();
}

// Writes to a socket. A closed peer gives an error, not a signal.
bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::send(fd, text.data(), text.size(), MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

// False: end of input, or an error.
bool read_some(int fd, std::string& text) {
  char part[65536];
  const ssize_t n = ::read(fd, part, sizeof part);
  if (n < 0) return errno == EINTR || errno == EAGAIN;
  text.append(part, static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
  return n > 0;
}

bool make_pair(int (&ends)[2]) {
  return ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0;
}

// ---- Memory that is shared with other processes (MAP_SHARED). A copy of the process must not write into it.

struct Mapping {
  std::uintptr_t low = 0, high = 0;
};

std::vector<Mapping> shared_mappings() {
  std::vector<Mapping> shared;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const std::size_t dash = line.find('-'), space = line.find(' ');
    if (space == std::string::npos || dash > space || line.compare(space + 1, 2, "rw") != 0) continue;
    if (line[space + 4] != 's' || line.find(" /dev/dri") != std::string::npos) continue;
    shared.push_back({std::strtoull(line.c_str(), nullptr, 16), std::strtoull(line.c_str() + dash + 1, nullptr, 16)});
  }
  return shared;
}

void make_own(const Mapping& m) {
  const std::size_t bytes = m.high - m.low;
  void* const copy = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (copy == MAP_FAILED) leave(1);
  auto* const from = reinterpret_cast<void*>(m.low);
  std::memcpy(copy, from, bytes);
  if (::mremap(copy, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, from) == MAP_FAILED) leave(1);
}

// Discards output: the original process has printed it already.
void silence() {
  const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (nowhere < 0) return;
  ::dup2(nowhere, STDOUT_FILENO);
  ::dup2(nowhere, STDERR_FILENO);
}

// Watchdog of a copied process, in which the device's own watchdog has no thread. It ends a launch after `limit`
// seconds. If all warps only wait, it ends it after `waiting_limit` seconds, as nothing from outside can end that wait
// here.
void watch(const device::Device& gpu, double limit, double waiting_limit) {
  constexpr auto kTick = std::chrono::milliseconds(50);
  const auto begin = Clock::now();
  auto moved = begin;
  const auto longer_than = [](Clock::time_point since, double seconds) {
    return std::chrono::duration<double>(Clock::now() - since).count() > seconds;
  };
  while (!longer_than(begin, limit) && !longer_than(moved, waiting_limit)) {
    std::this_thread::sleep_for(kTick);
    if (!gpu.only_waits()) moved = Clock::now();
  }
  device::request_timeout();
}

// A process that runs the launch in one order.
struct Child {
  pid_t process = -1;
  int answer = -1;
  Clock::time_point deadline;
  std::string text;
  bool ended = false;
};

// Time limit in another order, in seconds, for a launch that took own_seconds in its own. It is far above the cost of
// block order, warp switches and other processes. It seldom applies, as most launches end in any order.
double limit_of(double own_seconds) {
  constexpr double kLeast = 10, kTimesAsLong = 30;
  return std::max(kLeast, kTimesAsLong * own_seconds);
}
double waiting_limit_of(double own_seconds) {
  constexpr double kLeast = 2, kTimesAsLong = 10;
  return std::max(kLeast, kTimesAsLong * own_seconds);
}

Child start(const device::Schedule& schedule, const Snapshot::Run& run, const device::Device& gpu, double own_seconds) {
  const double limit = limit_of(own_seconds);
  Child child;
  int ends[2];
  if (!make_pair(ends)) return child;
  child.process = ::fork();
  if (child.process == 0) {
    ::close(ends[0]);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    HostThread watchdog;
    if (!watchdog.start([&] { watch(gpu, limit, waiting_limit_of(own_seconds)); }, HostThread::Signals::none)) leave(1);
    results::Profile found;
    found.findings = run(schedule);
    leave(write_all(ends[1], results::to_json(found)) ? 0 : 1);
  }
  ::close(ends[1]);
  child.answer = ends[0];
  // 5 s more, as a kernel that is stopped still reports its position.
  child.deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(limit + 5));
  return child;
}

// Completes a child: `text` is its answer, or else the reason why there is none. A reason never begins like a profile.
void end(Child& child) {
  WG_ASSERT(!child.ended);  // its process may be waited for once
  child.ended = true;
  if (child.process < 0) {
    child.text = "cannot create a process for it";
    return;
  }
  ::close(child.answer);
  int status = 0;
  while (::waitpid(child.process, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status))
    child.text = WTERMSIG(status) == SIGKILL ? "its process did not end, and was stopped"
                                             : fmt::format("its process was ended by signal {} ({})", WTERMSIG(status),
                                                           strsignal(WTERMSIG(status)));
  else if (WEXITSTATUS(status) != 0)
    child.text = "its process could not report its findings";
}

void collect(std::vector<Child>& children) {
  for (Child& c : children)
    if (c.process < 0) end(c);
  for (;;) {
    std::vector<pollfd> wait;
    std::vector<Child*> whose;
    auto until = Clock::time_point::max();
    for (Child& c : children) {
      if (c.ended) continue;
      wait.push_back({c.answer, POLLIN, 0});
      whose.push_back(&c);
      until = std::min(until, c.deadline);
    }
    if (wait.empty()) return;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
    ::poll(wait.data(), wait.size(), static_cast<int>(std::clamp<std::int64_t>(left + 1, 0, 60000)));
    for (std::size_t i = 0; i < wait.size(); ++i) {
      Child& c = *whose[i];
      if (wait[i].revents != 0 && read_some(c.answer, c.text)) continue;
      const bool late = wait[i].revents == 0 && Clock::now() >= c.deadline;
      if (late) ::kill(c.process, SIGKILL);
      if (late || wait[i].revents != 0) end(c);
    }
  }
}

// Main function of the copy. It runs as many orders at a time as there are processors. Each answer is sent with its
// length before it.
[[noreturn]] void serve(const std::vector<device::Schedule>& schedules, const Snapshot::Run& run,
                        const device::Device& gpu, const std::vector<Mapping>& shared, int line) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const Mapping& m : shared) make_own(m);
  if (!write_all(line, "r")) leave(1);
  std::string go;
  while (go.find('\n') == std::string::npos)
    if (!read_some(line, go)) leave(0);  // the original process does not ask
  silence();
  ::signal(SIGCHLD, SIG_DFL);  // replaces a handler of the program
  const double own_seconds = std::strtod(go.c_str(), nullptr);
  const std::size_t at_once = std::max(1u, device::available_processors());
  for (std::size_t first = 0; first < schedules.size(); first += at_once) {
    std::vector<Child> children;
    for (std::size_t k = first; k < std::min(schedules.size(), first + at_once); ++k)
      children.push_back(start(schedules[k], run, gpu, own_seconds));
    collect(children);
    for (const Child& c : children)
      if (!write_all(line, fmt::format("{:020}", c.text.size()) + c.text)) leave(1);
  }
  leave(0);
}

// ---- Comparison of findings

std::string place_of(const FindingAccess& a) {
  return a.line != 0 ? fmt::format("{}:{}", a.file, a.line) : fmt::format("{}#{}", a.kernel, a.ptx_line);
}

// Places of the accesses, sorted: the schedule decides which of two racing accesses comes first.
std::string places_of(const Finding& f) {
  std::set<std::string> places;
  if (f.kind == "barrier-deadlock" || f.kind == "timeout") return f.kernel;  // the warps' positions are random
  for (const FindingAccess& a : f.accesses)
    if (a.of_thread) places.insert(place_of(a));
  if (places.empty()) places.insert(f.kernel);
  std::string all;
  for (const std::string& p : places) all += p + "|";
  return all;
}

bool is_race(const Finding& f) {
  return f.kind.starts_with("race-") || f.kind == "nc-violation";
}

// True if `known` makes `f` redundant. Of two races at the same lines, the more severe one is enough.
bool says_all(const Finding& known, const Finding& f) {
  if (places_of(known) != places_of(f)) return false;
  return known.kind == f.kind || (is_race(known) && is_race(f) && known.severity >= f.severity);
}

bool has(const std::vector<Finding>& findings, std::string_view kind, const std::string& kernel) {
  return std::any_of(findings.begin(), findings.end(),
                     [&](const Finding& f) { return f.kind == kind && f.kernel == kernel; });
}

bool has_race(const std::vector<Finding>& findings, const std::string& kernel) {
  return std::any_of(findings.begin(), findings.end(), [&](const Finding& f) {
    return is_race(f) && f.severity == Severity::error && f.kernel == kernel;
  });
}

}  // namespace

bool depends_on_order(const events::KernelFacts& facts, const checkers::Selection& checks) {
  if (!checks.races) return true;
  return std::any_of(facts.sites.begin(), facts.sites.end(), [](const events::Site& s) {
    using K = SiteKind;
    return s.kind == K::atomic || s.kind == K::reduction || s.kind == K::fence || s.kind == K::mbarrier ||
           s.kind == K::call || s.order != events::MemoryOrder::weak;
  });
}

std::vector<device::Schedule> other_schedules(const device::Schedule& own, unsigned number) {
  std::vector<device::Schedule> others;
  for (unsigned k = 0; others.size() + 1 < number; ++k)
    if (const device::Schedule s = device::numbered_schedule(k); !(s == own)) others.push_back(s);
  return others;
}

Snapshot::Snapshot(std::vector<device::Schedule> schedules, const device::Device& gpu, const Run& run)
    : schedules_(std::move(schedules)) {
  int ends[2];
  if (!make_pair(ends)) return;
  const std::vector<Mapping> shared = shared_mappings();
  {
    const std::unique_lock held = gpu.hold_compilation();
    process_ = ::fork();
  }
  if (process_ == 0) {
    ::close(ends[0]);
    serve(schedules_, run, gpu, shared, ends[1]);
  }
  ::close(ends[1]);
  line_ = ends[0];
  std::string ready;
  while (process_ > 0 && ready.empty())
    if (!read_some(line_, ready)) break;
}

Snapshot::~Snapshot() {
  if (line_ >= 0) ::close(line_);
  if (process_ <= 0) return;
  while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::vector<OrderOutcome> Snapshot::ask(double seconds) {
  constexpr std::size_t kDigits = 20;
  std::string text;
  bool more = process_ > 0 && write_all(line_, fmt::format("{}\n", seconds));
  std::vector<OrderOutcome> all;
  for (const device::Schedule& schedule : schedules_) {
    OrderOutcome outcome{
        schedule, {}, process_ > 0 ? "its process ended unexpectedly" : "cannot create a process for it"};
    while (more && text.size() < kDigits) more = read_some(line_, text);
    const std::size_t size = text.size() < kDigits ? 0 : std::strtoull(text.substr(0, kDigits).c_str(), nullptr, 10);
    while (more && text.size() < kDigits + size) more = read_some(line_, text);
    if (size != 0 && text.size() >= kDigits + size) {
      outcome.problem = text.substr(kDigits, size);
      text.erase(0, kDigits + size);
    }
    if (outcome.problem.starts_with('{'))
      if (auto profile = results::from_json(outcome.problem, device::name(schedule))) {
        outcome.findings = std::move(profile->findings);
        outcome.problem.clear();
      }
    all.push_back(std::move(outcome));
  }
  return all;
}

Finding not_tried(const std::string& kernel, const std::string& order, const std::string& why) {
  Finding f;
  f.kind = "schedule-lost";
  f.group = group_of(f.kind);
  f.severity = Severity::info;
  f.kernel = kernel;
  f.message = fmt::format("a launch of {} was not tried in {}: {}", kernel, order, why);
  return f;
}

void join(std::vector<Finding>& findings, const std::vector<OrderOutcome>& others) {
  const std::vector<Finding> own = findings;
  for (const OrderOutcome& outcome : others)
    for (const Finding& f : outcome.findings) {
      // A timeout adds nothing to block-order: hundreds of blocks that wait for one take long.
      if (f.kind == "timeout" && has(outcome.findings, "block-order", f.kernel)) continue;
      // After a race, any other finding may be a consequence: only the race is reported.
      if (!is_race(f) && (has_race(own, f.kernel) || has_race(outcome.findings, f.kernel))) continue;
      if (std::any_of(findings.begin(), findings.end(), [&](const Finding& known) { return says_all(known, f); }))
        continue;
      std::erase_if(findings, [&](const Finding& known) { return is_race(known) && is_race(f) && says_all(f, known); });
      findings.push_back(f);
      if (!outcome.problem.empty()) continue;
      findings.back().notes.push_back(
          fmt::format("the default order does not show this; use --schedule {} with `run` or `check` to reproduce it",
                      device::name(outcome.schedule)));
    }
}

}  // namespace warpgrind::session
