// Page protection by mprotect, a SIGSEGV handler that opens a page, and a SIGTRAP handler that closes it after one
// single-stepped instruction.
#include "base/host_pages.h"

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include <algorithm>
#include <mutex>

#include "base/assert.h"
#include "base/x86_access.h"

namespace warpgrind {

namespace {

constexpr std::uint64_t kTrapFlag = 0x100, kWriteFault = 2;

// The handlers that had the signal before us: `first` from the first installation, `last` from the latest one. They
// differ if another library installed its own handler in between; if that one hands a signal back to us, it goes to
// `first`.
struct Before {
  struct sigaction first {
  }, last{};
  bool taken = false;
  std::atomic<const void*> handed_on{nullptr};  // context of a signal that we handed on
};
Before g_before_fault, g_before_step;

std::uint64_t page_of(std::uint64_t address) {
  return address / HostPages::kPage * HostPages::kPage;
}

// Pages that are open for the one instruction that a thread steps over. This is a table because a signal handler might
// have to allocate a thread-local variable.
struct Step {
  static constexpr unsigned kMostPages = 8;
  std::atomic<pid_t> thread{0};
  unsigned count = 0;
  std::uint64_t pages[kMostPages] = {};

  // Another thread may have closed the page again before this one went on, so it can be there already.
  bool add(std::uint64_t page) {
    if (std::find(pages, pages + count, page) != pages + count) return true;
    if (count == kMostPages) return false;
    pages[count++] = page;
    return true;
  }
};
constexpr unsigned kSteps = 256;
Step g_steps[kSteps];

Step* step_of(pid_t thread, bool take) {
  for (Step& s : g_steps)
    if (s.thread.load(std::memory_order_acquire) == thread) return &s;
  if (!take) return nullptr;
  for (Step& s : g_steps) {
    pid_t no_thread = 0;
    if (s.thread.compare_exchange_strong(no_thread, thread)) return &s;
  }
  return nullptr;
}

X86Registers registers_of(const greg_t* all) {
  constexpr int kInOrder[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                              REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
  X86Registers out;
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<std::uint64_t>(all[kInOrder[i]]);
  return out;
}

struct Walk {
  HostPages::Touch* touch = nullptr;
  std::uint64_t from = 0;  // IP of a frame that is already recorded; its callers are added
  bool found = false;
};

_Unwind_Reason_Code walk_step(_Unwind_Context* context, void* data) {
  auto& w = *static_cast<Walk*>(data);
  const std::uint64_t at = _Unwind_GetIP(context);
  HostPages::Touch& t = *w.touch;
  if (!w.found) {
    w.found = at == w.from;
    return _URC_NO_REASON;
  }
  t.callers[t.caller_count++] = reinterpret_cast<const void*>(at);
  return t.caller_count < HostPages::Touch::kMostCallers ? _URC_NO_REASON : _URC_END_OF_STACK;
}

void hand_on(Before& earlier, int signal, siginfo_t* info, void* context) {
  const bool came_back = earlier.handed_on.exchange(context) == context;
  const struct sigaction& before = came_back ? earlier.first : earlier.last;
  if (came_back) earlier.handed_on = nullptr;
  if (before.sa_flags & SA_SIGINFO) return before.sa_sigaction(signal, info, context);
  if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) return before.sa_handler(signal);
  ::signal(signal, SIG_DFL);  // returning runs the instruction again
}

void handle_fault(int signal, siginfo_t* info, void* context) {
  if (!HostPages::instance().on_fault(signal, info, context)) hand_on(g_before_fault, signal, info, context);
}

void handle_step(int signal, siginfo_t* info, void* context) {
  if (!HostPages::instance().on_step(context)) hand_on(g_before_step, signal, info, context);
}

void take_signal(int signal, void (*handler)(int, siginfo_t*, void*), Before& before) {
  struct sigaction now {};
  sigaction(signal, nullptr, &now);
  if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == handler) return;
  struct sigaction mine {};
  mine.sa_sigaction = handler;
  mine.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&mine.sa_mask);
  before.last = now;
  if (!before.taken) before.first = now;
  before.taken = true;
  sigaction(signal, &mine, nullptr);
}

}  // namespace

// The signal handlers take it too, so its holder must not access a watched page.
class HostPages::Lock {
 public:
  explicit Lock(const HostPages& pages) : flag_(pages.locked_) {
    while (flag_.test_and_set(std::memory_order_acquire)) sched_yield();
  }
  ~Lock() { flag_.clear(std::memory_order_release); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  std::atomic_flag& flag_;
};

HostPages& HostPages::instance() {
  static auto* const pages = new HostPages;  // never destroyed: the program's threads go on until the end
  return *pages;
}

void HostPages::want(bool wanted) {
  wanted_ = wanted;
}

// Called each time, because the program may have installed its own handlers meanwhile.
void HostPages::install() {
  if (touches_.empty()) {
    touches_.resize(kMostTouches);
    page_steps_.resize(kSteppedPages);
    Touch unused;
    Walk walk{&unused, 0, true};
    _Unwind_Backtrace(walk_step, &walk);  // makes the unwinder do its first-time allocations now
    constexpr std::uint8_t kMove[] = {0x8b, 0x07};
    access_bytes(kMove, false);  // likewise resolves the decoder's functions
  }
  take_signal(SIGSEGV, handle_fault, g_before_fault);
  take_signal(SIGTRAP, handle_step, g_before_step);
}

const HostPages::Run* HostPages::run_at(std::uint64_t address) const {
  const auto after =
      std::upper_bound(runs_.begin(), runs_.end(), address, [](std::uint64_t a, const Run& r) { return a < r.low; });
  if (after == runs_.begin() || address >= (after - 1)->high) return nullptr;
  return &*(after - 1);
}

void HostPages::set(std::uint64_t low, std::uint64_t high, bool open, bool readable) const {
  void* const first = reinterpret_cast<void*>(low);
  const int how = open ? PROT_READ | PROT_WRITE : readable ? PROT_READ : PROT_NONE;
  // A page that the program itself may only read (a mapped file) cannot be made writable.
  if (::mprotect(first, high - low, how) != 0 && open) ::mprotect(first, high - low, PROT_READ);
}

void HostPages::apply(bool open) {
  if (closed_ == !open) return;
  closed_ = !open;
  for (const Run& r : runs_) set(r.low, r.high, open, r.readable);
  if (open) return;
  if (steps_ != 0) std::fill(page_steps_.begin(), page_steps_.end(), PageSteps{});
  steps_ = 0;
}

void HostPages::watch(std::vector<Run> runs) {
  for (std::size_t k = 0; k < runs.size(); ++k)
    WG_ASSERT(runs[k].low < runs[k].high && runs[k].low % kPage == 0 && (k == 0 || runs[k - 1].high <= runs[k].low));
  if (runs.size() > kMostRuns) runs.resize(kMostRuns);
  const Lock lock(*this);
  if (runs.empty() && runs_.empty()) return;
  if (!runs.empty()) install();
  apply(true);
  runs_ = std::move(runs);
  if (paused_ == 0 && !runs_.empty()) apply(false);
}

void HostPages::pause() {
  const Lock lock(*this);
  if (paused_++ == 0) apply(true);
}

void HostPages::resume() {
  const Lock lock(*this);
  WG_ASSERT(paused_ > 0);
  if (--paused_ == 0 && !runs_.empty()) apply(false);
}

std::vector<HostPages::Touch> HostPages::take() {
  const Lock lock(*this);
  WG_ASSERT(touch_count_ <= touches_.size());
  std::vector<Touch> out(touches_.begin(), touches_.begin() + static_cast<std::ptrdiff_t>(touch_count_));
  touch_count_ = 0;
  return out;
}

// Merges adjacent accesses by the same instruction, so a loop over an array is one touch.
void HostPages::note(const Touch& t) {
  constexpr std::size_t kLooksBack = 16;
  for (std::size_t k = 0; k < std::min(kLooksBack, touch_count_); ++k) {
    Touch& known = touches_[touch_count_ - 1 - k];
    if (known.callers[0] != t.callers[0] || known.write != t.write) continue;
    if (t.address < known.address || t.address > known.address + known.bytes) continue;
    known.bytes = std::max(known.bytes, t.address + t.bytes - known.address);
    return;
  }
  if (touch_count_ < touches_.size()) touches_[touch_count_++] = t;
}

// True if the page has been stepped over so often that it must stay open.
bool HostPages::give_up(std::uint64_t page) {
  PageSteps& p = page_steps_[page / kPage % kSteppedPages];
  if (p.page != page) p = {page, 0};
  const bool enough = ++p.steps > kMostSteps || ++steps_ > kMostStepsTogether || touch_count_ == touches_.size();
  if (enough) ++given_up_;
  return enough;
}

bool HostPages::on_fault(int signal, void* information, void* context) {
  const auto* info = static_cast<const siginfo_t*>(information);
  if (signal != SIGSEGV || info->si_code != SEGV_ACCERR) return false;
  auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const auto at = static_cast<std::uint64_t>(registers[REG_RIP]);
  Touch touch;
  touch.address = reinterpret_cast<std::uint64_t>(info->si_addr);
  touch.write = (static_cast<std::uint64_t>(registers[REG_ERR]) & kWriteFault) != 0;
  touch.bytes =
      access_bytes_from(touch.address, reinterpret_cast<const std::uint8_t*>(at), touch.write, registers_of(registers));
  touch.callers[touch.caller_count++] = reinterpret_cast<const void*>(at + 1);
  {
    const Lock lock(*this);
    if (!run_at(touch.address)) return false;
  }
  Walk walk{&touch, at, false};
  _Unwind_Backtrace(walk_step, &walk);
  const std::uint64_t page = page_of(touch.address);
  const Lock lock(*this);
  const Run* const run = run_at(touch.address);
  if (!run || !closed_) return true;  // opened meanwhile: run the instruction again
  note(touch);
  set(page, page + kPage, true, false);
  if (give_up(page)) return true;
  Step* const step = step_of(gettid(), true);
  if (step && step->add(page))
    registers[REG_EFL] |= static_cast<greg_t>(kTrapFlag);
  else
    ++given_up_;  // no entry is free
  return true;
}

bool HostPages::on_step(void* context) {
  Step* const step = step_of(gettid(), false);
  if (!step || step->count == 0) return false;
  auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  registers[REG_EFL] &= ~static_cast<greg_t>(kTrapFlag);
  const Lock lock(*this);
  for (unsigned k = 0; k < step->count; ++k)
    if (const Run* const run = run_at(step->pages[k]); run && closed_)
      set(step->pages[k], step->pages[k] + kPage, false, run->readable);
  step->count = 0;
  step->thread = 0;
  return true;
}

void HostPages::open(const void* memory, std::size_t bytes) {
  const auto low = reinterpret_cast<std::uint64_t>(memory);
  const Lock lock(*this);
  if (!closed_) return;
  for (const Run& r : runs_) {
    const std::uint64_t first = std::max(r.low, page_of(low)),
                        last = std::min(r.high, page_of(low + bytes - 1) + kPage);
    if (bytes && first < last) set(first, last, true, false);
  }
}

void HostPages::close(const void* memory, std::size_t bytes, std::size_t done, bool write, const void* caller) {
  const auto low = reinterpret_cast<std::uint64_t>(memory);
  Touch touch;
  touch.address = low;
  touch.bytes = done;
  touch.write = write;
  touch.callers[touch.caller_count++] = caller;
  bool ours = false;
  {
    const Lock lock(*this);
    if (!closed_ || bytes == 0) return;
    for (const Run& r : runs_) {
      const std::uint64_t first = std::max(r.low, page_of(low)),
                          last = std::min(r.high, page_of(low + bytes - 1) + kPage);
      if (first >= last) continue;
      ours = true;
      set(first, last, false, r.readable);
    }
  }
  if (!ours || done == 0) return;
  Walk walk{&touch, reinterpret_cast<std::uint64_t>(caller), false};
  _Unwind_Backtrace(walk_step, &walk);
  const Lock lock(*this);
  note(touch);
}

}  // namespace warpgrind
