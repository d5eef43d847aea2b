#include "device/cancellable_grid.h"

#include <algorithm>

#include "base/assert.h"

namespace warpgrind::device {

CancellableGrid::CancellableGrid(std::uint64_t clusters, std::uint64_t resident)
    : clusters_(clusters), lines_(std::clamp<std::uint64_t>(resident, 1, std::max<std::uint64_t>(1, clusters))) {
  for (std::uint64_t k = 0; k < lines_.size(); ++k) lines_[k].next = k;
}

std::uint64_t CancellableGrid::begin(Line& line) {
  const std::uint64_t number = line.next;
  WG_ASSERT(number < clusters_ && !line.busy && line.arrivals > 0);
  line.next += lines_.size();
  --line.arrivals;
  line.busy = true;
  return number;
}

std::optional<std::uint64_t> CancellableGrid::arrive(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  Line& line = lines_[number % lines_.size()];
  ++line.arrivals;
  if (line.busy || line.arrivals <= 0 || line.next >= clusters_) return std::nullopt;
  return begin(line);
}

void CancellableGrid::end(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  Line& line = lines_[number % lines_.size()];
  WG_ASSERT(line.busy);
  line.busy = false;
  if (line.arrivals > 0 && line.next < clusters_) waiting_.push_back(number % lines_.size());
}

std::optional<std::uint64_t> CancellableGrid::follow() {
  const std::lock_guard lock(mutex_);
  while (!waiting_.empty()) {
    const auto first = std::min_element(waiting_.begin(), waiting_.end());
    Line& line = lines_[*first];
    waiting_.erase(first);
    // A worker that came to the line meanwhile may have begun its next cluster.
    if (!line.busy && line.arrivals > 0 && line.next < clusters_) return begin(line);
  }
  return std::nullopt;
}

std::optional<std::uint64_t> CancellableGrid::cancel(std::uint64_t by) {
  const std::lock_guard lock(mutex_);
  Line& line = lines_[by % lines_.size()];
  WG_ASSERT(line.busy);
  if (line.next >= clusters_) return std::nullopt;
  const std::uint64_t number = line.next;
  line.next += lines_.size();
  --line.arrivals;
  return number;
}

}  // namespace warpgrind::device
