#include "device/memory/earlier_launches.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "device/memory/address_space.h"
#include "device/memory/memory_snapshot.h"

namespace warpgrind::device {

EarlierLaunches& EarlierLaunches::instance() {
  static auto* const launches = new EarlierLaunches;  // never destroyed: launches may run until the process ends
  return *launches;
}

void EarlierLaunches::set_limit(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  limit_ = bytes;
}

void EarlierLaunches::add(const void* device, std::shared_ptr<const MadeLaunch> made) {
  const std::lock_guard lock(mutex_);
  if (limit_ == 0) return;
  if (!all_.empty() && device != device_) forget_locked("the launch before it ran on another GPU");
  device_ = device;
  newest_ = std::move(made);
}

void EarlierLaunches::drop_oldest() {
  bytes_ -= all_.front().bytes;
  PageStore::instance().give_back(std::move(all_.front().before.chunks));
  all_.pop_front();
  why_ = fmt::format("the launches since then changed more than the {} MiB that are kept, or are more than {}",
                     limit_ >> 20, kMostLaunches);
}

void EarlierLaunches::close(const MemorySnapshot& began) {
  const std::lock_guard lock(mutex_);
  if (limit_ == 0 || !newest_) return;
  Earlier earlier;
  if (const std::string why = began.take_differences(&earlier.before); !why.empty()) {
    PageStore::instance().give_back(std::move(earlier.before.chunks));
    return forget_locked(why);
  }
  earlier.bytes = earlier.before.chunks.bytes();
  if (!all_.empty() && *all_.back().shadow == began.shadow()) {
    earlier.shadow = all_.back().shadow;
  } else {
    earlier.shadow = std::make_shared<const ShadowSnapshot>(began.shadow());
    earlier.bytes += earlier.shadow->bytes();
  }
  earlier.made = std::move(newest_);
  if (earlier.bytes > limit_) {
    PageStore::instance().give_back(std::move(earlier.before.chunks));
    return forget_locked(fmt::format("the launch before it changed more than the {} MiB that are kept", limit_ >> 20));
  }
  bytes_ += earlier.bytes;
  all_.push_back(std::move(earlier));
  while (bytes_ > limit_ || all_.size() > kMostLaunches) drop_oldest();
}

void EarlierLaunches::forget_all(const std::string& why) {
  const std::lock_guard lock(mutex_);
  forget_locked(why);
}

void EarlierLaunches::forget_locked(const std::string& why) {
  for (Earlier& earlier : all_) PageStore::instance().give_back(std::move(earlier.before.chunks));
  all_.clear();
  newest_.reset();
  bytes_ = 0;
  why_ = why;
}

std::uint64_t EarlierLaunches::count() {
  const std::lock_guard lock(mutex_);
  return all_.size();
}

std::shared_ptr<const MadeLaunch> EarlierLaunches::find(std::uint64_t back) {
  const std::lock_guard lock(mutex_);
  if (back == 0) return newest_;
  if (back > all_.size()) return nullptr;
  return all_[all_.size() - back].made;
}

std::string EarlierLaunches::why_no_more() {
  const std::lock_guard lock(mutex_);
  return limit_ == 0 ? "earlier launches are not kept" : why_;
}

void EarlierLaunches::undo(std::uint64_t back) {
  const std::lock_guard lock(mutex_);
  for (std::uint64_t k = 1; k <= back && k <= all_.size(); ++k) {
    const KeptParts& before = all_[all_.size() - k].before;
    for (const KeptParts::Part& part : before.parts) {
      auto* const to = reinterpret_cast<std::uint8_t*>(part.low);
      if (part.at == KeptParts::kZeros)
        std::memset(to, 0, part.bytes);
      else
        before.chunks.read(part.at, to, part.bytes);
    }
  }
  if (back > 0 && back <= all_.size()) all_[all_.size() - back].shadow->restore();
}

}  // namespace warpgrind::device
