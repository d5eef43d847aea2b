// Table of a library's handles and the objects behind them. It recognises handles that were never created or are
// already destroyed.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>

namespace warpgrind::libraries {

// Key: the handle as the program has it (a pointer or a number).
template <class Key, class Object>
class Handles {
 public:
  void add(Key key, std::shared_ptr<Object> object) {
    const std::lock_guard lock(mutex_);
    objects_[key] = std::move(object);
  }
  // nullptr: no such handle. The returned pointer keeps the object alive if another thread destroys the handle.
  std::shared_ptr<Object> find(Key key) const {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(key);
    return found == objects_.end() ? nullptr : found->second;
  }
  bool remove(Key key) {
    std::shared_ptr<Object> last;  // its destructor runs after the lock is released
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(key);
    if (found == objects_.end()) return false;
    last = std::move(found->second);
    objects_.erase(found);
    return true;
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_map<Key, std::shared_ptr<Object>> objects_;
};

// Never destroyed: the program's own static destructors may still use handles.
template <class Key, class Object>
Handles<Key, Object>& handles() {
  static auto* all = new Handles<Key, Object>;
  return *all;
}

}  // namespace warpgrind::libraries
