// Collection that merges equal findings into one: it keeps the first occurrence in the order of `OrderKey`, and the
// count.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "checkers/checker.h"
#include "checkers/kernel_place.h"
#include "results/finding.h"

namespace warpgrind::checkers {

// Thread-safe. The result does not depend on the number of workers.
class FirstSeen {
 public:
  explicit FirstSeen(const Checker& of) : checker_(of) {}
  // Findings with the same key are merged. make() returns the finding; it is called only if `order_key` is the first so
  // far.
  template <class Make>
  void add(const std::string& key, const OrderKey& order_key, Make make) {
    std::unique_lock lock(mutex_);
    const auto [it, is_new] = seen_.try_emplace(key);
    Entry& e = it->second;
    ++e.count;
    if (!is_new && !(order_key < e.order_key)) return;
    e.order_key = order_key;
    e.finding = make();
    if (!is_new || !checker_.announces()) return;
    const results::Finding finding = e.finding;
    lock.unlock();
    checker_.announce(order_key.launch, finding);
  }
  void report(std::vector<results::Finding>& findings) {
    const std::lock_guard lock(mutex_);
    for (auto& [key, e] : seen_) {
      findings.push_back(std::move(e.finding));
      findings.back().count = e.count;
    }
    seen_.clear();
  }

 private:
  struct Entry {
    OrderKey order_key;
    std::uint64_t count = 0;
    results::Finding finding;
  };
  const Checker& checker_;
  std::mutex mutex_;
  std::map<std::string, Entry> seen_;
};

}  // namespace warpgrind::checkers
