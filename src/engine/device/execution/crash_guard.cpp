// Signal handlers for crashes in machine code: the faulting thread continues on the worker's emergency stack and ends
// its launch.
#include "device/execution/crash_guard.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <mutex>

#include "base/per_thread.h"
#include "base/sanitizers.h"
#include "device/fault.h"
#include "device/memory/written_pages.h"
#include "device/state.h"

namespace warpgrind::device {

namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
constexpr std::size_t kSignalStack = 64 * 1024;

struct sigaction g_previous[NSIG];

// State of a thread: its worker, and the signal that stopped it. A list that the handler can walk, and not a
// thread-local variable. Reading one in a handler may allocate, unless it is initial-exec, and dlopen cannot always
// load a library with such variables. Entries are reused and never freed: one for each thread that runs kernels at the
// same time.
struct Entry {
  std::atomic<pid_t> thread{0};  // 0: free
  Worker* worker = nullptr;
  int signal = 0;
  std::uint64_t address = 0;
  Entry* next = nullptr;
};
std::atomic<Entry*> g_entries{nullptr};

// Async-signal-safe.
Entry* entry_of(pid_t thread) {
  for (Entry* e = g_entries.load(std::memory_order_acquire); e; e = e->next)
    if (e->thread.load(std::memory_order_acquire) == thread) return e;
  return nullptr;
}

// Owner of this thread's entry, released when the thread ends.
class OwnEntry {
 public:
  OwnEntry() {
    const pid_t self = gettid();
    for (Entry* e = g_entries.load(std::memory_order_acquire); e; e = e->next) {
      pid_t no_thread = 0;
      if (!e->thread.compare_exchange_strong(no_thread, self)) continue;
      entry_ = e;
      return;
    }
    entry_ = new Entry;
    entry_->thread = self;
    entry_->next = g_entries.load();
    while (!g_entries.compare_exchange_weak(entry_->next, entry_)) {
    }
  }
  ~OwnEntry() { entry_->thread = 0; }
  OwnEntry(const OwnEntry&) = delete;
  OwnEntry& operator=(const OwnEntry&) = delete;
  Entry& operator*() const { return *entry_; }

 private:
  Entry* entry_ = nullptr;
};

Entry& own_entry() {
  return *per_thread<OwnEntry>();
}

// Stack of the handler; the kernel's stack may be full.
struct SignalStack {
  void* memory = nullptr;
  stack_t previous{};
  SignalStack() {
    memory = mmap(nullptr, kSignalStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return;
    stack_t mine{};
    mine.ss_sp = memory;
    mine.ss_size = kSignalStack;
    sigaltstack(&mine, &previous);
  }
  ~SignalStack() {
    if (memory == MAP_FAILED) return;
    sigaltstack(&previous, nullptr);
    munmap(memory, kSignalStack);
  }
};

const char* signal_text(int signal) {
  switch (signal) {
    case SIGFPE:
      return "an arithmetic exception";
    case SIGILL:
      return "an illegal machine instruction";
    default:
      return "an access to unmapped memory";
  }
}

// Runs on the worker's emergency stack, outside the handler.
[[noreturn]] void land() {
  NotWatched::end_all();
  const Entry& entry = own_entry();
  Worker& w = *entry.worker;
  Launch& launch = *w.launch;
  const bool full = w.stacks.is_guard(entry.address);
  Fault fault = describe(launch, full ? FaultKind::stack_overflow : FaultKind::illegal_address, ~0u);
  fault.message =
      full ? std::string("the kernel's calls are nested too deeply")
           : fmt::format("{} at {:#x}, outside all checked accesses", signal_text(entry.signal), entry.address);
  fault.advice = full ? "use less recursion" : "keep registered host memory mapped while kernels use it";
  fault.address = entry.address;
  std::uint64_t block = 0;
  std::uint32_t warp = 0;
  if (w.current && w.current->block) {
    set_thread(fault, w.current->context, 0);
    block = w.current->block_linear;
    warp = w.current->context.warp;
  }
  record(launch, std::move(fault), block, warp);
  leave_launch(w);
}

void handle(int signal, siginfo_t* info, void* context) {
  Entry* entry = entry_of(gettid());
  Worker* w = entry ? entry->worker : nullptr;
  const auto address = reinterpret_cast<std::uint64_t>(info->si_addr);
  if (signal == SIGSEGV && info->si_code == SEGV_ACCERR && WrittenPages::instance().copy_if_protected(address)) return;
  const bool own = w && w->current && info->si_code > 0;
  if (!own) {
    // Another signal: behave as if there were no handler. Returning runs the instruction again.
    const struct sigaction& previous = g_previous[signal];
    if (previous.sa_flags & SA_SIGINFO) return previous.sa_sigaction(signal, info, context);
    if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) return previous.sa_handler(signal);
    ::signal(signal, SIG_DFL);
    return;
  }
  entry->signal = signal;
  entry->address = address;
  auto* user = static_cast<ucontext_t*>(context);
  forget_frames(w->emergency);
  // As after a call: the stack pointer is 8 below a multiple of 16.
  user->uc_mcontext.gregs[REG_RSP] = static_cast<greg_t>(reinterpret_cast<std::uint64_t>(w->emergency.top()) - 256 - 8);
  user->uc_mcontext.gregs[REG_RIP] = static_cast<greg_t>(reinterpret_cast<std::uint64_t>(&land));
}

void install() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction mine {};
    mine.sa_sigaction = &handle;
    mine.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&mine.sa_mask);
    for (int signal : kSignals) sigaction(signal, &mine, &g_previous[signal]);
  });
}

}  // namespace

bool handles_protected_pages() {
  install();
  struct sigaction now {};
  return sigaction(SIGSEGV, nullptr, &now) == 0 && (now.sa_flags & SA_SIGINFO) && now.sa_sigaction == &handle;
}

CrashGuard::CrashGuard(Worker& worker) : outer_(own_entry().worker) {
  install();
  per_thread<SignalStack>();
  own_entry().worker = &worker;
}

CrashGuard::~CrashGuard() {
  own_entry().worker = outer_;
}

}  // namespace warpgrind::device
