#include "session/ranges.h"

#include <vector>

namespace warpgrind::session {

namespace {
thread_local std::vector<std::string> stack;
}

int push_range(std::string name) {
  stack.push_back(std::move(name));
  return static_cast<int>(stack.size()) - 1;
}

int pop_range() {
  if (stack.empty()) return -1;
  stack.pop_back();
  return static_cast<int>(stack.size());
}

std::string open_ranges() {
  std::string out;
  for (const std::string& name : stack) out += (out.empty() ? "" : "/") + name;
  return out;
}

}  // namespace warpgrind::session
