// Allocation of tensor memory, and the progress of asynchronous operations on it.
#include "device/memory/tensor_memory.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/assert.h"

namespace warpgrind::device {

TensorMemory::TensorMemory()
    : cells_(std::make_unique<std::uint32_t[]>(std::size_t{kLanes} * kColumns)),
      states_(std::make_unique<std::array<Cell, kColumns>[]>(kQuarters)) {}

void TensorMemory::begin(std::uint8_t fill) {
  std::memset(cells_.get(), fill, std::size_t{kLanes} * kColumns * sizeof(std::uint32_t));
  for (unsigned q = 0; q < kQuarters; ++q) states_[q].fill({});
  allocations_.clear();
  freed_.clear();
  batches_.clear();
  first_open_ = 0;
  last_size_ = group_ = pair_allocations_ = 0;
  given_up_ = false;
}

bool TensorMemory::is_allocated(unsigned first, unsigned columns) const {
  return std::any_of(allocations_.begin(), allocations_.end(), [&](const Allocation& a) {
    return first >= a.first && first - a.first < a.columns && columns <= a.first + a.columns - first;
  });
}

// The first gap. Allocations are powers of two that do not grow, so that gaps fit.
std::optional<unsigned> TensorMemory::allocate(unsigned columns, std::uint32_t site, std::uint32_t warp) {
  for (unsigned first = 0; first + columns <= kColumns; first += kUnit) {
    const bool taken = std::any_of(allocations_.begin(), allocations_.end(), [&](const Allocation& a) {
      return first < a.first + a.columns && a.first < first + columns;
    });
    if (taken) continue;
    allocations_.push_back({first, columns, site, warp});
    last_size_ = columns;
    for (unsigned q = 0; q < kQuarters; ++q) std::fill_n(states_[q].begin() + first, columns, Cell{});
    return first;
  }
  return std::nullopt;
}

bool TensorMemory::release(unsigned first, unsigned columns, std::uint32_t site) {
  const auto at = std::find_if(allocations_.begin(), allocations_.end(),
                               [&](const Allocation& a) { return a.first == first && a.columns == columns; });
  if (at == allocations_.end()) return false;
  constexpr std::size_t kMost = 16;
  if (freed_.size() == kMost) freed_.erase(freed_.begin());
  freed_.push_back({first, columns, site, at->warp});
  allocations_.erase(at);
  return true;
}

const std::uint32_t* TensorMemory::freed_at(unsigned column) const {
  const auto has = [&](const Allocation& a) { return column >= a.first && column - a.first < a.columns; };
  if (std::any_of(allocations_.begin(), allocations_.end(), has)) return nullptr;
  const auto last = std::find_if(freed_.rbegin(), freed_.rend(), has);
  return last == freed_.rend() ? nullptr : &last->site;
}

bool TensorMemory::uses_group(unsigned group) {
  if (group_ == 0) group_ = group;
  return group_ == group;
}

void TensorMemory::shift_lanes(unsigned quarter, unsigned first, unsigned columns) {
  WG_ASSERT(quarter < kQuarters && first + columns <= kColumns);
  for (unsigned lane = quarter * kQuarterLanes; lane + 1 < (quarter + 1) * kQuarterLanes; ++lane)
    std::memcpy(row(lane) + first, row(lane + 1) + first, columns * sizeof(std::uint32_t));
}

template <class F>
void TensorMemory::each(const Range& range, F&& f) {
  WG_ASSERT(range.first + range.columns <= kColumns);
  for (unsigned q = 0; q < kQuarters; ++q)
    if (range.quarters >> q & 1)
      for (unsigned c = range.first; c < range.first + range.columns; ++c) f(states_[q][c], c);
}

template <class F>
void TensorMemory::each(const Range& range, F&& f) const {
  WG_ASSERT(range.first + range.columns <= kColumns);
  for (unsigned q = 0; q < kQuarters; ++q)
    if (range.quarters >> q & 1)
      for (unsigned c = range.first; c < range.first + range.columns; ++c) f(std::as_const(states_[q][c]), c);
}

TensorMemory::Finding TensorMemory::unfinished(const Cell& cell, unsigned column) const {
  if (cell.batch == 0) return {};
  const Batch& b = batches_[cell.batch - 1];
  if (b.state == State::done) return {};
  return {b.state == State::issued ? Hazard::uncommitted : Hazard::unfinished, column, b.site};
}

namespace {

void keep_first_hazard(TensorMemory::Finding& found, const TensorMemory::Finding& next) {
  if (found.hazard == TensorMemory::Hazard::none) found = next;
}

}  // namespace

TensorMemory::Finding TensorMemory::load(const Range& range, std::uint32_t warp, std::uint32_t site) {
  Finding found;
  each(range, [&](Cell& c, unsigned column) {
    keep_first_hazard(found, unfinished(c, column));
    if (c.stored_by) keep_first_hazard(found, {Hazard::stored, column, c.store_site});
    if (!c.written) keep_first_hazard(found, {Hazard::unwritten, column, 0});
    c.loaded_by = static_cast<std::uint8_t>(warp + 1);
    c.load_site = site;
  });
  return found;
}

TensorMemory::Finding TensorMemory::store(const Range& range, std::uint32_t warp, std::uint32_t site) {
  Finding found;
  each(range, [&](Cell& c, unsigned column) {
    keep_first_hazard(found, unfinished(c, column));
    c.stored_by = static_cast<std::uint8_t>(warp + 1);
    c.store_site = site;
    c.written = true;
    c.batch = 0;
  });
  return found;
}

TensorMemory::Finding TensorMemory::read(const Range& range) const {
  Finding found;
  each(range, [&](const Cell& c, unsigned column) {
    if (c.stored_by) keep_first_hazard(found, {Hazard::stored, column, c.store_site});
    if (!c.written) keep_first_hazard(found, {Hazard::unwritten, column, 0});
  });
  return found;
}

TensorMemory::Finding TensorMemory::write(const Range& range, const Thread& by, std::uint32_t site) {
  Finding found;
  const std::uint32_t batch = batch_of(by, site);
  each(range, [&](Cell& c, unsigned column) {
    if (c.stored_by) keep_first_hazard(found, {Hazard::stored, column, c.store_site});
    if (c.loaded_by) keep_first_hazard(found, {Hazard::loaded, column, c.load_site});
    c.written = true;
    c.batch = batch + 1;
  });
  return found;
}

void TensorMemory::wait_loads(std::uint32_t warp) {
  for (unsigned q = 0; q < kQuarters; ++q)
    for (Cell& c : states_[q])
      if (c.loaded_by == warp + 1) c.loaded_by = 0;
}

void TensorMemory::wait_stores(std::uint32_t warp) {
  for (unsigned q = 0; q < kQuarters; ++q)
    for (Cell& c : states_[q])
      if (c.stored_by == warp + 1) c.stored_by = 0;
}

std::uint32_t TensorMemory::batch_of(const Thread& by, std::uint32_t site) {
  for (std::size_t k = batches_.size(); k-- > first_open_;)
    if (batches_[k].state == State::issued && batches_[k].by == by) return static_cast<std::uint32_t>(k);
  batches_.push_back({by, site});
  return static_cast<std::uint32_t>(batches_.size() - 1);
}

void TensorMemory::commit(const Thread& by, std::uint64_t offset, std::uint32_t ranks, std::uint32_t parities) {
  // It tracks all that the thread issued before, even if another mbarrier does so too.
  const auto earlier = [&](const Batch& b) { return b.state != State::done && b.by == by; };
  const auto open = batches_.begin() + static_cast<std::ptrdiff_t>(first_open_);
  const auto any = std::find_if(open, batches_.end(), earlier);
  if (any == batches_.end()) return;
  Batch& b = batches_[batch_of(by, any->site)];
  b.state = State::committed;
  b.offset = offset;
  b.ranks = ranks;
  b.parities = parities;
}

void TensorMemory::complete(std::uint32_t rank, std::uint64_t offset, bool parity) {
  for (std::size_t k = first_open_; k < batches_.size(); ++k) {
    Batch& b = batches_[k];
    if (b.state != State::committed || b.offset != offset || (b.ranks >> rank & 1) == 0) continue;
    if ((b.parities >> rank & 1) != std::uint32_t{parity}) continue;
    for (std::size_t before = first_open_; before <= k; ++before)
      if (batches_[before].by == b.by) batches_[before].state = State::done;
  }
  while (first_open_ < batches_.size() && batches_[first_open_].state == State::done) ++first_open_;
}

const std::uint32_t* TensorMemory::open_site() const {
  for (std::size_t k = first_open_; k < batches_.size(); ++k)
    if (batches_[k].state != State::done) return &batches_[k].site;
  return nullptr;
}

}  // namespace warpgrind::device
