#include "device/memory/earlier_launches.h"

#include <fmt/format.h>
#include <sys/mman.h>

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
  if (store_) return;
  limit_ = bytes;
}

void EarlierLaunches::add(Made made) {
  const std::lock_guard lock(mutex_);
  if (limit_ == 0) return;
  if (!all_.empty() && all_.back().made.device != made.device) forget_locked("the launch before it ran on another GPU");
  newest_ = std::move(made);
}

bool EarlierLaunches::make_room(std::uint64_t bytes, std::uint64_t* at) {
  if (!store_) {
    void* made = mmap(nullptr, limit_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (made == MAP_FAILED) return false;
    store_ = static_cast<std::uint8_t*>(made);
    store_bytes_ = limit_;
  }
  if (bytes > store_bytes_) return false;
  if (next_ + bytes > store_bytes_) next_ = 0;
  const std::uint64_t low = next_, high = next_ + bytes;
  const auto overlaps = [&](const Earlier& e) { return e.begin < high && low < e.end; };
  while (std::any_of(all_.begin(), all_.end(), overlaps)) drop_oldest();
  next_ = high;
  *at = low;
  return true;
}

void EarlierLaunches::drop_oldest() {
  shadow_bytes_ -= all_.front().shadow_bytes;
  all_.pop_front();
  // The next one may share the shadow that was counted for this one.
  why_ = fmt::format("the launches since then changed more than the {} MiB that are kept, or are more than {}",
                     limit_ >> 20, kMostLaunches);
}

void EarlierLaunches::close(const MemorySnapshot& began) {
  const std::lock_guard lock(mutex_);
  if (limit_ == 0 || !newest_) return;
  std::vector<MemorySnapshot::Difference> differences;
  if (const std::string why = began.compare(&differences); !why.empty()) return forget_locked(why);
  std::uint64_t bytes = 0;
  for (const auto& d : differences) bytes += d.was ? d.bytes : 0;
  Earlier earlier;
  if (!make_room(bytes, &earlier.begin))
    return forget_locked(fmt::format("the launch before it changed more than the {} MiB that are kept", limit_ >> 20));
  earlier.end = earlier.begin;
  for (const auto& d : differences) {
    Part part{d.low, d.bytes, kZero};
    if (d.was) {
      part.at = earlier.end;
      std::memcpy(store_ + earlier.end, d.was, d.bytes);
      earlier.end += d.bytes;
    }
    earlier.parts.push_back(part);
  }
  if (!all_.empty() && *all_.back().shadow == began.shadow()) {
    earlier.shadow = all_.back().shadow;
  } else {
    earlier.shadow = std::make_shared<const ShadowSnapshot>(began.shadow());
    earlier.shadow_bytes = earlier.shadow->bytes();
  }
  earlier.made = std::move(*newest_);
  newest_.reset();
  shadow_bytes_ += earlier.shadow_bytes;
  all_.push_back(std::move(earlier));
  while (all_.size() > kMostLaunches || (shadow_bytes_ > limit_ / 4 && all_.size() > 1)) drop_oldest();
}

void EarlierLaunches::forget_all(const std::string& why) {
  const std::lock_guard lock(mutex_);
  forget_locked(why);
}

void EarlierLaunches::forget_locked(const std::string& why) {
  if (all_.empty() && !newest_) {
    if (limit_ != 0) why_ = why;
    return;
  }
  all_.clear();
  newest_.reset();
  shadow_bytes_ = next_ = 0;
  why_ = why;
}

std::uint64_t EarlierLaunches::count() {
  const std::lock_guard lock(mutex_);
  return all_.size();
}

std::optional<EarlierLaunches::Made> EarlierLaunches::find(std::uint64_t back) {
  const std::lock_guard lock(mutex_);
  if (back == 0) return newest_;
  if (back > all_.size()) return std::nullopt;
  return all_[all_.size() - back].made;
}

std::string EarlierLaunches::why_no_more() {
  const std::lock_guard lock(mutex_);
  return limit_ == 0 ? "earlier launches are not kept" : why_;
}

void EarlierLaunches::undo(std::uint64_t back) {
  const std::lock_guard lock(mutex_);
  for (std::uint64_t k = 1; k <= back && k <= all_.size(); ++k) {
    for (const Part& part : all_[all_.size() - k].parts) {
      auto* const to = reinterpret_cast<std::uint8_t*>(part.low);
      if (part.at == kZero)
        std::memset(to, 0, part.bytes);
      else
        std::memcpy(to, store_ + part.at, part.bytes);
    }
  }
  if (back > 0 && back <= all_.size()) all_[all_.size() - back].shadow->restore();
}

}  // namespace warpgrind::device
