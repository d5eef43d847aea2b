#include "device/execution/worker_team.h"

#include <sched.h>

#include <algorithm>
#include <thread>

namespace warpgrind::device {

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

void WorkerTeam::run(unsigned count, const std::function<void(unsigned)>& work) {
  if (count > 1) {
    const std::lock_guard lock(mutex_);
    work_ = &work;
    count_ = count;
    busy_ = count - 1;
    ++generation_;
  }
  if (count > 1) start_.notify_all();
  work(0);
  if (count > 1) {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return busy_ == 0; });
    work_ = nullptr;
  }
}

void WorkerTeam::loop(unsigned index, std::uint64_t seen) {
  for (;;) {
    const std::function<void(unsigned)>* work = nullptr;
    {
      std::unique_lock lock(mutex_);
      start_.wait(lock, [&] { return quit_ || generation_ != seen; });
      if (quit_) return;
      seen = generation_;
      if (index < count_) work = work_;
    }
    if (!work) continue;
    (*work)(index);
    bool last = false;
    {
      const std::lock_guard lock(mutex_);
      last = --busy_ == 0;
    }
    if (last) done_.notify_one();
  }
}

unsigned available_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) return static_cast<unsigned>(CPU_COUNT(&set));
  return std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace warpgrind::device
