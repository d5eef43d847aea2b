// Shadow updates for copies and fills of the host.
#include "device/memory/host_copies.h"

#include <algorithm>

#include "device/memory/undefined_origins.h"

namespace warpgrind::device {

namespace {

// Ranges of undefined bytes in one copy.
struct Stretches {
  struct Stretch {
    std::uint64_t offset = 0, address = 0, bytes = 0;  // offset: as if the rows were contiguous
  };
  static constexpr std::size_t kMost = 4096;
  std::vector<Stretch> of;  // only the first ones
  std::uint64_t bytes = 0, last = 0;
  Stretch longest;

  void add(std::uint64_t offset, std::uint64_t address) {
    ++bytes;
    last = address;
    if (!of.empty() && of.back().offset + of.back().bytes == offset)
      ++of.back().bytes;
    else if (of.size() < kMost)
      of.push_back({offset, address, 1});
    else
      return;
    if (of.back().bytes > longest.bytes) longest = of.back();
  }
  // Whether they look like padding of structures: the same few short ranges repeated, or those of one structure.
  bool holes(std::uint64_t copied) const {
    constexpr std::uint64_t kHole = 8, kStructure = 1024;
    constexpr std::size_t kHoles = 16;
    if (of.empty() || longest.bytes >= kHole || longest.bytes == copied) return false;
    if (of.size() <= kHoles && copied <= kStructure) return true;
    for (std::size_t k = 1; k <= kHoles && 2 * k <= of.size(); ++k) {
      const std::uint64_t period = of[k].offset - of[0].offset;
      bool repeats = true;
      for (std::size_t n = k; repeats && n < of.size(); ++n)
        repeats = of[n].offset - of[n - k].offset == period && of[n].bytes == of[n - k].bytes;
      if (repeats) return true;
    }
    return false;
  }
};

template <class F>
void each_row(const events::HostCopy& copy, F&& f) {
  for (std::uint64_t z = 0; z < copy.slices; ++z)
    for (std::uint64_t y = 0; y < copy.rows; ++y)
      f(copy.to.address + z * copy.to.slice + y * copy.to.pitch,
        copy.from.address + z * copy.from.slice + y * copy.from.pitch, (z * copy.rows + y) * copy.bytes);
}

void report_undefined(const ShadowMemory& shadow, const events::HostCopy& copy, const events::Audience& observers) {
  constexpr std::uint64_t kStep = 256;
  Stretches found;
  each_row(copy, [&](std::uint64_t, std::uint64_t from, std::uint64_t offset) {
    if (!shadow.covers(from, copy.bytes)) return;
    for (std::uint64_t k = 0; k < copy.bytes; k += kStep) {
      const std::uint64_t step = std::min(kStep, copy.bytes - k);
      if (!shadow.any(from + k, step)) continue;
      for (std::uint64_t b = k; b < k + step; ++b)
        if (*shadow.of(from + b)) found.add(offset + b, from + b);
    }
  });
  if (found.of.empty()) return;
  events::UndefinedCopy event;
  event.copy = &copy;
  event.first = found.of.front().address;
  event.last = found.last;
  event.bytes = found.bytes;
  event.longest = found.longest.bytes;
  event.holes = found.holes(copy.bytes * copy.rows * copy.slices);
  event.origin.kind = events::UndefinedOrigin::Kind::memory;
  event.origin.address = found.longest.address;
  if (auto moved = UndefinedOrigins::instance().find(found.longest.address, {})) event.origin = *moved;
  events::publish_undefined_copy(observers, event, 0);
}

bool on_device(events::CopyMemory memory) {
  return memory == events::CopyMemory::device || memory == events::CopyMemory::managed;
}

}  // namespace

void follow(const ShadowMemory& shadow, const events::HostCopy& copy, const events::Audience& observers) {
  using Memory = events::CopyMemory;
  const bool leaves = copy.to.memory == Memory::pageable || copy.to.memory == Memory::pinned;
  if (leaves) {
    if (on_device(copy.from.memory)) report_undefined(shadow, copy, observers);
    return;
  }
  // Memory that the host may write at any time counts as defined.
  const bool keeps = copy.to.memory == Memory::device && copy.from.memory == Memory::device;
  each_row(copy, [&](std::uint64_t to, std::uint64_t from, std::uint64_t) {
    if (!keeps || !shadow.any(from, copy.bytes)) return shadow.define(to, copy.bytes);
    shadow.copy(to, from, copy.bytes);
    UndefinedOrigins::instance().copied(to, from, copy.bytes, copy.work);
  });
}

void follow(const ShadowMemory& shadow, const events::HostFill& fill) {
  for (std::uint64_t z = 0; z < fill.slices; ++z)
    for (std::uint64_t y = 0; y < fill.rows; ++y) shadow.define(fill.to + z * fill.slice + y * fill.pitch, fill.bytes);
}

}  // namespace warpgrind::device
