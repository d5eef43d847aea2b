// Worker threads: start, wait by polling, and run.
#include "device/worker_team.h"

#include <immintrin.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

namespace warpgrind::device {

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kPollTime = std::chrono::microseconds(50);

// Polls for a while before the thread sleeps, if each worker has a processor. Waking a thread takes some 50 us, a tenth
// of a grid of half a millisecond, and most programs launch again at once. Returns true as soon as `there` is true.
template <class There>
bool look_for(unsigned workers, There&& there) {
  static const unsigned processors = available_processors();
  if (workers > processors) return there();
  constexpr unsigned kPauses = 64;  // between two reads of the clock
  const auto end = Clock::now() + kPollTime;
  do {
    for (unsigned i = 0; i < kPauses; ++i) {
      if (there()) return true;
      _mm_pause();
    }
  } while (Clock::now() < end);
  return there();
}

// Whether polling for the next launch is worth its time: not if the last pauses between launches were mostly longer.
class PollChoice {
 public:
  bool polls() const { return score_ > kMost / 2; }
  void add_pause(Clock::duration pause) {
    score_ = pause < kPollTime ? std::min(score_ + 1, kMost) : std::max(score_ - 1, 0);
  }

 private:
  static constexpr int kMost = 4;
  int score_ = kMost;
};

}  // namespace

WorkerTeam::~WorkerTeam() {
  {
    const std::lock_guard lock(mutex_);
    quit_ = true;
  }
  start_.notify_all();
  for (HostThread& t : threads_) t.join();
}

unsigned WorkerTeam::grow(unsigned count) {
  while (threads_.size() + 1 < count) {
    const auto index = static_cast<unsigned>(threads_.size() + 1);
    HostThread thread;
    if (!thread.start([this, index, seen = generation_] { loop(index, seen); }, HostThread::Signals::faults)) break;
    threads_.push_back(std::move(thread));
  }
  return std::min(count, static_cast<unsigned>(threads_.size() + 1));
}

// generation_ and busy_ change under the mutex; threads that do not sleep yet read them without it.
void WorkerTeam::run(unsigned count, const std::function<void(unsigned)>& work) {
  if (count == 1) return work(0);
  {
    const std::lock_guard lock(mutex_);
    work_ = &work;
    count_ = count;
    std::atomic_ref(busy_).store(count - 1, std::memory_order_relaxed);
    std::atomic_ref(generation_).fetch_add(1, std::memory_order_release);
  }
  start_.notify_all();
  work(0);
  const auto done = [&] { return std::atomic_ref(busy_).load(std::memory_order_acquire) == 0; };
  if (look_for(count, done)) return;
  std::unique_lock lock(mutex_);
  done_.wait(lock, done);
}

void WorkerTeam::loop(unsigned index, std::uint64_t seen) {
  PollChoice choice;
  for (;;) {
    const Clock::time_point begin = Clock::now();
    if (choice.polls())
      look_for(index + 1, [&] { return std::atomic_ref(generation_).load(std::memory_order_acquire) != seen; });
    const std::function<void(unsigned)>* work = nullptr;
    {
      std::unique_lock lock(mutex_);
      start_.wait(lock, [&] { return quit_ || generation_ != seen; });
      if (quit_) return;
      seen = generation_;
      if (index < count_) work = work_;
    }
    choice.add_pause(Clock::now() - begin);
    if (!work) continue;
    (*work)(index);
    const std::lock_guard lock(mutex_);
    if (std::atomic_ref(busy_).fetch_sub(1, std::memory_order_acq_rel) == 1) done_.notify_one();
  }
}

unsigned available_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) return static_cast<unsigned>(CPU_COUNT(&set));
  return std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace warpgrind::device
