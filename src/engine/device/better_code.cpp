// Better code: decides when it is due, and compiles it before a launch or during one.
#include "device/better_code.h"

#include <algorithm>

#include "base/assert.h"
#include "device/state.h"

namespace warpgrind::device {

namespace {

// Time that the quick code may still run, in seconds of one worker.
double seconds_left(const KernelRecord& kernel) {
  return kernel.code->better_seconds - kernel.quick_seconds.load(std::memory_order_relaxed);
}

void improve(KernelRecord& kernel) {
  const std::lock_guard lock(kernel.improving);
  if (!kernel.is_quick()) return;
  jit::CompileOptions how = kernel.how;
  how.quick_start = false;
  auto better = kernel.compiler->compile(*kernel.module, kernel.function, how);
  if (!better) return kernel.keep_quick();  // out of memory, since quick code of the same kernel compiled
  // Warps of one block may run either code, with the same counters and frames at barriers.
  WG_ASSERT((*better)->region_bytes == kernel.code->region_bytes &&
            (*better)->scoreboard_slots() == kernel.code->scoreboard_slots() &&
            (*better)->facts().sites.size() == kernel.code->facts().sites.size());
  kernel.improve(better.take());
}

// Part of better_seconds that quick code runs before it is stored in the disk cache: at most 50 writes a kernel. A
// process that ends by a signal loses no more. Kernels that run for less in each process never get better code.
constexpr double kStoredPart = 0.02;

}  // namespace

void KernelRecord::add_quick_seconds(double seconds) {
  const double all = quick_seconds += seconds;
  const std::unique_lock lock(improving, std::try_to_lock);
  if (!lock || all - stored_seconds_ < code->better_seconds * kStoredPart) return;
  stored_seconds_ = all;
  code->store_quick_seconds(all);
}

void improve_if_due(KernelRecord& kernel) {
  if (kernel.is_quick() && seconds_left(kernel) <= 0) improve(kernel);
}

BetterCode::~BetterCode() {
  if (!thread_.started()) return;
  {
    const std::lock_guard lock(mutex_);
    quit_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void BetterCode::watch(Launch* launch, KernelRecord& kernel) {
  if (!kernel.is_quick()) return;
  const std::chrono::duration<double> left(std::max(0.0, seconds_left(kernel)) / launch->workers);
  const auto due = Clock::now() + std::chrono::duration_cast<Clock::duration>(left);
  bool early = false;
  {
    const std::lock_guard lock(mutex_);
    if (!thread_.started() && !thread_.start([this] { loop(); }, HostThread::Signals::none)) return;
    watched_.push_back({launch, &kernel, due});
    early = due < wakes_;
  }
  // A thread that wakes too early waits again. Most launches are short and therefore do not wake it.
  if (early) changed_.notify_one();
}

void BetterCode::release(Launch* launch) {
  std::unique_lock lock(mutex_);
  made_.wait(lock, [&] {
    const Watched* w = find(launch);
    return !w || !w->being_made;
  });
  std::erase_if(watched_, [&](const Watched& w) { return w.launch == launch; });
}

BetterCode::Watched* BetterCode::find(const Launch* launch) {
  const auto found =
      std::find_if(watched_.begin(), watched_.end(), [&](const Watched& w) { return w.launch == launch; });
  return found == watched_.end() ? nullptr : &*found;
}

void BetterCode::loop() {
  std::unique_lock lock(mutex_);
  while (!quit_) {
    wakes_ = Clock::time_point::min();
    if (watched_.empty()) {
      wakes_ = Clock::time_point::max();
      changed_.wait(lock);
      continue;
    }
    Watched& first = *std::min_element(watched_.begin(), watched_.end(),
                                       [](const Watched& a, const Watched& b) { return a.due < b.due; });
    if (first.due > Clock::now()) {
      wakes_ = first.due;
      changed_.wait_until(lock, wakes_);
      continue;
    }
    Launch* const launch = first.launch;
    KernelRecord* const kernel = first.kernel;
    first.being_made = true;
    lock.unlock();
    improve(*kernel);
    lock.lock();
    if (kernel->stack_bytes(launch->local_size) <= launch->stack_bytes) launch->entry = kernel->entry();
    std::erase_if(watched_, [&](const Watched& w) { return w.launch == launch; });
    made_.notify_all();
  }
}

}  // namespace warpgrind::device
