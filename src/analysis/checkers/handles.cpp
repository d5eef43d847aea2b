#include "checkers/handles.h"

namespace warpgrind::checkers {

void Handles::made(std::string_view kind, std::uint64_t handle) {
  Handle h{kind, host_stack(), std::nullopt};
  const std::lock_guard lock(mutex_);
  last_[handle] = all_.size();
  all_.push_back(std::move(h));
}

void Handles::destroyed(std::uint64_t handle) {
  HostStack stack = host_stack();
  const std::lock_guard lock(mutex_);
  if (const auto it = last_.find(handle); it != last_.end()) all_[it->second].destroyed = std::move(stack);
}

void Handles::destroyed_all() {
  const HostStack stack = host_stack();
  const std::lock_guard lock(mutex_);
  for (Handle& h : all_)
    if (!h.destroyed) h.destroyed = stack;
}

std::optional<Handle> Handles::find(std::uint64_t handle) const {
  const std::lock_guard lock(mutex_);
  const auto it = last_.find(handle);
  if (it == last_.end()) return std::nullopt;
  return all_[it->second];
}

std::vector<Handle> Handles::all() const {
  const std::lock_guard lock(mutex_);
  return all_;
}

}  // namespace warpgrind::checkers
