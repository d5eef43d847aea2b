// Start of programs by vfork(), and the reading of their output.
#include "base/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/argument_pointers.h"
#include "base/descriptor.h"
#include "base/sanitizers.h"
#include "base/signal_mask.h"

namespace warpgrind {

namespace {

constexpr unsigned kFirstOther = 3;  // the first descriptor behind the standard streams
constexpr int kNotStarted = 127;     // as in shells

// What failed in a child before its program began.
struct Failure {
  int error = 0;               // errno; 0: nothing
  const char* what = nullptr;  // null: the program itself
};

// The child's view of a start. It is complete before the child exists, because the child may not allocate.
struct StartPlan {
  const ProcessCommand& command;
  std::vector<char*> arguments, environment;
  std::array<Descriptor, 3> streams;  // empty: inherited
  std::vector<int> open_ones;         // descriptors that the child does not close, ascending
  sigset_t blocked;
  pid_t parent;
  Pipe report;               // fork(): carries a Failure, and is closed by exec
  volatile Failure failure;  // vfork(): the child writes into the memory of its parent
};

// In the child, exit_group() by its number: programs of a run have an _exit() that writes their profile.
[[noreturn]] void leave_child() {
  for (;;) syscall(SYS_exit_group, kNotStarted);
}

[[noreturn]] void fail_in_child(StartPlan& plan, const char* what) {
  const Failure failure{errno, what};
  plan.failure.error = failure.error;
  plan.failure.what = failure.what;
  if (plan.report.write.get() >= 0 && write(plan.report.write.get(), &failure, sizeof failure) < 0) leave_child();
  leave_child();
}

// The child may share this process's memory until exec, so none of our handlers may run in it.
void reset_signals(bool ignored_too) {
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction action {};
    if (sigaction(number, nullptr, &action) != 0 || action.sa_handler == SIG_DFL) continue;
    if (action.sa_handler == SIG_IGN && !ignored_too) continue;
    action = {};
    action.sa_handler = SIG_DFL;
    sigaction(number, &action, nullptr);
  }
}

void close_range_of(unsigned first, unsigned last) {
  if (first > last || syscall(SYS_close_range, first, last, 0) == 0) return;
  rlimit most{};  // kernels before 5.9
  if (getrlimit(RLIMIT_NOFILE, &most) != 0) return;
  for (unsigned number = first; number <= last && number < most.rlim_cur; ++number) syscall(SYS_close, number);
}

void close_others(const std::vector<int>& open_ones) {
  unsigned from = kFirstOther;
  for (const int one : open_ones) {
    const auto number = static_cast<unsigned>(one);
    if (number > from) close_range_of(from, number - 1);
    from = std::max(from, number + 1);
  }
  close_range_of(from, ~0u);
}

// Only system calls: this is the child, maybe in the memory of its parent.
[[noreturn]] void exec_program(StartPlan& plan) {
  const ProcessCommand& command = plan.command;
  reset_signals(command.resets_ignored);
  if (command.own_session) setsid();
  for (int number = 0; number < 3; ++number) {
    const int source = plan.streams[static_cast<unsigned>(number)].get();
    if (source >= 0 && dup2(source, number) < 0) fail_in_child(plan, "its standard streams");
  }
  if (!command.inherits_files) close_others(plan.open_ones);
  for (const int number : command.kept) fcntl(number, F_SETFD, 0);
  if (command.in_child) command.in_child();
  if (command.death_signal != 0) {  // after in_child: a change of user clears it; exec does not
    prctl(PR_SET_PDEATHSIG, command.death_signal);
    if (getppid() != plan.parent) leave_child();  // the parent ended before
  }
  if (!command.folder.empty() && chdir(command.folder.c_str()) != 0) fail_in_child(plan, command.folder.c_str());
  sigprocmask(SIG_SETMASK, &plan.blocked, nullptr);
  execvpe(plan.arguments[0], plan.arguments.data(), plan.environment.data());
  fail_in_child(plan, nullptr);
}

bool names_variable(std::string_view entry, std::string_view name) {
  return entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=';
}

std::vector<char*> environment_of(const ProcessCommand& command) {
  std::vector<char*> out;
  for (char** at = environ; at && *at && !command.no_environment; ++at) {
    const std::string_view entry = *at;
    bool kept = true;
    for (const std::string& name : command.unset) kept &= !names_variable(entry, name);
    for (const std::string& text : command.set) kept &= !names_variable(entry, text.substr(0, text.find('=')));
    if (kept) out.push_back(*at);
  }
  for (const std::string& text : command.set) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

Error cannot_start(const ProcessCommand& command, int error) {
  return {ErrorKind::environment, fmt::format("cannot start {}: {}", command.words[0], std::strerror(error)), ""};
}

// A descriptor of ours above the standard streams: dup2() must neither overwrite a source nor keep its O_CLOEXEC.
Result<Descriptor> open_stream(const Stream& stream, bool written, const ProcessCommand& command) {
  const char* path = stream.kind == Stream::Kind::file ? stream.path.c_str() : "/dev/null";
  const int flags = !written ? O_RDONLY : stream.kind == Stream::Kind::file ? O_WRONLY | O_CREAT | O_TRUNC : O_WRONLY;
  Descriptor opened;
  if (stream.kind == Stream::Kind::inherited) return opened;
  if (stream.kind != Stream::Kind::descriptor) {
    opened.reset(open(path, flags | O_CLOEXEC, 0600));
    if (opened.get() < 0)
      return Error{ErrorKind::environment,
                   fmt::format("cannot {} {}: {}", written ? "write" : "read", path, std::strerror(errno)), ""};
  }
  const int from = stream.kind == Stream::Kind::descriptor ? stream.descriptor : opened.get();
  if (opened.get() >= static_cast<int>(kFirstOther)) return opened;
  Descriptor high(fcntl(from, F_DUPFD_CLOEXEC, kFirstOther));
  if (high.get() < 0) return cannot_start(command, errno);
  return high;
}

}  // namespace

int ProcessEnd::signal() const {
  return !lost && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

int ProcessEnd::shell_code() const {
  constexpr int kOfSignals = 128;
  if (lost) return -1;
  return signal() != 0 ? kOfSignals + signal() : WEXITSTATUS(status);
}

std::string ProcessEnd::text() const {
  if (lost) return "its exit code is not known";
  if (signal() != 0) return fmt::format("killed by signal {} ({})", signal(), strsignal(signal()));
  return fmt::format("exit code {}", shell_code());
}

void Process::send(int signal) const {
  if (id_ > 0) kill(leads_group_ ? -id_ : id_, signal);
}

// The ended program keeps its id until waitpid() has returned its status.
ProcessEnd Process::release(const AtEnd& at_end) const {
  if (at_end) at_end();
  for (;;) {
    int status = 0;
    if (waitpid(id_, &status, 0) == id_) return {status};
    if (errno != EINTR) return {0, true};
  }
}

std::optional<ProcessEnd> Process::ended(const AtEnd& at_end) const {
  siginfo_t seen{};
  const int result = waitid(P_PID, static_cast<id_t>(id_), &seen, WEXITED | WNOHANG | WNOWAIT);
  const bool waits = result == 0 ? seen.si_pid == 0 : errno == EINTR;
  if (waits) return std::nullopt;
  return release(at_end);
}

ProcessEnd Process::wait(const AtEnd& at_end) const {
  siginfo_t seen{};
  while (waitid(P_PID, static_cast<id_t>(id_), &seen, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
  }
  return release(at_end);
}

namespace {

// vfork() copies no page tables, however much memory a virtual GPU has, and runs no handlers of pthread_atfork(). The
// parent continues after exec. ThreadSanitizer would make it a fork().
bool shares_memory(const ProcessCommand& command) {
#ifdef WG_THREAD_SANITIZER
  constexpr bool kSharing = false;
#else
  constexpr bool kSharing = true;
#endif
  return kSharing && !command.in_child;
}

// Starts the child with all signals blocked. Returns its process id, or -1 with errno set.
pid_t make_child(StartPlan& plan) {
  const SignalMask mask = SignalMask::replace(all_signals());
  const bool shared = shares_memory(plan.command);
  const pid_t child = shared ? vfork() : fork();
  if (child == 0) exec_program(plan);
  return child;
}

Failure read_failure(StartPlan& plan) {
  Failure failure{plan.failure.error, plan.failure.what};
  if (plan.report.read.get() < 0) return failure;
  plan.report.write.reset();
  ssize_t got = 0;
  do got = read(plan.report.read.get(), &failure, sizeof failure);
  while (got < 0 && errno == EINTR);
  return got == sizeof failure ? failure : Failure{};
}

}  // namespace

Result<Process> start_process(const ProcessCommand& command) {
  WG_ASSERT(!command.words.empty());
  StartPlan plan{command, argument_pointers(command.words), environment_of(command), {}, command.kept, {}, getpid(), {},
                 {}};
  const Stream* streams[] = {&command.input, &command.output, &command.errors};
  for (unsigned i = 0; i < plan.streams.size(); ++i) {
    auto opened = open_stream(*streams[i], i != 0, command);
    if (!opened) return opened.error();
    plan.streams[i] = opened.take();
  }
  if (!shares_memory(command)) {
    if (!plan.report.open()) return cannot_start(command, errno);
    plan.report.write.reset(fcntl(plan.report.write.get(), F_DUPFD_CLOEXEC, kFirstOther));
    plan.open_ones.push_back(plan.report.write.get());
  }
  std::sort(plan.open_ones.begin(), plan.open_ones.end());
  sigemptyset(&plan.blocked);
  if (command.blocked) plan.blocked = *command.blocked;
  const pid_t child = make_child(plan);
  if (child < 0) return cannot_start(command, errno);
  const Failure failure = read_failure(plan);
  if (failure.error == 0) return Process(child, command.own_session);
  Process(child, false).wait();
  if (!failure.what) return cannot_start(command, failure.error);
  return Error{ErrorKind::environment,
               fmt::format("cannot start {} ({}): {}", command.words[0], failure.what, std::strerror(failure.error)),
               ""};
}

namespace {

volatile std::sig_atomic_t interrupt_signal = 0;

// Reads the output of one child until its end, and stops it at a limit.
class Capture {
 public:
  Capture(const Process& process, const CaptureSettings& settings, Descriptor output, Descriptor errors, bool group)
      : process_(process), settings_(settings), streams_{std::move(output), std::move(errors)}, group_(group) {
    alive_.reset(static_cast<int>(syscall(SYS_pidfd_open, process.id(), 0)));
  }

  Captured run() {
    const auto begin = std::chrono::steady_clock::now();
    for (;;) {
      const bool quiet = !read_ready();
      out_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      if (settings_.on_tick) settings_.on_tick();
      const bool late = settings_.seconds > 0 && out_.seconds > settings_.seconds;
      if (late) stop(Captured::Stop::time);
      if (settings_.cancelled && settings_.cancelled()) stop(Captured::Stop::cancelled);
      pass_interrupt_on();
      if (!ended_) look_for_end();
      const bool open = streams_[0].get() >= 0 || streams_[1].get() >= 0;
      // A process that has left the session may hold the pipe longer.
      if (ended_ && (!open || late || (quiet && out_.stop != Captured::Stop::none))) return std::move(out_);
    }
  }

 private:
  // False: nothing came until the tick.
  bool read_ready() {
    constexpr std::chrono::milliseconds kWithoutPidfd{20};
    pollfd waiting[3] = {{streams_[0].get(), POLLIN, 0}, {streams_[1].get(), POLLIN, 0}, {alive_.get(), POLLIN, 0}};
    const bool unseen_end = !ended_ && alive_.get() < 0;
    const auto longest = unseen_end ? std::min(settings_.tick, kWithoutPidfd) : settings_.tick;
    if (poll(waiting, 3, static_cast<int>(longest.count())) <= 0) return false;
    if (waiting[0].revents != 0) read_some(streams_[0], out_.output);
    if (waiting[1].revents != 0) read_some(streams_[1], out_.errors);
    return waiting[0].revents != 0 || waiting[1].revents != 0;
  }

  void read_some(Descriptor& from, std::string& into) {
    std::array<char, 1 << 16> buffer;
    const ssize_t got = read(from.get(), buffer.data(), buffer.size());
    if (got == 0 || (got < 0 && errno != EINTR)) from.reset();
    if (got <= 0) return;
    WG_ASSERT(out_.output.size() + out_.errors.size() <= settings_.bytes);
    const std::uint64_t room = settings_.bytes - out_.output.size() - out_.errors.size();
    const std::string_view more(buffer.data(), std::min<std::uint64_t>(static_cast<std::uint64_t>(got), room));
    into += more;
    if (settings_.on_output && !more.empty()) settings_.on_output(more);
    if (static_cast<std::uint64_t>(got) > room) stop(Captured::Stop::bytes);
  }

  void stop(Captured::Stop why) {
    if (out_.stop == Captured::Stop::none) out_.stop = why;
    if (!ended_) process_.send(SIGKILL);
  }

  // A terminal signals the child, too; kill(1) does not.
  void pass_interrupt_on() {
    if (!interrupted() || ended_ || passed_on_) return;
    process_.send(SIGINT);
    passed_on_ = true;
  }

  void look_for_end() {
    const auto end = process_.ended([this] {
      if (group_) process_.send(SIGKILL);  // processes left behind, which may hold the output
    });
    if (!end) return;
    ended_ = true;
    out_.end = *end;
    alive_.reset();
  }

  const Process& process_;
  const CaptureSettings& settings_;
  std::array<Descriptor, 2> streams_;
  Descriptor alive_;  // pidfd: readable at the child's end
  bool group_, ended_ = false, passed_on_ = false;
  Captured out_;
};

}  // namespace

Result<Captured> run_captured(ProcessCommand command, const CaptureSettings& settings) {
  Pipe output, errors;
  if (!output.open() || (!settings.joined && !errors.open())) return cannot_start(command, errno);
  command.input = Stream::nothing();
  command.output = Stream::open_file(output.write.get());
  command.errors = settings.joined ? command.output : Stream::open_file(errors.write.get());
  const auto process = start_process(command);
  if (!process) return process.error();
  output.write.reset();
  errors.write.reset();
  return Capture(*process, settings, std::move(output.read), std::move(errors.read), command.own_session).run();
}

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = [](int signal) { interrupt_signal = signal; };
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() {
  return interrupt_signal != 0;
}

}  // namespace warpgrind
