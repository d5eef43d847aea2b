// Table of memory objects, and their descriptions.
#include "checkers/objects.h"

#include <fmt/format.h>

#include <algorithm>

#include "checkers/host_place.h"
#include "checkers/kernel_place.h"

namespace warpgrind::checkers {

namespace {

using Kind = events::Allocation::Kind;

const char* noun(Kind kind) {
  switch (kind) {
    case Kind::managed:
      return "managed allocation";
    case Kind::host:
      return "pinned host allocation";
    case Kind::registered:
      return "registered range of host memory";
    case Kind::array:
      return "array";
    case Kind::kernel_heap:
      return "allocation on the device heap";
    default:
      return "allocation";
  }
}

std::string maker(const Object& o) {
  if (o.made_by) return fmt::format("malloc at {}", place_text(*o.made_by));
  return describe(o.made);
}

}  // namespace

std::string describe(const Object& o) {
  if (o.kind == Kind::variable) return fmt::format("`{}` ({} bytes, variable of the module)", o.name, o.bytes);
  const std::string by = maker(o);
  return fmt::format("a {}-byte {}{}", o.bytes, noun(o.kind), by.empty() ? "" : " (" + by + ")");
}

std::string describe(const Object& o, std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t first = address - o.address;
  return bytes <= 1 ? fmt::format("byte {} of {}", first, describe(o))
                    : fmt::format("bytes {}..{} of {}", first, first + bytes - 1, describe(o));
}

results::FindingOrigin origin_of(const Object& o) {
  results::FindingOrigin out;
  out.object = describe(o);
  if (o.made_by) {
    out.kind = "malloc";
    out.file = o.made_by->file;
    out.line = o.made_by->line;
    return out;
  }
  const jit::HostPlace place = user_place(o.made.callers);
  out.kind = o.kind == Kind::variable ? "variable" : o.made.call;
  out.file = place.file;
  out.line = place.line;
  return out;
}

events::Wants Objects::wants() const {
  events::Wants w;
  w.allocations = w.deallocations = true;
  return w;
}

void Objects::on_allocation(const events::Allocation& a, unsigned) {
  Object o;
  o.kind = a.kind;
  o.device = a.device;
  o.address = a.address;
  o.bytes = a.bytes;
  o.name = a.name;
  if (a.by)
    o.made_by = access_at(*a.by, 0, "malloc");
  else if (a.kind != Kind::variable)
    o.made = host_stack();
  const std::lock_guard lock(mutex_);
  o.number = ++made_;
  live_[a.address] = std::move(o);
}

void Objects::on_deallocation(const events::Allocation& a, unsigned) {
  HostStack stack;
  std::optional<results::FindingAccess> by;
  if (a.by)
    by = access_at(*a.by, 0, "free");
  else
    stack = host_stack();
  const std::lock_guard lock(mutex_);
  const auto it = live_.find(a.address);
  if (it == live_.end()) return;
  Object o = std::move(it->second);
  live_.erase(it);
  if (by)
    o.freed_by = std::move(by);
  else
    o.freed = std::move(stack);
  freed_.emplace(o.address, std::move(o));
}

std::optional<Object> Objects::live_at(std::uint64_t address) const {
  const std::lock_guard lock(mutex_);
  auto it = live_.upper_bound(address);
  if (it == live_.begin() || !(--it)->second.holds(address)) return std::nullopt;
  return it->second;
}

std::optional<Object> Objects::freed_at(std::uint64_t address) const {
  const std::lock_guard lock(mutex_);
  std::optional<Object> last;
  for (const auto& [begin, o] : freed_) {
    if (begin > address) break;
    if (o.holds(address) && (!last || o.number > last->number)) last = o;
  }
  return last;
}

std::vector<Object> Objects::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<Object> out;
  for (const auto& [address, o] : live_) out.push_back(o);
  for (const auto& [address, o] : freed_) out.push_back(o);
  std::sort(out.begin(), out.end(), [](const Object& a, const Object& b) { return a.number < b.number; });
  return out;
}

}  // namespace warpgrind::checkers
