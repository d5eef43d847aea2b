#include "device/execution/crash_guard.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <mutex>

#include "device/execution/state.h"
#include "device/fault.h"

namespace warpgrind::device {

namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
constexpr std::size_t kSignalStack = 64 * 1024;

struct sigaction g_previous[NSIG];

// Initial-exec: reading it in a signal handler must not allocate.
thread_local Worker* t_worker __attribute__((tls_model("initial-exec"))) = nullptr;
thread_local int t_signal __attribute__((tls_model("initial-exec"))) = 0;
thread_local std::uint64_t t_address __attribute__((tls_model("initial-exec"))) = 0;

// The handler's stack; the kernel's may be full.
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
      return "an access to memory that is not there";
  }
}

// Runs on the worker's emergency stack, outside of the handler.
[[noreturn]] void land() {
  Worker& w = *t_worker;
  Launch& launch = *w.launch;
  const bool full = w.stacks.is_guard(t_address);
  Fault fault = describe(launch, full ? FaultKind::stack_overflow : FaultKind::illegal_address, ~0u);
  fault.message = full ? std::string("the kernel's calls are nested too deep")
                       : fmt::format("{} at {:#x}, outside of any checked access", signal_text(t_signal), t_address);
  fault.advice = full ? "less recursion" : "registered host memory must stay valid while kernels use it";
  fault.address = t_address;
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
  Worker* w = t_worker;
  const bool own = w && w->current && info->si_code > 0;
  if (!own) {
    // Not ours: as if there were no handler. Returning runs the instruction again.
    const struct sigaction& previous = g_previous[signal];
    if (previous.sa_flags & SA_SIGINFO) return previous.sa_sigaction(signal, info, context);
    if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) return previous.sa_handler(signal);
    ::signal(signal, SIG_DFL);
    return;
  }
  t_signal = signal;
  t_address = reinterpret_cast<std::uint64_t>(info->si_addr);
  auto* user = static_cast<ucontext_t*>(context);
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

CrashGuard::CrashGuard(Worker& worker) : outer_(t_worker) {
  install();
  thread_local SignalStack stack;
  (void)stack;
  t_worker = &worker;
}

CrashGuard::~CrashGuard() {
  t_worker = outer_;
}

}  // namespace warpgrind::device
