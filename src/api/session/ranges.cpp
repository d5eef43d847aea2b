// Stacks of named ranges per thread, and the ranges of the process.
#include "session/ranges.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <vector>

#include "base/per_thread.h"

namespace warpgrind::session {

namespace {

struct Range {
  std::string name;
  const void* domain;
};
using Stack = std::vector<Range>;

struct Started {
  std::mutex mutex;
  std::uint64_t last = 0;
  std::map<std::uint64_t, std::string> ranges;  // in the order of their starts
};
// Never destroyed: the program's own static destructors may still end ranges.
Started& started() {
  static auto* all = new Started;
  return *all;
}

}  // namespace

int push_range(std::string name, const void* domain) {
  Stack& stack = per_thread<Stack>();
  stack.push_back({std::move(name), domain});
  return static_cast<int>(
             std::count_if(stack.begin(), stack.end(), [&](const Range& r) { return r.domain == domain; })) -
         1;
}

int pop_range(const void* domain) {
  Stack& stack = per_thread<Stack>();
  const auto of_domain = [&](const Range& r) { return r.domain == domain; };
  const auto last = std::find_if(stack.rbegin(), stack.rend(), of_domain);
  if (last == stack.rend()) return -1;
  stack.erase(std::next(last).base());
  return static_cast<int>(std::count_if(stack.begin(), stack.end(), of_domain));
}

std::uint64_t start_range(std::string name) {
  Started& all = started();
  const std::lock_guard lock(all.mutex);
  all.ranges.emplace(++all.last, std::move(name));
  return all.last;
}

void end_range(std::uint64_t id) {
  Started& all = started();
  const std::lock_guard lock(all.mutex);
  all.ranges.erase(id);
}

std::string open_ranges() {
  std::string out;
  const auto add = [&](const std::string& name) { out += (out.empty() ? "" : "/") + name; };
  {
    Started& all = started();
    const std::lock_guard lock(all.mutex);
    for (const auto& [id, name] : all.ranges) add(name);
  }
  for (const Range& r : per_thread<Stack>()) add(r.name);
  return out;
}

}  // namespace warpgrind::session
