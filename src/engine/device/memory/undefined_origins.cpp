// Records of the origins of undefined bits, by 32-byte sector and by copy.
#include "device/memory/undefined_origins.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"

namespace warpgrind::device {

namespace {

constexpr std::uint64_t kSector = 32;
constexpr std::size_t kMostSectors = std::size_t{1} << 20, kMostCopies = 4096;

std::string text_of(const events::UndefinedOrigin& o) {
  std::string text = fmt::format("{} {} {}", static_cast<int>(o.kind), o.address, o.object);
  for (const auto& s : o.way) text += fmt::format("|{} {} {} {} {}", s.kernel, s.file, s.line, s.ptx_line, s.work);
  return text;
}

}  // namespace

UndefinedOrigins& UndefinedOrigins::instance() {
  static auto* const origins = new UndefinedOrigins;
  return *origins;
}

// If a sector has several origins, the one whose text sorts first is kept, so that the order of blocks does not matter.
void UndefinedOrigins::stored(std::uint64_t host, std::uint64_t bytes, const Owner& owner,
                              const events::UndefinedOrigin& origin) {
  const std::lock_guard lock(mutex_);
  WG_ASSERT(bytes > 0);
  const std::string text = text_of(origin);
  const auto [known, fresh] = known_.emplace(text, static_cast<std::uint32_t>(origins_.size()));
  if (fresh) origins_.push_back(origin);
  for (std::uint64_t s = host / kSector; s <= (host + bytes - 1) / kSector; ++s) {
    const auto at = sectors_.find(s);
    if (at == sectors_.end()) {
      if (sectors_.size() < kMostSectors) sectors_[s] = {owner, known->second};
    } else if (!(at->second.owner == owner) || text < text_of(origins_[at->second.origin])) {
      at->second = {owner, known->second};
    }
  }
}

void UndefinedOrigins::copied(std::uint64_t to, std::uint64_t from, std::uint64_t bytes, std::uint64_t work) {
  const std::lock_guard lock(mutex_);
  for (auto s = sectors_.begin(); s != sectors_.end();)
    s = s->first * kSector >= to && s->first * kSector < to + bytes ? sectors_.erase(s) : std::next(s);
  if (copies_.size() < kMostCopies) copies_.push_back({to, from, bytes, work});
}

std::optional<events::UndefinedOrigin> UndefinedOrigins::find(std::uint64_t host, const Owner& owner) {
  const std::lock_guard lock(mutex_);
  return find_locked(host, owner, 0);
}

std::optional<events::UndefinedOrigin> UndefinedOrigins::find_locked(std::uint64_t host, const Owner& owner,
                                                                     unsigned depth) {
  const auto at = sectors_.find(host / kSector);
  if (at != sectors_.end() && at->second.owner == owner) return origins_[at->second.origin];
  if (depth >= kLongestWay) return std::nullopt;
  for (auto c = copies_.rbegin(); c != copies_.rend(); ++c) {
    if (host < c->to || host - c->to >= c->bytes) continue;
    const std::uint64_t from = c->from + (host - c->to);
    events::UndefinedOrigin origin;
    origin.kind = events::UndefinedOrigin::Kind::memory;
    origin.address = from;
    if (auto before = find_locked(from, owner, depth + 1)) origin = *before;
    if (origin.way.size() < kLongestWay) origin.way.push_back({"", "", 0, 0, c->work});
    return origin;
  }
  return std::nullopt;
}

void UndefinedOrigins::forget(std::uint64_t address, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  for (auto s = sectors_.begin(); s != sectors_.end();)
    s = s->first * kSector >= address && s->first * kSector < address + bytes ? sectors_.erase(s) : std::next(s);
  std::erase_if(copies_, [&](const Copy& c) { return c.to < address + bytes && address < c.to + c.bytes; });
}

}  // namespace warpgrind::device
